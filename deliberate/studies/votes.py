"""Votes from a file, one a row, as tables of judges and of people.

Nothing of a row is kept but numbers. The first vote of a rater on an item counts, in the order of the file; its repeats
and other orders of showing serve to see how steady a judge is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from deliberate.errors import ConfigError
from deliberate.library import judge_digest, version_of
from deliberate.studies._arrays import need_stats
from deliberate.studies._gather import Cast, Columns, Gathered, Origin
from deliberate.studies._rows import rows_in
from deliberate.studies._scale import Scale, scale_of
from deliberate.types import Verdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = [
    "OWN",
    "Columns",
    "Gathered",
    "Origin",
    "Scale",
    "VoteTable",
    "read_votes",
    "rows_in",
    "rows_of",
    "table_of_rows",
]


class VoteTable:
    """Votes as items × judges and items × people, positions of labels, nan where missing.

    Attributes:
        scale: The labels.
        items, judges, humans, panels: Names, in order of first appearance; judges, people and panels sorted.
        votes: Items × judges; ``people``: items × people; ``verdicts``: items × panels; ``gold``: one an item, or None.
        repeats: Judge -> for each further vote on an item shown alike, whether it differs from the first; ``swaps``:
            for each on an item shown in another order.
        asked: Judge -> votes asked for, and how many were not usable.
        latency: Judge -> seconds; ``cost``: judge -> dollars, one a vote that says so.
        length: One an item, nan where unknown.
        origins: Judge -> by which version of its model and which rubric it voted, as far as the rows say.
        notes: What was done that a reader should know.
    """

    def __init__(
        self,
        scale: Scale,
        items: Sequence[str],
        judges: Sequence[str],
        humans: Sequence[str],
        panels: Sequence[str] = (),
    ) -> None:
        import numpy as np

        self.scale = scale
        self.items = tuple(items)
        self.judges = tuple(judges)
        self.humans = tuple(humans)
        self.panels = tuple(panels)
        self.votes: Array = np.full((len(items), len(judges)), np.nan)
        self.people: Array = np.full((len(items), len(humans)), np.nan)
        self.verdicts: Array = np.full((len(items), len(panels)), np.nan)
        self.gold: Array | None = None
        self.repeats: dict[str, NDArray[np.bool_]] = {}
        self.swaps: dict[str, NDArray[np.bool_]] = {}
        self.asked: dict[str, tuple[int, int]] = {}
        self.latency: dict[str, Array] = {}
        self.cost: dict[str, Array] = {}
        self.length: Array = np.full(len(items), np.nan)
        self.origins: dict[str, frozenset[Origin]] = {}
        self.notes: list[str] = []


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
            "version": None if judge.human else version_of(vote.answer),
            "judge": judge_digest(judge),
            "rubric": verdict.panel.rubric or "",
            "rubric_digest": verdict.digests.get("rubric", ""),
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
    seen = dict(zip(found.labels.codes, found.labels.lines, strict=True))
    made, places = scale_of(seen, scale, where=found.where)
    to = np.array([*(math.nan if place is None else place for place in places), math.nan])
    people = sorted(name for name in found.raters if name in found.human)
    panels = sorted(name for name in found.raters if name in found.panels - found.human)
    judges = sorted(name for name in found.raters if name not in found.human | found.panels)
    listed = max((len(one) for one in found.lists.values()), default=0)
    names = [*people, *(f"human {at + 1}" for at in range(listed))]
    table = VoteTable(made, list(found.items), judges, names, panels)
    if found.gold:
        table.gold = np.array([to[found.gold.get(at, -1)] for at in range(len(table.items))])
    for at, codes in found.lists.items():
        table.people[at, len(people) : len(people) + len(codes)] = to[list(codes)]
    for at, value in found.length.items():
        table.length[at] = value
    table.notes.append(made.said)
    orders = {order: number for number, order in enumerate(dict.fromkeys(order for _, order in found.showings))}
    order_of = np.array([orders[order] for _, order in found.showings])
    twice = sum(_fill(table, name, votes, to, order_of) for name, votes in found.raters.items())
    if twice:
        table.notes.append(f"{twice} votes came twice with the same repeat and order; the first counts")
    return table


def _fill(table: VoteTable, name: str, votes: Cast, to: Array, order_of: NDArray[np.intp]) -> int:
    """Puts each first vote into its cell; the others say how steady the rater is. How many came twice alike."""
    import numpy as np

    item = np.frombuffer(votes.items, dtype=np.intc)
    shown = np.frombuffer(votes.shown, dtype=np.ushort)
    vote = to[np.frombuffer(votes.labels, dtype=np.short)]
    at = np.argsort(item, kind="stable")
    begins = np.concatenate([[True], np.diff(item[at]) > 0])
    mine = at[begins]
    later = at[~begins]
    first = at[np.maximum.accumulate(np.where(begins, np.arange(len(at)), 0))][~begins]
    twice = shown[later] == shown[first]
    if name in table.humans:
        table.people[item[mine], table.humans.index(name)] = vote[mine]
        return int(twice.sum())
    if name in table.panels:
        table.verdicts[item[mine], table.panels.index(name)] = vote[mine]
    else:
        table.votes[item[mine], table.judges.index(name)] = vote[mine]
    heard = ~np.isnan(vote[later]) & ~np.isnan(vote[first]) & ~twice
    swapped = order_of[shown[later]] != order_of[shown[first]]
    changed = vote[later] != vote[first]
    table.asked[name] = (len(item), int(np.isnan(vote).sum()))
    table.latency[name] = np.frombuffer(votes.seconds, dtype=np.float32).astype(np.float64)
    table.cost[name] = np.frombuffer(votes.dollars, dtype=np.float64)
    table.repeats[name] = changed[heard & ~swapped]
    table.swaps[name] = changed[heard & swapped]
    table.origins[name] = frozenset(votes.origins)
    return int(twice.sum())
