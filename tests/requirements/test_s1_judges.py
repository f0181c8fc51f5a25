"""S1, the judges of a task suite that ask no model: each test is named after the line it holds."""

from __future__ import annotations

import pytest

from deliberate.errors import UnknownName
from deliberate.evaluators import evaluator_of
from deliberate.library import Library, suite_judge
from deliberate.types import Param
from tests.requirements.conftest import Judge

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One event loop: that the evaluators run on both is tested beside them."""
    return "asyncio"


@pytest.mark.parametrize(
    ("output", "score"),
    [
        ("We Sanitized the input and used PARAMETERS", 100.0),  # letter case is ignored; "sanitiz" is a part of a word
        ("We sanitized the input", 0.0),  # all must occur
        ("", 0.0),
    ],
)
async def test_s1_19_contains_wants_all_keywords_whatever_their_letter_case(
    judge: Judge, output: str, score: float
) -> None:
    block: dict[str, Param] = {"type": "contains", "expected": ("sanitiz", "parameter")}
    found = await judge(evaluator_of(suite_judge(block), panel=Library().panel), output)
    assert found.score == score


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"type": "contain", "expected": ["x"]}, "unknown judge type 'contain' (did you mean 'contains'?)"),
        ({"type": "contains", "expcted": ["x"]}, "unknown key 'expcted' (did you mean 'expected'?)"),
    ],
)
def test_s1_15_another_type_or_key_of_a_judge_is_refused(block: dict[str, Param], said: str) -> None:
    with pytest.raises(UnknownName) as caught:
        suite_judge(block)
    assert said in str(caught.value)


def test_s1_20_a_pytest_judge_names_its_file() -> None:
    spec = suite_judge({"type": "pytest", "test_file": "fixtures/test_x.py"})
    assert (spec.type, dict(spec.params)) == ("pytest", {"test_file": "fixtures/test_x.py"})


def test_s1_22_an_llm_rubric_keeps_its_threshold() -> None:
    spec = suite_judge({"type": "llm-rubric", "rubric": "R", "pass_threshold": 0.8})
    assert (spec.type, dict(spec.params)) == ("llm_rubric", {"rubric": "R", "pass_threshold": 0.8})


async def test_s1_24_a_deterministic_judge_costs_no_token(judge: Judge) -> None:
    block: dict[str, Param] = {"type": "contains", "expected": ("x",)}
    found = await judge(evaluator_of(suite_judge(block), panel=Library().panel), "x")
    assert (found.usage.calls, found.usage.tokens_in, found.usage.cost_usd) == (0, 0, 0.0)
