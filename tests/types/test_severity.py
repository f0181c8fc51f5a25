"""Severity arithmetic, row by row (S0.19-S0.22): findings act on the dimension they name, once, inside the ballot."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.types import (
    BLOCKER_CAP,
    IMPORTANT_MOST,
    IMPORTANT_POINTS,
    Ballot,
    Bracket,
    DimensionScore,
    Finding,
    Severity,
    SeverityMode,
    adjusted_ballot,
    adjusted_score,
    bracket_of,
    without_findings,
)

MODES: tuple[SeverityMode, ...] = ("adjust", "cap_only", "advisory")


def finding(severity: str, dimension: str = "safety", *, key: str = "") -> Finding:
    """A finding that matters by its severity alone."""
    return Finding(severity=cast("Severity", severity), dimension=dimension, title="t", key=key)


def findings(kinds: str, dimension: str = "safety") -> list[Finding]:
    """One finding a letter: b, i or s."""
    names = {"b": "blocker", "i": "important", "s": "suggestion"}
    return [finding(names[kind], dimension) for kind in kinds]


def dimension(name: str, judged: float, weight: float = 0.5) -> DimensionScore:
    """A dimension as a judge scored it."""
    return DimensionScore(dimension=name, weight=weight, judged=judged, adjusted=judged)


def ballot(
    dimensions: Sequence[DimensionScore], found: Sequence[Finding] = (), *, severity: SeverityMode = "adjust"
) -> Ballot:
    """A ballot before the arithmetic."""
    return Ballot(
        bracket=Bracket.POOR, score=0.0, dimensions=tuple(dimensions), findings=tuple(found), severity=severity
    )


def test_the_numbers_are_those_of_the_table() -> None:
    assert (BLOCKER_CAP, IMPORTANT_POINTS, IMPORTANT_MOST) == (30, 10, 30)


@pytest.mark.parametrize(
    ("judged", "kinds", "adjust", "cap_only"),
    [
        (80, "", 80, 80),
        (80, "s", 80, 80),
        (80, "sssss", 80, 80),
        (80, "i", 70, 80),
        (80, "ii", 60, 80),
        (80, "iii", 50, 80),
        (80, "iiii", 50, 80),
        (80, "iiiiiiiiii", 50, 80),
        (80, "b", 30, 30),
        (80, "bb", 30, 30),
        (80, "bi", 30, 30),
        (80, "biii", 30, 30),
        (50, "biii", 20, 30),
        (30, "b", 30, 30),
        (20, "b", 20, 20),
        (20, "bi", 10, 20),
        (20, "iii", 0, 20),
        (5, "i", 0, 5),
        (0, "biii", 0, 0),
        (100, "isb", 30, 30),
        (100, "iis", 80, 100),
    ],
)
def test_each_row_of_the_severity_table(judged: float, kinds: str, adjust: float, cap_only: float) -> None:
    assert adjusted_score(judged, findings(kinds)) == adjust
    assert adjusted_score(judged, findings(kinds), mode="adjust") == adjust
    assert adjusted_score(judged, findings(kinds), mode="cap_only") == cap_only
    assert adjusted_score(judged, findings(kinds), mode="advisory") == judged


@given(st.floats(0, 100), st.text("bis", max_size=8), st.sampled_from(MODES), st.randoms(use_true_random=False))
def test_findings_never_raise_a_score_and_their_order_does_not_count(
    judged: float, kinds: str, mode: SeverityMode, chance: Random
) -> None:
    score = adjusted_score(judged, findings(kinds), mode=mode)
    assert 0 <= score <= judged
    if "b" in kinds and mode != "advisory":
        assert score <= BLOCKER_CAP
    shuffled = findings(kinds)
    chance.shuffle(shuffled)
    assert adjusted_score(judged, shuffled, mode=mode) == score


def test_a_finding_acts_on_the_dimension_it_names_and_on_no_other() -> None:
    result = adjusted_ballot(ballot([dimension("safety", 80), dimension("style", 90)], findings("i", "safety")))
    assert [one.adjusted for one in result.dimensions] == [70, 90]
    assert [one.judged for one in result.dimensions] == [80, 90], "what was judged is kept"
    assert (result.score, result.bracket, result.number) == (80, Bracket.EXCELLENT, "derived")


@pytest.mark.parametrize("named", ["Error Responses", "error_responses", "error-responses", "ERRORRESPONSES"])
def test_case_spaces_and_dashes_of_a_dimensions_name_do_not_count(named: str) -> None:
    result = adjusted_ballot(ballot([dimension("error responses", 80)], [finding("blocker", named)]))
    assert result.score == 30
    assert result.flags == ()


def test_a_ballot_without_dimensions_keeps_its_own_score() -> None:
    given_score = Ballot(bracket=Bracket.GOOD, score=70.0, findings=tuple(findings("bii")))
    assert adjusted_ballot(given_score) is given_score


def test_a_blocker_of_an_unknown_dimension_caps_the_whole_ballot_and_is_flagged() -> None:
    result = adjusted_ballot(ballot([dimension("style", 90)], [finding("blocker", "sfaety")]))
    assert (result.score, result.bracket) == (30, Bracket.FAIR)
    assert [one.adjusted for one in result.dimensions] == [90]
    assert result.flags == ("blocker_of_unknown_dimension",)


def test_a_lower_ballot_is_not_raised_to_the_cap() -> None:
    result = adjusted_ballot(ballot([dimension("style", 10)], [finding("blocker", "sfaety")]))
    assert result.score == 10


def test_the_flag_is_set_once_beside_those_that_were_there() -> None:
    start = msgspec.structs.replace(
        ballot([dimension("style", 90)], [finding("blocker", "x"), finding("blocker", "y")]), flags=("mended",)
    )
    once = adjusted_ballot(start)
    assert once.flags == ("mended", "blocker_of_unknown_dimension")
    assert adjusted_ballot(once) == once


def test_advice_flags_a_stray_blocker_and_changes_no_number() -> None:
    result = adjusted_ballot(ballot([dimension("style", 90)], [finding("blocker", "x")], severity="advisory"))
    assert (result.score, result.flags) == (90, ("blocker_of_unknown_dimension",))


@pytest.mark.parametrize("severity", ["important", "suggestion"])
def test_other_findings_of_an_unknown_dimension_change_nothing(severity: str) -> None:
    result = adjusted_ballot(ballot([dimension("style", 90)], [finding(severity, "x")]))
    assert (result.score, result.flags) == (90, ())


@pytest.mark.parametrize(("mode", "score"), [("adjust", 60), ("cap_only", 80), ("advisory", 80)])
def test_the_ballots_own_mode_is_used(mode: SeverityMode, score: float) -> None:
    assert adjusted_ballot(ballot([dimension("safety", 80)], findings("ii"), severity=mode)).score == score


def test_weights_decide_and_only_their_ratios_do() -> None:
    for factor in (1.0, 0.001, 7e300):
        parts = [
            dimension("a", 100, 0.4 * factor),
            dimension("b", 60, 0.35 * factor),
            dimension("c", 20, 0.25 * factor),
        ]
        assert adjusted_ballot(ballot(parts)).score == 66


def test_a_seat_that_judges_one_dimension_gives_that_dimensions_score() -> None:
    assert adjusted_ballot(ballot([dimension("a", 64, 0.1)])).score == 64


@given(
    st.lists(st.tuples(st.floats(0, 100), st.floats(1e-6, 1)), min_size=1, max_size=6),
    st.lists(st.tuples(st.sampled_from("bis"), st.integers(0, 6)), max_size=8),
    st.sampled_from(MODES),
)
def test_a_derived_score_is_a_score_and_its_bracket_never_contradicts_it(
    parts: list[tuple[float, float]], found: list[tuple[str, int]], mode: SeverityMode
) -> None:
    dimensions = [dimension(f"d{at}", judged, weight) for at, (judged, weight) in enumerate(parts)]
    told = [one for kind, at in found for one in findings(kind, f"d{at}")]
    result = adjusted_ballot(ballot(dimensions, told, severity=mode))
    assert 0 <= result.score <= 100
    assert bracket_of(result.score) is result.bracket
    assert adjusted_ballot(result) == result, "once and for all"


def test_a_struck_finding_no_longer_counts() -> None:
    two = [finding("important", key="k1"), finding("blocker", key="k2")]
    start = adjusted_ballot(ballot([dimension("safety", 80)], two))
    assert start.score == 30
    without = without_findings(start, ["k2", "unheard of"])
    assert (without.score, [one.key for one in without.findings]) == (70, ["k1"])
    assert without_findings(start, iter(["k1", "k2"])).score == 80


def test_striking_nothing_gives_the_same_ballot() -> None:
    start = adjusted_ballot(ballot([dimension("safety", 80)], [finding("blocker", key="k")]))
    assert without_findings(start, []) is start
    assert without_findings(start, ["other"]) is start


def test_striking_from_a_ballot_without_dimensions_keeps_its_number() -> None:
    start = Ballot(bracket=Bracket.GOOD, score=70.0, findings=(finding("blocker", key="k"),))
    assert without_findings(start, ["k"]) == msgspec.structs.replace(start, findings=())
