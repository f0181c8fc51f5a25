"""Votes from a file, one a row, as tables of judges and of people.

Nothing of a row is kept but numbers, so that ten million votes take some hundred megabytes. The first vote of a rater
on an item counts, in the order of the file; its repeats and other orders of showing serve to see how steady a judge is.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
from array import array
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import msgspec

from deliberate.errors import ConfigError, MissingExtra
from deliberate.studies._arrays import need_stats
from deliberate.types import BRACKETS, Record, Verdict, bracket_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = [
    "OWN",
    "Columns",
    "Gathered",
    "Scale",
    "VoteTable",
    "read_votes",
    "rows_in",
    "rows_of",
    "scale_of",
    "table_of_rows",
]

_MOST_LABELS = 1000
_MOST_INFERRED = 12
_BATCH = 10_000
GOLD = "gold"
_TRUE, _FALSE = ("1", "true", "yes", "pass", "good"), ("0", "false", "no", "fail", "poor")


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


class Scale(Record, frozen=True, kw_only=True):
    """Ordered labels, lowest first, and whether their order means anything.

    ``said`` is how it came about, for people.
    """

    labels: tuple[str, ...]
    ordered: bool
    said: str

    @property
    def places(self) -> Mapping[str, int]:
        """Label -> position."""
        return {label: at for at, label in enumerate(self.labels)}


class VoteTable:
    """Votes as items × judges and items × people, positions of labels, nan where missing.

    Attributes:
        scale: The labels.
        items, judges, humans: Names, in order of first appearance; judges and people sorted.
        votes: Items × judges; ``people``: items × people; ``gold``: one an item, or None.
        repeats: Judge -> for each further vote on an item shown alike, whether it differs from the first; ``swaps``:
            for each on an item shown in another order.
        asked: Judge -> votes asked for, and how many were not usable.
        latency: Judge -> seconds; ``cost``: judge -> dollars, one a vote that says so.
        length: One an item, nan where unknown.
        notes: What was done that a reader should know.
    """

    def __init__(self, scale: Scale, items: Sequence[str], judges: Sequence[str], humans: Sequence[str]) -> None:
        import numpy as np

        self.scale = scale
        self.items = tuple(items)
        self.judges = tuple(judges)
        self.humans = tuple(humans)
        self.votes: Array = np.full((len(items), len(judges)), np.nan)
        self.people: Array = np.full((len(items), len(humans)), np.nan)
        self.gold: Array | None = None
        self.repeats: dict[str, NDArray[np.bool_]] = {}
        self.swaps: dict[str, NDArray[np.bool_]] = {}
        self.asked: dict[str, tuple[int, int]] = {}
        self.latency: dict[str, Array] = {}
        self.cost: dict[str, Array] = {}
        self.length: Array = np.full(len(items), np.nan)
        self.notes: list[str] = []


class _Labels:
    """Labels as codes, and where each was first seen."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}
        self.lines: list[int] = []

    def code(self, value: object, line: int, where: str) -> int:
        """The code of a label; −1 if there is none."""
        if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
            return -1
        text = _label(value)
        found = self.codes.get(text)
        if found is None:
            if len(self.codes) >= _MOST_LABELS:
                expected = f"at most {_MOST_LABELS} different labels"
                raise ConfigError("too many different votes", where=f"{where}:{line}", expected=expected)
            found = self.codes[text] = len(self.lines)
            self.lines.append(line)
        return found


