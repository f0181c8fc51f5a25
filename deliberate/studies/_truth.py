"""What judges are held against: labels of people, one of them left out at a time, or a column of gold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from deliberate.errors import ConfigError
from deliberate.studies._arrays import Choice, chosen
from deliberate.studies.votes import VoteTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["Truth", "cut_in_two"]

_FEW = 2


class Truth:
    """What people say: one column a person left out, or one column of gold."""

    def __init__(self, table: VoteTable, rule: Choice) -> None:
        import numpy as np

        self.levels = len(table.scale.labels)
        self.people = table.people
        several = (~np.isnan(table.people)).sum(axis=1).max(initial=0) > 1
        self.left: list[Array] = []
        if several:
            self.left = [
                chosen(np.delete(table.people, at, axis=1), self.levels, rule=rule)
                for at in range(table.people.shape[1])
            ]
        self.whole: Array = table.gold if table.gold is not None else chosen(table.people, self.levels, rule=rule)
        given = table.gold is not None
        self.columns = [self.whole] if given or not several else self.left
        self.said = "the column of gold labels" if given else _said(table, several=several)


def _said(table: VoteTable, *, several: bool) -> str:
    count = len(table.humans)
    if several:
        return f"what most of {count} people say, each left out in turn"
    return f"the labels of {count} people, one an item" if count > 1 else f"the labels of {table.humans[0]}"


def cut_in_two(table: VoteTable, cut: float | None) -> VoteTable:
    """Votes as 0 and 1, where gold knows no more than that."""
    import numpy as np

    labels = table.scale.labels
    if table.gold is None:
        if cut is not None:
            raise ConfigError("votes are cut only to be held against gold labels of 0 and 1", where="--cut")
        return table
    said = {labels[int(at)] for at in np.unique(table.gold[~np.isnan(table.gold)])}
    cast = np.hstack([table.votes, table.verdicts])
    more = len(np.unique(cast[~np.isnan(cast)])) > _FEW
    if not (said <= {"0", "1"} and table.scale.ordered and more):
        return table
    numbers = np.array([float(label) for label in labels])
    edge = float(numbers.mean()) if cut is None else cut
    made = VoteTable(
        msgspec.structs.replace(table.scale, labels=("0", "1"), ordered=False),
        table.items,
        table.judges,
        table.humans,
        table.panels,
    )

    def above(votes: Array) -> Array:
        heard = ~np.isnan(votes)
        found: Array = np.full(votes.shape, np.nan)
        found[heard] = numbers[votes[heard].astype(int)] > edge
        return found

    made.votes, made.people, made.verdicts = above(table.votes), above(table.people), above(table.verdicts)
    zero = labels.index("0")
    made.gold = table.gold - zero
    for name in ("asked", "repeats", "swaps", "latency", "cost", "length", "origins"):
        setattr(made, name, getattr(table, name))
    middle = "the middle of the scale, --cut says otherwise" if cut is None else "--cut"
    made.notes = [*table.notes, f"gold is 0 or 1: votes above {edge:g} count as 1, others as 0 ({middle})"]
    return made
