"""S3.1–S3.13, Codebolt's evaluators that ask no model: each test is named after the line it holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from deliberate import combine
from deliberate.errors import ConfigError
from deliberate.evaluators import Contains, Evaluator, Exact, Regex, RegexPattern, evaluator_of, plan_of
from deliberate.library import Library, codebolt_part, read_plan
from deliberate.types import Scored
from tests.requirements.conftest import Judge

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One event loop: that the evaluators run on both is tested beside them."""
    return "asyncio"


NUMBER = RegexPattern(pattern=r"n=(\S+)", scale="0..100")


def expected_output(mode: str, expected: str) -> Evaluator:
    """An expected-output evaluator as Codebolt's configuration says it."""
    part = codebolt_part({"type": "expected-output", "mode": mode, "expected": expected})
    return evaluator_of(part.spec, panel=Library().panel)


async def test_s3_01_an_evaluator_gives_a_score_and_a_reasoning(judge: Judge) -> None:
    found = await judge(Contains(expected="Kuzu"), "uses Kuzu")
    assert (found.score, found.reason) == (100.0, "1 of 1 phrases occur, 1 must")


@pytest.mark.parametrize(("raw", "score"), [("0", 0.0), ("100", 100.0), ("74.5", 74.5), ("100.1", None), ("-1", None)])
async def test_s3_02_a_score_lies_from_0_to_100_or_there_is_none(judge: Judge, raw: str, score: float | None) -> None:
    assert (await judge(NUMBER, f"n={raw}")).score == score


async def test_s3_03_a_task_may_have_several_evaluators(judge: Judge) -> None:
    found = await judge(combine(a=(Contains(expected="x"), 1), b=(Exact(expected="y"), 1), c=(NUMBER, 1)), "x n=20")
    assert [(part.name, part.evaluation.score) for part in found.parts] == [("a", 100.0), ("b", 0.0), ("c", 20.0)]


async def test_s3_04_the_whole_is_the_weighted_mean(judge: Judge) -> None:
    plan = combine(a=(Contains(expected="x"), 3), b=(NUMBER, 1))
    assert (await judge(plan, "x n=60")).score == (100 * 3 + 60 * 1) / 4


async def test_s3_05_weight_2_counts_twice(judge: Judge) -> None:
    plan = combine(a=(Contains(expected="x"), 2), b=(NUMBER, 1))
    assert (await judge(plan, "x n=40")).score == 80.0


async def test_s3_06_only_ratios_of_weights_matter(judge: Judge) -> None:
    scores = [
        (await judge(combine(a=(Contains(expected="x"), 3 * unit), b=(NUMBER, unit)), "x n=40")).score
        for unit in (1, 100, 1e-300, 5e307)
    ]
    assert scores == [85.0] * 4


async def test_s3_06_no_weight_that_counts_is_an_error_before_anything_runs() -> None:
    for weight in (0, -1, float("nan"), float("inf"), True):
        with pytest.raises(ConfigError, match="weight"):
            combine(a=(Contains(expected="x"), weight))


async def test_s3_07_the_score_is_normalized(judge: Judge) -> None:
    found = await judge(RegexPattern(pattern=r"n=(\S+)", scale="0..5"), "n=4")
    assert (found.score, found.normalized) == (80.0, 0.8)


async def test_s3_08_the_raw_score_and_its_scale_are_kept(judge: Judge) -> None:
    found = await judge(RegexPattern(pattern=r"n=(\S+)", scale="0..5"), "n=4")
    assert isinstance(found.outcome, Scored)
    assert (found.raw, found.outcome.scale) == (4.0, "0..5")


@pytest.mark.parametrize("evaluator", [Exact(expected="a"), Contains(expected="a"), Regex(pattern="a"), NUMBER])
async def test_s3_09_every_result_has_its_reasoning(judge: Judge, evaluator: Evaluator) -> None:
    for output in ("a", "b", "n=3"):
        assert (await judge(evaluator, output)).reason


async def test_s3_10_the_target_may_be_the_tasks_own(judge: Judge) -> None:
    assert (await judge(Exact(), "42", reference="42")).score == 100.0
    assert (await judge(Contains(), "it is 42", reference="42")).score == 100.0
    with pytest.raises(ConfigError, match="nothing to compare with"):
        await judge(Exact(), "42")


@pytest.mark.parametrize(("output", "score"), [("42", 100.0), ("42\n", 0.0), ("The answer is 42", 0.0), ("", 0.0)])
async def test_s3_11_exact_is_100_or_0(judge: Judge, output: str, score: float) -> None:
    assert (await judge(expected_output("exact", "42"), output)).score == score


@pytest.mark.parametrize(("output", "score"), [("uses Kuzu.", 100.0), ("uses kuzu", 0.0), ("", 0.0)])
async def test_s3_12_contains_is_100_or_0_and_heeds_letter_case(judge: Judge, output: str, score: float) -> None:
    assert (await judge(expected_output("contains", "Kuzu"), output)).score == score


@pytest.mark.parametrize(("output", "score"), [("v1.2", 100.0), ("V1.2", 0.0), ("v1", 0.0)])
async def test_s3_13_regex_is_100_or_0_and_heeds_letter_case(judge: Judge, output: str, score: float) -> None:
    assert (await judge(expected_output("regex", r"v\d\.\d"), output)).score == score


async def test_s3_33_a_list_of_evaluators_with_weights_is_a_plan_as_it_stands(judge: Judge, tmp_path: Path) -> None:
    file = tmp_path / "task.yaml"
    file.write_text(
        "evaluators:\n"
        "  - {type: Expected Output, mode: contains, expected: Kuzu, weight: 3}\n"
        "  - {type: expected-output, mode: exact, expected: x, weight: 1}\n"
    )
    loaded = read_plan(file)
    found = await judge(plan_of(loaded.plan, panel=Library().panel, where=loaded.where), "Kuzu")
    assert found.score == 75.0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{type: expected-output, mode: exakt, expected: x}", "unknown mode 'exakt' (did you mean 'exact'?)"),
        ("{type: scrpt, script: x}", "unknown evaluator 'scrpt' (did you mean 'script'?)"),
        ("{type: script, scritp: x}", "unknown parameter 'scritp' (did you mean 'script'?)"),
        ("{type: expected-output, mode: exact}", "nothing to compare with"),
        ("{type: expected-output, mode: exact, expected: x, weight: -1}", "-1 is not a finite number"),
    ],
)
def test_s3_33_a_fault_in_the_list_names_its_place(tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "task.yaml"
    file.write_text(f"evaluators:\n  - {line}\n")
    with pytest.raises(ConfigError) as caught:
        loaded = read_plan(file)
        plan_of(loaded.plan, panel=Library().panel, where=loaded.where)
    assert said in str(caught.value)
    assert "task.yaml:2:" in caught.value.where
