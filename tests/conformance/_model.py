"""Adapters of the kinds in which a model judges: its reply is given, or what it was asked is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deliberate import Panel
from deliberate.errors import RefusedError
from deliberate.evaluators import AgentJudge, LLMRubric, RubricJudge, Semantic
from deliberate.providers._base import Request
from deliberate.providers.scripted import Scripted
from deliberate.types import Dimension, Evaluation, Rubric
from tests.conformance import _adapters
from tests.conformance._adapters import Adapter, Input, OneRubric, judged, needs, seen
from tests.conformance._cases import Observed

__all__ = ["ADAPTERS"]


def replying(reply: object) -> Scripted:
    """A judge that says this, or fails as it says."""
    return Scripted(lambda _: RefusedError(reply["raise"]) if isinstance(reply, Mapping) else str(reply))


def noting(asked: list[Request]) -> Scripted:
    """A judge that writes down what it is asked, and says nothing."""

    def answer(request: Request) -> str:
        asked.append(request)
        return ""

    return Scripted(answer)


def prompt(asked: Sequence[Request]) -> Observed:
    return {"prompt": "\n".join(message.content for message in asked[0].messages)}


# --- Codebolt --------------------------------------------------------------------------------------


async def agent_judge_reply(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    needs(given, ("task", "output", "criteria", "reply"), of="agent_judge_reply")
    evaluator = AgentJudge(criteria=given["criteria"])
    found = await judged(evaluator, output=given["output"], task=given["task"], provider=replying(given["reply"]))
    return {**seen(found), "retry": found.usage.calls > 1}


async def agent_judge_prompt(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    needs(given, ("task", "output", "criteria"), of="agent_judge_prompt")
    asked: list[Request] = []
    evaluator = AgentJudge(criteria=given["criteria"])
    await judged(evaluator, output=given["output"], task=given["task"], provider=noting(asked))
    return prompt(asked)


async def deliberation_prompt(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    needs(given, ("task", "output", "criteria"), of="deliberation_prompt")
    asked: list[Request] = []
    panel = Panel.of("scripted/judge", criteria=given.get("criteria", "C"))
    await judged(panel, output=given["output"], task=given.get("task", ""), provider=noting(asked))
    return prompt(asked)


async def expected_output(given: Input, folder: Path) -> Observed:
    if given["mode"] != "semantic":
        return await _adapters.expected_output(given, folder)
    needs(given, ("mode", "output", "expected", "reply", "model_reply"), of="expected_output")
    provider = replying(given.get("reply", given.get("model_reply")))
    return seen(await judged(Semantic(expected=given["expected"]), output=given["output"], provider=provider))


# --- improvement-evaluator -------------------------------------------------------------------------


async def rubric_judge_reply(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    needs(given, ("rubric", "pass_threshold", "output", "reply"), of="rubric_judge_reply")
    return await by_rubric(given, replying(given["reply"]))


async def rubric_judge_mock(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    needs(given, ("rubric", "pass_threshold", "output"), of="rubric_judge_mock")
    return await by_rubric(given, Scripted(), mock=True)


async def by_rubric(given: Input, provider: Scripted, *, mock: bool = False) -> Observed:
    """What free text as a rubric makes of an output."""
    stated: dict[str, Any] = {name: given[name] for name in ("rubric", "pass_threshold") if name in given}
    found = await judged(LLMRubric(mock=mock, **stated), output=given["output"], provider=provider)
    return {**seen(found, of=1.0), "passed": found.details["passed"]}


# --- OpenKoi ---------------------------------------------------------------------------------------


async def judge_reply_parse(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    needs(given, ("dimensions", "reply"), of="judge_reply_parse")
    found = await by_dimensions(given["dimensions"], given["reply"])
    scores = {one.dimension: one.judged / 100.0 for one in found.dimensions}
    by_name = {one["name"]: scores.get(one["name"]) for one in given["dimensions"]}
    return {
        **seen(found, of=1.0),
        "composite": found.normalized,
        "dimension_count": len(found.dimensions),
        "findings": [
            {"severity": one.severity.capitalize(), "title": one.title, "location": one.location, "id": one.id}
            | {"dimension": one.dimension, "description": one.description}
            for one in found.findings
        ],
        "score": by_name,
        "scores": by_name,
        "suggestion": found.suggestion,
    }


async def suggestion_from_findings(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    needs(given, ("findings",), of="suggestion_from_findings")
    findings = (f"- [{one['severity']}] {one['title']}" for one in given["findings"])
    found = await by_dimensions([{"name": "d", "weight": 1}], "\n".join(("SCORES:", "d: 0.5", "FINDINGS:", *findings)))
    return {"suggestion": found.suggestion}


async def by_dimensions(dimensions: Sequence[Input], reply: object) -> Evaluation:
    """What one judge's reply makes of a rubric of these dimensions."""
    named = tuple(Dimension(name=one["name"], weight=one["weight"]) for one in dimensions)
    library = OneRubric(Rubric(name="given", body="B", dimensions=named))
    return await judged(RubricJudge(rubric="given"), output="O", provider=replying(reply), library=library)


ADAPTERS: Mapping[str, Adapter] = {
    adapter.__name__: adapter
    for adapter in (
        agent_judge_prompt,
        agent_judge_reply,
        deliberation_prompt,
        expected_output,
        judge_reply_parse,
        rubric_judge_mock,
        rubric_judge_reply,
        suggestion_from_findings,
    )
}
