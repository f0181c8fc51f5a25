"""Panels worth their cost, chosen on other items than they are measured on."""

from __future__ import annotations

from random import Random

import pytest

from deliberate.errors import ConfigError
from deliberate.studies.advice import advise


def drawn(rights: list[float], items: int = 200, seed: int = 0) -> tuple[list[list[int]], list[int]]:
    chance = Random(seed)
    gold = [chance.randrange(4) for _ in range(items)]
    return [[label if chance.random() < right else chance.randrange(4) for right in rights] for label in gold], gold


def test_three_judges_who_err_apart_beat_the_best_of_them_and_cost_more() -> None:
    votes, gold = drawn([0.6, 0.6, 0.6, 0.1])
    found = advise(votes, gold, judges=("a", "b", "c", "noise"), levels=4, weights="none")
    assert (found.n, found.missing, found.folds) == (200, 0, 5)
    assert [one.cost for one in found.front] == sorted(one.cost for one in found.front)
    best = found.front[-1]
    assert set(best.judges) >= {"a", "b", "c"}
    assert best.kappa is not None
    assert found.single.kappa is not None
    assert best.kappa > found.single.kappa + 0.05


def test_what_is_chosen_by_luck_does_not_look_better_than_it_is() -> None:
    votes, gold = drawn([0.0] * 7, items=60)
    found = advise(votes, gold, judges=tuple("abcdefg"), levels=4, weights="none")
    assert found.single.kappa is not None
    assert found.single.kappa_seen is not None
    assert found.single.kappa_seen > 0.05, "the best of seven that guess"
    assert found.single.kappa < found.single.kappa_seen


def test_costs_say_what_is_cheap() -> None:
    votes, gold = drawn([0.9, 0.9])
    found = advise(votes, gold, judges=("dear", "cheap"), levels=4, costs={"dear": 5, "cheap": 1})
    assert found.front[0].cost in {1, 5}


def test_of_many_judges_the_best_alone_come_first() -> None:
    votes, gold = drawn([0.5] * 14, items=40)
    found = advise(votes, gold, judges=tuple("abcdefghijklmn"), levels=4)
    assert found.tried <= 14 + 3 * 600


def test_judges_that_never_vary_have_no_kappa() -> None:
    found = advise([[1, 1]] * 30, [1] * 30, judges=("a", "b"), levels=2)
    assert found.single.kappa is None


def test_what_it_cannot_take_is_named() -> None:
    with pytest.raises(ConfigError, match="at least 20 items"):
        advise([[1]] * 19, [1] * 19, judges=("a",), levels=2)
    with pytest.raises(ConfigError, match="no cost of a"):
        advise([[1]] * 20, [1] * 20, judges=("a",), levels=2, costs={})
