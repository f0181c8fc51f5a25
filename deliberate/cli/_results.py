"""Results of many cases into files while they come: whole or not at all, in the order of the cases."""

from __future__ import annotations

import os
import shutil
from array import array
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

from deliberate.errors import ConfigError, MissingExtra, ReportError
from deliberate.reports import Line
from deliberate.reports.run_objects import DoneObject
from deliberate.reports.runs import RUN_FORMS
from deliberate.types import Case, Evaluation

__all__ = ["Results", "checked_results", "placed"]


def checked_results(path: Path) -> Path:
    """The path, if results can be written there, as far as can be told before anything is asked.

    Raises:
        ConfigError: An unknown ending, or a folder that is not there.
        MissingExtra: What writes such a file is not installed.
    """
    ending = _ending(path)
    if not ending:
        what = f"the results of a run cannot be written as {path.name!r}"
        raise ConfigError(what, where="-o", expected=f"a name that ends in one of: {', '.join(RUN_FORMS)}")
    if not path.parent.is_dir():
        raise ConfigError(f"there is no folder {str(path.parent)!r}", where="-o", expected="a folder that exists")
    if path.is_dir():
        raise ConfigError(f"{str(path)!r} is a folder", where="-o", expected="a file")
    if ending == _PARQUET and find_spec("duckdb") is None:
        raise MissingExtra("parquet", need=f"writing {path.name}")
    return path


class Results:
    """One file of results.

    Lines are written beside it as they come, ``place`` puts them in order and in its place. Of a line only where it
    begins is kept in memory. A line that cannot be written spoils the file and nothing else: ``place`` says so.

    Raises:
        ConfigError: Nothing can be written there; nothing was asked yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ending = _ending(path)
        self._form = RUN_FORMS[self._ending]
        self._spare = path.with_name(f".{path.name}.{os.getpid()}.part")
        self._broken: OSError | None = None
        self._at: array[int] = array("q")  # row, begin, length of each line
        try:
            self._file = self._spare.open("x+b")
        except OSError as error:
            what = f"cannot write the results: {error.strerror or error}"
            raise ConfigError(what, where=str(path), expected="a file in a folder that can be written to") from None

    def add(self, row: int, case: Case, evaluation: Evaluation, *, run: str) -> None:
        """Writes the result of the row-th case."""
        data = self._form.line(case, evaluation, run)
        if not data or self._broken is not None:
            return
        try:
            begin = self._file.tell()
            self._file.write(data)
        except OSError as error:
            self._broken = error
        else:
            self._at.extend((row, begin, len(data)))

    def place(self, done: DoneObject, *, again: str = "") -> None:
        """Puts all lines in the order of their cases where they belong, in one step.

        Args:
            done: How the run ended.
            again: The command that writes them again.

        Raises:
            ReportError: They cannot be written there; the evaluations are in the ledger.
        """
        whole = self.path.with_name(f".{self.path.name}.{os.getpid()}.whole")
        try:
            if self._broken is not None:
                raise self._broken
            with whole.open("xb") as file:
                self.copy(file, done)
                file.flush()
                os.fsync(file.fileno())
            if self._ending == _PARQUET:
                _as_parquet(whole)
            whole.replace(self.path)
        except OSError as error:
            what = f"cannot write the results: {error.strerror or error}"
            raise ReportError(what, where=str(self.path), again=again) from None
        finally:
            whole.unlink(missing_ok=True)

    def copy(self, file: BinaryIO, done: DoneObject) -> None:
        """Writes the whole into an open file."""
        order = sorted(range(0, len(self._at), 3), key=lambda at: self._at[at])
        head, foot = self._form.around(done, len(order))
        file.write(head)
        for at in order:
            self._file.seek(self._at[at + 1])
            file.write(self._file.read(self._at[at + 2]))
        file.write(foot)

    def close(self) -> None:
        """Removes what was written beside it."""
        with suppress(OSError):  # what could not be written then cannot be written now: ``place`` said it
            self._file.close()
        self._spare.unlink(missing_ok=True)


def placed(results: Sequence[Results], done: DoneObject, *, again: str = "") -> ReportError | None:
    """Puts every file where it belongs; the first error, after all others are there."""
    errors: list[ReportError] = []
    for one in results:
        try:
            one.place(done, again=again)
        except ReportError as error:
            errors.append(error)
    return errors[0] if errors else None


_PARQUET = ".parquet"
_ROWS_AT_ONCE = 20_000
_KINDS = {
    "score": "DOUBLE",
    "normalized": "DOUBLE",
    "cost_usd": "DOUBLE",
    "voted": "INT",
    "seats": "INT",
    "calls": "INT",
}


def _as_parquet(path: Path) -> None:
    """Turns a file of JSON lines into one of Parquet, a group of rows at a time."""
    import duckdb

    made = path.with_suffix(".made")
    columns = ", ".join(f"'{name}': '{_KINDS.get(name, 'VARCHAR')}'" for name in Line.__struct_fields__)
    options: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": False,  # nothing is fetched
        "autoload_known_extensions": False,
        "memory_limit": "256MB",
        "threads": 1,
    }
    try:
        with duckdb.connect(":memory:", config=options) as connection:
            rows = f"SELECT * FROM read_json(?, format = 'newline_delimited', columns = {{{columns}}})"  # noqa: S608  our own names
            target = str(made.absolute()).replace("'", "''")
            copy = f"COPY ({rows}) TO '{target}' (FORMAT parquet, ROW_GROUP_SIZE {_ROWS_AT_ONCE})"
            connection.execute(copy, [_no_pattern(path)])
        shutil.move(made, path)
    except duckdb.Error as error:
        raise OSError(str(error).splitlines()[0]) from None
    finally:
        made.unlink(missing_ok=True)


def _no_pattern(path: Path) -> str:
    """The path as duckdb reads it: no pattern of several files."""
    return str(path.absolute()).translate({ord(sign): f"[{sign}]" for sign in "*?["})


def _ending(path: Path) -> str:
    name = path.name.lower()
    return next((ending for ending in RUN_FORMS if name.endswith(ending) and name != ending), "")
