"""When to let a panel decide and when to ask a person: a threshold with a promise."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from deliberate.errors import ConfigError
from deliberate.studies._arrays import need_stats
from deliberate.types import Record

__all__ = ["Threshold", "clopper_pearson", "threshold_for"]


class Threshold(Record, frozen=True, kw_only=True):
    """From which confidence on a panel may decide alone.

    Attributes:
        threshold: The least confidence; None: the panel is too bad, or the labels too few, to promise anything.
        coverage: Share of the labeled items it keeps; ``risk``: share of those it has wrong; ``bound``: upper bound of
            the risk, which holds with probability 1 − delta.
        n: Labeled items; ``kept``: at or above the threshold.
    """

    threshold: float | None = None
    coverage: float = 0.0
    risk: float | None = None
    bound: float | None = None
    target: float
    delta: float
    n: int
    kept: int = 0
    reason: str = ""


def clopper_pearson(hits: int, n: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """The exact interval of a share: it covers at least as often as it says.

    Args:
        hits: How many of ``n``.
        n: At least 1.
        confidence: Nominal coverage, above 0 and below 1.

    Raises:
        MissingExtra: scipy is not installed.
        ConfigError: ``n`` below 1, or ``hits`` not from 0 to ``n``.

    Clopper and Pearson (1934), doi:10.1093/biomet/26.4.404. With no hit in n the upper end is 1 − (α/2)^(1/n).

    >>> [round(end, 4) for end in clopper_pearson(0, 10)], [round(end, 4) for end in clopper_pearson(5, 10)]
    ([0.0, 0.3085], [0.1871, 0.8129])
    """
    need_stats("clopper_pearson")
    from scipy.special import betaincinv

    if n < 1 or not 0 <= hits <= n:
        raise ConfigError(f"{hits} of {n}", where="clopper_pearson", expected="a count from 0 to n, n at least 1")
    tail = (1 - confidence) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, n - hits + 1, tail))
    return low, _upper(hits, n, tail)


def _upper(hits: int, n: int, delta: float) -> float:
    """The share that so few hits would have shown with probability delta."""
    from scipy.special import betaincinv

    return 1.0 if hits == n else float(betaincinv(hits + 1, n - hits, 1 - delta))


def threshold_for(
    confidence: Sequence[float], right: Sequence[bool], *, target: float, delta: float = 0.1
) -> Threshold:
    """The lowest confidence from which on a panel errs no more often than promised, with probability 1 − delta.

    Thresholds are tried from the strictest down (fixed sequence), each by the Clopper-Pearson upper bound of the risk
    at level delta; the first that fails ends the search. It starts where enough items are kept that no error at all
    would pass: this looks at confidences only, never at labels.

    Args:
        confidence: The panel's, one a labeled item: a share of votes, or any number.
        right: Whether its verdict was right, one an item.
        target: The most risk, 0–1.
        delta: How often the promise may break.

    Raises:
        MissingExtra: scipy is not installed.
        ConfigError: Not one of each an item, or a target or delta not between 0 and 1.

    Bauer (1991), fixed sequences: doi:10.1002/sim.4780100609; Jung, Brahman and Choi (2025), Trust or Escalate,
    arXiv 2407.18370, sec. 2; Clopper and Pearson (1934), doi:10.1093/biomet/26.4.404.
    """
    need_stats("threshold_for")
    import numpy as np

    if len(confidence) != len(right) or not confidence:
        raise ConfigError(
            f"{len(right)} labels for {len(confidence)} items", where="threshold_for", expected="one each"
        )
    if not (0 < target < 1 and 0 < delta < 1):
        raise ConfigError(f"target {target}, delta {delta}", where="threshold_for", expected="both between 0 and 1")
    shares, wrong = np.asarray(confidence, dtype=np.float64), ~np.asarray(right, dtype=np.bool_)
    fewest = math.ceil(math.log(delta) / math.log1p(-target))
    refused = Threshold(target=target, delta=delta, n=len(shares))
    found, why = refused, f"{len(shares)} labeled items are too few: {fewest} without an error are needed"
    for level in np.unique(shares)[::-1]:
        kept = shares >= level
        count, errors = int(kept.sum()), int((kept & wrong).sum())
        if count < fewest:
            continue
        bound = _upper(errors, count, delta)
        if bound > target:
            why = f"at {level:g} and above {errors} of {count} are wrong: the risk may be {bound:.3f}, above {target:g}"
            break
        found = msgspec.structs.replace(
            refused,
            threshold=float(level),
            coverage=count / len(shares),
            risk=errors / count,
            bound=bound,
            kept=count,
        )
    return found if found.kept else msgspec.structs.replace(refused, reason=f"refused: {why}")
