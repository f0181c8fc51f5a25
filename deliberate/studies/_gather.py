"""Rows of votes as they come in, reduced to numbers: one pass, and a few bytes a vote.

Of a vote are kept the number of its item (4 bytes), of its label (2), of its repeat and order (2), and, where the row
says so, its seconds (4) and dollars (8): 20 bytes at the most, in arrays of each rater. Names of items, raters and
labels are kept once each.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, cast

import msgspec

from deliberate.errors import ConfigError
from deliberate.studies._rows import rows_in
from deliberate.studies._scale import label_of
from deliberate.types import Record, bracket_of

__all__ = ["Cast", "Columns", "Gathered", "Origin"]

_MOST_LABELS = 1000
_MOST_SHOWINGS = 65_535


class Columns(Record, frozen=True, kw_only=True):
    """What the columns are called; "" where there is none.

    Attributes:
        gold: A label that is right, the same on every row of an item.
        human: A list of the votes of people, the same on every row of an item.
        length: How long the output is; or its text, whose characters are counted.
    """

    item: str = "item"
    rater: str = "rater"
    kind: str = "kind"
    vote: str = "vote"
    score: str = "score"
    rep: str = "rep"
    order: str = "order"
    status: str = "status"
    gold: str = ""
    human: str = ""
    latency: str = "latency_seconds"
    cost: str = "cost_usd"
    length: str = "length"


class Origin(NamedTuple):
    """Where votes of a judge come from: what a calibration holds for, as far as the rows say.

    Attributes:
        judge: Digest of the judge: model, persona, settings; "" where only its name is known.
        rubric: Its name; ``rubric_digest``: "" where only the name is known.
        version: The model that answered, in the provider's words.
    """

    judge: str
    rubric: str
    rubric_digest: str
    version: str


class Cast:
    """All votes of one rater, in the order of the rows: numbers of items, labels and showings."""

    __slots__ = ("dollars", "items", "labels", "origins", "seconds", "shown")

    def __init__(self) -> None:
        self.items = array("i")
        self.labels = array("h")
        self.shown = array("H")
        self.seconds = array("f")
        self.dollars = array("d")
        self.origins: set[Origin] = set()


class _Labels:
    """Labels as codes, and where each was first seen."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}
        self.lines: list[int] = []

    def code(self, value: object, line: int, where: str) -> int:
        """The code of a label; −1 if there is none."""
        if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
            return -1
        text = label_of(value)
        found = self.codes.get(text)
        if found is None:
            if len(self.codes) >= _MOST_LABELS:
                expected = f"at most {_MOST_LABELS} different labels"
                raise ConfigError("too many different votes", where=f"{where}:{line}", expected=expected)
            found = self.codes[text] = len(self.lines)
            self.lines.append(line)
        return found


