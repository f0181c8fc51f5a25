"""The weighted mean."""

from __future__ import annotations

import pytest

from deliberate.aggregation import Weighted
from deliberate.aggregation.weighted_mean import weighted_mean


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([(100, 3), (60, 1)], 90),
        ([(100, 1), (0, 1)], 50),
        ([(90, 0.3), (80, 0.2), (70, 0.4), (60, 0.25), (50, 0.15), (40, 0.2)], 67.666666667),
        ([(0.1, 1), (0.2, 1), (0.3, 1)], 0.2),
        ([(100, 1e308), (50, 1e308)], 75),
        ([(100, 5e-324), (50, 5e-324)], 75),
        ([(100, 1e308), (50, 1e-308)], 100),
    ],
)
def test_each_score_counts_by_its_share_of_the_weight(scores: list[tuple[float, float]], expected: float) -> None:
    assert weighted_mean([Weighted(*one) for one in scores]) == expected


def test_it_declares_that_weights_count_and_that_it_stays_between() -> None:
    assert (weighted_mean.weighs, weighted_mean.bound) == (True, "between")
