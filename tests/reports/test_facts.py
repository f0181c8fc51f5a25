from __future__ import annotations

import pytest

from deliberate.reports._facts import (
    Rater,
    ReadBack,
    by_dimension,
    casts,
    flag_note,
    gate_text,
    hinges,
    last_words,
    matrix_of,
    missing,
    next_step,
    normalized_text,
    other_text,
    other_words,
    others,
    panel_parts,
    quorum,
    raised,
    read_back_text,
    rounds,
    score_text,
    severity_counts,
    split,
    tie_text,
    undecided_text,
    usage_text,
    voices,
    whole_parts,
)
from deliberate.types import (
    Bracket,
    Decided,
    Evaluation,
    Gate,
    Rules,
    Undecided,
    UndecidedWhy,
    Unscored,
    Usage,
    Verdict,
    bracket_of,
)
from tests.reports.scripted import (
    HALF_UP,
    UNTESTED,
    absent,
    ballot,
    broken,
    checked,
    dimensioned,
    evaluated,
    finding,
    planned,
    split_panel,
    undecided_panel,
    verdict,
    with_others,
)


def verdict_of(evaluation: Evaluation) -> Verdict:
    assert evaluation.verdict is not None
    return evaluation.verdict


def two_rounds() -> Verdict:
    return verdict(
        ("a", "openai/gpt-x", ballot(70)),
        ("b", "openai/gpt-y", ballot(20)),
        more=[("b", "openai/gpt-y", ballot(60))],
        because="all agree",
    )


def test_every_round_has_its_ballots_and_a_seat_its_last_word() -> None:
    found = two_rounds()
    assert [(cast.round, cast.seat.name) for cast in casts(found)] == [(0, "a"), (0, "b"), (1, "b")]
    assert [(cast.seat.name, cast.round) for cast in last_words(found)] == [("a", 0), ("b", 1)]


def test_a_round_that_was_not_answered_leaves_the_last_word_as_it_was() -> None:
    found = verdict(
        ("a", "openai/gpt-x", ballot(70)),
        ("b", "openai/gpt-y", ballot(20)),
        more=[("b", "openai/gpt-y", None)],
        because="",
        stopped="cancelled",
    )
    assert [(cast.seat.name, cast.round, cast.state) for cast in last_words(found)] == [
        ("a", 0, "voted"),
        ("b", 0, "voted"),
    ]


def test_a_seat_that_was_never_asked_is_there() -> None:
    found = verdict(("a", "openai/gpt-x", ballot(70)), ("b", "openai/gpt-y", ballot(20)))
    unasked = found.__class__(
        **{name: getattr(found, name) for name in found.__struct_fields__} | {"asks": found.asks[:1]}
    )
    assert [(cast.seat.name, cast.round, cast.state, cast.why) for cast in casts(unasked)] == [
        ("a", 0, "voted", ""),
        ("b", None, "unasked", "never asked"),
    ]


def test_what_was_heard_besides_the_votes() -> None:
    found = others(with_others())
    assert [(other_text(other), other_words(other)) for other in found] == [
        ("for a", "The drift is gone."),
        ("verifier checker: confirms 0 findings, refutes 1 finding", ""),
        ("verifier second: failed, deadline", ""),
        ("chair head: Good, 70", "The test decides it."),
    ]
    assert [(one.finding.title, one.refuted) for one in raised(evaluated(with_others()))] == [
        (HALF_UP.title, True),
        (UNTESTED.title, False),
    ]


def test_rounds_say_how_far_the_votes_agree_and_who_moved() -> None:
    first, second = rounds(two_rounds())
    assert (first.agreement, first.moves, second.agreement) == (0.0, (), None)
    assert [(move.seat, move.before, move.after) for move in second.moves] == [("b", Bracket.POOR, Bracket.GOOD)]


def test_quorum_counts_absent_seats_in() -> None:
    assert quorum(verdict_of(undecided_panel("no_quorum"))) == (2, 1, 3)
    assert quorum(verdict_of(undecided_panel("cancelled"))) == (2, 1, 3)


def test_findings_come_most_severe_first_with_all_who_raised_them() -> None:
    found = raised(split_panel())
    assert [(one.finding.id, one.finding.severity, one.by) for one in found] == [
        ("F2", "blocker", ("gemini-3-5",)),
        ("F1", "important", ("opus-5", "gpt-5-5")),
    ]
    assert severity_counts([HALF_UP, UNTESTED, UNTESTED]) == (("blocker", 1), ("important", 2))


def test_findings_of_a_part_that_is_no_panel_are_raised_by_the_part() -> None:
    lint = finding("suggestion", "style", "Long line")
    plan = planned(("lint", 1, checked(90, "fine", lint)), ("jury", 1, split_panel()))
    assert [one.by for one in raised(plan)] == [("gemini-3-5",), ("opus-5", "gpt-5-5"), ("lint",)]
    assert [one.by for one in raised(checked(90, "fine", lint))] == [()]


