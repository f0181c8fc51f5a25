"""The runs of a session: begun, gone on with, ended; never two of one name at once, never one made of two things."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from deliberate.engine._identity import last_run, refuse_changed
from deliberate.ledger import Ledger, Run
from deliberate.types import Event, Param, RunEnded, RunStarted, digest_of

__all__ = ["Ended", "Runs"]

Ended = Literal["ok", "incomplete", "interrupted"]


class Runs:
    """What a session executes, by name.

    Args:
        emit: Told when a run begins and ends.
        source: What whoever repeats a run repeats; "" where nobody does.
        fresh: Whether to ask anew (``Session``).
        exclusive: Whether a name is this process's alone.
    """

    def __init__(self, emit: Callable[[Event], None], *, source: str, fresh: bool | str, exclusive: bool) -> None:
        self._emit = emit
        self._source = source
        self._fresh = fresh
        self._exclusive = exclusive
        self._last: Run | None = None
        self._begun = 0

    async def token(self, ledger: str | Path) -> bool | str:
        """What is asked anew: everything, or what the last run of the same source did."""
        if self._source and self._fresh is False:
            self._last = await last_run(str(ledger), self._source)
        token = "" if self._last is None else self._last.config.get("fresh")
        return token if isinstance(token, str) and token else self._fresh

    async def begin(self, ledger: Ledger, name: str, config: Mapping[str, Param] | None = None) -> str:
        """Begins the run of that name, or goes on with it; gives its id."""
        self._begun += 1
        if not self._exclusive:
            name = f"{name}.{os.getpid()}.{id(self):x}.{self._begun}"
        run = await ledger.begin(name, config or {"format": 1}, alone=self._exclusive)
        self._emit(RunStarted(run=run, plan_digest=name))
        return run

    async def begin_many(self, ledger: Ledger, identity: Mapping[str, str]) -> str:
        """Begins the run of many cases that is made of these; gives its id.

        Raises:
            ConfigError: The last run of this source did not end, and was made of something else.
        """
        refuse_changed(self._last, identity)
        config: dict[str, Param] = {
            "format": 1,
            "source": self._source,
            "identity": dict(identity),
            "fresh": ledger.fresh,
        }
        return await self.begin(ledger, digest_of(["stream", identity, self._source]), config)

    async def end(self, ledger: Ledger, run: str, status: Ended) -> None:
        """Ends a run that has not ended with its result, after whatever it put into the ledger; tells of it."""
        if ledger.is_open(run):
            await ledger.end(run, status)
        self._emit(RunEnded(run=run, status=status))
