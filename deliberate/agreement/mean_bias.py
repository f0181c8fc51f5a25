"""Which way a rater leans, and how far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deliberate.agreement._statistic import Additive, Facts, Items, point, share, statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["mean_bias"]


def _plan(table: Array) -> Additive:
    del table
    import numpy as np

    def features(block: Array) -> Array:
        heard = ~np.isnan(block).any(axis=1)
        apart = np.where(heard, block[:, 0] - block[:, 1], 0.0)
        return np.column_stack([apart, heard]).astype(np.float64)

    return Additive(features, share, 2)


@statistic(
    Facts(
        plan=_plan,
        raters=2,
        gold=True,
        perfect=0.0,
        chance=None,
        least=None,
        most=None,
        ties="no part: differences are numbers",
        complete=True,
    )
)
def mean_bias(items: Items) -> float | None:
    """Mean difference of a rater's votes from what is right: above 0 is lenient, below 0 strict.

    bias = mean (vote − gold), in units of the scale. Items with one of the two missing are left out.

    Args:
        items: Items × (rater, gold), None where missing.

    Returns:
        Any number; 0 where too high and too low cancel. None ("undefined") without an item that has both.

    Raises:
        MissingExtra: numpy is not installed.
        ValueError: Not two columns.

    Bland and Altman (1986), doi:10.1016/S0140-6736(86)90837-8.

    >>> mean_bias([(3, 1), (1, 2), (2, 2), (2, 0)])
    0.75
    """
    return point(mean_bias, items)
