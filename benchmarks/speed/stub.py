"""A server that speaks the OpenAI chat protocol and costs next to nothing, as a process of its own.

    python -m benchmarks.speed.stub --median-ms 250 --sigma 0.3 --errors 0.12

prints its address. Every vote is a function of the case and the judge named in the request (``scenario.vote_of``), and
so is how long it takes: each client meets the same delays. ``GET /stats`` says what it saw since ``POST /reset``.

Replies are made for whoever asks: the form of a request decides whether the vote comes as ours, as a call of the tool
that is offered, or as an object that fits the schema. Ours and the raw clients' are ready before they are asked for.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import math
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from statistics import NormalDist
from typing import Any
from zlib import crc32

from benchmarks.speed.scenario import BRACKETS, MARK, SCORES, mark_of, vote_of

__all__ = ["Stub", "listening", "main", "vote_text"]

_MARK = MARK.encode()
_DIGITS = 6
_REASON = (
    "The answer names the place where amounts are rounded and gives the reason, which is what was asked for. It says "
    "that shares are computed exactly and that the remainder is given to one line, and it says which. What it does not "
    "say is what happens when a refund is made in parts, and the example it gives is not worked through to its end. A "
    "new colleague would understand the rule from it, and would have to look into the code for the order of the steps."
)
_FINDING = {
    "severity": "suggestion",
    "dimension": "",
    "title": "The example stops early",
    "description": "Two of three lines are worked out; the last, where the remainder goes, is left to the reader.",
    "location": "last paragraph",
    "quote": None,
    "fix": "Work the third line out.",
}
_PAGE = b"HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n%s"
_FAULTS = ((0.04, "limited"), (0.07, "error"), (0.09, "malformed"), (0.105, "truncated"), (0.12, "closed"))
"""Of every hundred first attempts: 4 told to come back, 3 errors, 2 without JSON, 1.5 cut, 1.5 without a reply."""


_SLOW = ("malformed", "truncated")
"""Faults that take as long as a vote."""


class Stub:
    """What all connections share: how to answer, and what was seen.

    Args:
        median_s: The median delay of a reply.
        sigma: The sigma of its logarithm; 0 = every reply takes the median.
        errors: The share of first attempts that fail, up to 0.12.
    """

    def __init__(self, *, median_s: float, sigma: float, errors: float) -> None:
        self.median_s = median_s
        self.sigma = sigma
        self.errors = errors
        self.connected = 0
        self._ready: dict[tuple[str, int], bytes] = {}
        self.reset()

    def reset(self) -> None:
        """Begins to count; connections that are open count as one each."""
        self.requests = self.in_flight = self.peak = self.checksum = self.votes = self.bytes_in = self.unknown = 0
        self.connections = self.connected
        self._began = time.process_time()
        self.faults: Counter[str] = Counter()
        self.tried: set[tuple[int, str]] = set()

    def stats(self) -> dict[str, Any]:
        """What was seen since the last reset."""
        return {
            "requests": self.requests,
            "votes": self.votes,
            "peak_in_flight": self.peak,
            "connections": self.connections,
            "checksum": self.checksum,
            "request_bytes": round(self.bytes_in / self.requests) if self.requests else 0,
            "cpu_us": round(1e6 * (time.process_time() - self._began) / self.requests, 1) if self.requests else 0,
            "faults": dict(self.faults),
            "unknown": self.unknown,
        }

    def delay_s(self, number: int, judge: str) -> float:
        """How long a reply takes: the same for the same ask, whoever sends it."""
        if not self.sigma:
            return self.median_s
        share = (crc32(f"{judge}#{number}".encode()) + 0.5) / 2**32
        return self.median_s * math.exp(self.sigma * _NORMAL.inv_cdf(share))

    def answer(self, body: bytes) -> tuple[float, bytes | None]:
        """Seconds to wait and the bytes to send; None hangs up."""
        self.requests += 1
        self.bytes_in += len(body)
        judge = _judge_of(body)
        at = body.find(_MARK)
        if at < 0:
            self.unknown += 1
            return self.median_s, _page(200, _shaped(body, judge, SCORES[2], 2))
        number = int(body[at + len(_MARK) : at + len(_MARK) + _DIGITS])
        bracket = vote_of(number, judge)
        delay = self.delay_s(number, judge)
        fault = self._fault(number, judge)
        if fault:
            return delay if fault in _SLOW else 0.0, _failed(fault, judge, bracket)
        self.votes += 1
        self.checksum += mark_of(number, judge, bracket)
        return delay, self._reply(body, judge, bracket)

    def _fault(self, number: int, judge: str) -> str:
        if not self.errors or (number, judge) in self.tried:
            return ""
        self.tried.add((number, judge))
        share = crc32(f"fault {number} {judge}".encode()) / 2**32 * (0.12 / self.errors)
        name = next((name for up_to, name in _FAULTS if share < up_to), "")
        if name:
            self.faults[name] += 1
        return name

    def _reply(self, body: bytes, judge: str, bracket: int) -> bytes:
        if b'"bracket"' not in body:
            return _page(200, _shaped(body, judge, SCORES[bracket], bracket))
        ready = self._ready.get((judge, bracket))
        if ready is None:
            message = {"role": "assistant", "content": vote_text(bracket)}
            ready = self._ready[judge, bracket] = _page(200, _envelope(judge, message))
        return ready


_NORMAL = NormalDist()


class Connection(asyncio.Protocol):
    """One connection: requests in, replies out after their delay."""

    def __init__(self, stub: Stub, *, stop: asyncio.Event) -> None:
        self._stub = stub
        self._stop = stop
        self._buffer = bytearray()
        self._whole = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Counts it."""
        self._transport: Any = transport
        self._loop = asyncio.get_running_loop()
        self._stub.connected += 1
        self._stub.connections += 1

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  why it was lost does not matter
        """Counts it out."""
        self._stub.connected -= 1

    def data_received(self, data: bytes) -> None:
        """Answers every request that is whole."""
        buffer = self._buffer
        buffer += data
        while buffer:
            if not self._whole:
                end = buffer.find(b"\r\n\r\n")
                if end < 0:
                    return
                self._head = bytes(buffer[:end])
                self._start = end + 4
                self._whole = self._start + _length(self._head)
            if len(buffer) < self._whole:
                return
            body = bytes(buffer[self._start : self._whole])
            del buffer[: self._whole]
            self._whole = 0
            self._asked(body)

    def _asked(self, body: bytes) -> None:
        stub = self._stub
        if b"/chat/completions" not in self._head[:100]:
            self._told()
            return
        stub.in_flight += 1
        stub.peak = max(stub.peak, stub.in_flight)
        delay, page = stub.answer(body)
        if delay:
            self._loop.call_later(delay, self._send, page)
        else:
            self._send(page)

    def _send(self, page: bytes | None) -> None:
        self._stub.in_flight -= 1
        if page is None:
            self._transport.close()
        else:
            self._transport.write(page)

    def _told(self) -> None:
        path = self._head.split(b" ", 2)[1]
        # Whoever tells or asks this is none of the clients.
        self._stub.connections -= 1
        if path == b"/reset":
            self._stub.reset()
            self._stub.connections -= 1
        if path == b"/stop":
            self._stop.set()
        self._transport.write(_page(200, json.dumps(self._stub.stats()).encode()))


