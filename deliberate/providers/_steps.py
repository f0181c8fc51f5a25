"""A local model's steps: each in a worker thread, one caller at a time."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import anyio
import anyio.to_thread

from deliberate.providers._logits import Head, Logits

__all__ = ["apart", "lane", "taken_in"]

T = TypeVar("T")

_LANE_SECONDS = 0.02


async def taken_in(model: Logits, head: Head) -> int:
    """Reads a head, a few seconds a step, and gives its tokens."""
    while True:
        tokens = await apart(lambda: model.read(head))
        if tokens is not None:
            return tokens


async def apart(work: Callable[[], T]) -> T:
    """Runs one step in a worker thread; it cannot be interrupted, so a caller who is cancelled waits for its end."""
    return await anyio.to_thread.run_sync(work)


@asynccontextmanager
async def lane(model: Logits) -> AsyncGenerator[None]:
    """The model to oneself. Sessions of one process may run on different loops, hence a lock that is asked again."""
    while not model.lane.acquire(blocking=False):  # noqa: ASYNC110  an event belongs to one loop
        await anyio.sleep(_LANE_SECONDS)
    try:
        yield
    finally:
        model.lane.release()
