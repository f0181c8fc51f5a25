"""Panels as evaluators: statuses, merging, spending just enough, one loop between protocol and judges."""

from __future__ import annotations

import anyio
import pytest

from deliberate import Case, Panel
from deliberate.errors import ConfigError, RefusedError
from deliberate.evaluators import Deliberation, LLMJudge
from deliberate.providers._base import Request
from deliberate.providers.scripted import Scripted
from deliberate.types import Bracket, Decided, Evaluation, Judge, Rules, Scored, Seat, Spec, Undecided, Unscored
from tests.evaluators.conftest import Open

pytestmark = pytest.mark.anyio

CASE = Case(output="four", task="2 + 2?")


def noting(asked: list[Request], said: str = "x") -> Scripted:
    """A judge that writes down what it is asked."""

    def reply(request: Request) -> str:
        asked.append(request)
        return said

    return Scripted(reply)


def panel(*models: str, **kind: object) -> Panel:
    return Panel.of(*models, **kind)  # type: ignore[arg-type]


async def judged(opened: Open, plan: Panel | Deliberation | LLMJudge, **session: object) -> Evaluation:
    async with opened(**session) as table:
        return await table.evaluate(CASE, plan)


async def test_votes_become_a_verdict_and_the_verdict_a_score(opened: Open) -> None:
    found = await judged(opened, panel("scripted/good:70", "scripted/good:60", "scripted/fair:40"))
    verdict = found.verdict
    assert verdict is not None
    assert isinstance(verdict.decision, Decided)
    assert (found.bracket, found.reason) == (Bracket.GOOD, "Good, 2 of 3 votes")
    assert found.score == pytest.approx(170 / 3)
    assert [vote.seat.name for vote in verdict.dissent] == ["fair-40"]
    assert [one.dimension for one in found.dimensions] == ["relevance", "quality", "completeness"]
    assert found.usage.calls == 3


async def test_three_of_five_dead_is_no_quorum_and_no_score(opened: Open) -> None:
    found = await judged(opened, panel("scripted/good", "scripted/fair", *["scripted/refuse"] * 3))
    assert found.verdict is not None
    assert isinstance(found.verdict.decision, Undecided)
    assert found.verdict.decision.why == "no_quorum"
    assert (found.score, found.bracket) == (None, None)
    assert isinstance(found.outcome, Unscored)
    assert found.outcome.why == "undecided"


@pytest.mark.parametrize("output", ["", "  \n", "...!?", "\u200b"])
async def test_empty_output_is_poor_without_a_call(opened: Open, output: str) -> None:
    asked: list[Request] = []
    provider = noting(asked)
    async with opened(providers={"scripted": provider}) as session:
        found = await session.evaluate(Case(output=output), panel("scripted/any"))
    assert (found.score, found.bracket, found.flags) == (0.0, Bracket.POOR, ("degenerate",))
    assert not asked


async def test_spending_just_enough_leaves_out_votes_that_cannot_change_the_bracket(opened: Open) -> None:
    models = [f"scripted/good:{number}" for number in (60, 61, 62, 63, 64)]
    found = await judged(opened, panel(*models, spend="enough"))
    verdict = found.verdict
    assert verdict is not None
    assert isinstance(verdict.decision, Decided)
    assert verdict.decision.path == "shortened"
    assert verdict.counts["unasked"] == 2
    full = await judged(opened, panel(*models))
    assert full.bracket == found.bracket


async def test_when_votes_can_still_change_it_all_are_asked(opened: Open) -> None:
    found = await judged(opened, panel("scripted/good", "scripted/fair", "scripted/poor", spend="enough"))
    assert found.verdict is not None
    assert found.verdict.counts["voted"] == 3


async def test_a_person_who_has_not_voted_leaves_it_waiting(opened: Open) -> None:
    seats = (Seat(name="m", judge=Judge(model="scripted/good")), Seat(name="p", judge=Judge(model="p", human=True)))
    found = await judged(opened, Panel(seats=seats))
    assert found.verdict is not None
    assert isinstance(found.verdict.decision, Undecided)
    assert found.verdict.decision.why == "waiting"


async def test_time_that_is_up_is_a_value(opened: Open) -> None:
    async with opened(deadline_seconds=0.01) as session:
        await anyio.sleep(0.02)
        found = await session.evaluate(CASE, panel("scripted/good"))
    assert found.verdict is not None
    assert isinstance(found.verdict.decision, Undecided)
    assert found.verdict.decision.why == "deadline"


