from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from itertools import product

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.suites.compare import (
    Bar,
    compare,
    flake_rate,
    mcnemar,
    outcome_of,
    pass_at_k,
    pass_pow_k,
    pass_rate,
    ruling,
    skipped,
    task_result,
)
from deliberate.suites.records import Attempted, TaskResult, Trial

PASSED = Attempted(passed=True, score=1.0, duration_ms=3)
FAILED = Attempted(passed=False, score=0.5, duration_ms=2)
BROKEN = Attempted(passed=None, score=None, error="judge: it broke")


def side(passed: str) -> tuple[TaskResult, ...]:
    """One task a sign: + passed, - failed, ? not measured."""
    made = {"+": PASSED, "-": FAILED, "?": BROKEN}
    return tuple(task_result(f"t{at}", [made[one]], k=1) for at, one in enumerate(passed))


def test_no_task_has_no_rate() -> None:
    with pytest.raises(ValueError, match="no task"):
        pass_rate([])


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_the_estimates_are_shares_of_all_choices_of_k_attempts(given_: tuple[int, int, int]) -> None:
    attempts, passed, k = given_
    made = [at < passed for at in range(attempts)]
    choices = [pick for pick in product(range(attempts), repeat=k) if list(pick) == sorted(set(pick))]
    some = sum(any(made[at] for at in pick) for pick in choices) / len(choices)
    every = sum(all(made[at] for at in pick) for pick in choices) / len(choices)
    assert pass_at_k(attempts, passed, k) == pytest.approx(some)
    assert pass_pow_k(attempts, passed, k) == pytest.approx(every)


@pytest.mark.parametrize("estimate", [pass_at_k, pass_pow_k])
@pytest.mark.parametrize("numbers", [(2, 1, 3), (2, 3, 1), (2, 1, 0), (2, -1, 1)])
def test_an_estimate_needs_as_many_attempts_as_k(
    estimate: Callable[[int, int, int], float], numbers: tuple[int, int, int]
) -> None:
    with pytest.raises(ValueError, match="attempts"):
        estimate(*numbers)


def test_one_attempt_cannot_waver() -> None:
    assert flake_rate(1, 1) is None
    assert flake_rate(4, 1) == flake_rate(4, 3) == 0.25
    assert flake_rate(4, 4) == 0.0


@pytest.mark.parametrize(
    ("gained", "lost", "p"), [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 0.0625), (6, 0, 0.03125), (10, 1, 0.01171875)]
)
def test_mcnemar_is_the_two_sided_binomial_test(gained: int, lost: int, p: float) -> None:
    assert mcnemar(gained, lost) == mcnemar(lost, gained) == pytest.approx(p)


@given(st.integers(0, 30), st.integers(0, 30))
def test_mcnemar_agrees_with_scipy(gained: int, lost: int) -> None:
    stats = import_module("scipy.stats")
    expected = 1.0 if gained + lost == 0 else stats.binomtest(gained, gained + lost).pvalue
    assert mcnemar(gained, lost) == pytest.approx(expected)


def test_a_task_is_told_by_the_attempt_that_passed_else_by_the_best() -> None:
    worse = Attempted(passed=False, score=0.0)
    assert task_result("a", [worse, FAILED, FAILED], k=3).score == 0.5
    assert task_result("a", [FAILED, PASSED], k=2).duration_ms == 3


def test_an_attempt_that_could_not_be_measured_might_have_passed() -> None:
    for attempts in ([BROKEN, FAILED], [FAILED, BROKEN]):
        found = task_result("a", attempts, k=2)
        assert (found.passed, found.score, found.error) == (None, None, "judge: it broke")
    assert task_result("a", [BROKEN, PASSED], k=2).passed is True
    assert task_result("a", [FAILED, BROKEN], k=1).passed is False, "what was tried beyond k does not count"


def test_what_no_attempt_could_measure_is_neither_passed_nor_failed() -> None:
    found = task_result("a", [BROKEN, BROKEN], k=2)
    assert (found.passed, found.score, found.pass_at_k, found.error) == (None, None, None, "judge: it broke")


def test_attempts_beyond_k_do_not_pass_a_task() -> None:
    found = task_result("a", [FAILED, PASSED, PASSED, PASSED], k=1)
    assert found.passed is False
    assert found.pass_at_k == 0.75
    assert found.flake_rate == 0.25


def test_where_the_first_attempt_passed_and_no_more_were_made_pass_pow_k_is_not_known() -> None:
    found = task_result("a", [PASSED], k=3)
    assert (found.pass_at_k, found.pass_pow_k, found.flake_rate) == (1.0, None, None)


def test_rates_are_compared_before_they_are_rounded() -> None:
    assert ruling(0.33333, 0.33334, Bar())[0] == "fail"
    assert ruling(1 / 3, 1 / 3, Bar())[0] == "pass"


def test_a_least_effect_is_met_by_a_difference_that_floats_write_below_it() -> None:
    assert 0.3 - 0.2 < 0.1
    assert ruling(0.3, 0.2, Bar(min_effect=0.1))[0] == "pass"
    assert ruling(0.29, 0.2, Bar(min_effect=0.1))[0] == "fail"


def test_a_difference_that_chance_explains_is_inconclusive_only_if_asked_for() -> None:
    trial = Trial(candidate=side("+++"), baseline=side("+--"))
    assert outcome_of(trial, Bar()).verdict == "pass"
    assert outcome_of(trial, Bar(inconclusive=True)).verdict == "inconclusive"
    many = Trial(candidate=side("+" * 10), baseline=side("+++-------"))
    assert outcome_of(many, Bar(inconclusive=True)).verdict == "pass"


def test_both_sides_are_compared_task_by_task() -> None:
    found = compare(side("++-"), side("+-+"))
    assert (found.gained, found.lost, found.delta, found.score_delta) == (1, 1, 0.0, 0.0)
    with pytest.raises(ValueError, match="different tasks"):
        compare(side("+"), (task_result("other", [PASSED], k=1),))


def test_a_task_that_could_not_be_measured_leaves_no_verdict() -> None:
    found = outcome_of(Trial(candidate=side("+?"), baseline=side("++")), Bar())
    assert (found.verdict, found.execution_pass_rate, found.baseline_pass_rate) == ("error", None, 1.0)
    assert found.reason == "1 of 4 tasks could not be measured, first t1: judge: it broke"
    assert not found.incomplete


def test_further_attempts_that_say_the_same_are_told() -> None:
    again = task_result("t0", [FAILED, FAILED], k=2)
    (warning,) = outcome_of(Trial(candidate=(again,)), Bar()).warnings
    assert warning.startswith("every further attempt said what the first had said")
    other = task_result("t1", [FAILED, msgspec.structs.replace(FAILED, output="other")], k=2)
    assert not outcome_of(Trial(candidate=(again, other)), Bar()).warnings


def test_what_was_not_asked_any_more_is_incomplete() -> None:
    unasked = Attempted(passed=None, score=None, error="budget", unasked=True)
    for attempts in ([unasked], [FAILED, unasked]):
        found = outcome_of(Trial(candidate=(task_result("a", attempts, k=len(attempts)),)), Bar())
        assert (found.incomplete, found.verdict, found.execution_pass_rate) == (True, "error", None)


def test_a_score_that_is_missing_counts_as_0() -> None:
    assert skipped(None, 6.0).startswith("no score, counted as 0")
    assert not skipped(None, 0.0)
    assert not skipped(6.0, 6.0)
