"""The text forms of a reply: read line by line, never guessed, and never a number out of an unreadable one."""

from __future__ import annotations

import contextlib
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate import Case, Panel
from deliberate.errors import ReplyError
from deliberate.judging import key_of, post_of, read
from deliberate.judging._lines import score_lines, sections, severity_named
from deliberate.protocols import BALLOT, protocol_of
from deliberate.runtime import Post
from deliberate.types import Ask, Ballot, Bracket, Dimension, Form, Judge, Rubric, Seat, Spec

RUBRIC = Rubric(
    name="code",
    body="Judge.",
    dimensions=(Dimension(name="correctness", weight=0.5), Dimension(name="error_handling", weight=0.5)),
)
FULL = "SCORES:\ncorrectness: 0.8\nerror_handling: 0.6"


def post(form: Form, *, rubric: Rubric | None = RUBRIC, output: str = "x = 1") -> Post:
    panel = Panel(seats=(Seat(name="one", judge=Judge(model="scripted/x")),), rubric=None, form=form.name)
    return post_of(
        Ask(seat="one", form=form.name),
        case=Case(output=output),
        panel=panel,
        rubric=rubric,
        protocol=protocol_of(Spec(type="independent")),
        form=form,
        heard={},
    )


TOLERANT = Form(name="tolerant", template=BALLOT.template, reply=Ballot, fallback="sections")
NUMBER = Form(name="number", template="", reply=Ballot, wire="number", scale="0..1")
SCORE = Form(name="score", template="", reply=Ballot, wire="score", scale="0..10")


def ballot(text: str, form: Form = TOLERANT, *, before: str = "", output: str = "x = 1") -> Ballot:
    found = read(text, post(form, rubric=RUBRIC if form is TOLERANT else None, output=output), before=before)
    assert isinstance(found, Ballot)
    return found


def judged(found: Ballot) -> dict[str, float]:
    return {one.dimension: one.judged for one in found.dimensions}


# --- sections --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        FULL,
        "Scores:\n- correctness: 0.80\n- Error-Handling: .6",
        "## Scores\n**correctness**: 0.8\n* `error handling`: 6e-1",
        "**SCORES:**\n1. correctness: 0.8/1.0\n2. error_handling: 0.6 (some paths)",
        "Here it is.\n\nSCORES:\ncorrectness: 0.8\ncorrectness: 0.80\nerror_handling: 0.6\noverall: 0.1",
    ],
)
def test_s0_36_scores_are_read_per_dimension_however_the_list_is_written(text: str) -> None:
    assert judged(ballot(text)) == {"correctness": 80.0, "error_handling": 60.0}


@pytest.mark.parametrize(("said", "score"), [("0", 0.0), ("1", 100.0), ("1.0", 100.0), ("0.0/1", 0.0)])
def test_s0_36_both_ends_of_the_scale_are_scores(said: str, score: float) -> None:
    assert judged(ballot(f"SCORES:\ncorrectness: {said}\nerror_handling: 0.6"))["correctness"] == score


@pytest.mark.parametrize("said", ["85", "1.001", "-0.1", "nan", "inf", "high", "85%", "0.8/10", "1_0", "0.5 0.6", ""])
def test_s0_36_what_is_no_number_from_0_to_1_is_missing_and_never_a_number(said: str) -> None:
    with pytest.raises(ReplyError, match=r"'correctness' is scored '.*', which is no number from 0 to 1"):
        ballot(f"SCORES:\ncorrectness: {said}\nerror_handling: 0.6")


def test_a_dimension_scored_twice_and_not_alike_is_missing() -> None:
    with pytest.raises(ReplyError, match="2 times, and not alike"):
        ballot(f"{FULL}\ncorrectness: 0.9")


def test_what_could_be_read_stands_and_the_next_reply_only_fills_in_what_was_missing() -> None:
    first = "SCORES:\ncorrectness: 0.8\nerror_handling: great\nFINDINGS:\n- [MINOR] old: one"
    with pytest.raises(ReplyError, match="dimension 'error_handling' is scored 'great'") as missing:
        ballot(first)
    assert "correctness" not in str(missing.value)
    found = ballot("SCORES:\nerror_handling: 0.4\nFINDINGS:\n- [MINOR] new: two\nSUGGESTION: do it", before=first)
    assert judged(found) == {"correctness": 80.0, "error_handling": 40.0}
    assert ([one.title for one in found.findings], found.suggestion) == (["old", "new"], "do it")
    assert judged(ballot("SCORES:\ncorrectness: 0.1\nerror_handling: 0.4", before=first))["correctness"] == 80.0


