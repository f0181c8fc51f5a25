"""The level in the middle of the ordered votes."""

from __future__ import annotations

from collections.abc import Sequence

from deliberate.tallies._base import LevelVote, alike, past_half, scaled
from deliberate.types import Levels

__all__ = ["median"]


def median(votes: Sequence[LevelVote], levels: Levels) -> tuple[int, ...]:
    """The lowest level that at least half of the weight does not exceed: the lower middle of an even number.

    >>> from deliberate.types import BRACKETS
    >>> median([LevelVote(level, 0) for level in (0, 0, 0, 2, 2, 3, 3)], BRACKETS)
    (2,)
    >>> median([LevelVote(1, 40), LevelVote(3, 90)], BRACKETS)
    (1,)
    """
    if alike(votes):
        return (sorted([vote.level for vote in votes])[(len(votes) - 1) // 2],)
    votes = scaled(votes)
    for level in range(len(levels.tops) - 1):
        if past_half((vote for vote in votes if vote.level <= level), votes) >= 0:
            return (level,)
    return (len(levels.tops) - 1,)
