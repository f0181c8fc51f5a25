"""Many cases from one place or several: JSON Lines, CSV, Parquet, or a folder.

Rows are read one at a time and twice: ``survey`` walks all of them before anything is paid, so that a bad row is one
clear error with its file and line; ``read_cases`` gives them out. Neither keeps them.
"""

from __future__ import annotations

import csv
import unicodedata
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from deliberate.errors import ConfigError, MissingExtra
from deliberate.library._files import MOST_BYTES, listed, read_text
from deliberate.types import Case, Record

__all__ = ["ENDINGS", "Columns", "Survey", "read_cases", "survey"]

ENDINGS = (".jsonl", ".ndjson", ".csv", ".parquet")
"""The endings of files of cases; anything else is a folder, or an error."""

_MOST_ROW_BYTES = 8 * MOST_BYTES
"""Of one line: output, task and reference of 1 MiB each, escaped."""

_MOST_ID = 200
_ROWS_AT_ONCE = 256
_TEXTS = ("output", "task", "reference", "category")


class Columns(Record, frozen=True, kw_only=True):
    """Which column says what; None means the column of that name, where there is one.

    A column that is named must be in every row. Without a column for ids, a case's id is its row's number.
    """

    id: str | None = None
    task: str | None = None
    output: str | None = None
    reference: str | None = None
    category: str | None = None


class Survey(NamedTuple):
    """What was found in a walk over all cases: how many, the first, and their sizes in characters, summed."""

    cases: int
    first: Case
    output: int
    task: int
    reference: int

    @property
    def typical(self) -> Case:
        """A case as long as they are on average: what it takes, times their number, is what all take."""
        reference = None if self.first.reference is None else "x" * round(self.reference / self.cases)
        return msgspec.structs.replace(
            self.first,
            output="x" * round(self.output / self.cases),
            task="x" * round(self.task / self.cases),
            reference=reference,
        )


class _Row(NamedTuple):
    where: str
    number: int
    fields: Mapping[str, Any]


def survey(*paths: Path, columns: Columns | None = None, task: str = "") -> Survey:
    """Walks over all cases, and reads each as it will be read.

    Args:
        *paths: Files or folders; one at least.
        columns: Which column says what.
        task: What was asked for, where the rows do not say it.

    Raises:
        ConfigError: A row is none, two have the same id, or there is none at all; with file and line.
        MissingExtra: What reads such a file is not installed.
    """
    seen: set[int] = set()  # hashes: eight bytes a case, not its text
    sizes = array("q", (0, 0, 0, 0))
    first: Case | None = None
    for row, case in _cases(paths, columns or Columns(), task):
        mark = hash(_same(case.id))
        if mark in seen:
            _refuse_twice(paths, columns or Columns(), task, row=row, same=_same(case.id))
        seen.add(mark)
        first = first or case
        for at, size in enumerate((1, len(case.output), len(case.task), len(case.reference or ""))):
            sizes[at] += size
    if first is None:
        raise ConfigError("there is no case in it", where=", ".join(map(str, paths)), expected="at least one")
    return Survey(sizes[0], first, *sizes[1:])


def read_cases(*paths: Path, columns: Columns | None = None, task: str = "", workspace: str = "") -> Iterator[Case]:
    """The cases in files or folders, one at a time, in their order (as ``survey``).

    Args:
        *paths: Each is a file that ends in one of ``ENDINGS``, or a folder: each file in it is an output; each folder
            in it is a case of files ``output.*`` and, where there are such, ``task.*`` and ``reference.*``.
        columns: Which column says what.
        task: What was asked for, where the rows do not say it.
        workspace: The folder that evaluators work in.

    Raises:
        ConfigError: A row is none; with file and line.
        MissingExtra: What reads such a file is not installed.
    """
    for _, case in _cases(paths, columns or Columns(), task):
        yield msgspec.structs.replace(case, workspace=workspace)


