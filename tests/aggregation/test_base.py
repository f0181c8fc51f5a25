"""A rule declares what it keeps, and is kept to it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from deliberate.aggregation import Weighted, aggregation
from deliberate.plugins import names, part


@aggregation()
def overshoots(scores: Sequence[Weighted]) -> float:
    """A mean that is out by rounding."""
    return scores[0].score + 1e-7


@aggregation(bound="at_most_min", weighs=False)
def strays(scores: Sequence[Weighted]) -> float:
    """Below or above what it declares."""
    return -5.0 if len(scores) > 1 else 500.0


def test_a_rule_is_named_and_declared() -> None:
    assert (overshoots.name, overshoots.bound, overshoots.weighs) == ("overshoots", "between", True)
    assert (strays.name, strays.bound, strays.weighs) == ("strays", "at_most_min", False)


def test_rounding_never_leads_out_of_the_declared_bound() -> None:
    assert overshoots([Weighted(100.0)]) == 100
    assert overshoots([Weighted(40.0), Weighted(50.0)]) == pytest.approx(40, abs=1e-6)
    assert strays([Weighted(40.0)]) == 40
    assert strays([Weighted(40.0), Weighted(50.0)]) == 0


def test_a_result_is_rounded_to_nine_decimals() -> None:
    assert overshoots([Weighted(10.0), Weighted(50.0)]) == 10.0000001
    thirds = part("aggregation", "weighted_mean")([Weighted(0.0, 2.0), Weighted(100.0, 1.0)])
    assert thirds == 33.333333333


@pytest.mark.parametrize("name", names("aggregation"))
def test_nothing_cannot_be_aggregated(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} of no scores"):
        part("aggregation", name)([])


@pytest.mark.parametrize("name", names("aggregation"))
def test_a_rule_is_called_as_its_file(name: str) -> None:
    assert part("aggregation", name).name == name


def test_a_weight_is_one_unless_it_is_given() -> None:
    assert Weighted(50.0).weight == 1
