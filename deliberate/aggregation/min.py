"""The least."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from deliberate.aggregation._base import Weighted, aggregation

__all__ = ["min"]


@aggregation(weighs=False)
def min(scores: Sequence[Weighted]) -> float:  # noqa: A001  the file's name is the rule's name
    """The least score; weights do not count.

    >>> min([Weighted(100, 3), Weighted(60, 1)])
    60
    """
    return builtins.min(one.score for one in scores)
