"""Most weight wins."""

from __future__ import annotations

import pytest

from deliberate.tallies import LevelVote
from deliberate.tallies.plurality import plurality
from deliberate.types import BRACKETS


def votes(*given: tuple[int, float]) -> list[LevelVote]:
    """Votes by level and weight."""
    return [LevelVote(level, 0.0, weight) for level, weight in given]


@pytest.mark.parametrize(
    ("given", "winners"),
    [
        ([(2, 1)], (2,)),
        ([(2, 1), (2, 1), (0, 1)], (2,)),
        ([(0, 1), (3, 1)], (0, 3)),
        ([(3, 1), (1, 1), (2, 1)], (1, 2, 3)),
        ([(0, 1), (1, 1), (2, 1), (3, 1)], (0, 1, 2, 3)),
        ([(0, 3), (3, 1), (3, 1)], (0,)),
        ([(0, 2), (3, 1), (3, 1)], (0, 3)),
        ([(0, 0.1), (0, 0.2), (3, 0.3)], (0, 3)),
        ([(1, 1), (1, 1), (2, 1), (2, 1), (3, 1)], (1, 2)),
    ],
)
def test_the_levels_with_the_most_weight_win(given: list[tuple[int, float]], winners: tuple[int, ...]) -> None:
    assert plurality(votes(*given), BRACKETS) == winners


def test_the_scores_do_not_count() -> None:
    assert plurality([LevelVote(0, 25.0), LevelVote(3, 76.0), LevelVote(3, 76.0)], BRACKETS) == (3,)