def _cases(paths: Sequence[Path], columns: Columns, task: str) -> Iterator[tuple[_Row, Case]]:
    """All rows; those of a second file are numbered on, so that two without ids have no id in common."""
    before = last = 0
    for path in paths:
        for row in _rows(path, columns):
            last = before + row.number
            numbered = row._replace(number=last)
            yield numbered, _case(numbered, columns, task)
        before = last


def _rows(path: Path, columns: Columns) -> Iterator[_Row]:
    if path.is_dir():
        if any(getattr(columns, name) is not None for name in columns.__struct_fields__):
            raise ConfigError("a folder has no columns", where=str(path), hint="leave id, task, output … out")
        return _of_folder(path)
    readers = {".csv": _of_csv, ".parquet": _of_parquet, ".jsonl": _of_lines, ".ndjson": _of_lines}
    reader = readers.get(path.suffix.lower())
    if not path.exists():
        raise ConfigError("there is no such file or folder", where=str(path))
    if reader is None:
        what = f"cases cannot be read from {path.suffix or 'a file without an ending'}"
        raise ConfigError(what, where=str(path), expected=f"a folder, or one of {', '.join(ENDINGS)}")
    return reader(path)


# --- a row into a case -----------------------------------------------------------------------------


def _case(row: _Row, columns: Columns, task: str) -> Case:
    found = {name: _text(row, getattr(columns, name), name) for name in _TEXTS}
    if found["output"] is None:
        column = columns.output or "output"
        raise ConfigError(
            f"{column!r} is null" if column in row.fields else f"there is no {column!r} in this row",
            where=row.where,
            expected="the text to judge",
            hint=f"it has: {', '.join(row.fields) or 'nothing'}; cases: {{output: COLUMN}} names another",
        )
    return Case(
        id=_id(row, columns.id),
        output=found["output"],
        task=found["task"] or task,
        reference=found["reference"],
        category=found["category"] or None,
    )


