"""Whether a confidence means what it says: calibration error, with the curve."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from deliberate.errors import ConfigError
from deliberate.types import Record

__all__ = ["Bin", "Reliability", "reliability"]

_ROUNDING = 1e-9


class Bin(Record, frozen=True, kw_only=True):
    """Items of nearly the same confidence: how many, how sure the panel was, how often it was right (all 0–1)."""

    low: float
    high: float
    n: int
    confidence: float
    right: float


class Reliability(Record, frozen=True, kw_only=True):
    """Expected calibration error (0–1; 0: confidence is the share of right verdicts), and the bins behind it."""

    error: float
    n: int
    bins: tuple[Bin, ...]


def reliability(confidence: Sequence[float], right: Sequence[bool], *, bins: int | Sequence[float] = 10) -> Reliability:
    """How far stated confidence and the share of right verdicts are apart.

    ECE = Σ over bins n(bin)/n × |share right − mean confidence|; bins are open below, closed above.

    Args:
        confidence: 0–1, one an item: the share of votes for the verdict, say.
        right: Whether the verdict was right, one an item.
        bins: How many of equal width, or their edges, ascending from 0 to 1.

    Raises:
        ConfigError: Not one of each an item, none at all, or a confidence outside 0–1.

    Naeini, Cooper and Hauskrecht (2015), doi:10.1609/aaai.v29i1.9602, sec. "Calibration measures".

    >>> reliability([0.9, 0.9, 0.6, 0.6], [True, True, True, False]).error
    0.1
    """
    if len(confidence) != len(right) or not confidence:
        raise ConfigError(f"{len(right)} labels for {len(confidence)} items", where="reliability", expected="one each")
    outside = next((one for one in confidence if not 0 <= one <= 1), None)
    if outside is not None:
        raise ConfigError(f"confidence {outside}", where="reliability", expected="a number from 0 to 1")
    edges = [at / bins for at in range(bins + 1)] if isinstance(bins, int) else list(bins)
    held: dict[int, list[tuple[float, bool]]] = {}
    for share, was in zip(confidence, right, strict=True):
        held.setdefault(max(0, bisect_left(edges, share - _ROUNDING) - 1), []).append((share, was))
    made = tuple(
        Bin(
            low=edges[at],
            high=edges[at + 1],
            n=len(seen),
            confidence=sum(share for share, _ in seen) / len(seen),
            right=sum(was for _, was in seen) / len(seen),
        )
        for at, seen in sorted(held.items())
    )
    error = sum(one.n * abs(one.right - one.confidence) for one in made) / len(confidence)
    return Reliability(error=round(error, 12), n=len(confidence), bins=made)
