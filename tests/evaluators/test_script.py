"""Script: the last JSON object on standard output, or a failed reading; never a number out of a failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from deliberate import Case
from deliberate.errors import ConfigError
from deliberate.evaluators import Script
from deliberate.types import Evaluation, Unscored
from tests.evaluators.conftest import Open

pytestmark = pytest.mark.anyio


async def run(opened: Open, command: str, output: str = "the output", **kind: object) -> Evaluation:
    async with opened(trust_code=True) as session:
        return await session.evaluate(Case(output=output), Script(command=command, **kind))  # type: ignore[arg-type]


async def test_score_and_reasoning_are_read(opened: Open) -> None:
    found = await run(opened, """echo noise '{"score": 1}'; echo '{"score": 80, "reasoning": "8 of 10"}' end""")
    assert (found.score, found.reason, found.details["exit_code"]) == (80.0, "8 of 10", 0)


async def test_the_output_is_there_in_three_ways(opened: Open) -> None:
    command = """
    a=$(cat); b=$(cat "$EVAL_OUTPUT_FILE"); c=$EVAL_OUTPUT
    [ "$a" = "$b" ] && [ "$b" = "$c" ] && echo "{\\"score\\": ${#a}}"
    """
    assert (await run(opened, command, "0123456789")).score == 10.0


async def test_a_long_output_and_one_with_nul_come_by_file_and_standard_input(opened: Open) -> None:
    command = (
        """n=$(wc -c < "$EVAL_OUTPUT_FILE"); [ -z "${EVAL_OUTPUT+set}" ] && echo "{\\"score\\": $((n / 2000))}" """
    )
    assert (await run(opened, command, "x" * 140_000)).score == 70.0
    assert (await run(opened, command, "a\0" + "x" * 7_998)).score == 4.0


async def test_the_scale_is_what_it_is_declared_to_be(opened: Open) -> None:
    found = await run(opened, "echo '{\"score\": 0.7}'", scale="0..1")
    assert found.score == 70.0
    assert (await run(opened, "echo '{\"score\": 7}'", scale="0..1")).score is None


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("echo nothing", "printed no JSON object"),
        ("echo '{\"points\": 1}'", "printed no score"),
        ("echo '{\"score\": true}'", "printed no score"),
        ("echo '{\"score\": NaN}'", "printed no score"),
        ("echo '{\"score\": 101}'", "outside its scale"),
        ("echo '{\"score\": 100}'; echo broken >&2; exit 3", "exit code 3: broken"),
        ("exit 3", "exit code 3"),
        ("sleep 5", "took longer than 0.3 s"),
    ],
)
async def test_anything_else_is_a_failed_reading(opened: Open, command: str, why: str) -> None:
    found = await run(opened, command, timeout_seconds=0.3 if "sleep" in command else 10.0)
    assert isinstance(found.outcome, Unscored)
    assert found.outcome.why == "failed"
    assert why in found.outcome.detail


async def test_it_runs_in_the_workspace_of_the_case(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "score.txt").write_text('{"score": 33}')
    async with opened(trust_code=True) as session:
        case = Case(output="x", workspace=str(tmp_path))
        assert (await session.evaluate(case, Script(command="cat score.txt"))).score == 33.0


async def test_code_is_not_run_unless_it_is_trusted(opened: Open) -> None:
    async with opened() as session:
        with pytest.raises(ConfigError, match="trust"):
            await session.evaluate(Case(output="x"), Script(command="echo '{\"score\": 1}'"))
