"""The weighted mean."""

from __future__ import annotations

import math
from collections.abc import Sequence

from deliberate.aggregation._base import Weighted, aggregation

__all__ = ["weighted_mean"]


@aggregation()
def weighted_mean(scores: Sequence[Weighted]) -> float:
    """Σ(score·weight) / Σ(weight): only ratios of weights matter, and no order does.

    Weights are scaled by the greatest first, so that huge ones cannot overflow.

    >>> weighted_mean([Weighted(100, 3), Weighted(60, 1)])
    90.0
    """
    most = max(one.weight for one in scores)
    total = math.fsum(one.weight / most for one in scores)
    return math.fsum(one.weight / most * one.score for one in scores) / total
