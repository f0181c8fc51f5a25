"""The weighted median."""

from __future__ import annotations

import math
from collections.abc import Sequence

from deliberate.aggregation._base import Weighted, aggregation

__all__ = ["median"]


@aggregation()
def median(scores: Sequence[Weighted]) -> float:
    """The score with at most half of the weight on either side; the mean of both neighbors where it falls between.

    Weights within one part in 10¹² of half count as half.

    >>> median([Weighted(10), Weighted(20), Weighted(90)]), median([Weighted(10), Weighted(20)])
    (20, 15.0)
    """
    ordered = sorted(scores)
    most = max(one.weight for one in scores)
    total = math.fsum(one.weight / most for one in scores)
    for at, one in enumerate(ordered):
        share = round(math.fsum(each.weight / most for each in ordered[: at + 1]) / total, 12)
        if share == 0.5 and at + 1 < len(ordered):  # noqa: PLR2004  half
            return (one.score + ordered[at + 1].score) / 2
        if share > 0.5:  # noqa: PLR2004  half
            return one.score
    return ordered[-1].score  # pragma: no cover  the last share is 1
