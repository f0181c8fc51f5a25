"""How far a rater is from what is right, on average."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deliberate.agreement._statistic import Additive, Facts, Items, point, share, statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["mean_absolute_error"]


def _plan(table: Array) -> Additive:
    del table
    import numpy as np

    def features(block: Array) -> Array:
        heard = ~np.isnan(block).any(axis=1)
        apart = np.where(heard, block[:, 0] - block[:, 1], 0.0)
        return np.column_stack([np.abs(apart), heard]).astype(np.float64)

    return Additive(features, share, 2)


@statistic(
    Facts(
        plan=_plan,
        raters=2,
        gold=True,
        perfect=0.0,
        chance=None,
        least=0.0,
        most=None,
        ties="no part: distances are numbers",
        complete=True,
    )
)
def mean_absolute_error(items: Items) -> float | None:
    """Mean distance of a rater's votes from what is right, whichever way.

    MAE = mean |vote − gold|, in units of the scale. Items with one of the two missing are left out.

    Args:
        items: Items × (rater, gold), None where missing.

    Returns:
        0 (always right) or more; None ("undefined") without an item that has both.

    Raises:
        MissingExtra: numpy is not installed.
        ValueError: Not two columns.

    Willmott and Matsuura (2005), doi:10.3354/cr030079, eq. 1.

    >>> mean_absolute_error([(3, 1), (1, 2), (2, 2), (None, 0)])
    1.0
    """
    return point(mean_absolute_error, items)