def _text(row: _Row, column: str | None, name: str) -> str | None:
    if column is not None and column not in row.fields:
        known = ", ".join(row.fields) or "nothing"
        raise ConfigError(
            f"there is no {column!r} in this row", where=row.where, expected=f"one of what it has: {known}"
        )
    value = row.fields.get(column or name)
    if value is None:
        return None
    if not isinstance(value, str):
        what = f"{column or name!r} is no text ({type(value).__name__})"
        raise ConfigError(what, where=row.where, expected="text, in quotes")
    if len(value.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise ConfigError(f"{column or name!r} is larger than 1 MiB", where=row.where, expected="at most 1 MiB")
    if "\0" in value or (not value.isascii() and value != value.encode("utf-8", "replace").decode()):
        what = f"{column or name!r} holds signs that are no text (NUL, or half a surrogate pair)"
        raise ConfigError(what, where=row.where, expected="text")
    return value


def _id(row: _Row, column: str | None) -> str:
    if column is not None and column not in row.fields:
        known = ", ".join(row.fields) or "nothing"
        raise ConfigError(
            f"there is no {column!r} in this row", where=row.where, expected=f"one of what it has: {known}"
        )
    value = row.fields.get(column or "id")
    if value is None and column is None:
        return str(row.number)
    name = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(name, str) or not name.strip() or len(name) > _MOST_ID or not name.isprintable():
        what = f"{value!r:.80} is no id"
        raise ConfigError(what, where=row.where, expected=f"1 to {_MOST_ID} signs on one line, or a whole number")
    return name.strip()


def _same(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _refuse_twice(paths: Sequence[Path], columns: Columns, task: str, *, row: _Row, same: str) -> None:
    for other, case in _cases(paths, columns, task):
        if other.number == row.number:
            return  # two ids with one hash: they are not the same
        if _same(case.id) == same:
            raise ConfigError(f"id {same!r} is used twice", where=row.where, hint=f"the first is at {other.where}")


# --- the forms of files ----------------------------------------------------------------------------


def _of_lines(path: Path) -> Iterator[_Row]:
    decode = msgspec.json.Decoder(dict[str, Any]).decode
    with closing(_opened(path)) as file:
        number = 0
        for line in iter(lambda: file.readline(_MOST_ROW_BYTES + 1), b""):
            number += 1
            where = f"{path}:{number}"
            if len(line) > _MOST_ROW_BYTES:
                raise ConfigError("this line is larger than 8 MiB", where=where, expected="one JSON object a line")
            text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if not text.strip():
                continue
            try:
                fields = decode(text)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise ConfigError(f"this line is no JSON object: {error}", where=where, expected="{…}") from None
            yield _Row(where, number, fields)


def _of_csv(path: Path) -> Iterator[_Row]:
    with closing(_opened(path)) as binary:
        import io  # noqa: PLC0415  only here

        with io.TextIOWrapper(binary, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            heads: Sequence[str] | None = None
            number = 0
            while True:
                where = f"{path}:{reader.line_num + 1}"
                try:
                    cells = _next(reader)
                except (csv.Error, UnicodeDecodeError) as error:
                    raise ConfigError(f"cannot be read as CSV: {error}", where=where, expected="UTF-8 CSV") from None
                if cells is None:
                    return
                if not cells:
                    continue
                if heads is None:
                    heads = _heads(cells, where)
                    continue
                number += 1
                if len(cells) != len(heads):
                    what = f"this row has {len(cells)} cells"
                    raise ConfigError(what, where=where, expected=f"{len(heads)}, as the first line has")
                yield _Row(where, number, dict(zip(heads, cells, strict=True)))


def _next(reader: Iterator[list[str]]) -> list[str] | None:
    """The next row; the module's own limit of a cell, which is everybody's, is ours only meanwhile."""
    before = csv.field_size_limit(_MOST_ROW_BYTES)
    try:
        return next(reader, None)
    finally:
        csv.field_size_limit(before)


def _heads(cells: Sequence[str], where: str) -> Sequence[str]:
    twice = sorted({cell for cell in cells if cells.count(cell) > 1})
    if twice:
        raise ConfigError(f"column {twice[0]!r} stands there twice", where=where, expected="each once")
    return cells


def _of_parquet(path: Path) -> Iterator[_Row]:
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("parquet", need=f"reading {path.name}") from None
    with closing(_opened(path)):
        pass  # it is a file that can be read, and no link
    name = str(path.absolute()).translate({ord(sign): f"[{sign}]" for sign in "*?["})  # no pattern of files
    options: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": False,  # nothing is fetched
        "autoload_known_extensions": False,
    }
    with duckdb.connect(":memory:", config=options) as connection:
        try:
            found = connection.execute("SELECT * FROM read_parquet(?)", [name])
            heads = [str(column[0]) for column in found.description or ()]
            number = 0
            while rows := found.fetchmany(_ROWS_AT_ONCE):
                for cells in rows:
                    number += 1
                    yield _Row(f"{path}: row {number}", number, dict(zip(heads, cells, strict=True)))
        except duckdb.Error as error:
            said = str(error).splitlines()[0]
            raise ConfigError(f"cannot be read as Parquet: {said}", where=str(path)) from None


def _of_folder(folder: Path) -> Iterator[_Row]:
    number = 0
    for path in listed(folder):
        if path.name.startswith("."):
            continue
        number += 1
        fields = {"id": path.name, "output": read_text(path)} if not path.is_dir() else _of_case(path)
        yield _Row(str(path), number, fields)


def _of_case(folder: Path) -> Mapping[str, str]:
    found: dict[str, str] = {"id": folder.name}
    if folder.is_symlink():
        raise ConfigError(
            "is a symbolic link", where=str(folder), expected="a folder", hint="put the folder itself here"
        )
    for path in listed(folder):
        if path.stem in ("output", "task", "reference"):
            if path.stem in found:
                raise ConfigError(f"there are two files called {path.stem}", where=str(path), expected="one")
            found[path.stem] = read_text(path)
    if "output" not in found:
        raise ConfigError("there is no file output.* in it", where=str(folder), expected="one, with the text to judge")
    return found


def _opened(path: Path) -> Any:  # noqa: ANN401  a binary file
    try:
        return path.open("rb")
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", where=str(path)) from None
