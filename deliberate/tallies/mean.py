"""The level of the mean score."""

from __future__ import annotations

from collections.abc import Sequence

from deliberate.tallies._base import LevelVote, mean_of
from deliberate.types import Levels

__all__ = ["mean"]


def mean(votes: Sequence[LevelVote], levels: Levels) -> tuple[int, ...]:
    """The level in which the weighted mean of the scores lies; it never ties.

    >>> from deliberate.types import BRACKETS
    >>> mean([LevelVote(3, 90), LevelVote(0, 20)], BRACKETS)
    (2,)
    """
    return (levels.of(round(mean_of(votes), 9)),)
