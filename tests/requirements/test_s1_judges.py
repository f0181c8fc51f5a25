"""S1, the judges of a task suite that ask no model: each test is named after the line it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import pytest

from deliberate.errors import SuiteError
from deliberate.evaluators import evaluator_of
from deliberate.library import Library, read_suite
from deliberate.types import Param, Spec
from tests.requirements.conftest import Judge

pytestmark = pytest.mark.anyio

Part = Callable[[Mapping[str, Param]], Spec]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One event loop: that the evaluators run on both is tested beside them."""
    return "asyncio"


@pytest.fixture
def part(tmp_path: Path) -> Part:
    """What a ``judge`` block means, in a suite of one task."""

    def read(block: Mapping[str, Param]) -> Spec:
        suite = {"skill_id": "s", "version": "1.0", "tasks": [{"id": "a", "prompt": "p", "judge": block}]}
        path = tmp_path / "suite.yaml"
        path.write_bytes(msgspec.json.encode(suite))
        return read_suite(path).suite.tasks[0].judge

    return read


@pytest.mark.parametrize(
    ("output", "score"),
    [
        ("We Sanitized the input and used PARAMETERS", 100.0),  # letter case is ignored; "sanitiz" is a part of a word
        ("We sanitized the input", 0.0),  # all must occur
        ("", 0.0),
    ],
)
async def test_s1_19_contains_wants_all_keywords_whatever_their_letter_case(
    judge: Judge, part: Part, output: str, score: float
) -> None:
    block: dict[str, Param] = {"type": "contains", "expected": ("sanitiz", "parameter")}
    found = await judge(evaluator_of(part(block), panel=Library().panel), output)
    assert found.score == score


@pytest.mark.parametrize(
    ("block", "said"),
    [
        (
            {"type": "contain", "expected": ["x"]},
            "judge type 'contain' is not known; expected one of: contains, pytest, llm-rubric",
        ),
        ({"type": "contains", "expcted": ["x"]}, "expcted' (did you mean 'expected'?)"),
    ],
)
def test_s1_15_another_type_or_key_of_a_judge_is_refused(part: Part, block: dict[str, Param], said: str) -> None:
    with pytest.raises(SuiteError) as caught:
        part(block)
    assert said in str(caught.value)


def test_s1_20_a_pytest_judge_names_its_file(part: Part) -> None:
    spec = part({"type": "pytest", "test_file": "fixtures/test_x.py"})
    assert (spec.type, dict(spec.params)) == ("pytest", {"test_file": "fixtures/test_x.py", "timeout_seconds": 60.0})


def test_s1_22_an_llm_rubric_keeps_its_threshold(part: Part) -> None:
    spec = part({"type": "llm-rubric", "rubric": "R", "pass_threshold": 0.8})
    assert (spec.type, dict(spec.params)) == ("llm_rubric", {"rubric": "R", "pass_threshold": 0.8})


async def test_s1_24_a_deterministic_judge_costs_no_token(judge: Judge, part: Part) -> None:
    block: dict[str, Param] = {"type": "contains", "expected": ("x",)}
    found = await judge(evaluator_of(part(block), panel=Library().panel), "x")
    assert (found.usage.calls, found.usage.tokens_in, found.usage.cost_usd) == (0, 0, 0.0)
