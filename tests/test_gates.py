"""Gates inside the score change it; gates outside decide about the exit code; one table says which."""

from __future__ import annotations

import re
from collections.abc import Mapping

import anyio
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate import judge
from deliberate.agreement.percent_agreement import percent_agreement
from deliberate.errors import ConfigError, GateFailed, NoVerdict
from deliberate.gates import (
    EXIT,
    GateLine,
    Required,
    Result,
    RunFacts,
    agreement_in,
    hold,
    require,
    result_of,
    result_of_run,
    verdicts_of,
)
from deliberate.types import (
    Absent,
    AbsentReason,
    Answer,
    Ask,
    Ballot,
    Bracket,
    Close,
    Decided,
    Evaluation,
    Finding,
    Gate,
    Judge,
    Key,
    Panel,
    Part,
    Scored,
    Seat,
    Undecided,
    UndecidedWhy,
    Unscored,
    UnscoredWhy,
    Verdict,
    ask_id,
)

BLOCKER = Finding(severity="blocker", dimension="d", title="t")
GOOD = Ballot(bracket=Bracket.GOOD, score=70.0)


def scored(score: float, **fields: object) -> Evaluation:
    """An evaluation that matters by its score."""
    return msgspec.structs.replace(Evaluation(evaluator="e", outcome=Scored(score=score, raw=score)), **fields)


def unscored(why: UnscoredWhy = "failed", detail: str = "no reply", **fields: object) -> Evaluation:
    """An evaluation without a score."""
    return msgspec.structs.replace(Evaluation(evaluator="e", outcome=Unscored(why=why, detail=detail)), **fields)


def verdict(decision: Decided | Undecided, *replies: Ballot | Absent) -> Verdict:
    """A verdict over these replies, one seat each."""
    seats = tuple(Seat(name=f"s{at}", judge=Judge(model=f"m/{at}")) for at in range(len(replies)))
    asks = tuple(Ask(seat=seat.name, form="ballot") for seat in seats)
    answers = {ask_id(ask): Answer(key=Key("k"), reply=reply) for ask, reply in zip(asks, replies, strict=True)}
    close = Close(counting=tuple(answers), because="done")
    return Verdict(panel=Panel(seats=seats), asks=asks, answers=answers, close=close, decision=decision, digests={})


def decided(bracket: Bracket, score: float, *replies: Ballot | Absent) -> Evaluation:
    """A panel's evaluation; the headline may be a number outside its bracket, such as the mean."""
    decision = Decided(bracket=bracket, score=score, numbers={"mean": score})
    return scored(score, verdict=verdict(decision, *replies))


def half_agreed(*, unread: int = 0) -> Evaluation:
    """A panel decided Good with 70, of whose six pairs of votes three agree; and so many unread."""
    poor = Ballot(bracket=Bracket.POOR, score=20.0)
    return decided(Bracket.GOOD, 70.0, GOOD, GOOD, GOOD, poor, *[Absent(reason="unreadable")] * unread)


def undecided(why: UndecidedWhy, detail: str = "") -> Evaluation:
    """A panel without a verdict."""
    return unscored("undecided", f"{why}: {detail}", verdict=verdict(Undecided(why=why, detail=detail)))


def whole(outcome: Evaluation, **parts: Evaluation) -> Evaluation:
    """An evaluation of these parts."""
    made = tuple(Part(name=name, weight=1.0, evaluation=each) for name, each in parts.items())
    return msgspec.structs.replace(outcome, parts=made)


