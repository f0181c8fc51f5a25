"""The greatest."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from deliberate.aggregation._base import Weighted, aggregation

__all__ = ["max"]


@aggregation(weighs=False)
def max(scores: Sequence[Weighted]) -> float:  # noqa: A001  the file's name is the rule's name
    """The greatest score; weights do not count.

    >>> max([Weighted(100, 3), Weighted(60, 1)])
    100
    """
    return builtins.max(one.score for one in scores)
