"""Scores, brackets and ordered levels: the only place where a number changes its scale.

``score`` is a float 0–100 everywhere, ``normalized`` is 0–1, ``raw`` is the source's own number on its declared
scale. Brackets lie on the real line: Poor ≤ 25 < Fair ≤ 50 < Good ≤ 75 < Excellent, on the unrounded score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache

from deliberate.types._record import Record

__all__ = [
    "BRACKETS",
    "Bracket",
    "Levels",
    "bracket_named",
    "bracket_of",
    "edges",
    "finite",
    "midpoint",
    "normalize",
    "parse_scale",
    "raw_of",
    "to_score",
]


class Bracket(IntEnum):
    """The four brackets, in order."""

    POOR = 0
    FAIR = 1
    GOOD = 2
    EXCELLENT = 3

    @property
    def label(self) -> str:
        """The name as people read it: ``"Good"``."""
        return self.name.capitalize()


class Levels(Record, frozen=True, kw_only=True):
    """Ordered labels on a line, lowest first; tally rules and statistics take these, not the ``Bracket`` enum.

    ``tops[i]`` is the highest score of level i; a score above ``tops[i]`` lies in a later level.
    """

    labels: tuple[str, ...]
    tops: tuple[float, ...]

    def of(self, score: float) -> int:
        """The level a score lies in; a score above the last top lies in the last level."""
        for level, top in enumerate(self.tops):
            if score <= top:
                return level
        return len(self.tops) - 1


BRACKETS = Levels(labels=("poor", "fair", "good", "excellent"), tops=(25.0, 50.0, 75.0, 100.0))

_ALL = tuple(Bracket)  # looked up in a tenth of the time that its name takes
_EDGES = ((0.0, 25.0), (26.0, 50.0), (51.0, 75.0), (76.0, 100.0))
_ENDLESS = (math.inf, -math.inf)
_MIDPOINTS = (12.5, 38.0, 63.0, 88.0)


def bracket_of(score: float) -> Bracket:
    """The bracket of a score 0–100.

    Raises:
        ValueError: The score is not a finite number from 0 to 100.

    >>> bracket_of(25.0).label, bracket_of(25.1).label, bracket_of(100).label
    ('Poor', 'Fair', 'Excellent')
    """
    return _ALL[BRACKETS.of(finite(score, low=0.0, high=100.0))]


def bracket_named(name: str) -> Bracket:
    """The bracket of that name, whatever its case.

    Raises:
        ValueError: No bracket has that name.
    """
    try:
        return Bracket[name.strip().upper()]
    except KeyError:
        msg = f"{name!r} is not a bracket: expected one of poor, fair, good, excellent"
        raise ValueError(msg) from None


def edges(bracket: Bracket) -> tuple[float, float]:
    """The printed edges of a bracket, as judges are shown them: 0–25, 26–50, 51–75, 76–100."""
    return _EDGES[bracket]


def midpoint(bracket: Bracket) -> float:
    """The number of a bracket that was voted without a score: 12.5, 38, 63, 88."""
    return _MIDPOINTS[bracket]


def finite(value: float, *, low: float = -math.inf, high: float = math.inf) -> float:
    """The value as a float, if it is a finite number within the bounds (both inclusive).

    Raises:
        ValueError: It is a boolean, not a number, not finite, or out of bounds.
    """
    if type(value) is float and low <= value <= high and value not in _ENDLESS:
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):  # pyright: ignore[reportUnnecessaryIsInstance]
        msg = f"{value!r} is not a number"
        raise ValueError(msg)  # noqa: TRY004  one kind of error for every bad number
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or not low <= number <= high:
        msg = f"{value!r} is not a finite number from {low:g} to {high:g}"
        raise ValueError(msg)
    return number


def normalize(score: float) -> float:
    """A score 0–100 as 0–1."""
    return score / 100.0


def parse_scale(scale: str | Sequence[float]) -> tuple[float, float]:
    """Low and high of a declared scale, written ``"0..1"`` or ``(0, 1)``; high may be the lower number.

    A scale whose first number is the larger one (``"30..0"``) says that less is better.

    Raises:
        ValueError: Not two different finite numbers.
    """
    return _written(scale) if isinstance(scale, str) else _ends(scale)


@lru_cache(maxsize=256)
def _written(scale: str) -> tuple[float, float]:
    return _ends(scale)


def _ends(scale: str | Sequence[float]) -> tuple[float, float]:
    try:
        parts = scale.split("..") if isinstance(scale, str) else list(scale)
        low, high = (finite(float(part) if isinstance(part, str) else part) for part in parts)
    except (ValueError, TypeError):
        msg = f"{scale!r} is not a scale: expected two numbers, as in '0..1' or '0..100'"
        raise ValueError(msg) from None
    if low == high or not math.isfinite(high - low):
        msg = f"{scale!r} is not a scale: its ends are {'the same' if low == high else 'too far apart'}"
        raise ValueError(msg)
    return low, high


def to_score(raw: float, *, scale: str | Sequence[float]) -> float:
    """A number on its declared scale as a score 0–100.

    Raises:
        ValueError: Outside its scale, or not finite: a failed reading, never clamped.

    >>> to_score(0.5, scale="0..1"), to_score(7, scale="0..10"), to_score(0.0, scale="30..0")
    (50.0, 70.0, 100.0)
    """
    low, high = parse_scale(scale)
    value = finite(raw, low=low, high=high) if low < high else finite(raw, low=high, high=low)
    score = round((value - low) / (high - low) * 100.0, 9)
    return score if 0.0 < score < 100.0 else min(100.0, max(0.0, score))  # noqa: PLR2004  its ends


def raw_of(score: float, *, scale: str | Sequence[float]) -> float:
    """A score 0–100 as a number on a declared scale: ``to_score`` turned round.

    Raises:
        ValueError: Not a score, or not a scale.

    >>> raw_of(50.0, scale="0..1"), raw_of(70.0, scale="0..10"), raw_of(100.0, scale="30..0")
    (0.5, 7.0, 0.0)
    """
    low, high = parse_scale(scale)
    return round(low + finite(score, low=0.0, high=100.0) / 100.0 * (high - low), 9)
