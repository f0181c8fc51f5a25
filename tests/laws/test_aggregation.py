"""Laws of every aggregation rule: it keeps the bound it declares, and depends on no order and no unit of weight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deliberate.aggregation import Aggregation, Weighted
from deliberate.plugins import names, part

SCORES = st.floats(0, 100)
WEIGHTS = st.floats(1e-300, 1e300)
MANY = st.lists(st.builds(Weighted, SCORES, WEIGHTS), min_size=1, max_size=8)
# Weights that sum to less than 1024 have no mean halfway between two results of nine decimals.
PLAIN = st.lists(
    st.builds(Weighted, st.integers(0, 100).map(float), st.integers(1, 120).map(float)), min_size=1, max_size=8
)


@pytest.fixture(params=names("aggregation"), scope="module")
def rule(request: pytest.FixtureRequest) -> Aggregation:
    """Every rule of the room."""
    found: Aggregation = part("aggregation", request.param)
    return found


def weighing(scores: Sequence[Weighted], change: Callable[[float], float]) -> list[Weighted]:
    """The same scores under other weights."""
    return [Weighted(one.score, change(one.weight)) for one in scores]


@given(scores=MANY)
@example(scores=[Weighted(100.0, 1e308), Weighted(100.0, 1e308)])
@example(scores=[Weighted(0.1, 1 / 3)] * 3)
def test_it_keeps_the_bound_it_declares(rule: Aggregation, scores: list[Weighted]) -> None:
    low, high = min(one.score for one in scores), max(one.score for one in scores)
    if rule.bound == "between":
        assert low <= rule(scores) <= high
    else:
        assert 0 <= rule(scores) <= low


@given(scores=MANY, chance=st.randoms(use_true_random=False))
def test_the_order_of_children_changes_no_byte(rule: Aggregation, scores: list[Weighted], chance: Random) -> None:
    shuffled = list(scores)
    chance.shuffle(shuffled)
    assert msgspec.json.encode(rule(shuffled)) == msgspec.json.encode(rule(scores))


@given(scores=PLAIN, factor=st.floats(1e-300, 1e300))
@example(scores=[Weighted(80.0, 40.0), Weighted(70.0, 35.0), Weighted(10.0, 25.0)], factor=0.01)
def test_the_unit_of_weight_changes_no_byte(rule: Aggregation, scores: list[Weighted], factor: float) -> None:
    other = weighing(scores, lambda weight: weight * factor)
    assert msgspec.json.encode(rule(other)) == msgspec.json.encode(rule(scores))


@given(scores=MANY, power=st.integers(-60, 60))
def test_doubling_or_halving_all_weights_changes_no_byte(rule: Aggregation, scores: list[Weighted], power: int) -> None:
    plain = weighing(scores, lambda weight: max(1e-200, min(1e200, weight)))
    other = weighing(plain, lambda weight: weight * 2.0**power)
    assert msgspec.json.encode(rule(other)) == msgspec.json.encode(rule(plain))


@given(scores=MANY, weight=st.sampled_from([1e308, 1.7976931348623157e308, 5e-324, 1.0]))
def test_no_weight_is_too_large_or_too_small(rule: Aggregation, scores: list[Weighted], weight: float) -> None:
    equal = weighing(scores, lambda _: weight)
    assert rule(equal) == rule(weighing(scores, lambda _: 1.0))


@given(scores=MANY, weights=st.lists(WEIGHTS, min_size=8, max_size=8))
def test_weights_count_only_where_it_says_so(rule: Aggregation, scores: list[Weighted], weights: list[float]) -> None:
    other = [Weighted(one.score, weight) for one, weight in zip(scores, weights, strict=False)]
    assert rule.weighs or rule(other) == rule(scores)


@given(score=SCORES, weight=WEIGHTS)
@example(score=1e-10, weight=1.0)
def test_a_single_score_is_itself(rule: Aggregation, score: float, weight: float) -> None:
    assert rule([Weighted(score, weight)]) == score


@given(scores=MANY, raised=st.integers(0, 7), by=st.floats(0, 100))
def test_a_better_part_never_makes_the_whole_worse(
    rule: Aggregation, scores: list[Weighted], raised: int, by: float
) -> None:
    at = raised % len(scores)
    better = [*scores]
    better[at] = Weighted(min(100.0, scores[at].score + by), scores[at].weight)
    assert rule(better) >= rule(scores)


@given(scores=MANY)
def test_it_leaves_what_it_was_given_alone(rule: Aggregation, scores: list[Weighted]) -> None:
    before = list(scores)
    rule(scores)
    assert scores == before
    assert rule(tuple(scores)) == rule(scores)
