"""What of an earlier evaluation may stand: differences, skips, dimensions that a change can have moved, findings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.evaluators._revision import (
    Change,
    Standing,
    affected_by,
    carried,
    change_between,
    followed,
    full_because,
    merged,
    skipped,
    too_many,
)
from deliberate.types import (
    Carry,
    Dimension,
    DimensionScore,
    Evaluation,
    Finding,
    Revision,
    Scored,
    Severity,
    Usage,
)

TEN = "\n".join(f"line {at}" for at in range(10))
CARRY = Carry()


def dims(**affects: tuple[str, ...]) -> tuple[Dimension, ...]:
    return tuple(Dimension(name=name, weight=1 / len(affects), affects=each) for name, each in affects.items())


def finding(title: str, severity: Severity = "important", dimension: str = "a", *, number: int = 0) -> Finding:
    return Finding(id=f"F{number}" if number else "", key=title, severity=severity, dimension=dimension, title=title)


def said(*findings: Finding, resolved: tuple[Finding, ...] = (), **scores: float) -> Evaluation:
    return Evaluation(
        evaluator="deliberation",
        outcome=Scored(score=50.0, raw=50.0),
        dimensions=tuple(
            DimensionScore(dimension=name, weight=0.5, judged=score, adjusted=score) for name, score in scores.items()
        ),
        findings=findings,
        resolved=resolved,
    )


def vote(
    *findings: Finding, resolved: tuple[str, ...] = (), **scores: float
) -> tuple[tuple[DimensionScore, ...], tuple[Finding, ...], tuple[str, ...]]:
    return (
        tuple(DimensionScore(dimension=name, weight=0.5, judged=one, adjusted=one) for name, one in scores.items()),
        findings,
        resolved,
    )


# --- the difference --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [
        (TEN, TEN, 0.0),
        (TEN, f"intro\n{TEN}", 1 / 21),
        (TEN, TEN.replace("line 9", "LINE 9"), 0.1),
        ("aaa\nbbb", "ccc\nddd", 1.0),
        ("one two three four five", "one two three four six", 0.2),
        ("", "", 0.0),
        ("", "a", 1.0),
    ],
)
def test_s0_40_the_share_that_changed_is_by_lines_and_by_words_of_one_line(
    before: str, after: str, share: float
) -> None:
    assert change_between(before, after).share == pytest.approx(share)


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_share_is_between_0_and_1_and_0_for_no_change(before: str, after: str) -> None:
    change = change_between(before, after)
    assert 0.0 <= change.share <= 1.0
    assert change_between(before, before) == Change(share=0.0)
    assert bool(change.hunks) is (change.share > 0)


def test_s0_42_a_change_is_shown_with_what_stands_around_it() -> None:
    change = change_between(TEN, TEN.replace("line 9", "LINE 9").replace("line 0\n", ""))
    assert [hunk.removed for hunk in change.hunks] == [("line 0",), ("line 9",)]
    assert change.hunks[1].added == ("LINE 9",)
    assert change.text == (
        "- line 0\n  line 1\n  line 2\n  line 3\n@@\n  line 6\n  line 7\n  line 8\n- line 9\n+ LINE 9"
    )
    assert change_between("a b c", "a c d").text == "a [-b-] c {+d+}"


def test_a_text_too_long_to_compare_counts_as_changed_wholly() -> None:
    long = "x\n" * 15_000
    assert change_between(long, long + "y").share == 1.0


def test_a_change_knows_its_file_and_its_heading() -> None:
    diff = "+++ b/src/a.py\n x = 1\n y = 2\n+++ b/docs/b.md\n# Use\n  text"
    assert change_between(diff, f"{diff} more").hunks[0].places == ("Use", "docs/b.md")


# --- which dimensions ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "affected"),
    [
        ("def test_it(): ...", ("tests", "rest")),
        ("import os", ("safety", "rest")),
        ("x = 2", ("safety", "tests", "rest")),
    ],
)
def test_s0_40_stretches_are_mapped_by_the_rubrics_own_patterns(line: str, affected: tuple[str, ...]) -> None:
    known = dims(safety=("/^import\\b/",), tests=("*TEST*",), rest=())
    assert affected_by(change_between(TEN, f"{TEN}\n{line}"), known) == affected


def test_s0_40_a_pattern_can_name_a_file_or_a_heading() -> None:
    text = "+++ b/docs/use.md\n a\n b"
    known = dims(docs=("docs/*",), code=("*.py",))
    assert affected_by(change_between(text, f"{text}\n c"), known) == ("docs",)


def test_s0_40_without_patterns_somebody_has_to_be_asked() -> None:
    assert affected_by(change_between("a", "b"), dims(a=(), b=())) is None


def test_a_pattern_that_takes_too_long_counts_as_fitting() -> None:
    known = dims(slow=("/^(a|aa)+$/",), other=("zzz",))
    assert affected_by(change_between("b", "a" * 60 + "b"), known) == ("slow",)


# --- full, in part, not at all ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("iteration", "share", "why"),
    [
        (1, 0.0, "the first iteration"),
        (2, 0.1, ""),
        (5, 0.1, "every 5. iteration"),
        (10, 0.1, "every 5. iteration"),
        (2, 0.61, "61% of the text changed"),
        (2, 0.6, ""),
    ],
)
def test_s0_44_the_first_every_fifth_and_large_changes_are_judged_as_a_whole(
    iteration: int, share: float, why: str
) -> None:
    told = full_because(iteration, Change(share=share), carry=CARRY)
    assert told.startswith(why)
    assert bool(told) is bool(why)


def test_s0_44_dimensions_that_hold_more_than_half_the_weight_are_too_many() -> None:
    known = (Dimension(name="a", weight=0.5), Dimension(name="b", weight=0.3), Dimension(name="c", weight=0.2))
    assert too_many(("a",), known, (), carry=CARRY) == ""
    assert too_many(("b", "c"), known, (), carry=CARRY) == ""
    assert "hold 70% of the weight" in too_many(("a", "c"), known, (), carry=CARRY)
    assert too_many(("a", "c"), known, (), carry=Carry(most_weight=0.7)) == ""


def test_s0_44_a_blocker_is_never_carried_along_unjudged() -> None:
    known = dims(a=(), b=())
    blocker = finding("t", "blocker", "a", number=3)
    assert "Blocker F3" in too_many(("b",), known, [blocker], carry=CARRY)
    assert too_many(("a",), known, [blocker], carry=CARRY) == ""
    assert too_many(("b",), known, [finding("t", "important", "a")], carry=CARRY) == ""


PASS = {"tests": True, "static": True}


@pytest.mark.parametrize(
    ("before", "now", "decision"),
    [
        (None, Standing(output="x"), ""),
        (Standing(output="x", normalized=0.2), Standing(output="x"), "skipped: identical"),
        (Standing(output="x", normalized=None), Standing(output="x"), ""),
        (Standing(output="x", normalized=0.2, basis="1"), Standing(output="x", basis="2"), ""),
        (Standing(output="x", normalized=0.95), Standing(output="y", evidence=PASS), "skipped: confident"),
        (Standing(output="x", normalized=0.94), Standing(output="y", evidence=PASS), ""),
        (Standing(output="x", normalized=0.99), Standing(output="y", evidence={**PASS, "tests": False}), ""),
        (Standing(output="x", normalized=0.99), Standing(output="y", evidence={**PASS, "static": None}), ""),
        (Standing(output="x", normalized=0.99), Standing(output="y"), ""),
        (Standing(output="x", normalized=0.99, evidence=PASS), Standing(output="y", evidence={}), ""),
        (Standing(output="x", normalized=0.99, basis="1"), Standing(output="y", basis="2", evidence=PASS), ""),
    ],
)
def test_s0_37_and_s0_38_skip_only_what_is_identical_or_proved_by_the_current_output(
    before: Standing | None, now: Standing, decision: str
) -> None:
    assert skipped(before, now, carry=CARRY) == decision


def test_s0_38_absence_is_consent_only_if_asked_for() -> None:
    lenient = Carry(require_evidence=False, skip_eval_confidence=0.9)
    before = Standing(output="x", normalized=0.9)
    assert skipped(before, Standing(output="y"), carry=lenient) == "skipped: confident"
    assert skipped(before, Standing(output="y", evidence={"tests": False}), carry=lenient) == ""


@pytest.mark.parametrize("wrong", [{"skip_eval_confidence": 1.1}, {"most_changed": -0.1}, {"full_every": 0}])
def test_numbers_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Carry(**wrong)  # type: ignore[arg-type]


# --- findings along a chain ------------------------------------------------------------------------


def test_s0_41_findings_keep_their_ids_and_know_their_state() -> None:
    first, _ = followed([finding("x"), finding("y")], None)
    assert [(one.id, one.state) for one in first] == [("F1", "new"), ("F2", "new")]
    second, gone = followed([finding("y"), finding("z")], said(*first))
    assert [(one.id, one.state) for one in second] == [("F2", "persisting"), ("F3", "new")]
    assert [(one.id, one.state) for one in gone] == [("F1", "resolved")]
    third, gone = followed([finding("x"), finding("w")], said(*second, resolved=gone))
    assert [(one.id, one.state) for one in third] == [("F1", "regressed"), ("F4", "new")]
    assert [one.id for one in gone] == ["F2", "F3"]


def test_findings_without_a_key_are_known_by_what_they_say() -> None:
    bare = Finding(severity="important", dimension="D", title="T")
    first, _ = followed([bare], None)
    second, gone = followed([Finding(severity="blocker", dimension="d", title="t")], said(*first))
    assert (second[0].id, second[0].state, gone) == ("F1", "persisting", ())


def test_s0_43_affected_scores_are_replaced_and_the_rest_is_carried() -> None:
    found = merged(said(a=40.0, b=60.0), [vote(a=80.0)])
    assert [(one.dimension, one.judged, one.origin) for one in found.dimensions] == [
        ("a", 80.0, "measured"),
        ("b", 60.0, "carried"),
    ]
    assert found.score == 70.0


def test_s0_41_resolved_findings_go_and_new_ones_come() -> None:
    before = said(
        finding("x", number=1), finding("y", number=2), finding("z", "blocker", "b", number=3), a=50.0, b=30.0
    )
    found = merged(before, [vote(finding("new", "suggestion"), resolved=("F1", "F9"), a=90.0)])
    assert [(one.id, one.state, one.flags) for one in found.findings] == [
        ("F2", "persisting", ("carried",)),
        ("F3", "persisting", ("carried",)),
        ("F4", "new", ()),
    ]
    assert [(one.id, one.state) for one in found.resolved] == [("F1", "resolved")]
    assert found.dimensions[0].adjusted == 80.0  # F2 stands, and costs 10 points


def test_s0_41_more_than_half_of_the_votes_resolve_and_naming_it_again_keeps_it() -> None:
    before = said(finding("x", number=1), a=50.0)
    split = merged(before, [vote(a=80.0, resolved=("F1",)), vote(a=80.0)])
    assert [one.id for one in split.findings] == ["F1"]
    again = merged(before, [vote(finding("x"), a=80.0, resolved=("F1",))])
    assert [(one.id, one.state) for one in again.findings] == [("F1", "persisting")]
    back = merged(said(resolved=(finding("x", number=1),), a=50.0), [vote(finding("x"), a=80.0)])
    assert [(one.id, one.state, back.resolved) for one in back.findings] == [("F1", "regressed", ())]


def test_a_blocker_of_no_dimension_caps_the_whole_unless_findings_only_advise() -> None:
    stray = vote(finding("x", "blocker", "nowhere"), a=90.0)
    assert merged(said(a=90.0, b=90.0), [stray]).score == 30.0
    assert merged(said(a=90.0, b=90.0), [stray], mode="advisory").score == 90.0


@given(
    st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), min_size=1, max_size=4),
    st.lists(st.sampled_from("pqrs"), max_size=4, unique=True),
    st.lists(st.sampled_from(["F1", "F2", "F7"]), max_size=3),
)
def test_a_merged_score_is_within_0_and_100_and_no_id_is_used_twice(
    scores: list[tuple[float, float]], titles: list[str], resolved: list[str]
) -> None:
    before = said(finding("p", number=1), finding("q", "blocker", "b", number=2), a=50.0, b=60.0)
    votes = [vote(*(finding(one) for one in titles), resolved=tuple(resolved), a=one, b=two) for one, two in scores]
    found = merged(before, votes)
    ids = [one.id for one in (*found.findings, *found.resolved)]
    assert 0.0 <= found.score <= 100.0
    assert len(ids) == len(set(ids))


def test_s0_39_what_is_carried_says_so_everywhere() -> None:
    told = Revision(iteration=2, why="the output is the same")
    found = carried(said(finding("x", number=1), a=50.0), decision="skipped: identical", revision=told, usage=Usage())
    assert isinstance(found.outcome, Scored)
    assert (found.outcome.origin, found.score, found.decision) == ("carried", 50.0, "skipped: identical")
    assert [one.origin for one in found.dimensions] == ["carried"]
    assert [(one.state, one.flags) for one in found.findings] == [("persisting", ("carried",))]
    assert found.revision == told
