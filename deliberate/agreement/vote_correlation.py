"""How far votes go together, whether right or wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deliberate.agreement._errors import mean_correlation_plan
from deliberate.agreement._statistic import Additive, Facts, Items, point, statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["vote_correlation"]


def _plan(table: Array) -> Additive:
    return mean_correlation_plan(table.shape[1])


@statistic(Facts(plan=_plan, ties="votes are numbers: positions of labels, or scores", chance=0.0))
def vote_correlation(items: Items) -> float | None:
    """Mean correlation of the votes of two raters: not that of their errors, which needs gold labels.

    Pearson's correlation over the items both rated, averaged over the pairs of raters who both vary. Good judges
    correlate because items differ; this says nothing of whether they err together.

    Args:
        items: Items × raters, None where missing.

    Returns:
        −1 to 1; None ("undefined") without two raters who both vary on the items both rated.

    Raises:
        MissingExtra: numpy is not installed.
        ValueError: Rows of different length.

    Pearson (1896), doi:10.1098/rsta.1896.0007.

    >>> round(vote_correlation([(1, 2, 3), (2, 3, 3), (3, 4, 0)]), 3)
    -0.244
    """
    return point(vote_correlation, items)
