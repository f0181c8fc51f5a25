"""A rate or a mean measured with judges, put right by a few human labels: prediction-powered inference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from deliberate.errors import ConfigError
from deliberate.studies._arrays import need_stats
from deliberate.types import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["Corrected", "corrected_mean"]

_FEWEST = 10
_ADDED = 0.5


class Corrected(Record, frozen=True, kw_only=True):
    """A mean with its interval, beside what judges alone and people alone give.

    Attributes:
        value: The corrected mean; ``low``, ``high``: its interval.
        judged: The mean of the judge's scores on all items, uncorrected.
        labeled: The mean of the human labels alone, with ``labeled_low`` and ``labeled_high``.
        weight: How far the judge is relied on, 0–1: 0 gives the human labels alone.
        n: Items with a human label; ``unlabeled``: without.
    """

    value: float
    low: float
    high: float
    judged: float
    labeled: float
    labeled_low: float
    labeled_high: float
    weight: float
    n: int
    unlabeled: int
    confidence: float
    interval: str = "t interval of the corrected mean"


def corrected_mean(
    labeled: Sequence[tuple[float, float]],
    unlabeled: Sequence[float],
    *,
    confidence: float = 0.95,
    bounds: tuple[float, float] | None = None,
) -> Corrected:
    """The mean human label over all items, from the judge's scores and a few human labels.

    θ = λ mean(f unlabeled) + mean(y − λ f labeled), λ = cov(y, f) / ((1 + n/N) var(f)), kept within 0–1; variance
    λ² var(f)/N + var(y − λ f)/n. A pass rate is the mean of 0 and 1.

    Args:
        labeled: Human label and judge's score of each labeled item, drawn at random from all; at least 10.
        unlabeled: The judge's score of each other item.
        confidence: Nominal coverage of the intervals, above 0 and below 1.
        bounds: The lowest and highest possible value. Intervals end there, and half an item of each of the four kinds
            (label and judge at either end) is added to them: errors of a good judge are few and all on one side, and an
            interval that has seen none of the other kind is too narrow.

    Raises:
        MissingExtra: scipy is not installed.
        ConfigError: Fewer than 10 human labels, or no other item.

    Angelopoulos, Duchi and Zrnic (2023), PPI++, arXiv 2311.01453, eq. 4 and example 6.1; Angelopoulos et al. (2023),
    doi:10.1126/science.adi6000. The quantile is Student's with n − 1 degrees of freedom, as labels are few; half
    items: Agresti and Min (2005), doi:10.1002/sim.1781.

    >>> seen = [(1, 1), (1, 1), (0, 1), (0, 0), (1, 1), (0, 0), (1, 0), (0, 0), (1, 1), (0, 0)]
    >>> found = corrected_mean(seen, [1, 1, 0, 1, 1, 0, 1, 1, 0, 1] * 10, bounds=(0, 1))
    >>> round(found.judged, 3), round(found.value, 3), round(found.weight, 3)
    (0.682, 0.638, 0.692)
    """
    need_stats("corrected_mean")
    import numpy as np
    from scipy.special import stdtrit

    if len(labeled) < _FEWEST or not unlabeled:
        what = f"{len(labeled)} labeled items and {len(unlabeled)} others"
        raise ConfigError(what, where="corrected_mean", expected=f"at least {_FEWEST} human labels, and items without")
    pairs = np.array(labeled, dtype=np.float64)
    y, f = pairs[:, 0], pairs[:, 1]
    rest = np.asarray(unlabeled, dtype=np.float64)
    n, others = len(y), len(rest)
    spread = float(np.concatenate([f, rest]).var(ddof=1))
    weight = _reliance(y, f, spread, others)
    left = y - weight * f
    reach = float(stdtrit(n - 1, (1 + confidence) / 2))
    ends = bounds or ()
    judged_spread = weight**2 * float(rest.var(ddof=1) if others > 1 else spread) / others
    middle, square = _moments(left, [one - weight * other for one in ends for other in ends])
    error = reach * math.sqrt(judged_spread + square)
    judged = weight * float(rest.mean())
    alone, alone_square = _moments(y, [*ends, *ends])
    apart = reach * math.sqrt(alone_square)
    low, high = bounds or (-math.inf, math.inf)

    def within(number: float) -> float:
        return float(np.clip(number, low, high))

    return Corrected(
        value=within(judged + float(left.mean())),
        low=within(judged + middle - error),
        high=within(judged + middle + error),
        judged=float(np.concatenate([f, rest]).mean()),
        labeled=float(y.mean()),
        labeled_low=within(alone - apart),
        labeled_high=within(alone + apart),
        weight=weight,
        n=n,
        unlabeled=others,
        confidence=confidence,
    )


def _reliance(labels: Array, judged: Array, spread: float, others: int) -> float:
    """How far the judge is relied on, 0–1 (λ): what it shares with the labels, of the variance of its scores."""
    import numpy as np

    if not spread:
        return 0.0
    return float(np.clip(np.cov(labels, judged)[0, 1] / ((1 + len(labels) / others) * spread), 0.0, 1.0))


def _moments(seen: Array, added: Sequence[float]) -> tuple[float, float]:
    """Mean and its squared standard error, with half an item of each kind added."""
    import numpy as np

    every = np.concatenate([seen, np.asarray(added, dtype=np.float64)])
    times = np.concatenate([np.ones(len(seen)), np.full(len(added), _ADDED)])
    total = float(times.sum())
    middle = float(times @ every) / total
    return middle, float(times @ (every - middle) ** 2) / (total if added else total - 1) / total