# --- inside the score ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gate", "part", "score", "held"),
    [
        (Gate(part="p"), scored(0.0), 80, True),
        (Gate(part="p", min_score=50.0), scored(50.0), 80, True),
        (Gate(part="p", min_score=50.0), scored(49.9), 0, False),
        (Gate(part="p", min_score=50.0, effect="cap", cap=40.0), scored(49.9), 40, False),
        (Gate(part="p", min_score=50.0, effect="cap", cap=90.0), scored(49.9), 80, False),
        (Gate(part="p", min_score=50.0, effect="cap", cap=40.0), scored(50.0), 80, True),
        (Gate(part="p", min_bracket=Bracket.GOOD), scored(50.1), 80, True),
        (Gate(part="p", min_bracket=Bracket.GOOD), scored(50.0), 0, False),
        (Gate(part="p", max_blockers=0), scored(90.0), 80, True),
        (Gate(part="p", max_blockers=1), scored(90.0, findings=(BLOCKER,)), 80, True),
        (Gate(part="p", max_blockers=0), scored(90.0, findings=(BLOCKER,)), 0, False),
        (Gate(part="p", min_score=50.0, max_blockers=0), scored(90.0, findings=(BLOCKER,)), 0, False),
        (Gate(part="p", min_score=50.0, min_bracket=Bracket.EXCELLENT), scored(60.0), 0, False),
    ],
)
def test_a_gate_that_does_not_hold_vetoes_or_caps(gate: Gate, part: Evaluation, score: float, *, held: bool) -> None:
    found, (tried,) = hold(80.0, [gate], [("p", part)])
    assert found == score
    assert tried == msgspec.structs.replace(gate, held=held)


def test_a_gate_on_a_bracket_is_held_against_the_bracket_the_panel_decided() -> None:
    poor = decided(Bracket.POOR, 60.0, GOOD)
    found, (tried,) = hold(80.0, [Gate(part="p", min_bracket=Bracket.GOOD)], [("p", poor)])
    assert (found, tried.held) == (0, False)


GATES = st.lists(
    st.builds(
        Gate,
        part=st.sampled_from(("low", "high")),
        min_score=st.sampled_from((None, 10.0, 50.0, 90.0)),
        effect=st.sampled_from(("cap", "veto")),
        cap=st.sampled_from((0.0, 20.0, 60.0)),
    ),
    max_size=4,
)


@given(GATES, st.floats(0, 100))
def test_gates_never_raise_a_score_and_their_order_does_not_count(gates: list[Gate], score: float) -> None:
    parts = [("low", scored(20.0)), ("high", scored(70.0))]
    found, tried = hold(score, gates, parts)
    assert 0 <= found <= score
    assert all(gate.held is not None for gate in tried)
    assert found == score or not all(gate.held for gate in tried)
    assert hold(score, gates[::-1], parts[::-1])[0] == found


def test_a_gate_on_a_part_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError, match="q"):
        hold(80.0, [Gate(part="q")], [("p", scored(1.0))])


def test_a_gate_on_a_part_without_a_score_leaves_the_whole_without_one() -> None:
    with pytest.raises(ValueError, match="gate on 'p': the part has no score"):
        hold(80.0, [Gate(part="p", min_score=1.0)], [("p", unscored())])


def test_blockers_of_a_parts_own_parts_count() -> None:
    nested = whole(scored(90.0), a=scored(90.0, findings=(BLOCKER,)), b=scored(90.0, findings=(BLOCKER,)))
    assert hold(80.0, [Gate(part="p", max_blockers=1)], [("p", nested)])[0] == 0
    assert hold(80.0, [Gate(part="p", max_blockers=2)], [("p", nested)])[0] == 80


def test_blockers_that_were_merged_upward_are_not_counted_twice() -> None:
    nested = whole(scored(90.0, findings=(BLOCKER,)), a=scored(90.0, findings=(BLOCKER,)))
    assert hold(80.0, [Gate(part="p", max_blockers=1)], [("p", nested)])[0] == 80


# --- outside the score -----------------------------------------------------------------------------


def test_the_exit_codes_are_those_of_the_table() -> None:
    assert EXIT == {
        "ok": 0,
        "crash": 1,
        "usage": 2,
        "gate": 3,
        "no_verdict": 4,
        "incomplete": 5,
        "interrupted": 130,
    }


@pytest.mark.parametrize(("status", "code"), [("ok", 0), ("gate", 3), ("no_verdict", 4), ("incomplete", 5)])
def test_each_status_has_its_exit_code(status: str, code: int) -> None:
    assert msgspec.convert({"status": status}, Result).exit_code == code


def test_without_a_gate_any_score_is_ok() -> None:
    result = result_of(scored(0.0), Required())
    assert (result, result.exit_code, result.line) == (Result(status="ok"), 0, "ok (no gate asked)")


