"""What an aggregation rule is: weighted scores -> score.

All scores are 0–100 on the way in and out. A rule is a pure function, depends on no order, and declares the bound it
keeps: ``between`` the least and greatest input, or ``at_most_min``. To add one: a file in this room.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from deliberate.types import Record

__all__ = ["Aggregation", "Bound", "Weighted", "aggregation"]

Bound = Literal["between", "at_most_min"]


class Weighted(NamedTuple):
    """A score 0–100 and its weight (> 0, finite)."""

    score: float
    weight: float = 1.0


class Aggregation(Record, frozen=True, kw_only=True):
    """An aggregation rule with what it declares: the bound its result keeps, and whether weights count."""

    name: str
    rule: Callable[[Sequence[Weighted]], float]
    bound: Bound
    weighs: bool

    def __call__(self, scores: Sequence[Weighted]) -> float:
        """One score 0–100 out of at least one, kept within the declared bound against rounding.

        Raises:
            ValueError: There are no scores.
        """
        if not scores:
            msg = f"{self.name} of no scores"
            raise ValueError(msg)
        if len(scores) == 1:
            return scores[0].score
        low, high = min(one.score for one in scores), max(one.score for one in scores)
        found = round(self.rule(scores), 9)
        return min(high, max(low, found)) if self.bound == "between" else min(low, max(0.0, found))


def aggregation(
    *, bound: Bound = "between", weighs: bool = True
) -> Callable[[Callable[[Sequence[Weighted]], float]], Aggregation]:
    """Makes a rule of a function."""

    def declare(rule: Callable[[Sequence[Weighted]], float]) -> Aggregation:
        return Aggregation(name=rule.__name__, rule=rule, bound=bound, weighs=weighs)

    return declare
