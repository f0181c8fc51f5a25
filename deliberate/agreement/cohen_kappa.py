"""Chance-corrected agreement of two raters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from deliberate.agreement._statistic import Additive, Facts, Items, levels_in, point, ratio, statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["cohen_kappa"]

Weights = Literal["none", "linear", "quadratic"]


def distances(levels: Array, weights: Weights) -> Array:
    """Levels × levels: how far apart two labels are. Distances are of positions on the full scale."""
    import numpy as np

    apart = np.abs(levels[:, None] - levels[None, :])
    powers: dict[str, Array] = {"none": (apart > 0).astype(np.float64), "linear": apart, "quadratic": apart**2}
    if weights not in powers:
        raise ValueError(f"cohen_kappa: weights {weights!r}; expected one of: {', '.join(powers)}")
    return powers[weights]


def plan(table: Array, *, weights: Weights = "none") -> Additive:
    """Sums of the contingency table."""
    import numpy as np

    levels = levels_in(table)
    size = len(levels)
    apart = distances(levels, weights)

    def features(block: Array) -> Array:
        heard = ~np.isnan(block).any(axis=1)
        cell = np.searchsorted(levels, block[heard, 0]) * size + np.searchsorted(levels, block[heard, 1])
        found = np.zeros((len(block), size * size))
        found[np.flatnonzero(heard), cell] = 1.0
        return found

    def value(sums: Array) -> Array:
        seen = sums.reshape(*sums.shape[:-1], size, size)
        expected = seen.sum(axis=-1)[..., :, None] * seen.sum(axis=-2)[..., None, :]
        total = seen.sum(axis=(-1, -2))
        return 1.0 - ratio((seen * apart).sum(axis=(-1, -2)) * total, (expected * apart).sum(axis=(-1, -2)))

    return Additive(features, value, size * size)


@statistic(Facts(plan=plan, raters=2, ties="labels that are alike agree", least=None))
def cohen_kappa(items: Items, *, weights: Weights = "none") -> float | None:
    """Agreement of two raters beyond what their own habits give by chance.

    κ = 1 − Σ d(a, b) p(a, b) / Σ d(a, b) p(a) p(b), where d is 0 or 1 (``none``), |a − b| (``linear``) or (a − b)²
    (``quadratic``). Labels are positions on the full scale, so that a level nobody used still keeps its neighbors
    apart. Items that one of the two did not rate are left out.

    Args:
        items: Items × 2; labels as numbers, None where missing.
        weights: How much a disagreement counts.

    Returns:
        At most 1 (always alike); 0 is what chance gives; below 0: less than chance. None ("undefined") without an item
        that both rated, and where both always gave one and the same label.

    Raises:
        MissingExtra: numpy is not installed.
        ValueError: Not two columns, or unknown weights.

    Cohen (1960), doi:10.1177/001316446002000104; weighted: Cohen (1968), doi:10.1037/h0026256. The example is that of
    Fleiss, Cohen and Everitt (1969), doi:10.1037/h0028106, of 200 diagnoses.

    >>> table = ((106, 10, 4), (22, 28, 10), (2, 12, 6))
    >>> items = [(a, b) for a in range(3) for b in range(3) for _ in range(table[a][b])]
    >>> round(cohen_kappa(items), 3)
    0.429
    """
    return point(cohen_kappa, items, weights=weights)
