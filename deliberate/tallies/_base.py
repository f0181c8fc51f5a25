"""What a rule is: votes -> the winning levels.

Rules take ordered levels, not the ``Bracket`` enum: recorded data has two to eleven of them. A rule is a pure
function of the votes and depends on no order; several winners are a tie, and the tie policy decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from typing import Protocol as Contract

from deliberate.types import Levels

__all__ = ["LevelVote", "Rule", "alike", "mean_of", "past_half", "scaled", "weight_of"]


class LevelVote(NamedTuple):
    """A vote for one level, with the score that came with it and the seat's weight (> 0)."""

    level: int
    score: float
    weight: float = 1.0


class Rule(Contract):
    """A tally rule."""

    def __call__(self, votes: Sequence[LevelVote], levels: Levels) -> tuple[int, ...]:
        """The winning levels, lowest first; never empty.

        Args:
            votes: At least one.
            levels: The ordered levels voted on.
        """
        ...


def scaled(votes: Sequence[LevelVote]) -> Sequence[LevelVote]:
    """The votes with weights as shares of the greatest: only ratios of weights count."""
    most = max([vote.weight for vote in votes])
    if most == 1.0:
        return votes
    return [LevelVote(vote.level, vote.score, vote.weight / most) for vote in votes]


def alike(votes: Sequence[LevelVote]) -> bool:
    """Whether all votes weigh the same: then counting is weighing, to the last digit."""
    first = votes[0].weight
    for vote in votes:  # noqa: SIM110  of a handful of votes a generator takes three times as long
        if vote.weight != first:
            return False
    return True


def mean_of(votes: Sequence[LevelVote]) -> float:
    """The weighted mean of the scores, summed without regard to order."""
    if alike(votes):
        return math.fsum([vote.score for vote in votes]) / len(votes)
    votes = scaled(votes)
    return math.fsum([vote.weight * vote.score for vote in votes]) / weight_of(votes)


def past_half(part: Iterable[LevelVote], whole: Iterable[LevelVote]) -> float:
    """How far twice the weight of a part of scaled votes lies above that of all of them; equal to 9 decimals is 0."""
    return round(2 * math.fsum([vote.weight for vote in part]) - math.fsum([vote.weight for vote in whole]), 9)


def weight_of(votes: Iterable[LevelVote]) -> float:
    """The weight of scaled votes, summed without regard to order; equal to 12 decimals counts as equal."""
    return round(math.fsum([vote.weight for vote in votes]), 12)
