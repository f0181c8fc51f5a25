"""Agreement that stays calm where one label prevails, for ordered labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deliberate.agreement._gwet import Closeness, gwet_plan
from deliberate.agreement._statistic import Additive, Facts, Items, point, statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["gwet_ac2"]


def _plan(table: Array, *, levels: int | None = None, weights: Closeness = "quadratic") -> Additive:
    return gwet_plan(table, levels=levels, weights=weights, need="gwet_ac2")


@statistic(Facts(plan=_plan, least=None, chance=None, ties="labels that are alike agree; near ones agree in part"))
def gwet_ac2(items: Items, *, levels: int | None = None, weights: Closeness = "quadratic") -> float | None:
    """Agreement of many raters on ordered labels beyond chance, where near labels agree in part.

    AC2 = (Pa − Pe) / (1 − Pe), Pe = Σ w × Σ p (1 − p) / (q (q − 1)); w is 1 − d or 1 − d², d the distance of two labels
    over the length of the scale. With weights ``none`` it is AC1.

    Args:
        items: Items × raters; labels are positions 0, 1, …, None where missing.
        levels: q, the size of the scale; None: one more than the highest position that occurs. Pass the full scale.
        weights: How near labels agree.

    Returns:
        At most 1; None ("undefined") without an item with two votes, and on a scale of one label.

    Raises:
        MissingExtra: numpy is not installed.
        ValueError: A label that is no position on the scale, or unknown weights.

    Gwet (2008), doi:10.1348/000711006X126600; weights: Gwet (2014), Handbook of Inter-Rater Reliability, ch. 5.

    >>> votes = ["123321412   ", "1233224125 3", " 3332342251 ", "12332441251 "]
    >>> items = [[None if vote == " " else int(vote) - 1 for vote in unit] for unit in zip(*votes)]
    >>> round(gwet_ac2(items, weights="none"), 5), gwet_ac2(items) > gwet_ac2(items, weights="none")
    (0.77544, True)
    """
    return point(gwet_ac2, items, levels=levels, weights=weights)
