"""S3.24–S3.35, deliberation: one test a line, named after it."""

from __future__ import annotations

import json

import pytest

from deliberate import Case, Evaluation, Panel, Session, combine
from deliberate.evaluators import Script
from deliberate.library import Library
from deliberate.plugins import names
from deliberate.providers._base import Request
from deliberate.providers.scripted import Scripted
from deliberate.types import (
    BRACKETS,
    Bracket,
    Decided,
    Rules,
    Verdict,
    bracket_of,
    edges,
)

pytestmark = pytest.mark.anyio

CASE = Case(output="The total is 41.", task="Add 20 and 22.")


async def evaluated(plan: Panel, provider: Scripted | None = None) -> Evaluation:
    async with Session(
        ledger=":memory:",
        env={},
        library=Library(home="nowhere", workspace="nowhere"),
        providers={"*": provider or Scripted()},
    ) as session:
        return await session.evaluate(CASE, plan)


async def verdict(plan: Panel, provider: Scripted | None = None) -> Verdict:
    found = (await evaluated(plan, provider)).verdict
    assert found is not None
    return found


async def test_s3_24_several_agents_discuss_and_vote() -> None:
    found = await verdict(Panel.of("scripted/good", "scripted/fair", "scripted/poor", rounds=2))
    assert [vote.seat.judge.model for vote in found.votes] == ["scripted/good", "scripted/fair", "scripted/poor"]
    assert sorted(found.rounds) == [0, 1]


def test_s3_25_a_session_has_four_brackets() -> None:
    assert [bracket.label for bracket in Bracket] == ["Poor", "Fair", "Good", "Excellent"]
    assert BRACKETS.labels == ("poor", "fair", "good", "excellent")


@pytest.mark.parametrize("score", [0, 12.5, 25])
def test_s3_26_poor_is_0_to_25(score: float) -> None:
    assert bracket_of(score) == Bracket.POOR
    assert edges(Bracket.POOR) == (0, 25)


@pytest.mark.parametrize("score", [26, 38, 50])
def test_s3_27_fair_is_26_to_50(score: float) -> None:
    assert bracket_of(score) == Bracket.FAIR
    assert edges(Bracket.FAIR) == (26, 50)


@pytest.mark.parametrize("score", [51, 63, 75])
def test_s3_28_good_is_51_to_75(score: float) -> None:
    assert bracket_of(score) == Bracket.GOOD
    assert edges(Bracket.GOOD) == (51, 75)


@pytest.mark.parametrize("score", [76, 88, 100])
def test_s3_29_excellent_is_76_to_100(score: float) -> None:
    assert bracket_of(score) == Bracket.EXCELLENT
    assert edges(Bracket.EXCELLENT) == (76, 100)


async def test_s3_30_agents_discuss_the_output() -> None:
    prompts: list[str] = []

    def reply(request: Request) -> str:
        prompts.append("\n".join(message.content for message in request.messages))
        score = 0.6 if request.model.endswith("a") else 0.4
        scores = dict.fromkeys(("relevance", "quality", "completeness"), score)
        said = f"Says {request.model}: 20 and 22 are 42."
        return json.dumps({"reasoning": said, "findings": [], "suggestion": "", "dimensions": scores})

    found = await verdict(Panel.of("m/a", "m/b", "m/c", rounds=2), Scripted(reply))
    first, second = prompts[:3], prompts[3:]
    assert all("20 and 22 are 42" not in prompt for prompt in first), "the first ballots are sealed"
    assert all(prompt.count("20 and 22 are 42") == 3 for prompt in second), "then each reads what the others said"
    assert found.asks[3].shows


async def test_s3_31_each_votes_for_one_bracket_and_explains_why() -> None:
    found = await verdict(Panel.of("scripted/good", "scripted/fair", "scripted/poor"))
    assert [vote.ballot.bracket.label if vote.ballot else "" for vote in found.votes] == ["Good", "Fair", "Poor"]
    assert all(vote.ballot is not None and vote.ballot.reason for vote in found.votes)


@pytest.mark.parametrize("rule", names("tallies"))
async def test_s3_32_the_winning_bracket_determines_the_score(rule: str) -> None:
    rules = Rules(rule=rule)
    found = await verdict(Panel.of("scripted/good:70", "scripted/good:60", "scripted/fair:40", rules=rules))
    assert isinstance(found.decision, Decided)
    low, high = edges(found.decision.bracket)
    assert low <= found.decision.score <= high


async def test_s3_33_a_script_of_weight_3_and_an_agent_judge_of_weight_1() -> None:
    plan = combine(script=(Script(command="echo '{\"score\": 80}'"), 3), agent_judge=(Panel.of("scripted/fair:40"), 1))
    async with Session(
        ledger=":memory:", env={}, library=Library(home="nowhere", workspace="nowhere"), trust_code=True
    ) as session:
        found = await session.evaluate(CASE, plan)
    assert found.score == pytest.approx((3 * 80 + 40) / 4)
    assert found.normalized == pytest.approx(0.7)


async def test_s3_34_weights_express_trust_in_each_signal() -> None:
    async def score(weight: float) -> float | None:
        plan = combine(jury=(Panel.of("scripted/good:70"), weight), other=(Panel.of("scripted/poor:10"), 1))
        async with Session(ledger=":memory:", env={}, library=Library(home="nowhere", workspace="nowhere")) as session:
            return (await session.evaluate(CASE, plan)).score

    assert await score(1) == pytest.approx(40)
    assert await score(9) == pytest.approx(64)


async def test_s3_35_what_is_ambiguous_is_told_and_can_be_left_undecided() -> None:
    panel = Panel.of("scripted/poor", "scripted/excellent", rules=Rules(tie=("lower",)))
    found = await verdict(panel)
    assert isinstance(found.decision, Decided)
    assert found.decision.tied == (Bracket.POOR, Bracket.EXCELLENT)
    assert found.decision.contested
    careful = await evaluated(Panel.of("scripted/poor", "scripted/excellent", rules=Rules(tie=("unresolved",))))
    assert careful.score is None
