"""Correlations of every two raters, from sums over items."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from deliberate.agreement._statistic import Additive

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["FEWEST_GOLD", "Form", "error_plan", "mean_correlation_plan"]

Form = Literal["wrong", "distance"]
FEWEST_GOLD = 30
"""Items with a gold label below which nothing is said of errors."""

_ROUNDING = 1e-12


def mean_correlation_plan(
    raters: int, errors: Callable[[Array], Array] | None = None, *, fewest: float = 2.0
) -> Additive:
    """Mean Pearson correlation over all pairs of raters that both vary, each over the items both rated.

    Args:
        raters: How many.
        errors: A function from a block to items × raters of what is correlated, nan where missing; None: the block.
        fewest: Items with anything to correlate below which it is undefined.
    """
    import numpy as np

    def features(block: Array) -> Array:
        seen: Array = block if errors is None else errors(block)
        heard = (~np.isnan(seen)).astype(np.float64)
        apart = np.where(heard > 0, seen, 0.0)
        rows = len(block)
        rated: Array = (heard.sum(axis=1, keepdims=True) > 0).astype(np.float64)
        both = heard[:, :, None] * heard[:, None, :]
        first = apart[:, :, None] * heard[:, None, :]
        squares = (apart**2)[:, :, None] * heard[:, None, :]
        products = apart[:, :, None] * apart[:, None, :]
        return np.concatenate([rated, *(one.reshape(rows, -1) for one in (both, first, squares, products))], axis=1)

    def value(sums: Array) -> Array:
        shape = (*sums.shape[:-1], 4, raters, raters)
        both, first, squares, products = np.moveaxis(sums[..., 1:].reshape(shape), -3, 0)
        count = np.where(both > 0, both, 1.0)
        second = np.swapaxes(first, -1, -2)
        spread = squares - first**2 / count
        spread = np.where(spread <= _ROUNDING * squares, 0.0, spread)
        below = np.sqrt(spread * np.swapaxes(spread, -1, -2))
        usable = np.triu(np.ones((raters, raters)), 1) * (below > 0)
        found = np.clip((products - first * second / count) / np.where(below > 0, below, 1.0), -1.0, 1.0) * usable
        pairs = usable.sum(axis=(-1, -2))
        mean = found.sum(axis=(-1, -2)) / np.where(pairs > 0, pairs, 1.0)
        return np.where((pairs > 0) & (sums[..., 0] >= fewest), mean, np.nan)

    return Additive(features, value, 1 + 4 * raters * raters)


def error_plan(table: Array, *, form: Form) -> Additive:
    """The same of errors: the last column is gold."""
    import numpy as np

    if form not in {"wrong", "distance"}:
        raise ValueError(f"errors: form {form!r}; expected one of: wrong, distance")

    def errors(block: Array) -> Array:
        gold = block[:, -1:]
        apart = block[:, :-1] - gold
        return np.where(np.isnan(apart), np.nan, (apart != 0).astype(np.float64)) if form == "wrong" else apart

    return mean_correlation_plan(max(0, table.shape[1] - 1), errors, fewest=FEWEST_GOLD)
