"""The level in the middle."""

from __future__ import annotations

import pytest

from deliberate.tallies import LevelVote
from deliberate.tallies.median import median
from deliberate.types import BRACKETS


@pytest.mark.parametrize(
    ("levels", "winner"),
    [
        ([0], 0),
        ([3], 3),
        ([1, 3], 1),
        ([3, 1], 1),
        ([0, 3, 3], 3),
        ([0, 0, 3], 0),
        ([0, 1, 3], 1),
        ([0, 1, 2, 3], 1),
        ([0, 0, 0, 2, 2, 3, 3], 2),
        ([2, 2, 2, 2], 2),
        ([0, 0, 3, 3], 0),
    ],
)
def test_the_lower_middle_wins(levels: list[int], winner: int) -> None:
    assert median([LevelVote(level, 0.0) for level in levels], BRACKETS) == (winner,)


@pytest.mark.parametrize(
    ("weights", "winner"), [((1, 1, 1), 1), ((3, 1, 1), 0), ((2, 1, 1), 0), ((1, 1, 3), 3), ((1, 1, 2), 1)]
)
def test_it_is_the_middle_of_the_weight(weights: tuple[float, ...], winner: int) -> None:
    votes = [LevelVote(level, 0.0, weight) for level, weight in zip((0, 1, 3), weights, strict=True)]
    assert median(votes, BRACKETS) == (winner,)


def test_half_but_for_rounding_is_half() -> None:
    votes = [*[LevelVote(0, 0.0, 0.1)] * 3, LevelVote(3, 100.0, 0.3)]
    assert median(votes, BRACKETS) == (0,)


@pytest.mark.parametrize("order", [1, -1])
def test_half_is_half_whatever_the_greatest_weight(order: int) -> None:
    """10 of 20; as shares of the greatest weight, 10/7 and 20/7 round in different directions."""
    votes = [LevelVote(level, 0.0, weight) for level, weight in ((0, 7.0), (1, 3.0), (2, 5.0), (3, 5.0))][::order]
    assert median(votes, BRACKETS) == (1,)
