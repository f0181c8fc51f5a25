"""A session without files, and the fakes the product ships, for evaluators of every kind."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import anyio
import pytest

from deliberate import Session
from deliberate.library import Library

Open = Callable[..., AbstractAsyncContextManager[Session]]


@asynccontextmanager
async def turning() -> AsyncIterator[Callable[[], float]]:
    """Watch the event loop; what is yielded says for how long, at most, it was kept from turning.

    In seconds that this process computed meanwhile: a machine that is busy elsewhere keeps the loop too, and is not
    our doing.
    """
    worst = 0.0

    async def ticks() -> None:
        nonlocal worst
        while True:
            before = time.process_time()
            await anyio.sleep(0.005)
            worst = max(worst, time.process_time() - before)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ticks)
        await anyio.sleep(0.02)
        yield lambda: worst
        await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    """Opens a session on a ledger that is kept nowhere, in a home of its own; it takes the session's own arguments."""

    @asynccontextmanager
    async def open_session(**options: object) -> AsyncIterator[Session]:
        library = Library(home=tmp_path / "home", workspace=tmp_path)
        arguments = {"ledger": ":memory:", "library": library, "env": {}, **options}
        async with Session(**arguments) as session:  # type: ignore[arg-type]
            yield session

    return open_session