def test_a_judgement_without_full_coverage_does_not_count() -> None:
    with pytest.raises(ReplyError, match="'error_handling' is not scored"):
        ballot("SCORES:\ncorrectness: 0.8", before="no form at all")


@pytest.mark.parametrize(("text", "count"), [("Good work.", 0), (f"{FULL}\n\n{FULL}", 2), ("FINDINGS:\n- a", 0)])
def test_there_is_one_section_of_scores(text: str, count: int) -> None:
    with pytest.raises(ReplyError, match=f"{count} sections SCORES instead of one"):
        ballot(text)


def test_scores_copied_from_the_output_are_no_vote() -> None:
    with pytest.raises(ReplyError, match="copied from the output"):
        ballot(FULL, output="# Notes\n\n**SCORES:**\n- correctness: 0.8\n- error_handling: 0.6\n")
    assert judged(ballot(FULL, output="SCORES:\ncorrectness: 0.9"))["correctness"] == 80.0


def test_a_structured_reply_comes_first_and_stays_strict() -> None:
    reply = {"reasoning": "r", "findings": [], "suggestion": "", "dimensions": {"correctness": 1, "error_handling": 0}}
    assert ballot(json.dumps(reply)).reason == "r"
    with pytest.raises(ReplyError, match="not valid JSON"):
        ballot('{"dimensions": {"correctness": 1')


def test_a_form_without_a_fallback_reads_no_text() -> None:
    with pytest.raises(ReplyError, match="not one JSON object"):
        read(FULL, post(BALLOT))


def test_a_suggestion_may_take_several_lines() -> None:
    assert ballot(f"{FULL}\n## Suggestion\n  - Add a test.\n\n  Then mend.  ").suggestion == "- Add a test. Then mend."


# --- findings --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "severity", "title"),
    [
        ("- [BLOCKER] Crash: on empty input", "blocker", "Crash"),
        ("- [Critical] Crash", "blocker", "Crash"),
        ("* **[MAJOR]** Slow: very", "important", "Slow"),
        ("1. [error] Slow", "important", "Slow"),
        ("[LOW] Name", "suggestion", "Name"),
        ("- **Blocker**: Crash", "blocker", "Crash"),
        ("- Some plain text", "suggestion", "Some plain text"),
    ],
)
def test_s0_19_severities_are_read_in_every_vocabulary(line: str, severity: str, title: str) -> None:
    (found,) = ballot(f"{FULL}\nFINDINGS:\n{line}").findings
    assert (found.severity, found.title, found.id) == (severity, title, "F1")


@pytest.mark.parametrize("line", ["none", "- None.", "- no findings", "(n/a)"])
def test_none_is_no_finding(line: str) -> None:
    assert ballot(f"{FULL}\nFINDINGS:\n{line}").findings == ()


def test_a_severity_nobody_knows_is_asked_for_again() -> None:
    with pytest.raises(ReplyError, match="'ODD' is no severity"):
        ballot(f"{FULL}\nFINDINGS:\n- [ODD] x")


def test_s0_17_s0_18_place_dimension_and_description_are_told_apart() -> None:
    text = (
        f"{FULL}\nFINDINGS:\n- [HIGH] src/a.rs:10: unwrap on user input\n"
        "- [BLOCKER] (error-handling) lines 3-4 - Lost error: it is\n  swallowed\n"
        "- [MINOR] correctness: Odd: why\n- [correctness] a remark"
    )
    told = [(f.location, f.dimension, f.title, f.description, f.severity) for f in ballot(text).findings]
    assert told == [
        ("src/a.rs:10", "", "unwrap on user input", "", "important"),
        ("lines 3-4", "error_handling", "Lost error", "it is swallowed", "blocker"),
        (None, "correctness", "Odd", "why", "suggestion"),
        (None, "correctness", "a remark", "", "suggestion"),
    ]


def test_s0_20_s0_21_severity_changes_the_score_of_the_dimension_a_text_finding_names() -> None:
    found = ballot(f"{FULL}\nFINDINGS:\n- [BLOCKER] correctness: Crash\n- [MAJOR] error_handling: Slow")
    assert [one.adjusted for one in found.dimensions] == [30.0, 50.0]
    assert (found.score, found.bracket) == (40.0, Bracket.FAIR)


def test_severities_have_names() -> None:
    assert (severity_named("[High]"), severity_named("odd")) == ("important", None)


