"""What an evaluation by a rubric holds, and how its judge is asked."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import deliberate.plugins
from deliberate import Case, Evaluation, Panel
from deliberate.errors import ConfigError
from deliberate.evaluators.composite import Composite, Member
from deliberate.library import Library
from deliberate.providers._base import Request
from deliberate.providers.scripted import Scripted
from tests.evaluators._again import Check, Lint, Told, ballot
from tests.evaluators.conftest import Open

pytestmark = pytest.mark.anyio

BODY = Library(home="nowhere", workspace="nowhere").rubric("code-review").body
FINDINGS: Sequence[Mapping[str, Any]] = (
    {"severity": "CRITICAL", "dimension": "Safety", "title": "Key in the log", "location": "a.py:3", "fix": "Mask it"},
    {"severity": "important", "dimension": "correctness", "title": "Off by one"},
    {"severity": "nit", "dimension": "style", "title": "Name"},
)


async def reviewed(opened: Open, judge: Scripted | None = None) -> Evaluation:
    told = Told(lambda _, names: ballot(dict.fromkeys(names, 0.8), findings=FINDINGS))
    async with opened(providers={"*": judge or told}) as session:
        return await session.evaluate(
            Case(output="print(key)", task="Log it"), Panel.of("scripted/x", rubric="code-review")
        )


async def test_s0_1_an_evaluation_holds_a_score_findings_and_a_suggestion(opened: Open) -> None:
    found = await reviewed(opened)
    assert found.score is not None
    assert len(found.findings) == 3
    assert found.suggestion == "s"
    silent = Told(lambda _, names: ballot(dict.fromkeys(names, 0.8), findings=FINDINGS, suggestion=""))
    assert (await reviewed(opened, silent)).suggestion == "Mend: Key in the log (Mask it); Off by one."


async def test_s0_9_tokens_are_stated_and_free_evaluators_take_none(opened: Open) -> None:
    assert (await reviewed(opened)).usage.tokens_in > 0
    free = Composite(members=(Member(name="tests", weight=1.0, evaluator=Check()),))
    async with opened() as session:
        found = await session.evaluate(Case(output="test_runner=100"), free)
    assert (found.score, found.usage.calls, found.usage.tokens_in, found.usage.tokens_out) == (100.0, 0, 0, 0)


async def test_s0_8_free_evaluators_need_no_model(opened: Open) -> None:
    members = (Member(name="t", weight=1.0, evaluator=Check()), Member(name="l", weight=1.0, evaluator=Lint()))
    async with opened() as session:
        with pytest.raises(ConfigError, match="no panel, judge or plan is named"):
            session.default_panel()
        found = await session.evaluate(Case(output="test_runner=100\nstatic_analysis=50 "), Composite(members=members))
    assert found.score == 75.0


async def test_s0_15_to_18_dimensions_findings_usage_and_rubric_are_in_the_result(opened: Open) -> None:
    found = await reviewed(opened)
    assert [(one.dimension, one.judged, one.weight) for one in found.dimensions] == [
        ("correctness", 80.0, 0.4),
        ("safety", 80.0, 0.25),
        ("style", 80.0, 0.15),
        ("completeness", 80.0, 0.2),
    ]
    assert [one.id for one in found.findings] == ["F1", "F2", "F3"]
    assert (found.findings[0].location, found.findings[0].fix) == ("a.py:3", "Mask it")
    assert (found.findings[1].location, found.findings[1].fix) == (None, None)
    assert found.verdict is not None
    assert found.verdict.panel.rubric == "code-review"
    assert found.score == pytest.approx(sum(one.weight * one.adjusted for one in found.dimensions))


async def test_s0_19_to_22_severities_cap_reduce_and_leave_their_dimension(opened: Open) -> None:
    found = await reviewed(opened)
    assert [one.severity for one in found.findings] == ["blocker", "important", "suggestion"]
    assert {one.dimension: one.adjusted for one in found.dimensions} == {
        "correctness": 70.0,
        "safety": 30.0,
        "style": 80.0,
        "completeness": 80.0,
    }


async def test_s0_35_the_prompt_has_the_rubrics_body_then_the_task_then_the_output(opened: Open) -> None:
    asked: list[Request] = []

    def note(request: Request) -> str:
        asked.append(request)
        return ""

    await reviewed(opened, Scripted(note))
    prompt = asked[0].messages[1].content
    places = [
        prompt.index(text)
        for text in (
            "You are an evaluator. Use the following rubric to evaluate the output.",
            f"## Rubric\n{BODY}",
            "## Task",
            "Log it",
            "## Output to evaluate",
            "print(key)",
            "Score each dimension 0.0-1.0. List findings with severity.",
        )
    ]
    assert places == sorted(places)
    assert "deliberate-kind" not in prompt
    assert (asked[0].temperature, asked[0].max_tokens) == (0.1, 2000)  # S0.35a


async def test_s0_36_one_call_scores_all_dimensions(opened: Open) -> None:
    found = await reviewed(opened)
    assert found.usage.calls == 1
    assert len(found.dimensions) == 4


def test_s0_2_and_s0_4_no_rubric_text_is_in_code() -> None:
    package = Path(deliberate.plugins.__file__).parent
    lines = {line.strip("- ") for line in BODY.splitlines() if len(line) > 40}
    for path in package.rglob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        texts = [one.value for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        assert not [line for line in lines if any(line in text for text in texts)], path
