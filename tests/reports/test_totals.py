"""Many evaluations in a few numbers, whatever the order they come in."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.reports import Totals, case_line, why_without
from deliberate.reports._totals import ordinal_alpha
from deliberate.types import Bracket, Case, Evaluation
from tests.reports.scripted import (
    CASE,
    absent,
    ballot,
    broken,
    checked,
    evaluated,
    planned,
    split_panel,
    undecided_panel,
    verdict,
)


def test_the_numbers_of_a_run_are_those_of_its_cases() -> None:
    totals = Totals()
    for one in (split_panel(), undecided_panel("no_quorum"), undecided_panel("budget"), broken("it fell")):
        totals.add(one)
    facts = totals.facts(5)
    assert (facts.cases, facts.judged, facts.scored, facts.mean) == (5, 4, 1, split_panel().score)
    assert facts.without == {"budget": 1, "failed": 1, "no_quorum": 1}
    assert totals.brackets == {Bracket.GOOD: 1}
    assert totals.states == {"voted": 5, "abstained": 0, "unread": 1, "failed": 1, "unasked": 2}
    assert facts.unread == pytest.approx(1 / 9)
    assert facts.blockers == 1
    assert (totals.seats["sceptic"].done, totals.seats["opus-5"].done) == (2, 1)
    assert (totals.seats["opus-5"].agreement, totals.seats["gemini-3-5"].agreement) == (0.5, 0.0)
    assert totals.seats["maria"].agreement is None


def test_nothing_is_no_number() -> None:
    facts = Totals().facts(3)
    assert (facts.judged, facts.mean, facts.unread, facts.agreement) == (0, None, 0.0, None)


def test_a_seat_that_was_not_heard_is_counted_for_the_case_and_not_for_the_seat() -> None:
    totals = Totals()
    totals.add(evaluated(verdict(("a", "m/a", ballot(70)), ("b", "m/b", None), because="", stopped="deadline")))
    assert totals.states.total() == 2
    assert set(totals.seats) <= {"a", "b"}
    assert totals.seats["a"].states["voted"] == 1


@given(st.permutations([0.1, 0.2, 0.3, 33.3, 66.6, 99.9, 1e-9]))
def test_the_order_of_cases_does_not_move_the_last_bit(scores: list[float]) -> None:
    totals = Totals()
    for score in scores:
        totals.add(checked(score, ""))
    assert totals.mean == float(sum(map(Fraction, scores), Fraction(0)) / 7)


def test_alpha_is_that_of_the_published_example() -> None:
    # Krippendorff (2011), sec. C: four observers, twelve units, five values.
    votes = ["123321412   ", "1233224125 3", " 3332342251 ", "12332441251 "]
    patterns: Counter[tuple[int, ...]] = Counter()
    for unit in zip(*votes, strict=True):
        patterns[tuple(unit.count(value) for value in "12345")] += 1
    assert ordinal_alpha(patterns) == pytest.approx(0.815, abs=5e-4)
    assert ordinal_alpha({}) is None


def test_a_case_is_a_line() -> None:
    line = case_line(CASE, split_panel())
    assert (line.case, line.status, line.bracket, line.voted, line.seats, line.why) == (
        "refund-rounding",
        "decided",
        "good",
        3,
        3,
        "",
    )
    found = split_panel().verdict
    assert found is not None
    assert line.digest == found.digest
    lost = evaluated(verdict(("a", "m/a", absent("transport", "gone"))))
    line = case_line(Case(output="x", category="k"), lost)
    assert (line.status, line.bracket, line.score, line.why, line.category) == ("undecided", "", None, "no_quorum", "k")
    assert case_line(CASE, checked(50, "")).digest == checked(50, "").digest


@pytest.mark.parametrize(
    ("evaluation", "why"),
    [
        (split_panel(), ""),
        (broken("x"), "failed"),
        (undecided_panel("waiting"), "waiting"),
        (planned(("jury", 1.0, undecided_panel("no_quorum"))), "no_quorum"),
    ],
)
def test_why_a_case_has_no_score_is_one_word(evaluation: Evaluation, why: str) -> None:
    assert why_without(evaluation) == why