# --- one number ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "score", "reason"),
    [
        ("SCORE: 7\nFEEDBACK: fine", 70.0, "fine"),
        ("**SCORE:** 7/10 (of ten)\n**FEEDBACK:** a\nb", 70.0, "a\nb"),
        ("SCORE: 7 out of 10.\nFEEDBACK: fine", 70.0, "fine"),
        ("- score: 7.0\nreason: r\nMATCH: yes", 70.0, "r"),
        ('{"score": 7, "feedback": "f"}', 70.0, "f"),
    ],
)
def test_s2_22_the_score_line_and_its_feedback_are_read(text: str, score: float, reason: str) -> None:
    found = ballot(text, SCORE)
    assert (found.score, found.reason, found.flags) == (score, reason, ())


@pytest.mark.parametrize(
    "said", ["7/5", "12/10", "-3", "seven", "1_0", "8 of 10", "0x7", "7, or 8", "7 out of 5", "7.7.7."]
)
def test_s2_21_a_score_that_is_no_number_on_its_scale_is_no_score(said: str) -> None:
    with pytest.raises(ReplyError, match="cannot be taken"):
        ballot(f"SCORE: {said}\nFEEDBACK: x", SCORE)


@pytest.mark.parametrize(
    ("match", "score"), [("YES", 0.6), ("no", 0.4), ("PARTIAL", 0.5), ("PARTIAL", 0.01), ("so so", 0)]
)
def test_s2_24_a_match_may_stand_beside_a_score_of_its_side(match: str, score: float) -> None:
    assert score_lines(f"MATCH: {match}\nSCORE: {score}\nREASON: r", most=1.0) == (score, "r")


@pytest.mark.parametrize(
    ("match", "score"), [("yes", 0.5), ("NO", 1), ("NO", 0.5), ("PARTIAL", 0), ("Partial", 1), ("**NO**", 0.6)]
)
def test_s2_24_a_match_that_contradicts_its_score_is_asked_to_mend(match: str, score: float) -> None:
    with pytest.raises(ReplyError, match="contradicts its score"):
        score_lines(f"MATCH: {match}\nSCORE: {score}\nREASON: r", most=1.0)


@pytest.mark.parametrize(
    ("text", "score"),
    [('{"reasoning": "r", "score": 0.9}', 90.0), ('```json\n{"score": 1, "reasoning": "r"}\n```', 100.0)],
)
def test_s1_21_one_number_is_read_as_json(text: str, score: float) -> None:
    assert ballot(text, NUMBER).score == score


@pytest.mark.parametrize(
    "text",
    [
        '{"score": 9, "reasoning": "of ten"}',
        '{"score": "high"}',
        '{"score": true}',
        "[0.9]",
        "SCORE: 0.9",
        '{"reasoning": "r"}',
        '{"score": 1, "score": 1}',
    ],
)
def test_s1_21_anything_else_is_no_number(text: str) -> None:
    with pytest.raises(ReplyError):
        ballot(text, NUMBER)


def test_s3_23_a_number_without_reasons_counts_and_is_flagged() -> None:
    assert ballot('{"score": 0.5}', NUMBER).flags == ("missing_reasoning",)


# --- hostile and stable ----------------------------------------------------------------------------


@given(st.text(alphabet="SCOREFINDGU:#*[]()-01. \n\tab", max_size=400))
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    for read_it in (lambda: sections(text, ["ab"]), lambda: score_lines(text, most=10.0), lambda: ballot(text)):
        try:
            read_it()
        except ReplyError:
            continue


@pytest.mark.parametrize("piece", [" ", "*", "- ", "a.", "#", "[", "SCORES: ", "SCORE: ", "1", "\n", ": ", "\n b"])
def test_the_longest_text_of_anything_is_read_in_no_time(piece: str) -> None:
    many = piece * (45_000 // len(piece))
    text = f"SCORES:\ncorrectness: {many}\nSCORE: 1\nFINDINGS:\n- a: {many}"
    started = time.process_time()
    for form in (TOLERANT, SCORE):
        with contextlib.suppress(ReplyError):
            ballot(text, form)
    assert time.process_time() - started < 1


def test_a_longer_text_is_refused_unread() -> None:
    with pytest.raises(ReplyError, match="longer than 100000"):
        ballot(f"{FULL}\n{'x' * 100_000}")


def test_keys_made_before_there_were_fallbacks_stay() -> None:
    asked = {"seat": Seat(name="one", judge=Judge(model="scripted/x")), "case": Case(output="o"), "rubric": RUBRIC}
    known = key_of(Ask(seat="one", form="ballot"), form=BALLOT, protocol="independent@1", **asked)  # type: ignore[arg-type]
    assert known == "d80aa78b6f495c379d684cf3ddac32403f7e035239902e9ed06233a405a28198"
    other = key_of(Ask(seat="one", form="ballot"), form=TOLERANT, protocol="independent@1", **asked)  # type: ignore[arg-type]
    assert other != known