class Gathered:
    """Rows as they come in, reduced to numbers."""

    def __init__(self, columns: Columns, *, where: str, humans: Sequence[str] = ()) -> None:
        self.columns = columns
        self.where = where
        self.said = frozenset(humans)
        self.labels = _Labels()
        self.items: dict[str, int] = {}
        self.raters: dict[str, int] = {}
        self.human: set[str] = set(humans)
        self.rows = array("i")  # item, rater, label
        self.orders: dict[str, int] = {"": 0}
        self.more = array("i")  # repeat, order
        self.seconds = array("d")
        self.dollars = array("d")
        self.gold: dict[int, int] = {}
        self.lists: dict[int, tuple[int, ...]] = {}
        self.length: dict[int, float] = {}

    def add(self, row: Mapping[str, object], line: int, *, columns: Columns | None = None) -> None:
        """Takes one row; ``columns`` where it does not have those of the file.

        Raises:
            ConfigError: It has no item or no rater; the message names file, line and column.
        """
        names = columns or self.columns
        item, rater = (
            self._needed(row, name, line, flag) for name, flag in ((names.item, "--item"), (names.rater, "--rater"))
        )
        at = self.items.setdefault(item, len(self.items))
        who = self.raters.setdefault(rater, len(self.raters))
        if str(row.get(names.kind) or "") == "human":
            self.human.add(rater)
        status = str(row.get(names.status) or "voted")
        vote = row.get(names.vote)
        if (vote is None or vote == "") and row.get(names.score) not in {None, ""}:
            vote = _bracket(row[names.score], f"{self.where}:{line}")
        code = self.labels.code(vote, line, self.where) if status == "voted" else -1
        self.rows.extend((at, who, code))
        order = str(row.get(names.order) or "")
        self.more.extend((_whole(row.get(names.rep)), self.orders.setdefault(order, len(self.orders))))
        self.seconds.append(_number(row.get(names.latency)))
        self.dollars.append(_number(row.get(names.cost)))
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

    def _of_item(self, row: Mapping[str, object], at: int, line: int, names: Columns) -> None:
        if names.gold and at not in self.gold:
            self.gold[at] = self.labels.code(row.get(names.gold), line, self.where)
        if names.human and at not in self.lists:
            listed = self._list(row.get(names.human), line)
            self.lists[at] = tuple(self.labels.code(one, line, self.where) for one in listed)
        if names.length and at not in self.length and row.get(names.length) not in {None, ""}:
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
            raise ConfigError(
                f"no {name!r}", where=f"{self.where}:{line}", expected=f"one of: {known}", hint=f"name it with {flag}"
            )
        return str(found)


def read_votes(
    path: Path, *, columns: Columns | None = None, scale: str | None = None, humans: Sequence[str] = ()
) -> VoteTable:
    """The votes of a file.

    Args:
        path: JSONL, CSV or Parquet, by its ending; JSONL and CSV also with ``.gz``.
        columns: What its columns are called.
        scale: ``brackets``, ``ordinal:0..3``, ``binary`` or ``pairwise``; None: what the votes look like.
        humans: Raters who are people, besides those whose ``kind`` says so.

    Raises:
        ConfigError: It cannot be read, a column is missing, or a vote is not on the scale.
        MissingExtra: numpy or, for Parquet, duckdb is not installed.
    """
    need_stats("compare")
    found = Gathered(columns or Columns(), where=str(path), humans=humans)
    found.read(path)
    return table_of_rows(found, scale=scale)


OWN = Columns()
"""The columns of ``rows_of``."""


def rows_of(verdict: Verdict) -> Iterator[Mapping[str, object]]:
    """The votes of a verdict as rows: the item is the digest of the case, seats of one model are told apart by name."""
    models = [vote.seat.judge.model for vote in verdict.votes]
    for vote in verdict.votes:
        judge, usage = vote.seat.judge, vote.answer.usage
        yield {
            "item": verdict.digests["case"],
            "rater": judge.model if models.count(judge.model) == 1 else f"{judge.model} ({vote.seat.name})",
            "kind": "human" if judge.human else "model",
            "vote": None if vote.ballot is None else vote.ballot.bracket.label.lower(),
            "latency_seconds": None if judge.human else vote.answer.latency_seconds,
            "cost_usd": None if judge.human else usage.cost_usd,
        }


