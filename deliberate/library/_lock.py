"""A lock between processes: whoever comes second waits, and finds the work done.

The system frees it when its holder dies, however that was. It waits by asking again, so that waiting can be
cancelled.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

import anyio

__all__ = ["held"]

_AGAIN_SECONDS = 0.2

if sys.platform == "win32":
    import msvcrt

    def _taken(file: IO[bytes]) -> bool:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _taken(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@asynccontextmanager
async def held(path: Path, *, waiting: Callable[[], None]) -> AsyncGenerator[None]:
    """Holds the lock on a file, made if it is not there; says once that it is ``waiting``."""
    with path.open("ab") as file:
        told = False
        while not _taken(file):
            if not told:
                told = True
                waiting()
            await anyio.sleep(_AGAIN_SECONDS)
        yield
