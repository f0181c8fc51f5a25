"""The one result type: its numbers, its parts, what may be required of it, and its digest."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from deliberate.errors import ConfigError, GateFailed, NoVerdict
from deliberate.types import (
    Bracket,
    Close,
    Decided,
    DimensionScore,
    Evaluation,
    Finding,
    Gate,
    Judge,
    Panel,
    Part,
    Scored,
    Seat,
    Undecided,
    Unscored,
    Usage,
    Verdict,
)

SCORED = Evaluation(evaluator="e", outcome=Scored(score=70.0, raw=0.7, scale="0..1"))
UNSCORED = Evaluation(evaluator="e", outcome=Unscored(why="failed", detail="no reply"))
BLOCKER = Finding(severity="blocker", dimension="d", title="t")
VERDICT = Verdict(
    panel=Panel(seats=(Seat(name="a", judge=Judge(model="m")),)),
    asks=(),
    answers={},
    close=Close(counting=(), because="done"),
    decision=Decided(bracket=Bracket.GOOD, score=70.0, numbers={}),
    digests={},
)


def decided(bracket: Bracket, score: float) -> Evaluation:
    """A panel's evaluation; the headline may be a number outside the bracket, such as the mean."""
    decision = Decided(bracket=bracket, score=score, numbers={"mean": score})
    return Evaluation(
        evaluator="deliberation",
        outcome=Scored(score=score, raw=score),
        verdict=msgspec.structs.replace(VERDICT, decision=decision),
    )


def test_a_score_is_also_given_normalized_and_in_its_bracket() -> None:
    assert (SCORED.score, SCORED.normalized, SCORED.bracket) == (70, 0.7, Bracket.GOOD)


def test_without_a_score_there_is_no_number_at_all() -> None:
    assert (UNSCORED.score, UNSCORED.normalized, UNSCORED.bracket) == (None, None, None)


def test_a_score_of_zero_is_a_score() -> None:
    zero = Evaluation(evaluator="e", outcome=Scored(score=0.0, raw=0.0))
    assert (zero.score, zero.normalized, zero.bracket) == (0, 0, Bracket.POOR)


@pytest.mark.parametrize("bracket", list(Bracket))
def test_a_panels_bracket_is_the_one_it_decided(bracket: Bracket) -> None:
    assert decided(bracket, 70.0).bracket is bracket


def test_an_undecided_panel_gives_no_bracket_of_its_own() -> None:
    open_ended = msgspec.structs.replace(VERDICT, decision=Undecided(why="tied"))
    assert msgspec.structs.replace(SCORED, verdict=open_ended).bracket is Bracket.GOOD
    assert msgspec.structs.replace(UNSCORED, verdict=open_ended).bracket is None


def test_a_part_is_found_by_its_name() -> None:
    whole = msgspec.structs.replace(
        SCORED, parts=(Part(name="a", weight=1.0, evaluation=UNSCORED), Part(name="b", weight=0.0, evaluation=SCORED))
    )
    assert whole["b"] is SCORED
    with pytest.raises(KeyError, match="no part 'c': there are a, b"):
        whole["c"]
    with pytest.raises(KeyError, match="no part 'a': there are none"):
        SCORED["a"]


def test_what_holds_is_handed_on() -> None:
    assert SCORED.require() is SCORED
    assert SCORED.require(min_score=70, min_bracket="Good", max_blockers=0) is SCORED


def test_nothing_can_be_required_of_what_has_no_score() -> None:
    with pytest.raises(NoVerdict, match="no score: no reply"):
        UNSCORED.require()


def test_a_score_below_what_was_required_fails() -> None:
    with pytest.raises(GateFailed, match=r"min-score 70\.5: got 70"):
        SCORED.require(min_score=70.5)


