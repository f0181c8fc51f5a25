"""Whether two raters put items in the same order, pair by pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deliberate.agreement._statistic import Facts, Items, Whole, complete_rows, point, statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["kendall_tau_b"]

_CELLS = 4_000_000


def _plan(table: Array) -> Whole:
    del table
    return Whole(_tau)


def _tau(items: Array) -> float:
    import numpy as np

    rows = complete_rows(items)
    if rows.shape[1] < 2 or len(rows) < 2:  # noqa: PLR2004  two raters, two items
        return float("nan")
    _, one = np.unique(rows[:, 0], return_inverse=True)
    _, other = np.unique(rows[:, 1], return_inverse=True)
    width = int(other.max()) + 1
    pairs = len(rows) * (len(rows) - 1) / 2
    untied = [pairs - float((count * (count - 1)).sum()) / 2 for count in (np.bincount(one), np.bincount(other))]
    if not all(untied):
        return float("nan")
    return float(np.clip(_surplus(one, other, width) / np.sqrt(untied[0] * untied[1]), -1.0, 1.0))


def _surplus(one: NDArray[np.intp], other: NDArray[np.intp], width: int) -> float:
    """Concordant pairs less discordant ones, from the table of both labels, a strip of it at a time."""
    import numpy as np

    height = int(one.max()) + 1
    order = np.argsort(one, kind="stable")
    one, other = one[order], other[order]
    below = np.zeros(width)
    found = 0.0
    strip = max(1, _CELLS // width)
    for start in range(0, height, strip):
        first, last = np.searchsorted(one, (start, start + strip))
        cells = (one[first:last] - start) * width + other[first:last]
        size = min(strip, height - start)
        seen = np.bincount(cells, minlength=size * width).reshape(size, width).astype(np.float64)
        lower = np.cumsum(np.vstack([below, seen]), axis=0)
        less = np.cumsum(lower[:-1], axis=1) - lower[:-1]
        more = lower[:-1].sum(axis=1, keepdims=True) - less - lower[:-1]
        found += float((seen * (less - more)).sum())
        below = lower[-1]
    return found


@statistic(Facts(plan=_plan, raters=2, ties="tied pairs count for nobody and leave the denominator", complete=True))
def kendall_tau_b(items: Items) -> float | None:
    """Pairs of items in the same order less those in the other, over the pairs that are not tied.

    τb = (C − D) / √((N − T1)(N − T2)): concordant and discordant of N pairs, T those tied by each rater.

    Args:
        items: Items × 2; scores or labels, None where missing. Items that one did not rate are left out.

    Returns:
        −1 (reversed) to 1 (the same order, the same ties); 0: unrelated. None ("undefined") where one of the two does
        not vary, and with fewer than two items.

    Raises:
        MissingExtra: numpy is not installed.
        ValueError: Not two columns.

    Kendall (1945), The treatment of ties in ranking problems, doi:10.1093/biomet/33.3.239. The example is that of
    Siegel (1956), Nonparametric Statistics, ch. 9.

    >>> one = (82, 98, 87, 40, 116, 113, 111, 83, 85, 126, 106, 117)
    >>> other = (42, 46, 39, 37, 65, 88, 86, 56, 62, 92, 54, 81)
    >>> round(kendall_tau_b(list(zip(one, other))), 2)
    0.67
    """
    return point(kendall_tau_b, items)
