"""The greatest."""

from __future__ import annotations

from deliberate.aggregation import Weighted
from deliberate.aggregation.max import max as greatest


def test_the_greatest_score_wins_whatever_the_weights() -> None:
    assert greatest([Weighted(80.0, 0.001), Weighted(20.0, 9), Weighted(50.0, 1)]) == 80


def test_it_declares_that_weights_do_not_count() -> None:
    assert (greatest.weighs, greatest.bound) == (False, "between")
