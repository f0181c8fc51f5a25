"""Laws of every statistic: missing votes are missing, one rater is no agreement, no order counts, what it declares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.agreement import Facts, facts_of, measure
from deliberate.plugins import names, part
from tests.laws._draws import looking

np = import_module("numpy")

Item = Sequence[float | None]
Statistic = Callable[[Iterable[Item]], float | None]
VOTES = st.none() | st.integers(0, 3)


@pytest.fixture(params=names("agreement"), scope="module")
def name(request: pytest.FixtureRequest) -> str:
    """The name of every statistic of the room."""
    found: str = request.param
    return found


@pytest.fixture(scope="module")
def statistic(name: str) -> Statistic:
    """Every statistic of the room."""
    found: Statistic = part("agreement", name)
    return found


@pytest.fixture(scope="module")
def facts(statistic: Statistic) -> Facts:
    """What it declares."""
    return facts_of(statistic)


def items_for(facts: Facts, data: st.DataObject, *, least: int = 1) -> list[list[int | None]]:
    """Items with as many raters as the statistic takes, votes missing here and there."""
    raters = facts.raters or data.draw(st.integers(least, 5), label="raters")
    rows = st.lists(st.lists(VOTES, min_size=raters, max_size=raters), min_size=1, max_size=6)
    # Enough for statistics that say nothing of a few items.
    return data.draw(rows, label="items") * data.draw(st.sampled_from((1, 1, 31)), label="times")


@looking(0.4)
@given(data=st.data())
def test_it_stays_within_the_bounds_it_declares(statistic: Statistic, facts: Facts, data: st.DataObject) -> None:
    value = statistic(items_for(facts, data))
    if value is not None:
        assert facts.least is None or value >= facts.least - 1e-12
        assert facts.most is None or value <= facts.most + 1e-12


@looking(0.4)
@given(labels=st.lists(st.integers(0, 3), min_size=2, max_size=6), raters=st.integers(2, 5))
def test_at_perfect_agreement_it_has_its_declared_value(
    statistic: Statistic, facts: Facts, labels: list[int], raters: int
) -> None:
    value = statistic([[label] * (facts.raters or raters) for label in labels])
    if facts.perfect is None:
        assert value is None, "nothing errs, so nothing can err together"
    else:
        assert value == pytest.approx(facts.perfect) or (value is None and len(set(labels)) == 1)


def test_at_chance_it_has_its_declared_value(statistic: Statistic, facts: Facts) -> None:
    votes = np.random.default_rng(7).choice(4, p=(0.4, 0.3, 0.2, 0.1), size=(20_000, facts.raters or 4))
    value = statistic(votes.astype(float))
    assert value is not None
    if facts.chance is not None:
        assert value == pytest.approx(facts.chance, abs=0.02)


@looking(0.4)
@given(labels=st.lists(VOTES, max_size=6))
def test_one_rater_alone_neither_agrees_nor_disagrees(
    statistic: Statistic, facts: Facts, labels: list[int | None]
) -> None:
    alone = [[label, None] if facts.raters or facts.gold else [label] for label in labels]
    assert statistic(alone) is None


def test_nothing_at_all_is_undefined(statistic: Statistic) -> None:
    assert statistic([]) is None
    assert statistic([[None, None]]) is None


@looking(0.4)
@given(data=st.data())
def test_a_rater_who_never_voted_changes_nothing(statistic: Statistic, facts: Facts, data: st.DataObject) -> None:
    if facts.raters is None:
        items = items_for(facts, data)
        assert statistic([[None, *item] for item in items]) == pytest.approx(statistic(items), abs=1e-12)


@looking(0.4)
@given(data=st.data())
def test_an_item_nobody_rated_changes_nothing(statistic: Statistic, facts: Facts, data: st.DataObject) -> None:
    items = items_for(facts, data)
    nobody: list[int | None] = [None] * len(items[0])
    assert statistic([*items, nobody]) == pytest.approx(statistic(items), abs=1e-12)


@looking(0.4)
@given(data=st.data(), chance=st.randoms(use_true_random=False))
def test_the_order_of_items_and_raters_does_not_count(
    statistic: Statistic, facts: Facts, data: st.DataObject, chance: Random
) -> None:
    items = items_for(facts, data)
    order = list(range(len(items[0]) - facts.gold))
    chance.shuffle(order)
    other = [[item[at] for at in order] + item[len(order) :] for item in items]
    chance.shuffle(other)
    assert statistic(other) == pytest.approx(statistic(items), abs=1e-9)


@looking(0.4)
@given(data=st.data())
def test_measured_it_says_how_many_items_and_missing_votes(name: str, facts: Facts, data: st.DataObject) -> None:
    items = items_for(facts, data, least=2)
    found = measure(name, items, draws=20)
    assert found.value == part("agreement", name)(items)
    assert found.missing == sum(vote is None for item in items for vote in item)
    assert found.n <= len(items)
    assert found.ties
    assert "20 draws" in found.interval
    if found.low is not None:
        assert found.high is not None
        assert found.low <= found.high + 1e-12
    assert found == measure(name, items, draws=20), "the same seed draws the same samples"
    assert found.value is not None or found.low is None