def test_parts_of_parts_are_named_by_their_path() -> None:
    inner = planned(("jury", 1, split_panel()), ("off", 0, checked(1, "")))
    skipped = Evaluation(evaluator="script", outcome=Unscored(why="skipped", detail="no such file"))
    plan = planned(("inner", 3, inner), ("tests", 1, checked(100, "")), ("lint", 2, skipped))
    assert [(part.path, part.share) for part in whole_parts(plan)] == [
        ("inner", 0.75),
        ("inner.jury", 1.0),
        ("inner.off", None),
        ("tests", 0.25),
        ("lint", None),
    ]
    assert [panel.path for panel in panel_parts(plan)] == ["inner.jury"]
    assert [panel.path for panel in panel_parts(split_panel())] == [""]


@pytest.mark.parametrize(
    ("gate", "text"),
    [
        (Gate(part="tests", min_score=90, held=True), "tests: score at least 90: held"),
        (Gate(part="tests", min_bracket=Bracket.GOOD, held=False), "tests: at least Good: lost (veto: the whole is 0)"),
        (
            Gate(part="tests", max_blockers=0, min_score=1, effect="cap", cap=50, held=False),
            "tests: score at least 1 and at most 0 blockers: lost (cap: the whole is at most 50)",
        ),
        (Gate(part="tests"), "tests: nothing asked: not tried"),
    ],
)
def test_a_gate_says_what_it_asks_and_does(gate: Gate, text: str) -> None:
    assert gate_text(gate) == text


@pytest.mark.parametrize("score", [0.0, 25.0, 25.000001, 25.04, 49.96, 50.0, 75.0, 75.0000001, 99.99, 100.0])
def test_a_printed_score_never_contradicts_its_bracket(score: float) -> None:
    assert bracket_of(float(score_text(score))) == bracket_of(score)
    assert float(normalized_text(score)) == pytest.approx(float(score_text(score)) / 100)


def test_a_number_off_the_scale_is_printed_all_the_same() -> None:
    assert score_text(-3.25) == "-3.2"


def test_the_split_counts_votes_and_absences() -> None:
    assert split(verdict_of(split_panel())) == "2 of 3 votes for Good"
    assert split(verdict_of(undecided_panel("no_quorum"))) == "1 for Good, 2 seats absent"
    nobody = verdict(("a", "openai/gpt-x", absent("refused")), ("b", "openai/gpt-y", absent("refused")))
    assert split(nobody) == "no votes, 2 seats absent"
    one = verdict(("a", "m/x", ballot(70)), ("b", "m/y", ballot(70)), ("c", "m/z", absent("deadline")))
    assert split(one) == "2 of 2 votes for Good, 1 seat absent"


def test_a_settled_tie_names_its_brackets() -> None:
    found = verdict(("a", "m/x", ballot(70)), ("b", "m/y", ballot(20)), ("c", "m/z", ballot(90)))
    assert isinstance(found.decision, Decided)
    assert tie_text(found.decision) == "tied between Poor, Good and Excellent, settled by policy"
    assert not tie_text(Decided(bracket=Bracket.GOOD, score=70, numbers={}))


def test_what_it_hinges_on() -> None:
    assert hinges(verdict_of(split_panel())) == (
        "opus-5 (without it Fair), gpt-5-5 (without it Fair)",
        "other rules: unanimous Fair",
    )
    alone = verdict(("a", "m/x", ballot(70)))
    assert hinges(alone) == ("its only seat", "every other rule gives Good too")
    many = verdict(*((seat, f"m/{seat}", ballot(70)) for seat in "abc"))
    assert hinges(many)[0] == "no single seat"
    pair = verdict(("a", "m/x", ballot(70)), ("b", "m/y", ballot(70)), rules=Rules(quorum="all", independence=2))
    assert hinges(pair)[0] == "a (without it no verdict), b (without it no verdict)"
    assert hinges(verdict_of(undecided_panel("tied"))) == ()
    bare = verdict_of(split_panel())
    assert bare.sensitivity is not None
    no_rules = bare.sensitivity.__class__(without=bare.sensitivity.without)
    fields = {name: getattr(bare, name) for name in bare.__struct_fields__} | {"sensitivity": no_rules}
    assert hinges(Verdict(**fields)) == ("no single seat",)


def test_the_missing_are_named_with_their_reasons() -> None:
    assert missing(verdict_of(undecided_panel("no_quorum"))) == (
        ("generalist", "unread", "it was empty (unreadable)"),
        ("maria", "failed", "connection refused (transport)"),
    )
    bare = verdict(("a", "m/x", absent("refused")))
    assert missing(bare) == (("a", "abstained", "refused"),)
    assert missing(verdict_of(undecided_panel("cancelled")))[0][2] == "no answer when it stopped"


