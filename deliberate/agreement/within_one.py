"""How often a rater is right or next to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deliberate.agreement._statistic import Additive, Facts, Items, point, share, statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["within_one"]


def _plan(table: Array, *, reach: float = 1.0) -> Additive:
    del table
    import numpy as np

    def features(block: Array) -> Array:
        heard = ~np.isnan(block).any(axis=1)
        apart = np.where(heard, block[:, 0] - block[:, 1], 0.0)
        return np.column_stack([heard & (np.abs(apart) <= reach), heard]).astype(np.float64)

    return Additive(features, share, 2)


@statistic(
    Facts(
        plan=_plan,
        raters=2,
        gold=True,
        chance=None,
        least=0.0,
        ties="a vote at just this distance is within it",
        complete=True,
    )
)
def within_one(items: Items, *, reach: float = 1.0) -> float | None:
    """The share of items on which a rater is at most one label off (adjacent agreement).

    Labels are positions on the full scale. Items with one of the two missing are left out. On few labels it is high for
    anybody: with three, a constant middle vote reaches 1.

    Args:
        items: Items × (rater, gold), None where missing.
        reach: How far is near, in labels.

    Returns:
        0–1; None ("undefined") without an item that has both.

    Raises:
        MissingExtra: numpy is not installed.
        ValueError: Not two columns.

    Stemler (2004), A comparison of consensus, consistency, and measurement approaches, doi:10.7275/96jp-xz07.

    >>> within_one([(3, 1), (1, 2), (2, 2), (2, 1)])
    0.75
    """
    return point(within_one, items, reach=reach)
