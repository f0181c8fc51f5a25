"""The two-way analysis of variance behind both intraclass correlations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from deliberate.agreement._statistic import Additive, complete_rows, ratio

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["icc_plan"]

_ROUNDING = 1e-12


def icc_plan(table: Array, *, of: Literal["one", "mean"]) -> Additive:
    """Mean squares of items, raters and the rest, from sums over the items all raters rated."""
    import numpy as np

    voted: NDArray[np.bool_] = np.asarray((~np.isnan(table)).any(axis=0))
    raters = int(voted.sum())
    rows = complete_rows(table)
    middle = float(rows.mean()) if rows.size else 0.0

    def features(block: Array) -> Array:
        seen = block[:, voted] - middle
        whole: NDArray[np.bool_] = np.asarray(~np.isnan(seen).any(axis=1))
        seen = np.where(whole[:, None], seen, 0.0)
        return np.column_stack([whole, (seen**2).sum(axis=1), seen.sum(axis=1) ** 2, seen]).astype(np.float64)

    def value(sums: Array) -> Array:
        items, squares, rows = sums[..., 0], sums[..., 1], sums[..., 2] / max(1, raters)
        columns = sums[..., 3:]
        enough = (items > 1) & (raters > 1)
        count = np.where(enough, items, 2.0)
        grand = columns.sum(axis=-1) ** 2 / (count * max(1, raters))
        between = (columns**2).sum(axis=-1) / count - grand

        def spread(found: Array) -> Array:
            """What is nothing but rounding is none."""
            return np.where(found <= _ROUNDING * squares, 0.0, found)

        item = spread(rows - grand) / (count - 1)
        rater = spread(between) / max(1, raters - 1)
        rest = spread(squares - rows - between) / ((count - 1) * max(1, raters - 1))
        if of == "one":
            below = item + (raters - 1) * rest + raters * (rater - rest) / count
        else:
            below = item + (rater - rest) / count
        return np.where(enough & (below > 0), ratio(item - rest, below), np.nan)

    return Additive(features, value, 3 + raters)
