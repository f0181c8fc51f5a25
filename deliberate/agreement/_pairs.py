"""Every pair of raters at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deliberate.agreement._statistic import Facts, Items, levels_in, ratio, table_of
from deliberate.agreement.cohen_kappa import Weights, distances, plan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["pairwise_kappa"]

_FACTS = Facts(plan=plan, ties="labels that are alike agree")


def pairwise_kappa(items: Items, *, weights: Weights = "none") -> tuple[tuple[float | None, ...], ...]:
    """Cohen's kappa of every two raters, each over the items both rated.

    One product of 0/1 matrices for each pair of labels counts all contingency tables at once.

    Args:
        items: Items × raters.
        weights: How much a disagreement counts.

    Returns:
        Raters × raters, symmetric; None where undefined. On the diagonal 1, or None for a rater who varies not at all.

    Raises:
        MissingExtra: numpy is not installed.

    Cohen (1960), doi:10.1177/001316446002000104.

    >>> pairwise_kappa([(0, 0, 1), (1, 1, 0), (1, 1, None)])
    ((1.0, 1.0, -1.0), (1.0, 1.0, -1.0), (-1.0, -1.0, 1.0))
    """
    table = table_of(items, facts=_FACTS, need="pairwise_kappa")
    import numpy as np

    levels = levels_in(table)
    apart = distances(levels, weights)
    chosen = [(table == level).astype(np.float64) for level in levels]
    heard = (~np.isnan(table)).astype(np.float64)
    # said[a][i, j]: how often rater i said a on the items j rated too.
    said = [one.T @ heard for one in chosen]
    size = table.shape[1]
    observed, expected = np.zeros((size, size)), np.zeros((size, size))
    for a, first in enumerate(chosen):
        for b, second in enumerate(chosen):
            if apart[a, b]:
                observed += apart[a, b] * (first.T @ second)
                expected += apart[a, b] * said[a] * said[b].T
    found = 1.0 - ratio(observed * (heard.T @ heard), expected)
    return tuple(tuple(None if np.isnan(one) else float(one) for one in row) for row in found)
