"""The weighted product."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.aggregation import Weighted
from deliberate.aggregation.weighted_mean import weighted_mean
from deliberate.aggregation.weighted_product import weighted_product

SCORES = st.lists(st.builds(Weighted, st.floats(1, 100), st.floats(0.1, 10)), min_size=1, max_size=8)


def test_it_is_the_geometric_mean() -> None:
    assert weighted_product([Weighted(90), Weighted(40)]) == 60.0
    assert weighted_product([Weighted(100, 1), Weighted(25, 3)]) == pytest.approx(100 * 0.25**0.75)


def test_one_zero_makes_it_zero_whatever_its_weight() -> None:
    assert weighted_product([Weighted(100, 1e9), Weighted(0, 1)]) == 0.0


@given(scores=SCORES)
def test_it_never_exceeds_the_weighted_mean(scores: list[Weighted]) -> None:
    assert weighted_product(scores) <= weighted_mean(scores) + 1e-8


@given(scores=SCORES)
def test_it_is_what_another_way_of_computing_gives(scores: list[Weighted]) -> None:
    total = sum(one.weight for one in scores)
    other = math.prod((one.score / 100) ** (one.weight / total) for one in scores) * 100
    assert weighted_product(scores) == pytest.approx(other)
