"""The trimmed mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from deliberate.aggregation._base import Weighted, aggregation

__all__ = ["trimmed_mean"]

_TRIMMED = 0.2
"""The share of the weight left out at either end: Wilcox (2012), Introduction to Robust Estimation, §3.3."""


@aggregation()
def trimmed_mean(scores: Sequence[Weighted]) -> float:
    """The mean without the lowest and the highest fifth of the weight: one outlier cannot move it far.

    A score that lies partly in a fifth left out counts with the rest of its weight. Tukey & McLaughlin (1963),
    Less vulnerable confidence and significance procedures for location, Sankhyā A 25, 331–352.

    >>> trimmed_mean([Weighted(0), Weighted(70), Weighted(72), Weighted(74), Weighted(100)])
    72.0
    >>> trimmed_mean([Weighted(40), Weighted(60)])
    50.0
    """
    ordered = sorted(scores)
    most = max(one.weight for one in scores)
    weights = [one.weight / most for one in ordered]
    total = math.fsum(weights)
    ends = [math.fsum(weights[:at]) / total for at in range(len(weights) + 1)]
    low, high = _TRIMMED, 1 - _TRIMMED
    kept = [max(0.0, min(end, high) - max(start, low)) for start, end in pairwise(ends)]
    return math.fsum(share * one.score for share, one in zip(kept, ordered, strict=True)) / math.fsum(kept)
