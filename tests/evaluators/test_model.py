"""Evaluators that ask a model: seven forms, one path to the prompt, one reader, one retry."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from pathlib import Path

import msgspec
import pytest

from deliberate import Case, plugins
from deliberate.errors import ConfigError, MissingExtra, RefusedError, UnknownName
from deliberate.evaluators import (
    AgentJudge,
    Evaluator,
    LLMComparison,
    LLMJudge,
    LLMRubric,
    RubricJudge,
    Semantic,
    combine,
    evaluator_of,
)
from deliberate.evaluators._panel import suggestion_of
from deliberate.library import Library
from deliberate.providers._base import Request
from deliberate.providers.scripted import Scripted
from deliberate.testing.endpoint import Endpoint, Fault
from deliberate.types import Bracket, Evaluation, FileRef, Finding, Scored, Severity, Spec, Unscored
from tests.evaluators.conftest import Open

pytestmark = pytest.mark.anyio

CASE = Case(output="4, since 2 and 2 are 4", task="What is 2 + 2?")
SECTIONS = """\
SCORES:
relevance: 0.9
quality: 0.7
completeness: 0.5

FINDINGS:
- [IMPORTANT] completeness: No steps: the way to the answer is missing

SUGGESTION: Show the steps."""


class Asked:
    """A judge that notes what it is asked, and gives the replies it was told in their order, the last again."""

    def __init__(self, *replies: str | Exception) -> None:
        self.requests: list[Request] = []
        self._replies = replies

    @property
    def provider(self) -> Scripted:
        """As a session takes it."""

        def reply(request: Request) -> str | Exception:
            self.requests.append(request)
            return self._replies[min(len(self.requests), len(self._replies)) - 1]

        return Scripted(reply)

    @property
    def prompt(self) -> str:
        """What the first request says."""
        return "\n".join(message.content for message in self.requests[0].messages)


async def judged(
    opened: Open, evaluator: Evaluator, *replies: str | Exception, case: Case = CASE
) -> tuple[Evaluation, Asked]:
    """The evaluation of a case by a judge that replies so, and what it was asked."""
    asked = Asked(*replies or ("",))
    async with opened(judge="scripted/judge", providers={"*": asked.provider}) as session:
        return await session.evaluate(case, evaluator), asked


def number(score: object, reasoning: str = "Because.") -> str:
    return json.dumps({"reasoning": reasoning, "score": score})


def in_order(text: str, *parts: str) -> bool:
    places = [text.find(part) for part in parts]
    return -1 not in places and places == sorted(places)


def cause(found: Evaluation) -> str:
    assert isinstance(found.outcome, Unscored)
    return f"{found.outcome.why}: {found.outcome.detail}"


# --- all of them -----------------------------------------------------------------------------------

ALL: tuple[Evaluator, ...] = (
    AgentJudge(criteria="C"),
    LLMComparison(expected="4"),
    LLMJudge(),
    LLMRubric(rubric="R"),
    RubricJudge(),
    Semantic(expected="4"),
)
NAMES = [one.name for one in ALL]


def test_s2_2_what_asks_a_model_says_so() -> None:
    kinds = [plugins.part("evaluators", name) for name in (*NAMES, "deliberation")]
    assert all(kind.spends_tokens for kind in kinds)


def test_whatever_asks_a_model_tells_whom_it_will_ask() -> None:
    kinds = [plugins.part("evaluators", name) for name in plugins.names("evaluators") if name != "composite"]
    assert all(hasattr(kind, "seated") == kind.spends_tokens for kind in kinds)


@pytest.mark.parametrize("evaluator", ALL, ids=NAMES)
async def test_what_cannot_be_read_is_asked_for_once_more_and_then_no_number(
    opened: Open, evaluator: Evaluator
) -> None:
    found, asked = await judged(opened, evaluator, "Rather good, all in all.")
    assert found.score is None
    assert cause(found).startswith("failed: unreadable: it ")
    assert len(asked.requests) == 2
    assert "could not be read" in asked.requests[1].messages[-1].content


@pytest.mark.parametrize("evaluator", ALL, ids=NAMES)
async def test_a_judge_that_is_down_and_one_that_declines_are_told_apart(opened: Open, evaluator: Evaluator) -> None:
    found, _ = await judged(opened, evaluator, RefusedError("down"))
    assert cause(found) == "failed: transport: down"
    async with opened(judge="scripted/refuse") as session:
        assert cause(await session.evaluate(CASE, evaluator)) == "abstained: refused: declined"


@pytest.mark.parametrize("evaluator", ALL, ids=NAMES)
async def test_s0_9_a_judgement_states_what_it_cost(opened: Open, evaluator: Evaluator) -> None:
    async with opened(judge="scripted/good:60") as session:
        found = await session.evaluate(CASE, evaluator)
    assert found.score == 60.0
    assert found.usage.calls == 1
    assert found.usage.tokens_in > 0
    assert found.usage.tokens_out > 0


@pytest.mark.parametrize("evaluator", ALL, ids=NAMES)
async def test_a_missing_model_is_an_error_before_anything_is_asked(opened: Open, evaluator: Evaluator) -> None:
    async with opened() as session:
        with pytest.raises(ConfigError, match=rf"{evaluator.name}\.model: no model is named"):
            await session.evaluate(CASE, evaluator)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # told alike on any loop
@pytest.mark.parametrize("evaluator", ALL, ids=NAMES)
async def test_what_will_be_asked_is_told_before_it_is_asked(opened: Open, evaluator: Evaluator) -> None:
    async with opened(judge="scripted/good") as session:
        estimate = await session.estimate(CASE, combine(one=(evaluator, 1)))
    assert estimate.most_calls == 1


@pytest.mark.parametrize("evaluator", ALL, ids=NAMES)
async def test_judged_text_stands_between_fences(opened: Open, evaluator: Evaluator) -> None:
    _, asked = await judged(opened, evaluator)
    before, _, after = asked.prompt.partition(CASE.output)
    assert before.rstrip().rpartition("\n")[2].startswith("<output-")
    assert after.lstrip().startswith("</output-")


@pytest.mark.parametrize("evaluator", ALL, ids=NAMES)
async def test_the_same_question_is_paid_once(opened: Open, evaluator: Evaluator) -> None:
    asked = Asked("SCORE: 1", number(1))
    async with opened(judge="scripted/judge", providers={"*": asked.provider}) as session:
        first = await session.evaluate(CASE, evaluator)
        count = len(asked.requests)
        second = await session.evaluate(CASE, evaluator)
    assert len(asked.requests) == count
    assert first.digest == second.digest


@pytest.mark.parametrize(
    ("type", "params", "why"),
    [
        ("llm_judge", {"scale": 0}, "is not a scale"),
        ("llm_judge", {"scale": -10}, "expected a number above 0"),
        ("llm_judge", {"scale": True}, "bool"),
        ("llm_judge", {"scales": 5}, "unknown parameter 'scales'"),
        ("llm_rubric", {"rubric": " "}, "rubric is empty"),
        ("llm_rubric", {"rubric": "R", "pass_threshold": 1.5}, "pass_threshold"),
        ("llm_rubric", {"rubric": "R", "pass_threshold": "high"}, "pass_threshold"),
        ("llm_rubric", {}, "rubric"),
        ("agent_judge", {"criteria": ""}, "criteria is empty"),
        ("agent_judge", {}, "criteria"),
        ("semantic", {"by": "feeling"}, "by"),
    ],
)
def test_a_wrong_parameter_is_an_error_before_anything_is_asked(type: str, params: dict[str, object], why: str) -> None:  # noqa: A002
    with pytest.raises(ConfigError, match=why):
        evaluator_of(Spec(type=type, params=params), panel=Library().panel)  # type: ignore[arg-type]


# --- llm_rubric ------------------------------------------------------------------------------------


async def test_s1_21_a_rubric_in_free_text_is_scored_from_0_to_1(opened: Open) -> None:
    found, asked = await judged(opened, LLMRubric(rubric="Names the sum."), number(0.85))
    assert found.outcome == Scored(score=85.0, raw=0.85, scale="0..1")
    assert found.reason == "Because."
    assert in_order(asked.prompt, "## Rubric\nNames the sum.", CASE.task, CASE.output, "0.0", "1.0", "one JSON object")
    assert asked.requests[0].schema is not None


@pytest.mark.parametrize(
    ("score", "threshold", "passes"), [(0.7, 0.7, True), (0.69, 0.7, False), (0.1, 0.1, True), (1, 1, True)]
)
async def test_s1_22_it_passes_from_the_threshold_on(
    opened: Open, score: float, threshold: float, *, passes: bool
) -> None:
    found, _ = await judged(opened, LLMRubric(rubric="R", pass_threshold=threshold), number(score))
    assert (found.details["passed"], found.details["pass_threshold"]) == (passes, threshold)


async def test_s1_22_without_a_score_nothing_passes(opened: Open) -> None:
    found, _ = await judged(opened, LLMRubric(rubric="R", pass_threshold=0), number(9))
    assert (found.score, found.details["passed"]) == (None, False)


def test_s1_22_the_threshold_is_0_7_unless_stated() -> None:
    assert LLMRubric(rubric="R").pass_threshold == 0.7


async def test_s1_23_a_mock_always_passes_asks_nobody_and_says_so(opened: Open) -> None:
    async with opened() as session:  # without a model or a network
        found = await session.evaluate(CASE, LLMRubric(rubric="R", pass_threshold=1.0, mock=True))
    assert found.outcome == Scored(score=100.0, raw=1.0, scale="0..1", origin="defaulted")
    assert found.details["passed"] is True
    assert "mock" in found.flags
    async with opened() as session:  # a model may be named: it is not asked
        named = await session.evaluate(CASE, LLMRubric(rubric="R", model="openai/gpt-x", mock=True))
    assert named.outcome == found.outcome
    assert (found.usage.calls, named.usage.calls) == (0, 0)
    real, _ = await judged(opened, LLMRubric(rubric="R"), number(1))
    assert "mock" not in real.flags


def test_s1_24_where_a_word_decides_deterministic_evaluators_are_advised() -> None:
    advice = " ".join((LLMRubric.__doc__ or "").split())
    assert "prefer ``contains``, ``regex`` or ``pytest``: they cost nothing" in advice


# --- llm_judge -------------------------------------------------------------------------------------


async def test_s2_20_a_model_judges_by_criteria(opened: Open) -> None:
    found, asked = await judged(
        opened, LLMJudge(criteria="brevity {and} wit"), "SCORE: 8\nFEEDBACK: line one\nline two"
    )
    assert found.outcome == Scored(score=80.0, raw=8.0, scale="0..10")
    assert found.reason == "line one\nline two"
    assert "brevity {and} wit" in asked.prompt


def test_s2_21_its_parameters_have_these_defaults() -> None:
    defaults = {name: getattr(LLMJudge(), name) for name in LLMJudge.__struct_fields__}
    assert defaults == {"criteria": "correctness and quality", "model": None, "scale": 10, "include_code": False}


@pytest.mark.parametrize(
    ("scale", "said", "score"), [(5, "4", 80.0), (10, "5.05", 50.5), (100, "25.5", 25.5), (1, "1", 100.0)]
)
async def test_s2_21_the_number_on_its_scale_becomes_the_score_as_it_was_given(
    opened: Open, scale: float, said: str, score: float
) -> None:
    found, _ = await judged(opened, LLMJudge(scale=scale), f"SCORE: {said}\nFEEDBACK: ok")
    assert found.outcome == Scored(score=score, raw=float(said), scale=f"0..{scale}")


async def test_s2_21_a_large_scale_keeps_its_digits(opened: Open) -> None:
    found, asked = await judged(opened, LLMJudge(scale=1234567), "SCORE: 1234567\nFEEDBACK: ok")
    assert found.score == 100.0
    assert "from 0 to 1234567 " in asked.prompt


async def test_s2_22_the_prompt_holds_role_criteria_scale_and_format(opened: Open) -> None:
    _, asked = await judged(opened, LLMJudge(scale=5))
    assert in_order(
        asked.prompt,
        "expert code evaluator",
        "correctness and quality",
        "score from 0 to 5 and brief feedback",
        CASE.task,
        CASE.output,
        "SCORE: <number>",
        "FEEDBACK: <explanation>",
    )
    assert asked.requests[0].schema is None


async def test_s2_21_source_code_is_shown_where_it_is_asked_for(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("TOKEN = 91\n", encoding="utf-8")
    case = msgspec.structs.replace(CASE, workspace=str(tmp_path))
    _, asked = await judged(opened, LLMJudge(include_code=True), case=case)
    assert in_order(asked.prompt, "main.py", "<evidence-", "TOKEN = 91", "</evidence-")
    _, asked = await judged(opened, LLMJudge(), case=case)
    assert "TOKEN" not in asked.prompt


async def test_s2_21_the_code_is_part_of_what_was_asked(opened: Open, tmp_path: Path) -> None:
    case = msgspec.structs.replace(CASE, workspace=str(tmp_path))
    asked = Asked("SCORE: 5\nFEEDBACK: x")
    async with opened(judge="scripted/judge", providers={"*": asked.provider}) as session:
        for text in ("a = 1", "a = 2", "a = 1"):
            (tmp_path / "main.py").write_text(text, encoding="utf-8")
            await session.evaluate(case, LLMJudge(include_code=True))
    assert len(asked.requests) == 2


async def test_s2_21_the_files_of_the_case_are_shown_as_they_came_in(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text("B = 1\n", encoding="utf-8")
    digest = hashlib.sha256(b"B = 1\n").hexdigest()
    case = Case(output="o", workspace=str(tmp_path), files=(FileRef(path="b.py", sha256=digest, size=6),))
    _, asked = await judged(opened, LLMJudge(include_code=True), case=case)
    assert "B = 1" in asked.prompt
    (tmp_path / "b.py").write_text("B = 2\n", encoding="utf-8")
    found, asked = await judged(opened, LLMJudge(include_code=True), case=case)
    assert cause(found) == "failed: include_code: 'b.py' was changed after the case came in"
    assert not asked.requests


async def test_code_that_cannot_be_shown_is_a_failure_with_its_reason(opened: Open, tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "out.py").write_text("SECRET = 1", encoding="utf-8")
    (inside / "link.py").symlink_to(tmp_path / "out.py")
    (inside / "binary.py").write_bytes(b"a\0b")
    (inside / "latin.py").write_bytes(b"\xff\xfe")
    (inside / "large.py").write_text("x" * (128 * 1024 + 1), encoding="utf-8")
    (inside / "half.py").write_text("x" * (100 * 1024), encoding="utf-8")
    (inside / "other.py").write_text("y" * (100 * 1024), encoding="utf-8")
    wrong = {
        ("../out.py",): "is no file in the workspace",
        ("link.py",): "is no file in the workspace",
        (): "'main.py' is no file in the workspace",
        ("binary.py",): "is no text",
        ("latin.py",): "cannot be read as text",
        ("large.py",): "is no text of at most 131072 bytes",
        ("half.py", "other.py"): "more than 131072 characters together",
    }
    for names, why in wrong.items():
        files = tuple(FileRef(path=name, sha256="", size=1) for name in names)
        case = Case(output="o", workspace=str(inside), files=files)
        found, asked = await judged(opened, LLMJudge(include_code=True), case=case)
        assert why in cause(found)
        assert not asked.requests
    found, _ = await judged(opened, LLMJudge(include_code=True))
    assert "no workspace" in cause(found)


# --- llm_comparison --------------------------------------------------------------------------------


def test_s2_24_its_parameters_have_these_defaults() -> None:
    defaults = {name: getattr(LLMComparison(), name) for name in LLMComparison.__struct_fields__}
    assert defaults == {"expected": "", "model": None, "strict": False}


async def test_s2_23_the_output_is_compared_with_what_was_expected(opened: Open) -> None:
    reply = "MATCH: PARTIAL\nSCORE: 0.6\nREASON: Half of it."
    found, asked = await judged(opened, LLMComparison(expected="The answer is 4"), reply)
    assert found.outcome == Scored(score=60.0, raw=0.6, scale="0..1")
    assert found.reason == "Half of it."
    assert in_order(asked.prompt, CASE.task, "The answer is 4", CASE.output, "MATCH:", "SCORE:", "REASON:")


async def test_s2_24_lenient_asks_for_equal_meaning_and_strict_for_an_exact_match(opened: Open) -> None:
    _, lenient = await judged(opened, LLMComparison(expected="4"))
    _, strict = await judged(opened, LLMComparison(expected="4", strict=True))
    assert "Semantic equivalence is enough" in lenient.prompt
    assert "exact match is required" in strict.prompt
    assert "exact match" not in lenient.prompt


async def test_s2_24_strict_compares_the_strings_first(opened: Open) -> None:
    found, asked = await judged(opened, LLMComparison(expected=CASE.output, strict=True), "SCORE: 0")
    assert (found.score, found.details["strings_equal"], found.usage.calls) == (100.0, True, 0)
    assert not asked.requests
    found, asked = await judged(
        opened, LLMComparison(expected=f"{CASE.output}\n", strict=True), "MATCH: NO\nSCORE: 0.2\nREASON: A new line."
    )
    assert (found.score, found.details["strings_equal"], found.usage.calls) == (20.0, False, 1)
    assert found.reason == "The strings differ. A new line."


async def test_s2_24_without_expected_the_reference_of_the_case_counts(opened: Open) -> None:
    _, asked = await judged(opened, LLMComparison(), case=msgspec.structs.replace(CASE, reference="from the case"))
    assert "from the case" in asked.prompt
    with pytest.raises(ConfigError, match=r"llm_comparison\.expected: nothing to compare with"):
        await judged(opened, LLMComparison())


@pytest.mark.parametrize("reply", ["MATCH: YES\nREASON: x", "SCORE: 5\nREASON: x", "MATCH: YES\nSCORE: 0.1"])
async def test_s2_24_no_number_or_one_off_its_scale_or_contradicted_is_no_score(opened: Open, reply: str) -> None:
    found, asked = await judged(opened, LLMComparison(expected="4"), reply)
    assert found.score is None
    assert len(asked.requests) == 2


async def test_output_without_a_word_is_judged_where_the_reference_has_none_either(opened: Open) -> None:
    case = Case(output="{}", reference="{ }")
    found, _ = await judged(opened, LLMComparison(), "MATCH: YES\nSCORE: 1\nREASON: alike", case=case)
    assert found.score == 100.0
    case = Case(output="...", reference="a word")
    found, asked = await judged(opened, LLMComparison(), case=case)
    assert found.outcome == Scored(score=0.0, raw=0.0, scale="0..1")
    assert not asked.requests


# --- semantic --------------------------------------------------------------------------------------


async def test_s3_14_a_judge_says_how_near_the_meaning_is(opened: Open) -> None:
    found, asked = await judged(opened, Semantic(expected="four"), number(92))
    assert found.outcome == Scored(score=92.0, raw=92.0)
    assert (found.reason, found.details) == ("Because.", {"by": "judge"})
    assert in_order(asked.prompt, "by what they mean", "four", CASE.output, "score from 0", "100")


async def test_s3_14_the_reference_of_the_case_counts_where_nothing_else_is_expected(opened: Open) -> None:
    _, asked = await judged(opened, Semantic(), case=msgspec.structs.replace(CASE, reference="from the case"))
    assert "from the case" in asked.prompt
    with pytest.raises(ConfigError, match="nothing to compare with"):
        await judged(opened, Semantic())


async def test_s3_14_embeddings_need_no_model_and_no_call_and_say_what_they_are(opened: Open) -> None:
    near, far = Semantic(expected="The server is running.", by="embedding"), "Bake the bread for an hour."
    async with opened() as session:
        if importlib.util.find_spec("wordllama") is None:
            with pytest.raises(MissingExtra, match="local"):
                await session.evaluate(CASE, near)
            return
        alike = await session.evaluate(Case(output="The server is up and running."), near)
        apart = await session.evaluate(Case(output=far), near)
        assert (await session.estimate(CASE, combine(one=(near, 1)))).most_calls == 0
    assert alike.score is not None
    assert apart.score is not None
    assert alike.score > apart.score
    assert alike.usage.calls == 0
    assert alike.details["by"] == "embedding"
    assert "cosine of word embeddings" in alike.reason
    assert isinstance(alike.outcome, Scored)
    assert alike.outcome.scale == "-1..1"


REQUIRED: object = ["reasoning", "score"]

# --- agent_judge -----------------------------------------------------------------------------------


def card(home: Path, *, model: str = "") -> None:
    (home / "agents").mkdir(parents=True)
    front = f"name: elder\ndescription: d\n{f'model: {model}' if model else ''}".strip()
    (home / "agents" / "elder.md").write_text(f"---\n{front}\n---\nYou are old and strict.\n", encoding="utf-8")


async def test_s3_21_the_agent_named_is_the_one_who_judges(opened: Open, tmp_path: Path) -> None:
    card(tmp_path / "home", model="scripted/elder")
    found, asked = await judged(opened, AgentJudge(agent="elder", criteria="C"), number(40))
    assert found.score == 40.0
    assert asked.requests[0].model == "scripted/elder"
    assert asked.requests[0].messages[0].content.startswith("You are old and strict.")
    _, plain = await judged(opened, AgentJudge(criteria="C"), number(40))
    assert (plain.requests[0].model, "old and strict" in plain.prompt) == ("scripted/judge", False)


async def test_s3_21_an_agent_without_a_model_takes_the_one_given_else_the_sessions(
    opened: Open, tmp_path: Path
) -> None:
    card(tmp_path / "home")
    for model, expected in (("scripted/mine", "scripted/mine"), (None, "scripted/judge")):
        _, asked = await judged(opened, AgentJudge(agent="elder", criteria="C", model=model), number(1))
        assert asked.requests[0].model == expected
    async with opened() as session:
        with pytest.raises(ConfigError, match=r"agent_judge\.agent: no model for the agent 'elder'"):
            await session.evaluate(CASE, AgentJudge(agent="elder", criteria="C"))


async def test_s3_21_an_agent_nobody_knows_is_an_error_before_anything_is_asked(opened: Open) -> None:
    with pytest.raises(UnknownName, match=r"agent_judge\.agent: unknown agent card 'nobody'"):
        await judged(opened, AgentJudge(agent="nobody", criteria="C"))


async def test_s3_22_it_sees_the_task_the_output_and_the_criteria(opened: Open) -> None:
    _, asked = await judged(opened, AgentJudge(criteria="Is it {kind}?"))
    assert in_order(asked.prompt, "## Criteria\nIs it {kind}?", "## Task", CASE.task, "## Output", CASE.output)


async def test_s3_23_it_answers_with_score_and_reasoning_as_json(opened: Open) -> None:
    found, asked = await judged(opened, AgentJudge(criteria="C"), number(72, "Sound."))
    assert (found.outcome, found.reason, found.flags) == (Scored(score=72.0, raw=72.0), "Sound.", ())
    schema = asked.requests[0].schema
    assert schema is not None
    assert schema["required"] == REQUIRED
    bare, _ = await judged(opened, AgentJudge(criteria="C"), '{"score": 72}')
    assert (bare.score, bare.flags) == (72.0, ("missing_reasoning",))
    wrong, _ = await judged(opened, AgentJudge(criteria="C"), number(101))
    assert wrong.score is None


# --- rubric_judge ----------------------------------------------------------------------------------


async def test_s0_1_s0_15_an_evaluation_holds_score_findings_and_suggestion(opened: Open) -> None:
    found, _ = await judged(opened, RubricJudge(), SECTIONS)
    assert found.normalized == pytest.approx(0.4 * 0.9 + 0.35 * 0.7 + 0.25 * 0.4)
    assert [(one.id, one.severity, one.dimension) for one in found.findings] == [("F1", "important", "completeness")]
    assert found.suggestion == "Show the steps."
    assert found.usage.calls == 1
    assert (found.evaluator, found.details["rubric"]) == ("rubric_judge", "general")


async def test_s0_16_a_lone_judges_composite_is_the_weighted_average_to_the_digit(opened: Open) -> None:
    reply = "SCORES:\nrelevance: 0.505\nquality: 0.505\ncompleteness: 0.505"
    found, _ = await judged(opened, RubricJudge(), reply)
    assert (found.score, found.bracket) == (50.5, Bracket.GOOD)
    assert [(one.dimension, one.weight, one.judged) for one in found.dimensions] == [
        ("relevance", 0.4, 50.5),
        ("quality", 0.35, 50.5),
        ("completeness", 0.25, 50.5),
    ]


async def test_s0_4_s0_31_the_rubric_is_the_skill_file_and_its_body_is_what_is_sent(
    opened: Open, tmp_path: Path
) -> None:
    folder = tmp_path / "home" / "evaluators" / "user" / "finance"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(
        "---\nname: finance\nkind: evaluator\ndescription: About money.\nmetadata:\n  categories: [money]\n"
        "  dimensions:\n    - {name: accuracy, weight: 1.0, description: Right sums.}\n---\nAdd every column again.\n",
        encoding="utf-8",
    )
    found, asked = await judged(opened, RubricJudge(rubric="finance"), "SCORES:\naccuracy: 0.5")
    assert found.score == 50.0
    assert "## Rubric\nAdd every column again." in asked.prompt
    assert "kind: evaluator" not in asked.prompt
    assert "Score each dimension" in asked.prompt


async def test_s0_35_the_prompt_is_in_its_order_and_one_call_judges_all_dimensions(opened: Open) -> None:
    _, asked = await judged(opened, RubricJudge(), SECTIONS)
    assert in_order(
        asked.prompt,
        "You are an evaluator. Use the following rubric to evaluate the output.",
        "## Rubric",
        "## Task",
        CASE.task,
        "## Output to evaluate",
        CASE.output,
        "Score each dimension 0.0-1.0. List findings with severity.",
    )
    assert len(asked.requests) == 1


async def test_s0_35a_a_judge_is_asked_for_2000_tokens_at_0_1(opened: Open) -> None:
    _, asked = await judged(opened, RubricJudge(), SECTIONS)
    assert (asked.requests[0].max_tokens, asked.requests[0].temperature) == (2000, 0.1)


async def test_s0_36_structured_and_text_replies_say_the_same(opened: Open) -> None:
    finding = {"severity": "important", "dimension": "completeness", "title": "No steps"}
    finding["description"] = "the way to the answer is missing"
    structured = json.dumps(
        {
            "reasoning": "",
            "findings": [finding],
            "dimensions": {"relevance": 0.9, "quality": 0.7, "completeness": 0.5},
            "suggestion": "Show the steps.",
        }
    )
    one, _ = await judged(opened, RubricJudge(), structured)
    other, _ = await judged(opened, RubricJudge(), SECTIONS)
    assert (one.outcome, one.dimensions, one.findings, one.suggestion) == (
        other.outcome,
        other.dimensions,
        other.findings,
        other.suggestion,
    )


async def test_s0_36_a_dimension_that_is_missing_is_asked_for_once_and_the_others_stand(opened: Open) -> None:
    first = SECTIONS.replace("quality: 0.7", "quality: quite good")
    found, asked = await judged(opened, RubricJudge(), first, "SCORES:\nquality: 0.7")
    assert [one.judged for one in found.dimensions] == [90.0, 70.0, 50.0]
    assert found.suggestion == "Show the steps."
    assert "dimension 'quality' is scored 'quite good'" in asked.requests[1].messages[-1].content
    never, asked = await judged(opened, RubricJudge(), first)
    assert never.score is None
    assert never.dimensions == ()
    assert len(asked.requests) == 2


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_s0_36_text_replies_are_read_from_an_endpoint_too(opened: Open, anyio_backend: str) -> None:  # noqa: ARG001  aiohttp runs there only
    async with (
        Endpoint(lambda _: Fault(content=SECTIONS)) as endpoint,
        opened(judge="ollama/any", api_base={"ollama": endpoint.address}) as session,
    ):
        found = await session.evaluate(CASE, RubricJudge())
    assert found.score == pytest.approx(70.5)
    assert found.suggestion == "Show the steps."


# --- suggestions -----------------------------------------------------------------------------------


def finding(severity: Severity, title: str, fix: str | None = None) -> Finding:
    return Finding(severity=severity, dimension="", title=title, fix=fix)


def test_s0_22b_a_suggestion_is_made_from_what_must_be_mended_blockers_first() -> None:
    found = suggestion_of(
        [finding("important", "Leak"), finding("suggestion", "Name"), finding("blocker", "Crash", "guard")]
    )
    assert found == "Mend: Crash (guard); Leak."
    assert suggestion_of([finding("suggestion", "Name")]) == "Consider: Name."
    assert suggestion_of([]) == ""


async def test_s0_22b_the_judges_own_suggestion_comes_first(opened: Open) -> None:
    found, _ = await judged(opened, RubricJudge(), SECTIONS)
    assert found.suggestion == "Show the steps."
    found, _ = await judged(opened, RubricJudge(), SECTIONS.partition("SUGGESTION")[0])
    assert found.suggestion == "Mend: No steps."