ASKED: Mapping[str, tuple[Required, GateLine]] = {
    "min-score": (Required(min_score=70.0), GateLine(gate="min-score", wanted="70", got="70", held=True)),
    "min-bracket": (
        Required(min_bracket=Bracket.GOOD),
        GateLine(gate="min-bracket", wanted="Good", got="Good", held=True),
    ),
    "max-blockers": (Required(max_blockers=0), GateLine(gate="max-blockers", wanted="0", got="0", held=True)),
    "max-unread": (Required(max_unread=0.0), GateLine(gate="max-unread", wanted="0", got="0", held=True)),
    "min-agreement": (
        Required(min_agreement=0.5),
        GateLine(gate="min-agreement", wanted="0.5", got="0.50", held=True),
    ),
    "max-drop": (Required(max_drop=5.0), GateLine(gate="max-drop", wanted="5", got="5", held=True)),
}


@pytest.mark.parametrize("gate", list(ASKED))
def test_a_gate_holds_at_just_what_was_asked_for(gate: str) -> None:
    required, line = ASKED[gate]
    result = result_of(half_agreed(), required, baseline=75.0)
    assert result == Result(status="ok", gates=(line,))
    assert result.line == "ok (every gate held)"


@pytest.mark.parametrize(
    ("required", "line"),
    [
        (Required(min_score=70.5), "gate failed: min-score 70.5 (got 70)"),
        (Required(min_bracket=Bracket.EXCELLENT), "gate failed: min-bracket Excellent (got Good)"),
        (Required(max_blockers=0), "gate failed: max-blockers 0 (got 1)"),
        (Required(max_unread=0.25), "gate failed: max-unread 0.25 (got 0.5)"),
        (Required(min_agreement=0.9), "gate failed: min-agreement 0.9 (got 0.50)"),
        (
            Required(min_score=70.5, max_blockers=0, max_unread=1.0),
            "gate failed: min-score 70.5 (got 70), max-blockers 0 (got 1)",
        ),
    ],
)
def test_a_gate_that_failed_says_what_was_wanted_and_got(required: Required, line: str) -> None:
    evaluation = msgspec.structs.replace(half_agreed(unread=4), findings=(BLOCKER,))
    result = result_of(evaluation, required)
    assert (result.status, result.exit_code, result.line) == ("gate", 3, line)


ASSERTED = {
    "min-score": ({"min_score": 70}, {"min_score": 70.1}),
    "min-bracket": ({"min_bracket": "good"}, {"min_bracket": Bracket.EXCELLENT}),
    "max-blockers": ({"max_blockers": 1}, {"max_blockers": 0}),
    "max-unread": ({"max_unread": 0.2}, {"max_unread": 0.1}),
    "min-agreement": ({"min_agreement": 0.5}, {"min_agreement": 0.51}),
    "max-drop": ({"baseline": 75, "max_drop": 5}, {"baseline": 75.1, "max_drop": 5}),
    "max-drop 0": ({"baseline": 70}, {"baseline": 70.1}),
    "max-drop of": ({"baseline": scored(70.0)}, {"baseline": scored(71.0)}),
}


@pytest.mark.parametrize("gate", list(ASSERTED))
def test_every_gate_can_be_asserted(gate: str) -> None:
    evaluation = msgspec.structs.replace(half_agreed(unread=1), findings=(BLOCKER,))
    holds, fails = ASSERTED[gate]
    require(evaluation, **holds)  # type: ignore[arg-type]  # one table for all
    with pytest.raises(GateFailed, match=f"wanted {gate.split(maxsplit=1)[0]} "):
        require(evaluation, **fails)  # type: ignore[arg-type]  # same


def test_a_drop_needs_something_to_drop_below() -> None:
    with pytest.raises(ConfigError, match="there is nothing to drop below"):
        require(scored(70.0), max_drop=5)
    with pytest.raises(NoVerdict, match="the baseline has no score"):
        require(scored(70.0), baseline=unscored())


