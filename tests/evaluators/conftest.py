"""A session without files, and the fakes the product ships, for evaluators of every kind."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from deliberate import Session
from deliberate.library import Library

Open = Callable[..., AbstractAsyncContextManager[Session]]


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