class Gathered:
    """Rows as they come in, reduced to numbers.

    Attributes:
        items, raters: Names, each with its number or its votes, in order of first appearance.
        human: Raters who are people.
        panels: Raters who are panels, each by its verdict.
        showings: Each repeat and order that occurs, with its number.
    """

    def __init__(self, columns: Columns, *, where: str, humans: Sequence[str] = ()) -> None:
        self.columns = columns
        self.where = where
        self.labels = _Labels()
        self.items: dict[str, int] = {}
        self.raters: dict[str, Cast] = {}
        self.human: set[str] = set(humans)
        self.panels: set[str] = set()
        self.showings: dict[tuple[int, str], int] = {(0, ""): 0}
        self.gold: dict[int, int] = {}
        self.lists: dict[int, tuple[int, ...]] = {}
        self.length: dict[int, float] = {}

    def add(self, row: Mapping[str, object], line: int, *, columns: Columns | None = None) -> None:
        """Takes one row; ``columns`` where it does not have those of the file.

        Raises:
            ConfigError: It has no item or no rater; the message names file, line and column.
        """
        names = columns or self.columns
        item = self._needed(row, names.item, line, "--item")
        rater = self._needed(row, names.rater, line, "--rater")
        at = self.items.setdefault(item, len(self.items))
        votes = self.raters.get(rater)
        if votes is None:
            votes = self.raters[rater] = Cast()
        kind = row.get(names.kind)
        if kind in _NO_JUDGES:
            (self.human if kind == "human" else self.panels).add(rater)
        vote = row.get(names.vote)
        if (vote is None or vote == "") and row.get(names.score) not in _NOTHING:
            vote = _bracket(row[names.score], f"{self.where}:{line}")
        voted = (row.get(names.status) or "voted") == "voted"
        votes.items.append(at)
        votes.labels.append(self.labels.code(vote, line, self.where) if voted else -1)
        votes.shown.append(self._shown(row.get(names.rep), row.get(names.order), line))
        _put(votes.seconds, row.get(names.latency))
        _put(votes.dollars, row.get(names.cost))
        version = row.get("version")
        if version:
            judge, rubric, digest = (str(row.get(name) or "") for name in ("judge", "rubric", "rubric_digest"))
            votes.origins.add(Origin(judge, rubric, digest, str(version)))
        self._of_item(row, at, line, names)

    def read(self, path: Path) -> None:
        """Takes every row of a file.

        Raises:
            ConfigError: It cannot be read, or a column is missing.
            MissingExtra: duckdb is not installed, for Parquet.
        """
        with closing(rows_in(path)) as rows:
            for line, row in rows:
                self.add(row, line)

    def _shown(self, rep: object, order: object, line: int) -> int:
        if rep in _FIRST and order in _NOTHING:
            return 0
        key = (_whole(rep), str(order or ""))
        found = self.showings.get(key)
        if found is None:
            if len(self.showings) > _MOST_SHOWINGS:
                expected = f"at most {_MOST_SHOWINGS} different repeats and orders"
                raise ConfigError("too many repeats", where=f"{self.where}:{line}", expected=expected)
            found = self.showings[key] = len(self.showings)
        return found

    def _of_item(self, row: Mapping[str, object], at: int, line: int, names: Columns) -> None:
        if names.gold and at not in self.gold:
            self.gold[at] = self.labels.code(row.get(names.gold), line, self.where)
        if names.human and at not in self.lists:
            listed = self._list(row.get(names.human), line)
            self.lists[at] = tuple(self.labels.code(one, line, self.where) for one in listed)
        if names.length and at not in self.length and row.get(names.length) not in _NOTHING:
            value = row[names.length]
            number = _number(value)
            self.length[at] = float(len(str(value))) if math.isnan(number) else number

    def _list(self, value: object, line: int) -> list[object]:
        """A list, or the JSON of one."""
        try:
            return msgspec.convert(msgspec.json.decode(value) if isinstance(value, str) else value or [], list[object])
        except msgspec.MsgspecError:
            where, expected = f"{self.where}:{line}", "a list of votes, as in [2, 3, 2]"
            raise ConfigError(f"column {self.columns.human!r}", where=where, expected=expected) from None

    def _needed(self, row: Mapping[str, object], name: str, line: int, flag: str) -> str:
        found = row.get(name)
        if found is None or found == "":
            known = ", ".join(row)
            if flag == "--rater" and self._wide(row):
                raise ConfigError(
                    f"no {name!r}, only {known}",
                    where=f"{self.where}:{line}",
                    expected=f"one vote a row, in columns {self.columns.item}, {name}, {self.columns.vote}",
                    hint=f"make a row of each rater's column (in pandas: frame.melt('{self.columns.item}', "
                    f"var_name='{name}', value_name='{self.columns.vote}')) and name people with --human; if votes "
                    "stand under other names, --rater and --vote say so",
                )
            raise ConfigError(
                f"no {name!r}", where=f"{self.where}:{line}", expected=f"one of: {known}", hint=f"name it with {flag}"
            )
        return str(found)

    def _wide(self, row: Mapping[str, object]) -> bool:
        """Whether the row looks like an item with a column for each rater."""
        names = self.columns
        return len(row) > _FEWEST_WIDE and not {names.rater, names.vote, names.score} & set(row)


_NOTHING = (None, "")
_NO_JUDGES = ("human", "panel")
_FIRST = (None, "", 0, "0")
_FEWEST_WIDE = 2  # columns: an item and one more may be anything


def _put(numbers: array[float], value: object) -> None:
    """Adds what is a number; where there is none, nothing is kept."""
    if value is not None and value != "":
        number = _number(value)
        if not math.isnan(number):
            numbers.append(number)


def _bracket(value: object, where: str) -> str:
    try:
        return bracket_of(float(cast("float", value))).label.lower()
    except (TypeError, ValueError):
        raise ConfigError(f"score {value!r}", where=where, expected="a number from 0 to 100") from None


def _number(value: object) -> float:
    try:
        return float(cast("float", value)) if value is not None and value != "" else math.nan
    except (TypeError, ValueError):
        return math.nan


def _whole(value: object) -> int:
    number = _number(value)
    return 0 if math.isnan(number) else int(number)