WRONG: Mapping[str, tuple[Mapping[str, object], str]] = {
    "too high": ({"min_score": 400}, "min_score is 400; expected points from 0 to 100"),
    "too low": ({"min_score": -0.1}, "min_score is -0.1; expected points from 0 to 100"),
    "no number": ({"min_score": float("nan")}, "min_score is nan; expected points from 0 to 100"),
    "a text": ({"min_score": "70"}, "min_score is '70'; expected points from 0 to 100"),
    "yes": ({"min_score": True}, "min_score is True; expected points from 0 to 100"),
    "a share in percent": ({"max_unread": 2}, "max_unread is 2; expected a share from 0 to 1"),
    "an agreement above 1": ({"min_agreement": 1.5}, "min_agreement is 1.5; expected a share from 0 to 1"),
    "an alpha": ({"min_agreement": -0.5}, "min_agreement is -0.5; expected a share from 0 to 1"),
    "a negative count": ({"max_blockers": -1}, "max_blockers is -1; expected a whole number of at least 0"),
    "half a blocker": ({"max_blockers": 0.5}, "max_blockers is 0.5; expected a whole number of at least 0"),
    "no count": ({"max_blockers": True}, "max_blockers is True; expected a whole number of at least 0"),
    "a rise": ({"max_drop": -5, "baseline": 50}, "max_drop is -5; expected points from 0 to 100"),
    "no score": ({"baseline": 101}, "baseline is 101; expected points from 0 to 100"),
    "no bracket": ({"min_bracket": "great"}, "min_bracket: unknown bracket 'great'"),
    "a number of a bracket": ({"min_bracket": 2}, "min_bracket: unknown bracket '2'"),
}


@pytest.mark.parametrize("wrong", list(WRONG))
def test_what_no_result_could_have_is_not_asked_for(wrong: str) -> None:
    gates, said = WRONG[wrong]
    with pytest.raises(ConfigError, match=re.escape(said)):
        require(half_agreed(), **gates)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize("name", ["min_score", "max_blockers", "max_unread", "min_agreement", "max_drop"])
@pytest.mark.parametrize("value", [-2, float("nan"), float("inf")])
def test_a_requirement_has_its_bounds_whoever_makes_it(name: str, value: float) -> None:
    with pytest.raises(ConfigError, match=f"^{name} is {value}; expected "):
        msgspec.structs.replace(Required(), **{name: value})


def test_a_run_may_be_held_against_an_alpha_below_0() -> None:
    facts = RunFacts(cases=1, judged=1, scored=1, mean=1.0, agreement=-0.2)
    assert result_of_run(facts, Required(min_agreement=-0.5)).status == "ok"
    with pytest.raises(ConfigError, match="an alpha from -1 to 1"):
        Required(min_agreement=-1.1)


@given(st.lists(st.lists(st.sampled_from([*Bracket, None]), max_size=5), max_size=3))
def test_the_agreement_of_the_gate_is_percent_agreement(panels: list[list[Bracket | None]]) -> None:
    replies = [
        [Absent(reason="unreadable") if one is None else Ballot(bracket=one, score=1.0) for one in row]
        for row in panels
    ]
    parts = {f"p{at}": decided(Bracket.GOOD, 70.0, *row) for at, row in enumerate(replies)}
    assert agreement_in(whole(scored(70.0), **parts)) == percent_agreement(panels)


def test_an_agreement_that_does_not_exist_has_not_held() -> None:
    result = result_of(scored(70.0), Required(min_agreement=0.0))
    assert result.line == "gate failed: min-agreement 0 (got undefined)"


@pytest.mark.parametrize(
    ("baseline", "line"),
    [
        (75.0, "ok (every gate held)"),
        (60.0, "ok (every gate held)"),
        (75.5, "gate failed: max-drop 5 (got 5.5)"),
        (None, "gate failed: max-drop 5 (got no baseline)"),
    ],
)
def test_a_drop_is_measured_from_the_baseline_and_a_rise_is_none(baseline: float | None, line: str) -> None:
    assert result_of(scored(70.0), Required(max_drop=5.0), baseline=baseline).line == line


def test_numbers_are_shown_short() -> None:
    assert result_of(scored(66.66666), Required(min_score=66.7)).line == "gate failed: min-score 66.7 (got 66.67)"


def test_a_gate_on_the_bracket_holds_for_the_one_the_panel_decided() -> None:
    required = Required(min_bracket=Bracket.GOOD)
    assert result_of(decided(Bracket.GOOD, 40.0, GOOD), required).status == "ok"
    assert result_of(decided(Bracket.FAIR, 70.0, GOOD), required).line == "gate failed: min-bracket Good (got Fair)"


