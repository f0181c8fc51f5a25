"""How far raters err on the same items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deliberate.agreement._errors import Form, error_plan
from deliberate.agreement._statistic import Additive, Facts, Items, point, statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["error_correlation"]


def _plan(table: Array, *, form: Form = "wrong") -> Additive:
    return error_plan(table, form=form)


@statistic(Facts(plan=_plan, perfect=None, gold=True, chance=None, ties="a vote equal to gold is no error"))
def error_correlation(items: Items, *, form: Form = "wrong") -> float | None:
    """Mean correlation of the errors of two raters.

    Pearson's correlation over the items both rated, averaged over the pairs of raters who both err on some items and
    not on all. ``wrong``: an error is 0 or 1. ``distance``: vote − gold; noise in the gold label is then in every
    rater's error and inflates it.

    Args:
        items: Items × (raters…, gold), None where missing.
        form: What an error is.

    Returns:
        −1 to 1: 0 if raters err independently. None ("unknown") with fewer than 30 items that have a gold label and a
        vote, or without two raters who both err.

    Raises:
        MissingExtra: numpy is not installed.
        ValueError: Unknown form.

    Pearson (1896), doi:10.1098/rsta.1896.0007; as a measure of dependent judges: Kim et al. (2025), arXiv 2506.07962.

    >>> round(error_correlation([(0, 0, 0), (1, 1, 0), (1, 0, 0), (0, 1, 0), (0, 0, 0)] * 10), 3)
    0.167
    """
    return point(error_correlation, items, form=form)
