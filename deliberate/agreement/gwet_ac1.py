"""Agreement that stays calm where one label prevails, for names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deliberate.agreement._gwet import gwet_plan
from deliberate.agreement._statistic import Additive, Facts, Items, point, statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["gwet_ac1"]


def _plan(table: Array, *, levels: int | None = None) -> Additive:
    return gwet_plan(table, levels=levels, weights="none", need="gwet_ac1")


@statistic(Facts(plan=_plan, least=None, chance=None, ties="labels that are alike agree"))
def gwet_ac1(items: Items, *, levels: int | None = None) -> float | None:
    """Agreement of many raters beyond chance, where kappa breaks down because one label is frequent.

    AC1 = (Pa − Pe) / (1 − Pe), Pe = Σ p (1 − p) / (q − 1) over the q labels of the scale, p the mean share of a label.
    Pa is over the items with two votes or more, p over all that were rated.

    Args:
        items: Items × raters; labels are positions 0, 1, …, None where missing.
        levels: q, the size of the scale; None: one more than the highest position that occurs. Pass the full scale.

    Returns:
        At most 1; 0 where agreement is as by chance when labels are evenly spread. None ("undefined") without an item
        with two votes, and on a scale of one label.

    Raises:
        MissingExtra: numpy is not installed.
        ValueError: A label that is no position on the scale.

    Gwet (2008), Computing inter-rater reliability and its variance in the presence of high agreement,
    doi:10.1348/000711006X126600, eq. 18. The example is Krippendorff's; the package irrCAC documents 0.77544 for it.

    >>> votes = ["123321412   ", "1233224125 3", " 3332342251 ", "12332441251 "]
    >>> items = [[None if vote == " " else int(vote) - 1 for vote in unit] for unit in zip(*votes)]
    >>> round(gwet_ac1(items), 5)
    0.77544
    """
    return point(gwet_ac1, items, levels=levels)
