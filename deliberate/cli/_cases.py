"""Where the cases of a run come from: walked over once before anything is paid, then read again."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import anyio.to_thread

from deliberate.errors import ConfigError
from deliberate.library.cases import Columns, Survey, read_cases, survey
from deliberate.library.plans import LoadedPlan
from deliberate.types import Case

__all__ = ["Cases", "Source"]

_AT_ONCE = 64
_CHUNK = 1024 * 1024
_INPUT = "standard input"


class Source:
    """The cases of a run, and what was found when all were walked over.

    ``names`` say where they come from, the same each time the same command is run.
    """

    def __init__(self, names: Sequence[str], found: Survey, read: partial[Iterator[Case]]) -> None:
        self.names = tuple(names)
        self.found = found
        self._read = read

    @classmethod
    def of(cls, given: Sequence[Path], loaded: LoadedPlan | None, task: str, *, spare: Path) -> Source:
        """The cases that flags name, else those of the plan.

        Args:
            given: Files and folders; ``-`` is JSON lines on standard input.
            loaded: The plan, if there is one.
            task: What was asked for, where the cases do not say it.
            spare: A folder for what comes in on standard input: it is read twice.

        Raises:
            ConfigError: There is none, or something in one of them is wrong; with file and line.
        """
        stated: Mapping[str, Any] = {} if loaded is None else loaded.plan.cases
        columns = Columns(**{name: value for name, value in stated.items() if name != "from"})
        workspace = "" if loaded is None else str(loaded.folder)
        paths = list(given)
        if not paths:
            if loaded is None or "from" not in stated:
                where = "--cases" if loaded is None else loaded.where()
                hint = "give --cases FILE|FOLDER, or a plan with cases: {from: FILE}"
                raise ConfigError("there are no cases to run", where=where, hint=hint)
            paths = [loaded.folder / str(stated["from"])]
        names = [_INPUT if path == Path("-") else str(path.absolute()) for path in paths]
        if names.count(_INPUT) > 1:
            raise ConfigError("standard input can be read once", where="--cases", expected="- once")
        heard = spare / "input.jsonl"
        at = [_spooled(heard) if name == _INPUT else path for name, path in zip(names, paths, strict=True)]
        try:
            found = survey(*at, columns=columns, task=task)
        except ConfigError as error:
            raise error.at(error.where.replace(str(heard), _INPUT)) from None
        return cls(names, found, partial(read_cases, *at, columns=columns, task=task, workspace=workspace))

    def cases(self) -> Cases:
        """The cases from the first on."""
        return Cases(self._read())


class Cases:
    """Cases one at a time, read some at once on a thread; ``row`` tells whose turn each was."""

    def __init__(self, cases: Iterator[Case]) -> None:
        self._cases = cases
        self._ahead: list[Case] = []
        self._rows: dict[str, int] = {}
        self._taken = 0

    def row(self, case: Case) -> int:
        """The number of a case that was given out, from 1; asked once for each."""
        return self._rows.pop(case.id)

    def __aiter__(self) -> AsyncIterator[Case]:
        return self

    async def __anext__(self) -> Case:
        if not self._ahead:
            self._ahead = await anyio.to_thread.run_sync(lambda: list(islice(self._cases, _AT_ONCE)))
            self._ahead.reverse()
        if not self._ahead:
            raise StopAsyncIteration
        case = self._ahead.pop()
        self._taken += 1
        self._rows[case.id] = self._taken
        return case


def _spooled(path: Path) -> Path:
    """Standard input as a file: it is walked over before it is read."""
    with path.open("xb") as file:
        while data := sys.stdin.buffer.read(_CHUNK):
            file.write(data)
    return path
