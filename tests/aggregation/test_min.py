"""The least."""

from __future__ import annotations

from deliberate.aggregation import Weighted
from deliberate.aggregation.min import min as least


def test_the_least_score_wins_whatever_the_weights() -> None:
    assert least([Weighted(80.0, 5), Weighted(20.0, 0.001), Weighted(50.0, 1)]) == 20


def test_it_declares_that_weights_do_not_count() -> None:
    assert (least.weighs, least.bound) == (False, "between")
