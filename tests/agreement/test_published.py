"""Worked examples of publications, and what is undefined said as such."""

from __future__ import annotations

import doctest
import importlib
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import pytest

from deliberate.agreement import measure, pairwise_kappa, sampled
from deliberate.agreement.cohen_kappa import cohen_kappa
from deliberate.agreement.fleiss_kappa import fleiss_kappa
from deliberate.agreement.gwet_ac1 import gwet_ac1
from deliberate.agreement.gwet_ac2 import gwet_ac2
from deliberate.agreement.icc_2_k import icc_2_k
from deliberate.agreement.kendall_w import kendall_w
from deliberate.agreement.krippendorff_alpha import krippendorff_alpha
from deliberate.agreement.mean_bias import mean_bias
from deliberate.agreement.percent_agreement import percent_agreement
from deliberate.agreement.within_one import within_one
from deliberate.errors import MissingExtra, UnknownName
from deliberate.plugins import names

np = import_module("numpy")

# Krippendorff's example: four observers, twelve units, votes missing.
KRIPPENDORFF = ("123321412   ", "1233224125 3", " 3332342251 ", "12332441251 ")
UNITS = [[None if vote == " " else int(vote) for vote in unit] for unit in zip(*KRIPPENDORFF, strict=True)]
# 10 subjects × 5 categories, 14 raters: kappa .210.
FLEISS = (
    (0, 0, 0, 0, 14),
    (0, 2, 6, 4, 2),
    (0, 0, 3, 5, 6),
    (0, 3, 9, 2, 0),
    (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0),
    (3, 2, 6, 3, 0),
    (2, 5, 3, 2, 2),
    (6, 5, 2, 1, 0),
    (0, 2, 2, 3, 7),
)


@pytest.mark.parametrize("name", [*names("agreement"), "_measure", "_pairs"])
def test_the_examples_of_docstrings_run(name: str) -> None:
    found = doctest.testmod(importlib.import_module(f"deliberate.agreement.{name}"))
    assert found.attempted
    assert not found.failed


@pytest.mark.parametrize(
    ("metric", "expected"), [("nominal", 0.7434), ("ordinal", 0.8154), ("interval", 0.8491), ("ratio", 0.7974)]
)
def test_krippendorff_s_example_comes_out_as_printed(metric: Any, expected: float) -> None:  # noqa: ANN401  a literal
    assert krippendorff_alpha(UNITS, metric=metric) == pytest.approx(expected, abs=5e-5)


def test_the_worked_example_of_fleiss_kappa_comes_out_as_printed() -> None:
    items = [[label for label, count in enumerate(counts) for _ in range(count)] for counts in FLEISS]
    assert fleiss_kappa(items) == pytest.approx(0.210, abs=5e-4)


def test_a_level_nobody_used_still_keeps_its_neighbors_apart() -> None:
    pairs = [(0, 0), (0, 3), (1, 1), (3, 3), (3, 1), (0, 1), (1, 1), (3, 3)]
    squeezed = [tuple({0: 0, 1: 1, 3: 2}[vote] for vote in pair) for pair in pairs]
    assert cohen_kappa(pairs, weights="linear") != pytest.approx(cohen_kappa(squeezed, weights="linear"))


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("label", [0.0, 3.0, 0.1])
def test_constant_votes_are_undefined_not_zero_and_not_one(metric: Any, label: float) -> None:  # noqa: ANN401  a literal
    assert krippendorff_alpha([(label, label)] * 7, metric=metric) is None


def test_missing_votes_are_never_a_category() -> None:
    assert krippendorff_alpha([(0, 0, None), (1, 1, None), (0, None, None)], metric="nominal") == 1
    assert percent_agreement([(None, None), (1, 1)]) == 1


def test_an_intraclass_correlation_with_nothing_below_the_line_is_undefined() -> None:
    assert icc_2_k([(1, 2), (2, 1)]) is None
    assert kendall_w([(1, 2), (2, 1)]) == 0


