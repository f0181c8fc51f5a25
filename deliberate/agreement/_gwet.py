"""What Gwet's two coefficients share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from deliberate.agreement._statistic import Additive, counts_of, ratio

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["Closeness", "gwet_plan"]

Closeness = Literal["none", "linear", "quadratic"]


def gwet_plan(table: Array, *, levels: int | None, weights: Closeness, need: str) -> Additive:
    """(Pa − Pe) / (1 − Pe), with Pe = Σ w / (q (q − 1)) × Σ p (1 − p) over q labels.

    Args:
        table: Items × raters; labels are positions 0, 1, … on the scale.
        levels: q; None: one more than the highest that occurs.
        weights: How close two labels are, 0–1.
        need: Whose plan, for messages.

    Raises:
        ValueError: A label that is no position on the scale, or unknown weights.
    """
    import numpy as np

    heard = table[~np.isnan(table)]
    size = levels if levels is not None else int(heard.max(initial=0)) + 1
    if len(heard) and (heard.min() < 0 or heard.max() >= size or (heard != np.floor(heard)).any()):
        raise ValueError(f"{need}: labels must be whole positions from 0 to {size - 1}")
    at = np.arange(size, dtype=np.float64)
    apart = np.abs(at[:, None] - at[None, :]) / max(1, size - 1)
    close: dict[str, Array] = {"none": np.eye(size), "linear": 1.0 - apart, "quadratic": 1.0 - apart**2}
    if weights not in close:
        raise ValueError(f"{need}: weights {weights!r}; expected one of: {', '.join(close)}")
    near = close[weights]

    def features(block: Array) -> Array:
        counts = counts_of(block, at)
        votes = counts.sum(axis=1)
        pairs = votes * (votes - 1)
        agreed = (counts * (counts @ near - 1)).sum(axis=1) / np.where(pairs > 0, pairs, 1)
        rated = votes > 0
        shares = counts / np.where(rated, votes, 1)[:, None]
        return np.column_stack([agreed * (pairs > 0), pairs > 0, rated, shares]).astype(np.float64)

    def value(sums: Array) -> Array:
        agreed = ratio(sums[..., 0], sums[..., 1])
        shares = ratio(sums[..., 3:], sums[..., 2:3])
        spread = (shares * (1 - shares)).sum(axis=-1)
        chance = near.sum() * ratio(spread, np.full_like(spread, size * (size - 1)))
        return ratio(agreed - chance, 1 - chance)

    return Additive(features, value, size + 3)
