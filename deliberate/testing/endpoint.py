"""An endpoint on loopback that speaks the OpenAI chat protocol, votes by script, and fails as told.

In a test::

    async with Endpoint(script=lambda call: "rate_limited" if call.attempt == 1 else None) as endpoint:
        settings = Settings(api_base={"openai": endpoint.address})

As a process of its own, whose first line on stdout is its address::

    python -m deliberate.testing.endpoint --port 0 --latency 0.5 --fault rate_limited=0.04 --fault reset=0.02

It votes as ``scripted`` and the judges of ``deliberate.testing.judges`` do: a model called ``good`` votes good,
``fair:40`` with that score, ``colluding`` as its ring does; any other votes by a digest of what it reads, so that the
same ask always gets the same vote, whatever went wrong before. ``GET /stats`` tells what it saw: requests, the most in
flight, connections.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import random
import sys
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Any, Self

import anyio
import msgspec
from aiohttp import web

from deliberate.errors import RefusedError, TransientProviderError
from deliberate.providers._base import Message, Provider, Request, Response
from deliberate.testing.faults import FAULTS, Call, Fault, Script, ask_of, error, mixed, named
from deliberate.testing.judges import Degraded
from deliberate.types import Record

__all__ = ["FAULTS", "Call", "Endpoint", "Fault", "Script", "Stats", "main", "mixed"]


class Stats(Record, frozen=True, kw_only=True):
    """What the endpoint saw. ``elsewhere`` counts requests that followed a redirect."""

    requests: int
    in_flight: int
    most_in_flight: int
    connections: int
    faults: int
    elsewhere: int


class Endpoint:
    """The endpoint: serves while its ``async with`` lasts.

    Args:
        script: What befalls each call; by default nothing.
        judge: Who votes; by default the scripted and the degraded judges, by the model's name.
        latency_seconds: How long each reply takes, in the middle.
        jitter: How much that varies: sigma of a log-normal distribution, 0 for not at all.
        seed: Draws latencies.
        key: Other keys get a 401.
        port: 0 takes a free one.
        keep: How many of the last calls to keep in ``calls``.
    """

    def __init__(
        self,
        script: Script | None = None,
        *,
        judge: Provider | None = None,
        latency_seconds: float = 0.0,
        jitter: float = 0.0,
        seed: int = 0,
        key: str = "",
        port: int = 0,
        keep: int = 1000,
    ) -> None:
        self._script = script
        self._judge: Provider = Degraded() if judge is None else judge
        self._latency_seconds = latency_seconds
        self._jitter = jitter
        self._seed = seed
        self._key = key
        self._port = port
        self._attempts: Counter[str] = Counter()
        self._peers: set[object] = set()
        self._requests = self._in_flight = self._most_in_flight = self._faults = self._elsewhere = 0
        self._runner: web.AppRunner | None = None
        self._idle = anyio.Event()
        self.calls: deque[Call] = deque(maxlen=keep)
        self.address = ""

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_get("/stats", self._show_stats)
        app.router.add_post("/{path:.*}", self._receive)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self._port)
        try:
            await site.start()
        except BaseException:
            await runner.cleanup()
            raise
        self._runner = runner
        self._port = runner.addresses[0][1]
        self.address = f"http://127.0.0.1:{self._port}/v1"
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def stats(self) -> Stats:
        """What it saw so far."""
        return Stats(
            requests=self._requests,
            in_flight=self._in_flight,
            most_in_flight=self._most_in_flight,
            connections=len(self._peers),
            faults=self._faults,
            elsewhere=self._elsewhere,
        )

    async def wait_idle(self) -> None:
        """Waits until no call is in flight."""
        if self._in_flight:
            await self._idle.wait()

    async def _show_stats(self, _: web.Request) -> web.Response:
        return web.Response(body=msgspec.json.encode(self.stats), content_type="application/json")

    async def _receive(self, http: web.Request) -> web.StreamResponse:
        self._requests += 1
        self._in_flight += 1
        if self._in_flight == 1:
            self._idle = anyio.Event()
        self._most_in_flight = max(self._most_in_flight, self._in_flight)
        if http.transport is not None:
            self._peers.add(http.transport.get_extra_info("peername"))
        try:
            return await self._answer(http, self._called(http, await http.read()))
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                self._idle.set()

    def _called(self, http: web.Request, raw: bytes) -> Call:
        body: dict[str, Any] = msgspec.json.decode(raw, type=dict[str, Any]) if raw else {}
        ask = ask_of(body)
        self._attempts[ask] += 1
        call = Call(number=self._requests, attempt=self._attempts[ask], path=http.path, headers=http.headers, body=body)
        self.calls.append(call)
        return call

    async def _answer(self, http: web.Request, call: Call) -> web.StreamResponse:
        if call.path.startswith("/elsewhere"):
            self._elsewhere += 1
        fault = self._fault(call)
        if fault.silent:
            await anyio.sleep_forever()
        await anyio.sleep(self._seconds(call))
        if not call.path.endswith("/chat/completions") and fault == Fault():
            return web.Response(status=404, text=error("no such path"))
        said = fault.body if fault.body is not None else await self._completion(call, fault)
        if said is None:
            return await _broken_off(http, b"", kept=0.0)
        body = b" " * fault.pad_bytes + self._filled_in(said, call).encode()
        headers = {"Content-Type": "application/json"}
        headers |= {name: self._filled_in(value, call) for name, value in fault.headers.items()}
        if fault.encoded:
            body = gzip.compress(body)
            headers["Content-Encoding"] = "gzip"
        if fault.reset:
            return await _broken_off(http, body, kept=fault.kept)
        body = body[: int(len(body) * fault.kept)]
        if fault.byte_seconds:
            return await _dripped(http, body, headers, seconds=fault.byte_seconds)
        return web.Response(status=fault.status, body=body, headers=headers)

    def _fault(self, call: Call) -> Fault:
        if self._key and call.headers.get("Authorization") != f"Bearer {self._key}":
            return FAULTS["bad_key"]
        found = self._script(call) if self._script is not None else None
        fault = named(found) if isinstance(found, str) else found
        if fault is None or (fault.refuses and fault.refuses not in call.body):
            return Fault()
        self._faults += 1
        return fault

    def _seconds(self, call: Call) -> float:
        if not self._jitter:
            return self._latency_seconds
        chance = random.Random(f"{self._seed}\n{call.attempt}\n{ask_of(call.body)}")
        return self._latency_seconds * chance.lognormvariate(0.0, self._jitter)

    async def _completion(self, call: Call, fault: Fault) -> str | None:
        """The completion as JSON; None if the judge breaks off."""
        try:
            response = await self._voted(call)
        except TransientProviderError:
            return None
        text = response.text.replace(*fault.swap, 1) if fault.swap[0] else response.text
        text = text if fault.content is None else fault.content.replace("{vote}", text)
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if response.finish == "refused":
            message |= {"content": None, "refusal": text}
        message |= fault.message
        if message["content"] == "parts":
            half = len(text) // 2
            message["content"] = [{"type": "text", "text": piece} for piece in (text[:half], text[half:])]
        finish = fault.finish or {"length": "length"}.get(response.finish, "stop")
        completion = {
            "id": f"chatcmpl-{call.number}",
            "object": "chat.completion",
            "created": 0,
            "model": call.body.get("model"),
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {
                "prompt_tokens": response.usage.tokens_in,
                "completion_tokens": response.usage.tokens_out,
                "total_tokens": response.usage.tokens_in + response.usage.tokens_out,
            },
        }
        # The standard library writes lone surrogates, as careless endpoints do.
        return json.dumps({**completion, **fault.envelope})

    async def _voted(self, call: Call) -> Response:
        request = _request_of(call.body)
        try:
            return await self._judge.complete(request)
        except RefusedError:
            return await self._judge.complete(msgspec.structs.replace(request, model=f"{request.model}/seeded"))

    def _filled_in(self, text: str, call: Call) -> str:
        key = call.headers.get("Authorization", "").removeprefix("Bearer ")
        return text.replace("{key}", key).replace("{elsewhere}", f"http://localhost:{self._port}/elsewhere")


async def _broken_off(http: web.Request, body: bytes, *, kept: float) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(body) + 1)})
    await response.prepare(http)
    await response.write(body[: int(len(body) * kept)])
    if http.transport is not None:
        http.transport.abort()
    return response


async def _dripped(http: web.Request, body: bytes, headers: Mapping[str, str], *, seconds: float) -> web.StreamResponse:
    response = web.StreamResponse(headers=headers)  # of unknown length: it comes in chunks
    await response.prepare(http)
    for at in range(len(body)):
        await response.write(body[at : at + 1])
        await anyio.sleep(seconds)
    return response


def _message(message: Mapping[str, Any]) -> Message:
    said: str | Sequence[Mapping[str, str]] = message.get("content") or ""
    text = said if isinstance(said, str) else "".join(part.get("text", "") for part in said)
    role = message.get("role")
    return Message(role="assistant" if role == "assistant" else "user" if role == "user" else "system", content=text)


def _request_of(body: Mapping[str, Any]) -> Request:
    form: Mapping[str, Any] = body.get("response_format") or {}
    return Request(
        model=f"scripted/{body.get('model', '')}",
        messages=tuple(_message(message) for message in body.get("messages") or ()),
        schema=form.get("json_schema", {}).get("schema"),
        temperature=body.get("temperature"),
        max_tokens=body.get("max_completion_tokens", body.get("max_tokens", 2000)),
        seed=body.get("seed"),
        deadline_seconds=3600.0,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Serves until it is ended, after one line on stdout: the address."""
    parser = argparse.ArgumentParser(
        prog="python -m deliberate.testing.endpoint", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS", help="how long a reply takes")
    parser.add_argument("--jitter", type=float, default=0.0, metavar="SIGMA", help="how much that varies (log-normal)")
    parser.add_argument("--seed", type=int, default=0, help="draws latencies and faults")
    parser.add_argument("--key", default="", help="the only key that is taken")
    parser.add_argument(
        "--fault", action="append", default=[], type=_share, metavar="NAME=SHARE", help="may be repeated"
    )
    parser.add_argument("--every-attempt", action="store_true", help="faults befall retries too")
    given = parser.parse_args(arguments)
    faults: list[tuple[str, float]] = given.fault
    try:
        script = mixed(dict(faults), seed=given.seed, first_attempts_only=not given.every_attempt)
    except ValueError as error:
        parser.error(str(error))
    endpoint = Endpoint(
        script,
        latency_seconds=given.latency,
        jitter=given.jitter,
        seed=given.seed,
        key=given.key,
        port=given.port,
    )
    with contextlib.suppress(KeyboardInterrupt):
        anyio.run(_serve, endpoint)


def _share(text: str) -> tuple[str, float]:
    name, _, share = text.partition("=")
    return name, float(share or 1)


async def _serve(endpoint: Endpoint) -> None:
    async with endpoint:
        sys.stdout.write(f"{endpoint.address}\n")
        sys.stdout.flush()
        await anyio.sleep_forever()


if __name__ == "__main__":
    main()
