"""Log-odds -> probability: Platt's method.

P(good) = sigmoid(slope x (log-odds - offset)), fitted to labels by maximum likelihood with smoothed targets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["fitted"]

_STEPS = 200
_SHORTEST_STEP = 1e-10
_GAIN = 1e-12
_RIDGE = 1e-12
_REACH = 40.0


def fitted(seen: Sequence[tuple[float, bool]], *, slope: float | None = None) -> tuple[float, float]:
    """Offset and slope of P(good) = sigmoid(slope x (log-odds - offset)).

    Maximum likelihood with Platt's smoothed targets, (n1 + 1) / (n1 + 2) for good and 1 / (n0 + 2) for poor, so that
    it stays finite where the labels are separable. Platt (1999), Probabilistic outputs for support vector machines;
    targets and Newton's method as in Lin, Lin and Weng (2007), doi:10.1007/s10994-007-5018-6, eq. 3 and sec. 2.

    Args:
        seen: Log-odds of Yes over No, and whether a person says good; of both kinds.
        slope: The slope to keep; None = fitted too.

    >>> offset, slope = fitted([(1.0, False), (2.0, False), (3.0, True), (4.0, True)])
    >>> round(offset, 6), slope > 0
    (2.5, True)
    >>> offset, slope = fitted([(1.0, False), (2.0, False), (3.0, True), (4.0, True)], slope=1.0)
    >>> round(offset, 6), slope
    (2.5, 1.0)
    """
    goods = sum(good for _, good in seen)
    high, low = (goods + 1) / (goods + 2), 1 / (len(seen) - goods + 2)
    points = [(odds, high if good else low) for odds, good in seen]
    if slope is not None:
        return _offset(points, slope), slope
    return _newton(points)


def _sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))


def _offset(points: Sequence[tuple[float, float]], slope: float) -> float:
    """Where the shares sum up to the targets: the likelihood is highest there. Halving, as the sum falls with it."""
    reach = _REACH / slope
    low, high = min(odds for odds, _ in points) - reach, max(odds for odds, _ in points) + reach
    wanted = sum(target for _, target in points)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if sum(_sigmoid(slope * (odds - middle)) for odds, _ in points) > wanted:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _newton(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Newton's method with halved steps on the convex loss of sigmoid(a x + b)."""

    def loss(a: float, b: float) -> float:
        return sum(_softplus(a * odds + b) - target * (a * odds + b) for odds, target in points)

    a, b, best = 0.0, 0.0, loss(0.0, 0.0)
    for _ in range(_STEPS):
        shares = [(odds, _sigmoid(a * odds + b), target) for odds, target in points]
        slope_a = sum(odds * (share - target) for odds, share, target in shares)
        slope_b = sum(share - target for _, share, target in shares)
        curve_aa = sum(odds * odds * share * (1 - share) for odds, share, _ in shares) + _RIDGE
        curve_ab = sum(odds * share * (1 - share) for odds, share, _ in shares)
        curve_bb = sum(share * (1 - share) for _, share, _ in shares) + _RIDGE
        det = curve_aa * curve_bb - curve_ab * curve_ab
        da, db = (curve_bb * slope_a - curve_ab * slope_b) / det, (curve_aa * slope_b - curve_ab * slope_a) / det
        step = 1.0
        while step > _SHORTEST_STEP and loss(a - step * da, b - step * db) > best:
            step /= 2
        a, b = a - step * da, b - step * db
        before, best = best, loss(a, b)
        if before - best < _GAIN:
            break
    return -b / a, a


def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))
