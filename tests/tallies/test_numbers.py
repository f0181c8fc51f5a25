"""Every named score of one set of votes, by hand."""

from __future__ import annotations

import pytest

from deliberate.tallies import BRACKET_SCORES, LevelVote, numbers
from deliberate.types import Bracket


def votes(*given: tuple[int, float] | tuple[int, float, float]) -> list[LevelVote]:
    """Votes by level, score and weight."""
    return [LevelVote(*one) for one in given]


@pytest.mark.parametrize(
    ("given", "won", "expected"),
    [
        (
            [(2, 70.0), (2, 60.0), (0, 10.0)],
            Bracket.GOOD,
            (51, 46.666666667, 46.166666667, 65, 65, 63, 51, 75),
        ),
        ([(3, 90.0)], Bracket.EXCELLENT, (90, 90, 88, 90, 90, 88, 76, 100)),
        ([(0, 0.0), (3, 100.0)], Bracket.POOR, (25, 50, 50.25, 0, 0, 12.5, 0, 25)),
        ([(0, 0.0), (3, 100.0)], Bracket.FAIR, (50, 50, 50.25, 38, 38, 38, 26, 50)),
        ([(0, 0.0), (3, 100.0)], Bracket.GOOD, (51, 50, 50.25, 63, 63, 63, 51, 75)),
        (
            [(2, 55.0, 3), (2, 75.0, 1), (0, 0.0, 1)],
            Bracket.GOOD,
            (51, 48, 52.9, 55, 60, 63, 51, 75),
        ),
        ([(2, 50.5)], Bracket.GOOD, (50.5, 50.5, 63, 50.5, 50.5, 63, 51, 75)),
        ([(1, 30.0), (3, 80.0), (3, 100.0)], Bracket.FAIR, (50, 70, 71.333333333, 30, 30, 38, 26, 50)),
    ],
)
def test_each_number_by_hand(given: list[tuple[int, float]], won: Bracket, expected: tuple[float, ...]) -> None:
    assert numbers(votes(*given), won) == dict(zip(BRACKET_SCORES, expected, strict=True))


@pytest.mark.parametrize(
    ("given", "middle"),
    [
        ([(2, 60.0)], 60),
        ([(2, 60.0), (2, 70.0)], 65),
        ([(2, 70.0), (2, 60.0)], 65),
        ([(2, 60.0), (2, 70.0), (2, 75.0)], 70),
        ([(2, 60.0, 3), (2, 70.0), (2, 75.0)], 60),
        ([(2, 60.0, 2), (2, 70.0), (2, 75.0)], 65),
        ([(2, 60.0, 0.1), (2, 61.0, 0.2), (2, 75.0, 0.3)], 68),
        ([(2, 52.0, 7), (2, 56.0, 3), (2, 60.0, 5), (2, 64.0, 5)], 58),
    ],
)
def test_the_median_is_of_the_weight(given: list[tuple[int, float]], middle: float) -> None:
    assert numbers(votes(*given), Bracket.GOOD)["median_in_bracket"] == middle


def test_the_mean_stays_a_score_where_rounding_would_leave_it() -> None:
    full = numbers(votes(*[(3, 100.0, 0.1)] * 3), Bracket.EXCELLENT)
    assert full["mean"] == full["mean_in_bracket"] == 100
    empty = numbers(votes(*[(0, 0.0, 0.1)] * 3), Bracket.POOR)
    assert empty["mean"] == 0


def test_the_names_stand_in_one_list() -> None:
    assert tuple(numbers(votes((0, 0.0)), Bracket.POOR)) == BRACKET_SCORES
