"""Most weight wins."""

from __future__ import annotations

from collections.abc import Sequence

from deliberate.tallies._base import LevelVote, alike, scaled, weight_of
from deliberate.types import Levels

__all__ = ["plurality"]


def plurality(votes: Sequence[LevelVote], levels: Levels) -> tuple[int, ...]:
    """The levels with the most weight; several if they tie.

    >>> from deliberate.types import BRACKETS
    >>> plurality([LevelVote(2, 70), LevelVote(2, 60), LevelVote(0, 5)], BRACKETS)
    (2,)
    """
    shares: list[float]
    if alike(votes):
        shares = [0] * len(levels.tops)
        for vote in votes:
            shares[vote.level] += 1
    else:
        votes = scaled(votes)
        shares = [weight_of(vote for vote in votes if vote.level == level) for level in range(len(levels.tops))]
    most = max(shares)
    if shares.count(most) == 1:
        return (shares.index(most),)
    return tuple([level for level, share in enumerate(shares) if share == most])