def table_of_rows(found: Gathered, *, scale: str | None = None) -> VoteTable:
    """The table of what was gathered.

    Raises:
        ConfigError: No rows at all, or a vote that is not on the scale.
    """
    need_stats("compare")
    import numpy as np

    if not found.items:
        raise ConfigError("no votes", where=found.where, expected="one vote a row: item, rater, vote")
    made, places = scale_of(found, scale)
    to = np.array([*(math.nan if place is None else place for place in places), math.nan])
    raters = list(found.raters)
    people = sorted(name for name in raters if name in found.human)
    judges = sorted(name for name in raters if name not in found.human)
    listed = max((len(one) for one in found.lists.values()), default=0)
    names = [*people, *(f"human {at + 1}" for at in range(listed))]
    table = VoteTable(made, list(found.items), judges, names)
    if found.gold:
        table.gold = np.array([to[found.gold.get(at, -1)] for at in range(len(table.items))])
    for at, codes in found.lists.items():
        table.people[at, len(people) : len(people) + len(codes)] = to[list(codes)]
    for at, value in found.length.items():
        table.length[at] = value
    _fill(table, found, to)
    table.notes.insert(0, made.said)
    return table


def _fill(table: VoteTable, found: Gathered, to: Array) -> None:
    """Puts every vote into its cell: the first one counts; the others say how steady a rater is."""
    import numpy as np

    item, who, code = np.frombuffer(found.rows, dtype=np.intc).reshape(-1, 3).T
    rep, order = np.frombuffer(found.more, dtype=np.intc).reshape(-1, 2).T
    vote = to[code]
    place = item.astype(np.int64) * len(found.raters) + who
    at = np.argsort(place, kind="stable")
    begins = np.concatenate([[True], np.diff(place[at]) > 0])
    first = at[np.maximum.accumulate(np.where(begins, np.arange(len(at)), 0))]
    later, first = at[~begins], first[~begins]
    twice = (rep[later] == rep[first]) & (order[later] == order[first])
    heard = ~np.isnan(vote[later]) & ~np.isnan(vote[first]) & ~twice
    swapped = order[later] != order[first]
    changed = vote[later] != vote[first]
    seconds, dollars = (np.frombuffer(one, dtype=np.float64) for one in (found.seconds, found.dollars))
    for name, number in found.raters.items():
        mine = at[begins][who[at[begins]] == number]
        if name in table.humans:
            table.people[item[mine], table.humans.index(name)] = vote[mine]
            continue
        table.votes[item[mine], table.judges.index(name)] = vote[mine]
        every, again = who == number, heard & (who[later] == number)
        table.asked[name] = (int(every.sum()), int(np.isnan(vote[every]).sum()))
        table.latency[name] = seconds[every & ~np.isnan(seconds)]
        table.cost[name] = dollars[every & ~np.isnan(dollars)]
        table.repeats[name] = changed[again & ~swapped]
        table.swaps[name] = changed[again & swapped]
    if twice.any():
        table.notes.append(f"{int(twice.sum())} votes came twice with the same repeat and order; the first counts")


# --- scales ----------------------------------------------------------------------------------------


def scale_of(found: Gathered, named: str | None) -> tuple[Scale, tuple[int | None, ...]]:
    """The scale, and the position of each label that was seen, by its code.

    Raises:
        ConfigError: A vote that is not on it, or labels from which no scale can be told.
    """
    seen = list(found.labels.codes)
    made = _named(named) if named else _inferred(seen, found.where)
    places = made.places
    aliases = _aliases(made)
    positions: list[int | None] = []
    for label, line in zip(seen, found.labels.lines, strict=True):
        place = places.get(aliases.get(label.lower(), label.lower()))
        if place is None:
            expected = f"one of: {', '.join(made.labels)}"
            hint = "say the scale with --scale" if not named else ""
            raise ConfigError(f"vote {label!r}", where=f"{found.where}:{line}", expected=expected, hint=hint)
        positions.append(place)
    return made, tuple(positions)


