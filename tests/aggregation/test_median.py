"""The weighted median."""

from __future__ import annotations

import pytest

from deliberate.aggregation import Weighted
from deliberate.aggregation.median import median


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([(10, 1), (20, 1), (90, 1)], 20),
        ([(10, 1), (20, 1)], 15),
        ([(90, 1), (10, 1), (20, 1), (40, 1)], 30),
        ([(10, 3), (20, 1), (90, 1)], 10),
        ([(10, 1), (20, 1), (90, 2)], 55),
        ([(10, 1), (20, 1), (90, 2.001)], 90),
        ([(10, 0.1), (20, 0.2), (90, 0.3)], 55),
        ([(10, 1), (10, 1), (20, 2)], 15),
        ([(10, 1e308), (20, 1e308)], 15),
    ],
)
def test_half_of_the_weight_lies_on_either_side(scores: list[tuple[float, float]], expected: float) -> None:
    assert median([Weighted(*one) for one in scores]) == expected


def test_weights_that_are_half_but_for_rounding_count_as_half() -> None:
    tenths = [Weighted(10.0, 0.1)] * 3 + [Weighted(20.0, 0.3)]
    assert median(tenths) == 15


def test_it_declares_that_weights_count_and_that_it_stays_between() -> None:
    assert (median.weighs, median.bound) == (True, "between")
