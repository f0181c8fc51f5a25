"""The product."""

from __future__ import annotations

import math
from collections.abc import Sequence

from deliberate.aggregation._base import Weighted, aggregation

__all__ = ["product"]


@aggregation(bound="at_most_min", weighs=False)
def product(scores: Sequence[Weighted]) -> float:
    """The product of the normalized scores; weights do not count, and it never exceeds the least score.

    >>> product([Weighted(80), Weighted(50)])
    40.0
    """
    return math.prod(sorted(one.score / 100 for one in scores)) * 100