def test_a_decided_poor_does_not_pass_for_its_headline_number() -> None:
    result = result_of(decided(Bracket.POOR, 70.0, GOOD), Required(min_bracket=Bracket.GOOD))
    assert result.line == "gate failed: min-bracket Good (got Poor)"


@pytest.mark.parametrize(
    ("reasons", "share"),
    [
        (("unreadable", "unreadable", "unreadable"), 1.0),
        (("unreadable", "truncated", "transport"), 2 / 3),
        (("refused", "transport", "budget"), 0.0),
    ],
)
def test_unread_is_a_share_of_all_seats_that_vote(reasons: tuple[AbsentReason, ...], share: float) -> None:
    evaluation = decided(Bracket.GOOD, 70.0, *(Absent(reason=reason) for reason in reasons))
    assert result_of(evaluation, Required(max_unread=share)).status == "ok"
    if share:
        assert result_of(evaluation, Required(max_unread=share - 0.01)).status == "gate"


def test_unread_is_counted_over_all_panels() -> None:
    one, other = decided(Bracket.GOOD, 70.0, GOOD), decided(Bracket.GOOD, 70.0, Absent(reason="unreadable"))
    both = whole(scored(70.0), one=one, other=other)
    assert result_of(both, Required(max_unread=0.4)).line == "gate failed: max-unread 0.4 (got 0.5)"


@pytest.mark.parametrize(
    ("why", "status", "code"),
    [
        ("tied", "no_verdict", 4),
        ("no_quorum", "no_verdict", 4),
        ("not_independent", "no_verdict", 4),
        ("waiting", "incomplete", 5),
        ("budget", "incomplete", 5),
        ("deadline", "incomplete", 5),
        ("cancelled", "incomplete", 5),
    ],
)
def test_each_reason_for_no_verdict_has_its_exit_code(why: UndecidedWhy, status: str, code: int) -> None:
    for required in (Required(), Required(min_score=1.0)):
        result = result_of(undecided(why, "because"), required)
        assert (result.status, result.exit_code, result.why) == (status, code, f"{why}: because")
        word = "no verdict" if status == "no_verdict" else status
        assert result.line == f"{word}: {why}: because"


@pytest.mark.parametrize("why", ["failed", "abstained", "undecided", "skipped"])
def test_whatever_else_has_no_score_is_no_verdict(why: UnscoredWhy) -> None:
    result = result_of(unscored(why, "the reason"), Required(min_score=1.0))
    assert (result.status, result.why, result.gates) == ("no_verdict", "the reason", ())


@pytest.mark.parametrize("order", [("no_quorum", "budget"), ("budget", "no_quorum")])
def test_incomplete_counts_before_no_verdict(order: tuple[UndecidedWhy, UndecidedWhy]) -> None:
    parts = whole(unscored("undecided"), a=undecided(order[0], "x"), b=undecided(order[1], "x"))
    assert result_of(parts, Required()) == Result(status="incomplete", why="budget: x")


def test_of_several_that_are_incomplete_the_first_part_is_told() -> None:
    parts = whole(unscored("undecided"), a=undecided("waiting", "maria"), b=undecided("deadline", "60 s"))
    assert result_of(parts, Required()).why == "waiting: maria"


def test_verdicts_are_found_in_parts_of_parts_in_order() -> None:
    outer, first, second = (decided(Bracket.GOOD, score, GOOD) for score in (70.0, 71.0, 72.0))
    nested = whole(outer, a=whole(scored(1.0), b=first), c=scored(1.0), d=second)
    assert verdicts_of(nested) == (outer.verdict, first.verdict, second.verdict)
    assert verdicts_of(scored(1.0)) == ()


def test_a_result_is_read_back_as_it_was_written() -> None:
    result = result_of(scored(70.0), Required(min_score=80.0, max_blockers=0))
    assert msgspec.json.decode(msgspec.json.encode(result), type=Result) == result


FACTS = RunFacts(cases=4, judged=4, scored=4, mean=60.0, blockers=1, unread=0.25, agreement=0.5)


