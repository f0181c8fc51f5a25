"""Results of many cases into files while they come: whole or not at all, in the order of the cases."""

from __future__ import annotations

import csv
import io
import os
from array import array
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from deliberate.errors import ConfigError
from deliberate.reports import Line, case_line, encode_line, verdict_object
from deliberate.types import Case, Evaluation

__all__ = ["Results", "checked_results"]


def checked_results(path: Path) -> Path:
    """The path, if results can be written there, as far as can be told before anything is asked.

    Raises:
        ConfigError: An unknown ending, or a folder that is not there.
    """
    if path.suffix.lower() not in _LINES:
        what = f"the results of a run cannot be written as {path.name!r}"
        raise ConfigError(what, where="-o", expected=f"a name that ends in one of: {', '.join(_LINES)}")
    if not path.parent.is_dir():
        raise ConfigError(f"there is no folder {str(path.parent)!r}", where="-o", expected="a folder that exists")
    if path.is_dir():
        raise ConfigError(f"{str(path)!r} is a folder", where="-o", expected="a file")
    return path


class Results:
    """One file of results.

    Lines are written beside it as they come, ``place`` puts them in order and in its place. Of a line only where it
    begins is kept in memory.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._line = _LINES[path.suffix.lower()]
        self._spare = path.with_name(f".{path.name}.{os.getpid()}.part")
        self._file = self._tried(lambda: self._spare.open("x+b"))
        self._at: array[int] = array("q")  # row, begin, length of each line

    def add(self, row: int, case: Case, evaluation: Evaluation, *, run: str) -> None:
        """Writes the result of the row-th case."""
        data = self._line(case, evaluation, run)
        self._at.extend((row, self._file.tell(), len(data)))
        self._tried(lambda: self._file.write(data))

    def place(self) -> None:
        """Puts all lines in the order of their cases where they belong, in one step.

        Raises:
            ConfigError: They cannot be written there; the evaluations are in the ledger.
        """
        order = sorted(range(0, len(self._at), 3), key=lambda at: self._at[at])
        whole = self._path.with_name(f".{self._path.name}.{os.getpid()}.whole")
        head = _head() if self._path.suffix.lower() == ".csv" else b""

        def put() -> None:
            try:
                with whole.open("xb") as file:
                    file.write(head)
                    for at in order:
                        self._file.seek(self._at[at + 1])
                        file.write(self._file.read(self._at[at + 2]))
                    file.flush()
                    os.fsync(file.fileno())
                whole.replace(self._path)
            finally:
                whole.unlink(missing_ok=True)

        self._tried(put)

    def close(self) -> None:
        """Removes what was written beside it."""
        self._file.close()
        self._spare.unlink(missing_ok=True)

    def _tried(self, work: Callable[[], Any]) -> Any:  # noqa: ANN401  whatever the work gives
        try:
            return work()
        except OSError as error:
            what = f"cannot write the results: {error.strerror or error}"
            hint = "what was heard is in the ledger: the same command with another -o writes it"
            raise ConfigError(what, where=str(self._path), hint=hint) from None


def _json(case: Case, evaluation: Evaluation, run: str) -> bytes:
    found = msgspec.structs.asdict(verdict_object(evaluation, run=run or None))
    return encode_line({"case": case.id, "category": case.category, **found})


def _csv(case: Case, evaluation: Evaluation, run: str) -> bytes:  # noqa: ARG001  one form of several
    cells = msgspec.structs.asdict(case_line(case, evaluation)).values()
    return _row(["" if cell is None else _harmless(str(cell)) for cell in cells])


def _head() -> bytes:
    return _row(list(Line.__struct_fields__))


def _row(cells: list[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(cells)
    return text.getvalue().encode()


def _harmless(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


_LINES: Mapping[str, Callable[[Case, Evaluation, str], bytes]] = {".jsonl": _json, ".csv": _csv}
