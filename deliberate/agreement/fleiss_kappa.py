"""Chance-corrected agreement of many raters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deliberate.agreement._statistic import Additive, Facts, Items, levels_in, point, ratio, shares_of, statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["fleiss_kappa"]


def _plan(table: Array) -> Additive:
    levels = levels_in(table)

    def features(block: Array) -> Array:
        return shares_of(block, levels)

    def value(sums: Array) -> Array:
        observed = ratio(sums[..., 0], sums[..., 1])
        shares = ratio(sums[..., 3:], sums[..., 2:3])
        chance = (shares**2).sum(axis=-1)
        return ratio(observed - chance, 1.0 - chance)

    return Additive(features, value, 3 + len(levels))


@statistic(Facts(plan=_plan, least=None, ties="labels that are alike agree"))
def fleiss_kappa(items: Items) -> float | None:
    """Agreement of many raters beyond that of votes drawn from all votes alike.

    κ = (P − Pe) / (1 − Pe): P is the mean over items of the share of pairs of votes that agree, Pe = Σ p(label)². With
    unequal numbers of votes, P is over the items with two votes or more, and p(label) the mean over items of its share.

    Args:
        items: Items × raters, None where missing; raters need not be the same from item to item.

    Returns:
        At most 1; 0 is chance; None ("undefined") without an item with two votes, and where all votes are one label.

    Raises:
        MissingExtra: numpy is not installed.
        ValueError: Rows of different length.

    Fleiss (1971), Measuring nominal scale agreement among many raters, doi:10.1037/h0031619, eq. 7; missing votes as in
    Gwet (2008), doi:10.1348/000711006X126600. The example is Krippendorff's (see ``krippendorff_alpha``), for which
    the package irrCAC documents 0.76117.

    >>> votes = ["123321412   ", "1233224125 3", " 3332342251 ", "12332441251 "]
    >>> items = [[None if vote == " " else int(vote) for vote in unit] for unit in zip(*votes)]
    >>> round(fleiss_kappa(items), 5)
    0.76117
    """
    return point(fleiss_kappa, items)
