"""The trimmed mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from deliberate.aggregation import Weighted
from deliberate.aggregation.trimmed_mean import trimmed_mean


def test_one_outlier_of_five_does_not_count() -> None:
    assert trimmed_mean([Weighted(0), Weighted(70), Weighted(72), Weighted(74), Weighted(75)]) == 72.0
    assert trimmed_mean([Weighted(0), Weighted(70), Weighted(72), Weighted(74), Weighted(100)]) == 72.0


def test_a_heavy_score_counts_with_what_lies_within() -> None:
    # 0 holds the first half of the weight: 0.3 of it lies within, and all of the rest but a fifth.
    assert trimmed_mean([Weighted(0, 2), Weighted(60, 1), Weighted(90, 1)]) == pytest.approx(
        (0.25 * 60 + 0.05 * 90) / 0.6
    )


def test_two_are_their_mean() -> None:
    assert trimmed_mean([Weighted(40), Weighted(60)]) == 50.0


@given(values=st.lists(st.integers(0, 100), min_size=1, max_size=4))
def test_without_weights_it_is_scipys(values: list[int]) -> None:
    fives = [float(value) for value in values for _ in range(5)]  # a fifth of them is a whole number
    mine = trimmed_mean([Weighted(value) for value in fives])
    assert mine == pytest.approx(float(stats.trim_mean(fives, 0.2)))
