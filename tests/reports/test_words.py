from __future__ import annotations

import pytest

from deliberate.reports._facts import (
    ReadBack,
    others,
    raised,
)
from deliberate.reports._words import (
    flag_note,
    gate_text,
    hinges,
    missing,
    next_step,
    normalized_text,
    other_text,
    other_words,
    read_back_text,
    score_text,
    split,
    tie_text,
    undecided_text,
    usage_text,
)
from deliberate.types import (
    Bracket,
    Decided,
    Evaluation,
    Gate,
    Rules,
    Undecided,
    UndecidedWhy,
    Usage,
    Verdict,
    bracket_of,
)
from tests.reports.scripted import (
    HALF_UP,
    UNTESTED,
    absent,
    ballot,
    evaluated,
    split_panel,
    undecided_panel,
    verdict,
    with_others,
)


def verdict_of(evaluation: Evaluation) -> Verdict:
    assert evaluation.verdict is not None
    return evaluation.verdict


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
