"""The floor: a hand-written HTTP/1.1 client on ``asyncio.Protocol``, one ask at a time on each connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, cast
from urllib.parse import urlsplit

import anyio

from benchmarks.speed.raw import asks, read, requests
from benchmarks.speed.scenario import Meter, Scenario, main


class Wire(asyncio.Protocol):
    """One connection."""

    def __init__(self, head: bytes) -> None:
        self._head = head
        self._buffer = bytearray()
        self._heard: asyncio.Future[bytes] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keeps the way out."""
        self._transport = cast("asyncio.Transport", transport)
        self._loop = asyncio.get_running_loop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Whoever waits is told."""
        if self._heard is not None and not self._heard.done():
            self._heard.set_exception(exc or ConnectionError("closed"))

    def data_received(self, data: bytes) -> None:
        """Hands a reply over once it is whole."""
        buffer = self._buffer
        buffer += data
        end = buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        at = buffer.find(b"Content-Length: ", 0, end) + 16
        whole = end + 4 + int(buffer[at : buffer.find(b"\r", at)])
        if len(buffer) >= whole and self._heard is not None:
            body = bytes(buffer[end + 4 : whole])
            buffer.clear()
            self._heard.set_result(body)

    async def ask(self, body: bytes) -> bytes:
        """The body of the reply."""
        self._heard = self._loop.create_future()
        self._transport.write(b"%sContent-Length: %d\r\n\r\n%s" % (self._head, len(body), body))
        return await self._heard

    def close(self) -> None:
        """Hangs up."""
        self._transport.close()


def load() -> dict[str, str]:
    """What it stands on is imported above."""
    return {"msgspec": __import__("msgspec").__version__}


@asynccontextmanager
async def client(scenario: Scenario) -> AsyncIterator[Callable[[Iterable[int], Meter], Awaitable[None]]]:
    """Workers, each with its own connection."""
    where = urlsplit(scenario.address)
    head = f"POST {where.path}/chat/completions HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Type: application/json\r\n"
    body = requests(scenario)
    loop = asyncio.get_running_loop()
    wires: list[Wire] = []

    async def work(wire: Wire, source: Any, meter: Meter) -> None:  # noqa: ANN401  an iterator
        for number, judge in source:
            meter.vote(number, judge, read(await wire.ask(body(number, judge))))

    async def judge(numbers: Iterable[int], meter: Meter) -> None:
        source = asks(numbers)
        async with anyio.create_task_group() as tasks:
            for wire in wires:
                tasks.start_soon(work, wire, source, meter)

    try:
        for _ in range(scenario.in_flight):
            _, wire = await loop.create_connection(lambda: Wire(head.encode()), where.hostname or "", where.port or 80)
            wires.append(wire)
        yield judge
    finally:
        for wire in wires:
            wire.close()


if __name__ == "__main__":
    main(load, client)