def test_reach_says_what_is_near() -> None:
    assert within_one([(0, 2), (0, 1)], reach=2) == 1
    assert mean_bias([(0, 2), (0, 1)]) == -1.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: krippendorff_alpha([(0, 1)], metric="cubic"), "expected one of: nominal, ordinal"),  # type: ignore[arg-type]
        (lambda: krippendorff_alpha([(-1, 1)], metric="ratio"), "no place on a ratio scale"),
        (lambda: cohen_kappa([(0, 1)], weights="cubic"), "cohen_kappa: weights .cubic."),  # type: ignore[arg-type]
        (lambda: cohen_kappa([(0, 1, 2)]), "takes 2 columns, not 3"),
        (lambda: fleiss_kappa([(0, 1), (0,)]), "rows of \\[1, 2\\] ratings"),
        (lambda: fleiss_kappa([(0, float("inf"))]), "is infinite"),
        (lambda: gwet_ac1([(0, 4)], levels=4), "whole positions from 0 to 3"),
        (lambda: gwet_ac1([(0, 0.5)]), "whole positions"),
        (lambda: gwet_ac2([(0, 1)], weights="cubic"), "expected one of: none, linear"),  # type: ignore[arg-type]
        (lambda: measure("error_correlation", [(0, 1, 1)], {"form": "cubic"}), "expected one of: wrong, distance"),
    ],
)
def test_what_a_statistic_cannot_take_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_an_unknown_statistic_is_named_with_all_there_are() -> None:
    with pytest.raises(UnknownName, match="cohen_kappa"):
        measure("kohen_kappa", [])


def test_without_numpy_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "numpy", None)
    with pytest.raises(
        MissingExtra, match=r'^cohen_kappa needs the extra .stats.; pip install "deliberate-eval\[stats\]"$'
    ):
        cohen_kappa([(0, 1)])
    assert percent_agreement([(0, 0)]) == 1, "this one needs nothing"


def test_a_measure_without_draws_has_no_interval_and_says_so() -> None:
    found = measure("krippendorff_alpha", UNITS, {"metric": "nominal"}, draws=0)
    assert (found.low, found.high, found.interval) == (None, None, "")
    assert (found.n, found.missing, found.raters) == (11, 7, 4)


def test_no_items_have_no_value_and_no_interval() -> None:
    found = measure("spearman", [])
    assert (found.value, found.low, found.n) == (None, None, 0)


def test_an_interval_that_is_undefined_too_often_is_none() -> None:
    rare: Sequence[Sequence[int]] = [(0, 0)] * 3 + [(1, 1)]
    found = measure("cohen_kappa", rare)
    assert found.value == 1
    assert found.low is None


def test_intervals_of_ranks_come_from_resampled_items() -> None:
    rng = np.random.default_rng(0)
    one = rng.normal(size=200)
    items = np.column_stack([one, one + rng.normal(size=200)])
    found = measure("spearman", items, draws=200)
    assert found.low is not None
    assert found.high is not None
    assert found.value is not None
    assert found.low < found.value < found.high
    assert 0.05 < found.high - found.low < 0.25


def test_the_same_seed_draws_the_same_items_for_two_raters_so_that_they_compare_sample_by_sample() -> None:
    rng = np.random.default_rng(0)
    gold = rng.integers(3, size=80)
    one = np.column_stack([np.where(rng.random(80) < 0.8, gold, 0), gold]).astype(float)
    first = sampled("cohen_kappa", one, {"weights": "linear"}, draws=50, seed=1)
    assert first.tolist() == sampled("cohen_kappa", one.copy(), {"weights": "linear"}, draws=50, seed=1).tolist()
    assert first.tolist() != sampled("cohen_kappa", one, {"weights": "linear"}, draws=50, seed=2).tolist()
    found = measure("cohen_kappa", one, {"weights": "linear"}, draws=50, seed=1)
    assert (found.low, found.high) == tuple(np.quantile(first, (0.025, 0.975)))


def test_a_rater_who_never_varies_has_no_kappa_with_himself() -> None:
    assert pairwise_kappa([(0, 0), (0, 1)]) == ((None, 0.0), (0.0, 1.0))
