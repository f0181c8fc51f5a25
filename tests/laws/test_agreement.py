"""Laws of every statistic: missing votes are missing, one rater is no agreement, and no order counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.plugins import names, part

Statistic = Callable[[Iterable[Sequence[int | None]]], float | None]
ITEMS = st.integers(1, 5).flatmap(
    lambda raters: st.lists(
        st.lists(st.none() | st.integers(0, 3), min_size=raters, max_size=raters), min_size=1, max_size=6
    )
)


@pytest.fixture(params=names("agreement"), scope="module")
def statistic(request: pytest.FixtureRequest) -> Statistic:
    """Every statistic of the room."""
    found: Statistic = part("agreement", request.param)
    return found


@given(items=ITEMS)
def test_it_is_at_most_one_or_undefined(statistic: Statistic, items: list[list[int | None]]) -> None:
    value = statistic(items)
    assert value is None or value <= 1


@given(labels=st.lists(st.integers(0, 3), min_size=2, max_size=6), raters=st.integers(2, 5))
def test_it_is_one_where_all_raters_agree(statistic: Statistic, labels: list[int], raters: int) -> None:
    value = statistic([[label] * raters for label in labels])
    assert value == 1 or (value is None and len(set(labels)) == 1), "undefined at most where nothing varies"


@given(labels=st.lists(st.none() | st.integers(0, 3), max_size=6))
def test_one_rater_alone_neither_agrees_nor_disagrees(statistic: Statistic, labels: list[int | None]) -> None:
    assert statistic([[label] for label in labels]) is None


def test_nothing_at_all_is_undefined(statistic: Statistic) -> None:
    assert statistic([]) is None
    assert statistic([[None, None]]) is None


@given(items=ITEMS)
def test_a_rater_who_never_voted_changes_nothing(statistic: Statistic, items: list[list[int | None]]) -> None:
    assert statistic([[*item, None] for item in items]) == statistic(items)


@given(items=ITEMS)
def test_an_item_nobody_rated_changes_nothing(statistic: Statistic, items: list[list[int | None]]) -> None:
    assert statistic([*items, [None] * len(items[0])]) == statistic(items)


@given(items=ITEMS, chance=st.randoms(use_true_random=False))
def test_the_order_of_items_and_raters_does_not_count(
    statistic: Statistic, items: list[list[int | None]], chance: Random
) -> None:
    order = list(range(len(items[0])))
    chance.shuffle(order)
    other = [[item[at] for at in order] for item in items]
    chance.shuffle(other)
    assert statistic(other) == pytest.approx(statistic(items), abs=1e-12)