def test_a_bracket_below_what_was_required_fails() -> None:
    with pytest.raises(GateFailed, match="min-bracket excellent: got Good"):
        SCORED.require(min_bracket="excellent")


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ({"min_score": 400}, "min_score is 400; expected points from 0 to 100"),
        ({"max_blockers": -1}, "max_blockers is -1; expected a whole number of at least 0"),
        ({"min_bracket": "great"}, "min_bracket: unknown bracket 'great'"),
    ],
)
def test_what_nothing_could_have_cannot_be_required(gate: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)):
        UNSCORED.require(**gate)


def test_more_blockers_than_allowed_fail() -> None:
    found = msgspec.structs.replace(SCORED, findings=(BLOCKER, BLOCKER))
    assert found.require(max_blockers=2) is found
    with pytest.raises(GateFailed, match="max-blockers 1: got 2"):
        found.require(max_blockers=1)


def test_other_findings_are_no_blockers() -> None:
    important = msgspec.structs.replace(BLOCKER, severity="important")
    found = msgspec.structs.replace(SCORED, findings=(important,))
    assert found.require(max_blockers=0) is found


def test_a_decided_poor_is_poor_whatever_the_headline_number() -> None:
    with pytest.raises(GateFailed, match="min-bracket good: got Poor"):
        decided(Bracket.POOR, 70.0).require(min_bracket="good")


RICH = msgspec.structs.replace(
    SCORED,
    parts=(Part(name="a", weight=1.0, evaluation=UNSCORED),),
    details={"by": "weighted_mean"},
    verdict=VERDICT,
)


@pytest.mark.parametrize(
    "change",
    [
        {"duration_seconds": 9.0},
        {"usage": Usage(calls=3, cost_usd=None)},
        {"parts": (Part(name="a", weight=1.0, evaluation=msgspec.structs.replace(UNSCORED, duration_seconds=1.0)),)},
        {"verdict": msgspec.structs.replace(VERDICT, close=None)},
    ],
)
def test_time_and_cost_leave_the_digest(change: dict[str, object]) -> None:
    assert msgspec.structs.replace(RICH, **change).digest == RICH.digest


@pytest.mark.parametrize(
    "change",
    [
        {"evaluator": "f"},
        {"outcome": Scored(score=71.0, raw=0.7, scale="0..1")},
        {"outcome": Scored(score=70.0, raw=70.0)},
        {"outcome": Scored(score=70.0, raw=0.7, scale="0..1", origin="carried")},
        {"outcome": Unscored(why="failed", detail="d")},
        {"fingerprint": "f"},
        {"reason": "r"},
        {"suggestion": "s"},
        {"coverage": 0.5},
        {"missing": ("a",)},
        {"flags": ("f",)},
        {"details": {"by": "min"}},
        {"decision": "incremental"},
        {"dimensions": (DimensionScore(dimension="d", weight=1.0, judged=1.0, adjusted=1.0),)},
        {"findings": (BLOCKER,)},
        {"resolved": (BLOCKER,)},
        {"parts": ()},
        {"parts": (Part(name="b", weight=1.0, evaluation=UNSCORED),)},
        {"parts": (Part(name="a", weight=2.0, evaluation=UNSCORED),)},
        {"parts": (Part(name="a", weight=1.0, evaluation=SCORED),)},
        {"gates": (Gate(part="a", min_score=1.0),)},
        {"verdict": None},
        {"verdict": msgspec.structs.replace(VERDICT, flags=("one_model",))},
    ],
)
def test_every_result_changes_the_digest(change: dict[str, object]) -> None:
    assert msgspec.structs.replace(RICH, **change).digest != RICH.digest


def test_every_field_is_either_in_the_digest_or_known_to_be_left_out() -> None:
    left_out = {"duration_seconds", "revision", "usage"}
    assert set(Evaluation.__struct_fields__) - left_out == {
        "evaluator", "outcome", "fingerprint", "reason", "suggestion", "coverage", "missing", "flags", "details",
        "decision", "dimensions", "findings", "parts", "gates", "verdict", "resolved",
    }  # fmt: skip