@pytest.mark.parametrize(
    ("facts", "status", "why"),
    [
        (FACTS, "ok", ""),
        (msgspec.structs.replace(FACTS, judged=3), "incomplete", "1 of 4 cases (not judged 1)"),
        (
            msgspec.structs.replace(FACTS, scored=2, without={"budget": 1, "no_quorum": 1}),
            "incomplete",
            "1 of 4 cases (budget 1)",
        ),
        (
            msgspec.structs.replace(FACTS, scored=3, without={"no_quorum": 1}),
            "no_verdict",
            "1 of 4 cases (no_quorum 1)",
        ),
        (
            msgspec.structs.replace(FACTS, scored=0, mean=None, without={"failed": 4}),
            "no_verdict",
            "4 of 4 cases (failed 4)",
        ),
    ],
)
def test_a_case_without_a_verdict_leaves_the_run_without_one(facts: RunFacts, status: str, why: str) -> None:
    result = result_of_run(facts, Required(min_score=10.0))
    assert (result.status, result.why) == (status, why)


@pytest.mark.parametrize(
    ("required", "line"),
    [
        (Required(), "ok (no gate asked)"),
        (Required(min_score=60.0, min_bracket=Bracket.GOOD, max_blockers=1), "ok (every gate held)"),
        (Required(max_unread=0.25, min_agreement=0.5, max_drop=5.0), "ok (every gate held)"),
        (Required(min_score=61.0), "gate failed: min-score 61 (got 60)"),
        (Required(min_bracket=Bracket.EXCELLENT), "gate failed: min-bracket Excellent (got Good)"),
        (Required(max_blockers=0), "gate failed: max-blockers 0 (got 1)"),
        (Required(max_unread=0.2), "gate failed: max-unread 0.2 (got 0.25)"),
        (Required(min_agreement=0.6), "gate failed: min-agreement 0.6 (got 0.50)"),
        (Required(max_drop=1.0), "gate failed: max-drop 1 (got 5)"),
    ],
)
def test_a_run_is_held_against_its_gates_by_its_mean(required: Required, line: str) -> None:
    assert result_of_run(FACTS, required, baseline=65.0).line == line


# --- require ---------------------------------------------------------------------------------------


def panel_evaluation(*models: str) -> Evaluation:
    """What a scripted panel says of an output."""
    return anyio.run(lambda: judge("4", *models, criteria="C", ledger=":memory:"))


def test_require_says_nothing_where_every_gate_holds() -> None:
    require(panel_evaluation("scripted/good:70"), min_score=70, min_bracket="Good", max_blockers=0, max_unread=0)


def test_require_raises_the_table_of_votes() -> None:
    found = panel_evaluation("scripted/good:70", "scripted/fair:40", "scripted/fair:44", "scripted/refuse")
    with pytest.raises(GateFailed) as failed:
        require(found, min_bracket=Bracket.EXCELLENT)
    first, *rows = str(failed.value).splitlines()
    assert first.startswith("Fair ")
    assert first.endswith("wanted min-bracket Excellent (got Fair) (P0 F2 G1 E0, 0 unread)")
    assert [row.split()[1] for row in rows] == ["Good", "Fair", "Fair", "abstained"]
    assert isinstance(failed.value, AssertionError)


def test_require_names_blockers_and_shows_no_control_characters() -> None:
    found = msgspec.structs.replace(
        panel_evaluation("scripted/good:70"),
        findings=(Finding(id="F1", key="k", severity="blocker", dimension="d", title="\x1b[31m::error::"),),
    )
    with pytest.raises(GateFailed, match=r"blocker: \N{REPLACEMENT CHARACTER}\[31m"):
        require(found, max_blockers=0)


def test_require_without_a_verdict_is_not_a_failed_gate() -> None:
    with pytest.raises(NoVerdict, match=r"(?s)no verdict: no_quorum.*refuse +abstained  declined"):
        require(panel_evaluation("scripted/refuse"))


def test_require_of_a_number_needs_no_votes() -> None:
    found = Evaluation(evaluator="exact", outcome=Scored(score=0.0, raw=0.0))
    with pytest.raises(GateFailed, match=r"Poor 0/100, wanted min-score 50"):
        require(found, min_score=50)