@pytest.mark.parametrize(
    ("why", "command"),
    [
        ("tied", "--tie lower"),
        ("no_quorum", "--quorum"),
        ("not_independent", "another family"),
        ("budget", "--max-cost"),
        ("deadline", "--deadline"),
        ("cancelled", "run it again"),
        ("waiting", "run it again when"),
    ],
)
def test_every_undecided_panel_says_what_to_do_next(why: UndecidedWhy, command: str) -> None:
    found = verdict_of(undecided_panel(why))
    assert isinstance(found.decision, Undecided)
    assert found.decision.why == why
    assert command in next_step(found)
    assert undecided_text(found.decision)


def test_replies_that_are_on_record_are_not_asked_again_by_going_on() -> None:
    found = verdict(("a", "m/x", absent("refused")), ("b", "m/y", absent("unreadable", "it was empty")))
    assert "--fresh" in next_step(found)
    assert not next_step(verdict_of(split_panel()))


def test_undecided_text_says_a_thing_once() -> None:
    assert undecided_text(Undecided(why="tied", detail="tied between Fair, Good")) == "tied between Fair, Good"
    assert undecided_text(Undecided(why="deadline")) == "out of time"


def test_flags_are_told_in_words() -> None:
    assert flag_note("one_model") == "its seats share one model: opinions are not independent"
    assert flag_note("uncalibrated") == "uncalibrated: use for ranking"
    assert flag_note("of_another_package") == "of another package"


@pytest.mark.parametrize(
    ("usage", "text"),
    [
        (Usage(), "no calls"),
        (Usage(calls=1, tokens_in=1200, tokens_out=3, cost_usd=None), "1 call, 1,200 tokens in, 3 out, cost unknown"),
        (Usage(calls=2, cost_usd=0.00012), "2 calls, 0 tokens in, 0 out, $0.00012"),
        (Usage(calls=2, cost_usd=0.0), "2 calls, 0 tokens in, 0 out, $0.00"),
        (Usage(calls=2, cost_usd=12.345), "2 calls, 0 tokens in, 0 out, $12.35"),
    ],
)
def test_an_unknown_cost_is_called_unknown(usage: Usage, text: str) -> None:
    assert usage_text(usage) == text


def test_votes_read_back_are_told_with_their_age() -> None:
    assert read_back_text(ReadBack(votes=3, of=3, oldest="2026-11-02T09:30:00.000Z")) == (
        "3 of 3 votes read back, oldest 2026-11-02"
    )
    assert read_back_text(ReadBack(votes=1, of=1)) == "1 of 1 vote read back"
    assert not read_back_text(ReadBack(votes=0, of=3))
    assert not read_back_text(None)


def test_the_winner_speaks_through_its_nearest_vote_and_the_undecided_all_speak() -> None:
    assert [cast.seat.name for cast in voices(verdict_of(split_panel()))] == ["gpt-5-5"]
    assert [cast.seat.name for cast in voices(verdict_of(undecided_panel("tied")))] == ["sceptic", "generalist"]
    assert voices(verdict(("a", "m/x", ballot(70)))) == ()


def test_dimensions_are_a_table_only_where_a_seat_judged_several() -> None:
    assert by_dimension(last_words(verdict_of(split_panel())))["correctness"] == (75.0, 70.0, 30.0)
    assert by_dimension(last_words(verdict_of(undecided_panel("tied")))) == {}
    lost = verdict(("a", "m/x", dimensioned((1, 2, 3, 4), "")), ("b", "m/y", absent("deadline")))
    assert by_dimension(last_words(lost))["safety"] == (2.0, None)


def test_judge_by_judge_counts_dimensions_both_scored() -> None:
    matrix = matrix_of([split_panel()])
    assert [rater.seat for rater in matrix.raters] == ["opus-5", "gpt-5-5", "gemini-3-5"]
    one = matrix.cell(1, 0)
    assert one == matrix.cell(0, 1)
    assert one is not None
    assert (one.items, one.same) == (4, 4)
    assert one.apart == pytest.approx((5 + 0 + 5 + 5) / 4)
    assert matrix.cell(0, 0) is None
    assert matrix.agreement == pytest.approx(1 / 3)


def test_judge_by_judge_over_cases_takes_whole_ballots_where_no_dimension_is_shared() -> None:
    one = evaluated(verdict(("a", "m/x", ballot(70)), ("b", "m/y", ballot(60))))
    two = evaluated(verdict(("a", "m/x", ballot(70)), ("b", "m/y", ballot(20)), ("c", "m/z", ballot(70))))
    matrix = matrix_of([one, two])
    assert matrix.cell(0, 1) == (2, 1, 30.0)
    assert matrix.cell(0, 2) == (1, 1, 0.0)
    assert matrix.cases == 2
    assert matrix.agreement == pytest.approx(2 / 4)


def test_a_judge_in_two_panels_of_one_plan_is_told_apart_by_its_part() -> None:
    panel = evaluated(verdict(("judge", "m/x", ballot(70))))
    matrix = matrix_of(
        [planned(("first", 1, panel), ("second", 1, panel), ("lint", 1, broken("no")), on_missing="zero")]
    )
    assert matrix.raters == (Rater("judge", "m/x"), Rater("second.judge", "m/x"))
    assert matrix_of([broken("no")]).agreement is None
