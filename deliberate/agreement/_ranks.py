"""Ranks, with ties in the middle of the places they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["correlation", "ranks"]

_ROUNDING = 1e-12


def ranks(values: Array) -> tuple[Array, Array]:
    """The rank of each value, 1 the lowest, and how often each distinct value occurs."""
    import numpy as np

    _, at, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2
    found: Array = middle[at]
    return found, counts.astype(np.float64)


def correlation(one: Array, other: Array) -> float:
    """Pearson's correlation; nan where either does not vary."""
    import numpy as np

    if len(one) < 2:  # noqa: PLR2004  no line through one point
        return float("nan")
    a, b = one - one.mean(), other - other.mean()
    if (a @ a) <= _ROUNDING * (one @ one) or (b @ b) <= _ROUNDING * (other @ other):
        return float("nan")
    return float(np.clip((a @ b) / np.sqrt((a @ a) * (b @ b)), -1.0, 1.0))
