"""Whether many raters put items in the same order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deliberate.agreement._ranks import ranks
from deliberate.agreement._statistic import Facts, Items, Whole, complete_rows, point, statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["kendall_w"]


def _plan(table: Array) -> Whole:
    del table
    return Whole(_concordance)


def _concordance(items: Array) -> float:
    import numpy as np

    rows = complete_rows(items)
    count, raters = rows.shape
    if count < 2 or raters < 2:  # noqa: PLR2004  two raters, two items
        return float("nan")
    found = [ranks(column) for column in rows.T]
    sums = np.sum([one for one, _ in found], axis=0)
    ties = sum(float((alike**3 - alike).sum()) for _, alike in found)
    below = raters**2 * (count**3 - count) - raters * ties
    above = 12.0 * float(((sums - sums.mean()) ** 2).sum())
    return min(1.0, above / below) if below else float("nan")


@statistic(
    Facts(
        plan=_plan,
        chance=None,
        least=0.0,
        ties="ties share the middle of their ranks, and W is corrected for them",
        complete=True,
    )
)
def kendall_w(items: Items) -> float | None:
    """Concordance of many rankings: how far the sums of ranks are apart, over how far they could be.

    W = 12 S / (m² (n³ − n) − m Σ (t³ − t)): S the squared deviations of the sums of ranks of n items by m raters, t the
    size of each group of ties. Items with a missing vote are left out; so is a rater who gave none.

    Args:
        items: Items × raters; scores or labels, None where missing.

    Returns:
        0 (no concordance) to 1 (the same order from all); independent raters give 1 / m on average. None ("undefined")
        with fewer than two raters or complete items, and where nobody tells any two items apart.

    Raises:
        MissingExtra: numpy is not installed.
        ValueError: Rows of different length.

    Kendall and Babington Smith (1939), doi:10.1214/aoms/1177732186. The example is that of Siegel (1956), Nonparametric
    Statistics, ch. 9: three people rank six applicants.

    >>> round(kendall_w(list(zip((1, 6, 3, 2, 5, 4), (1, 5, 6, 4, 2, 3), (6, 3, 2, 5, 4, 1)))), 2)
    0.16
    """
    return point(kendall_w, items)
