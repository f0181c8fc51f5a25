"""The yardstick: aiohttp and msgspec, bounded workers over an iterator, nothing else.

As its documentation shows it; with ``--option tuned`` without cookies, with a prepared address and no default timeout.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import anyio

from benchmarks.speed.raw import asks, read, requests
from benchmarks.speed.scenario import Meter, Scenario, main


def load() -> dict[str, str]:
    """Imports the client."""
    import aiohttp

    return {"aiohttp": aiohttp.__version__}


@asynccontextmanager
async def client(scenario: Scenario) -> AsyncIterator[Callable[[Iterable[int], Meter], Awaitable[None]]]:
    """One session, as many workers as asks may be in flight."""
    import aiohttp
    import yarl

    url: Any = f"{scenario.address}/chat/completions"
    options: dict[str, Any] = {}
    if scenario.option == "tuned":
        url = yarl.URL(url)
        options = {"cookie_jar": aiohttp.DummyCookieJar(), "timeout": aiohttp.ClientTimeout(total=None)}
    headers = {"Content-Type": "application/json", "Authorization": "Bearer none"}
    body = requests(scenario)
    connector = aiohttp.TCPConnector(limit=scenario.in_flight)
    async with aiohttp.ClientSession(connector=connector, headers=headers, **options) as session:

        async def work(source: Any, meter: Meter) -> None:  # noqa: ANN401  an iterator
            for number, judge in source:
                async with session.post(url, data=body(number, judge)) as reply:
                    meter.vote(number, judge, read(await reply.read()))

        async def judge(numbers: Iterable[int], meter: Meter) -> None:
            source = asks(numbers)
            async with anyio.create_task_group() as tasks:
                for _ in range(scenario.in_flight):
                    tasks.start_soon(work, source, meter)

        yield judge


if __name__ == "__main__":
    main(load, client)
