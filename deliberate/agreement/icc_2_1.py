"""Reliability of one rater who gives scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deliberate.agreement._icc import icc_plan
from deliberate.agreement._statistic import Additive, Facts, Items, point, statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["icc_2_1"]


def _plan(table: Array) -> Additive:
    return icc_plan(table, of="one")


@statistic(Facts(plan=_plan, least=None, ties="no part: scores are numbers", complete=True))
def icc_2_1(items: Items) -> float | None:
    """Intraclass correlation of single scores: raters are a sample, and their means count (absolute agreement).

    ICC(2,1) = (MSR − MSE) / (MSR + (k − 1) MSE + k (MSC − MSE) / n): mean squares of n items, k raters and the rest.
    Items with a missing score are left out; so is a rater who scored nothing.

    Args:
        items: Items × raters; scores, None where missing.

    Returns:
        At most 1 (the same scores from all); 0: scores say nothing of items; it may be below. None ("undefined") with
        fewer than two complete items or two raters, and where all scores are alike.

    Raises:
        MissingExtra: numpy is not installed.
        ValueError: Rows of different length.

    Shrout and Fleiss (1979), Intraclass correlations, doi:10.1037/0033-2909.86.2.420, table 4.

    >>> targets = ((9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7))
    >>> round(icc_2_1(targets), 2)
    0.29
    """
    return point(icc_2_1, items)
