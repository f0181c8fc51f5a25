"""All alike, or a tie."""

from __future__ import annotations

import pytest

from deliberate.tallies import LevelVote
from deliberate.tallies.unanimous import unanimous
from deliberate.types import BRACKETS


@pytest.mark.parametrize(
    ("levels", "winners"), [([2], (2,)), ([2, 2, 2], (2,)), ([2, 2, 3], (2, 3)), ([3, 0, 3, 2], (0, 2, 3))]
)
def test_the_level_every_vote_names_wins_or_all_that_were_named_tie(
    levels: list[int], winners: tuple[int, ...]
) -> None:
    assert unanimous([LevelVote(level, 0.0) for level in levels], BRACKETS) == winners