def _length(head: bytes) -> int:
    lower = head.lower()
    at = lower.find(b"content-length:")
    if at < 0:
        return 0
    end = lower.find(b"\r\n", at)
    return int(lower[at + 15 : end if end > 0 else None])


def _judge_of(body: bytes) -> str:
    """The model that is asked, wherever in the request it stands, without a provider before it."""
    at = body.find(b'"model"')
    first = body.find(b'"', body.find(b":", at)) + 1
    return body[first : body.find(b'"', first)].decode().rpartition("/")[2]


def _failed(fault: str, judge: str, bracket: int) -> bytes | None:
    """The page of a fault; None hangs up."""
    if fault == "limited":
        return _page(429, b'{"error":{"message":"slow down"}}', b"Retry-After: 0\r\n")
    if fault == "error":
        return _page(500, b'{"error":{"message":"no"}}')
    if fault == "closed":
        return None
    text = "I would call it good." if fault == "malformed" else vote_text(bracket)[:300]
    return _page(200, _envelope(judge, {"role": "assistant", "content": text}))


def vote_text(bracket: int) -> str:
    """What a judge writes that gives a bracket."""
    return json.dumps(_vote(bracket))


def _vote(bracket: int) -> dict[str, Any]:
    return {
        "reasoning": _REASON,
        "findings": [_FINDING],
        "bracket": BRACKETS[bracket],
        "score": SCORES[bracket],
        "suggestion": "Work the example through to its end.",
    }


