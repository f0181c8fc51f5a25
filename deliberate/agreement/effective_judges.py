"""How many independent judges a panel is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deliberate.agreement._errors import Form, error_plan
from deliberate.agreement._statistic import Additive, Facts, Items, point, statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["effective_judges"]


def _plan(table: Array, *, form: Form = "wrong") -> Additive:
    import numpy as np

    inner = error_plan(table, form=form)
    raters = int((~np.isnan(table[:, :-1])).any(axis=0).sum())

    def value(sums: Array) -> Array:
        shared = np.maximum(inner.value(sums), 0.0)
        return raters / (1.0 + (raters - 1) * shared)

    return Additive(inner.features, value, inner.width)


@statistic(
    Facts(
        plan=_plan, perfect=None, gold=True, chance=None, least=1.0, most=None, ties="a vote equal to gold is no error"
    )
)
def effective_judges(items: Items, *, form: Form = "wrong") -> float | None:
    """The number of independent judges whose mean would vary as much as this panel's.

    n / (1 + (n − 1) ρ), with ρ the mean error correlation (``error_correlation``), taken as 0 where it is below. A
    lower bound under ``distance``: noise in the gold label is in every rater's error.

    Args:
        items: Items × (raters…, gold), None where missing.
        form: What an error is: ``wrong`` (0 or 1) or ``distance`` (vote − gold).

    Returns:
        1 (all err together) to n (independently). None ("unknown") with fewer than 30 items that have a gold label and
        a vote, or without two raters who both err.

    Raises:
        MissingExtra: numpy is not installed.
        ValueError: Unknown form.

    Kish (1965), Survey Sampling, sec. 5.4 (the design effect of clusters, ISBN 0-471-10949-5).

    >>> round(effective_judges([(0, 0, 0), (1, 1, 0), (1, 0, 0), (0, 1, 0), (0, 0, 0)] * 10), 3)
    1.714
    """
    return point(effective_judges, items, form=form)
