"""The level of the mean score."""

from __future__ import annotations

import pytest

from deliberate.tallies import LevelVote
from deliberate.tallies.mean import mean
from deliberate.types import BRACKETS


@pytest.mark.parametrize(
    ("scores", "winner"),
    [
        ([(25, 1)], 0),
        ([(25, 1), (25.2, 1)], 1),
        ([(90, 1), (20, 1)], 2),
        ([(0, 1), (50, 1)], 0),
        ([(100, 3), (0, 1)], 2),
        ([(100, 3.1), (0, 1)], 3),
        ([(0.1, 1), (0.2, 1), (100, 1)], 1),
    ],
)
def test_the_level_in_which_the_weighted_mean_lies_wins(scores: list[tuple[float, float]], winner: int) -> None:
    votes = [LevelVote(BRACKETS.of(score), score, weight) for score, weight in scores]
    assert mean(votes, BRACKETS) == (winner,)


def test_a_level_nobody_voted_for_can_win() -> None:
    assert mean([LevelVote(0, 0.0), LevelVote(3, 100.0)], BRACKETS) == (1,)


def test_rounding_does_not_lift_a_mean_over_an_edge() -> None:
    assert mean([LevelVote(0, 25.0, 0.1), LevelVote(0, 25.0, 0.2), LevelVote(0, 25.0, 0.3)], BRACKETS) == (0,)
