"""Whether two raters put items in the same order, by ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deliberate.agreement._ranks import correlation, ranks
from deliberate.agreement._statistic import Facts, Items, Whole, complete_rows, point, statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["spearman"]


def _plan(table: Array) -> Whole:
    del table

    def compute(items: Array) -> float:
        rows = complete_rows(items)
        return correlation(ranks(rows[:, 0])[0], ranks(rows[:, 1])[0]) if rows.shape[1] > 1 else float("nan")

    return Whole(compute)


@statistic(Facts(plan=_plan, raters=2, ties="ties share the middle of their ranks", complete=True))
def spearman(items: Items) -> float | None:
    """Rank correlation: Pearson's correlation of the ranks, ties in the middle of the places they share.

    Args:
        items: Items × 2; scores or labels, None where missing. Items that one did not rate are left out.

    Returns:
        −1 (reversed) to 1 (the same order); 0: unrelated. None ("undefined") where one of the two does not vary, and
        with fewer than two items.

    Raises:
        MissingExtra: numpy is not installed.
        ValueError: Not two columns.

    Spearman (1904), doi:10.2307/1412159. The example is that of Siegel (1956), Nonparametric Statistics, ch. 9.

    >>> one = (82, 98, 87, 40, 116, 113, 111, 83, 85, 126, 106, 117)
    >>> other = (42, 46, 39, 37, 65, 88, 86, 56, 62, 92, 54, 81)
    >>> round(spearman(list(zip(one, other))), 2)
    0.82
    """
    return point(spearman, items)