async def test_rounds_happen_on_disagreement_only_and_show_reasons_without_names(opened: Open) -> None:
    asked: list[Request] = []

    def script(request: Request) -> str:
        asked.append(request)
        text = request.messages[-1].content
        bracket = "fair" if request.model.endswith("b") and "What was said so far" not in text else "good"
        score = {"fair": 40, "good": 60}[bracket]
        return (
            f'{{"reasoning": "because {bracket}", "findings": [], "suggestion": "", '
            f'"bracket": "{bracket}", "score": {score}}}'
        )

    two = Panel.of("scripted/a", "scripted/b", criteria="right?", rounds=3)
    found = await judged(opened, two, providers={"scripted": Scripted(script)})
    verdict = found.verdict
    assert verdict is not None
    assert verdict.close is not None
    assert verdict.close.because == "all agreed"
    assert [(move.seat, move.before, move.after) for move in verdict.moves] == [("b", Bracket.FAIR, Bracket.GOOD)]
    assert len(asked) == 4
    second = asked[2].messages[-1].content
    assert "because fair" in second
    assert "scripted" not in second
    assert "peer" not in second
    agreeing = await judged(opened, Panel.of("scripted/good", "scripted/good:60", criteria="right?", rounds=3))
    assert agreeing.usage.calls == 2


async def test_three_seats_of_one_judge_are_asked_three_times_and_flagged(opened: Open) -> None:
    found = await judged(opened, panel("scripted/good", "scripted/good", "scripted/good"))
    assert found.usage.calls == 3
    assert "one_model" in found.flags
    assert found.verdict is not None
    assert len({answer.key for answer in found.verdict.answers.values()}) == 3


async def test_a_quorum_that_can_never_be_met_is_an_error_before_anything_is_asked(opened: Open) -> None:
    with pytest.raises(ConfigError, match="quorum of 3"):
        await judged(opened, panel("scripted/good", "scripted/good", rules=Rules(quorum=3)))


async def test_a_panel_without_a_voter_is_an_error(opened: Open) -> None:
    seat = Seat(name="c", judge=Judge(model="scripted/good"), duty="chair")
    with pytest.raises(ConfigError, match="at least one seat that votes"):
        await judged(opened, Panel(seats=(seat,)))


async def test_an_unknown_protocol_and_a_wrong_parameter_are_errors(opened: Open) -> None:
    seat = Seat(name="a", judge=Judge(model="scripted/good"))
    with pytest.raises(ConfigError, match="unknown protocol 'round'"):
        await judged(opened, Panel(seats=(seat,), protocol=Spec(type="round")))
    with pytest.raises(ConfigError, match="rounds"):
        await judged(opened, Panel(seats=(seat,), protocol=Spec(type="rounds", params={"rounds": "two"})))


async def test_a_judge_gives_a_number_on_its_scale(opened: Open) -> None:
    found = await judged(opened, LLMJudge(model="scripted/good:60", criteria="is it right?"))
    assert found.outcome == Scored(score=60.0, raw=6.0, scale="0..10")
    assert found.evaluator == "llm_judge"


async def test_a_judge_without_a_model_uses_the_sessions(opened: Open) -> None:
    found = await judged(opened, LLMJudge(), judge="scripted/fair:30")
    assert found.score == 30.0
    with pytest.raises(ConfigError, match="no model is named"):
        await judged(opened, LLMJudge())


async def test_a_judge_that_fails_is_no_number(opened: Open) -> None:
    dead = Scripted(lambda _: RefusedError("down"))
    found = await judged(opened, LLMJudge(model="scripted/x"), providers={"scripted": dead})
    assert found.score is None


async def test_the_prompt_holds_rubric_task_output_and_the_question_in_this_order(opened: Open) -> None:
    asked: list[Request] = []
    provider = noting(asked)
    await judged(opened, panel("scripted/any"), providers={"scripted": provider})
    text = asked[0].messages[-1].content
    places = [
        text.index(part)
        for part in (
            "You are an evaluator. Use the following rubric to evaluate the output.",
            "## Rubric",
            "## Task",
            "2 + 2?",
            "## Output to evaluate",
            "four",
            "Score each dimension 0.0-1.0. List findings with severity.",
        )
    ]
    assert places == sorted(places)