def _named(name: str) -> Scale:
    if name == "brackets":
        return Scale(labels=BRACKETS.labels, ordered=True, said="votes are brackets")
    if name == "binary":
        return Scale(labels=("no", "yes"), ordered=False, said="votes are yes or no")
    if name == "pairwise":
        return Scale(
            labels=("1", "tie", "2"), ordered=False, said="votes are for the first output, the second or a tie"
        )
    kind, _, ends = name.partition(":")
    low, dots, high = ends.partition("..")
    if kind != "ordinal" or not dots or not _is_whole(low) or not _is_whole(high) or int(low) >= int(high):
        expected = "brackets, binary, pairwise, or whole numbers as in ordinal:0..3"
        raise ConfigError(f"scale {name!r}", where="--scale", expected=expected)
    labels = tuple(str(at) for at in range(int(low), int(high) + 1))
    return Scale(labels=labels, ordered=True, said=f"votes are whole numbers from {low} to {high}")


def _inferred(seen: Sequence[str], where: str) -> Scale:
    if seen and all(label.lower() in BRACKETS.labels for label in seen):
        return _named("brackets")
    if seen and all(_is_whole(label) for label in seen):
        low, high = min(map(int, seen)), max(map(int, seen))
        if low < high < low + _MOST_INFERRED:
            made = _named(f"ordinal:{low}..{high}")
            return msgspec.structs.replace(made, said=f"{made.said}, taken from the votes (--scale says otherwise)")
    if seen and all(label.lower() in (*_TRUE, *_FALSE) for label in seen):
        return _named("binary")
    shown = ", ".join(sorted(seen)[:5])
    raise ConfigError(f"cannot tell the scale of votes like {shown or 'none'}", where=where, hint="say it with --scale")


def _aliases(scale: Scale) -> Mapping[str, str]:
    if scale.labels == ("no", "yes"):
        return {**dict.fromkeys(_TRUE, "yes"), **dict.fromkeys(_FALSE, "no")}
    return {"0": "tie"} if "tie" in scale.labels else {}


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isascii() and text.removeprefix("-").isdigit()


def _label(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = str(value).strip()
    return text[:-2] if text.endswith(".0") and _is_whole(text[:-2]) else text


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


# --- files -----------------------------------------------------------------------------------------


def rows_in(path: Path) -> Generator[tuple[int, Mapping[str, object]]]:
    """Line numbers and rows."""
    ending = path.name.removesuffix(".gz").rsplit(".", 1)[-1].lower()
    readers = {"jsonl": _json_lines, "ndjson": _json_lines, "csv": _csv}
    if ending == "parquet":
        yield from _parquet(path)
    elif ending in readers:
        with _opened(path) as file:
            yield from readers[ending](file, str(path))
    else:
        raise ConfigError("unknown ending", where=str(path), expected=".jsonl, .csv (also with .gz) or .parquet")


@contextmanager
def _opened(path: Path) -> Generator[IO[bytes]]:
    try:
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            yield cast("IO[bytes]", file)
    except (OSError, EOFError) as error:
        raise ConfigError(f"cannot be read: {error}", where=str(path)) from None


def _json_lines(file: IO[bytes], where: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    decoder = msgspec.json.Decoder(dict[str, object])
    for number, line in enumerate(file, start=1):
        if line.strip():
            try:
                yield number, decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                expected = '{"item": ..., "rater": ..., "vote": ...}'
                raise ConfigError(str(error), where=f"{where}:{number}", expected=expected) from None


def _csv(file: IO[bytes], where: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    with io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as decoded:
        reader = csv.DictReader(decoded)
        try:
            for row in reader:
                yield reader.line_num, cast("Mapping[str, object]", row)
        except (csv.Error, UnicodeDecodeError) as error:
            raise ConfigError(str(error), where=f"{where}:{reader.line_num}") from None


def _parquet(path: Path) -> Iterator[tuple[int, Mapping[str, object]]]:
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("parquet", need="reading Parquet") from None
    with duckdb.connect() as base:
        try:
            cursor = base.execute("SELECT * FROM read_parquet(?)", [str(path)])
        except duckdb.Error as error:
            raise ConfigError(f"cannot be read: {error}".split("\n", 1)[0], where=str(path)) from None
        names = [column[0] for column in cursor.description or ()]
        number = 0
        while rows := cursor.fetchmany(_BATCH):
            for row in rows:
                number += 1
                yield number, dict(zip(names, row, strict=True))
