"""The weighted product."""

from __future__ import annotations

import math
from collections.abc import Sequence

from deliberate.aggregation._base import Weighted, aggregation

__all__ = ["weighted_product"]


@aggregation()
def weighted_product(scores: Sequence[Weighted]) -> float:
    """Π score^(weight / Σ weight), the weighted geometric mean: a low score weighs heavily, and one 0 makes it 0.

    Hardy, Littlewood & Pólya (1934), Inequalities, §2.2: it lies between the least and the greatest, and at most at
    the weighted mean.

    >>> weighted_product([Weighted(90, 1), Weighted(40, 1)]), weighted_product([Weighted(90, 9), Weighted(0.0, 1)])
    (60.0, 0.0)
    """
    if any(one.score == 0 for one in scores):
        return 0.0
    most = max(one.weight for one in scores)
    total = math.fsum(one.weight / most for one in scores)
    return math.exp(math.fsum(one.weight / most * math.log(one.score) for one in scores) / total)