def _envelope(judge: str, message: dict[str, Any], *, finish: str = "stop") -> bytes:
    return json.dumps(
        {
            "id": "chatcmpl-0123456789abcdef",
            "object": "chat.completion",
            "created": 1_760_000_000,
            "model": judge,
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {"prompt_tokens": 1200, "completion_tokens": 200, "total_tokens": 1400},
        },
        separators=(",", ":"),
    ).encode()


def _page(status: int, body: bytes, headers: bytes = b"") -> bytes:
    return _PAGE % (status, b"OK" if status == 200 else b"No", len(body), headers, body)


def _shaped(body: bytes, judge: str, score: int, bracket: int) -> bytes:
    """The vote in the form that a request asks for."""
    asked = json.loads(body)
    if asked.get("tools"):
        function = asked["tools"][0]["function"]
        arguments = json.dumps(_filled(function["parameters"], score, bracket, function["parameters"]))
        call = {"id": "call_0", "type": "function", "function": {"name": function["name"], "arguments": arguments}}
        message: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [call]}
        return _envelope(judge, message, finish="tool_calls")
    schema = (asked.get("response_format") or {}).get("json_schema", {}).get("schema")
    if schema is not None:
        said = json.dumps(_filled(schema, score, bracket, schema))
    else:
        # A whole number of ten and a reason, as those ask who take their replies apart themselves.
        said = json.dumps({"score": score // 10, "reason": _REASON})
    return _envelope(judge, {"role": "assistant", "content": said})


def _filled(schema: dict[str, Any], score: int, bracket: int, root: dict[str, Any]) -> Any:  # noqa: ANN401  JSON
    """A value that fits a schema, with the vote where it has a place."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        schema = schema["anyOf"][0]
    if len(schema.get("enum", ())) == len(BRACKETS):
        return schema["enum"][bracket]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {key: _filled(value, score, bracket, root) for key, value in schema.get("properties", {}).items()}
    if kind in {"number", "integer"}:
        most = schema.get("maximum", 10 if kind == "integer" else 1)
        return int(score * most / 100) if kind == "integer" else score * most / 100
    if kind == "string":
        return _REASON
    return {"boolean": bracket > 1, "array": []}.get(str(kind))


@asynccontextmanager
async def listening(stub: Stub, *, port: int = 0, stop: asyncio.Event | None = None) -> AsyncGenerator[str]:
    """The address of a stub that serves in this event loop; ``stop`` is set by ``POST /stop``."""
    loop = asyncio.get_running_loop()
    told = stop or asyncio.Event()
    server = await loop.create_server(lambda: Connection(stub, stop=told), "127.0.0.1", port, backlog=1024)
    host, port = server.sockets[0].getsockname()[:2]
    try:
        yield f"http://{host}:{port}/v1"
    finally:
        server.close()


async def _serve(args: argparse.Namespace) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    stub = Stub(median_s=args.median_ms / 1000, sigma=args.sigma, errors=args.errors)
    async with listening(stub, port=args.port, stop=stop) as address:
        print(address, flush=True)
        await stop.wait()


def main(args: list[str]) -> None:
    """Serves until told to stop."""
    parser = argparse.ArgumentParser(description="A stub of the OpenAI chat protocol.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--median-ms", type=float, default=50.0)
    parser.add_argument("--sigma", type=float, default=0.0)
    parser.add_argument("--errors", type=float, default=0.0)
    faster = importlib.util.find_spec("uvloop") is not None
    loops = importlib.import_module("uvloop").new_event_loop if faster else None
    with asyncio.Runner(loop_factory=loops) as runner:
        runner.run(_serve(parser.parse_args(args)))


if __name__ == "__main__":
    main(sys.argv[1:])
