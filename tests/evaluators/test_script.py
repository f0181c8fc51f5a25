"""Script: the last JSON object on standard output, or a failed reading; never a number out of a failure."""

from __future__ import annotations

import socket
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from deliberate import Case
from deliberate.errors import ConfigError, EvaluatorError
from deliberate.evaluators import Script
from deliberate.evaluators._base import measured
from deliberate.evaluators.script import _READERS
from deliberate.sandbox import SandboxRunner
from deliberate.types import Evaluation, Scored, Unscored
from tests.evaluators.conftest import Open, turning

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


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # read alike on any loop
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


async def test_it_needs_no_trust_where_there_is_a_sandbox(opened: Open) -> None:
    if await SandboxRunner(trust_code=False).tier() is None:
        pytest.skip("no sandbox on this machine")
    async with opened() as session:
        assert (await session.evaluate(Case(output="x"), Script(command="echo '{\"score\": 1}'"))).score == 1.0


# --- the lines of the requirements -----------------------------------------------------------------


async def test_s3_15_it_runs_a_shell_script_the_user_wrote(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "check.sh").write_text('#!/bin/sh\nset -eu\nfor n in 1 2 3; do :; done\necho "{\\"score\\": ${n}0}"\n')
    (tmp_path / "check.sh").chmod(0o755)
    async with opened(trust_code=True) as session:
        case = Case(output="x", workspace=str(tmp_path))
        assert (await session.evaluate(case, Script(command="./check.sh"))).score == 30.0


async def test_s3_16_the_output_is_in_the_variable_in_the_file_and_on_standard_input(opened: Open) -> None:
    command = """
    [ "$EVAL_OUTPUT" = "a  b'$c" ] && v=1
    [ "$(cat)" = "a  b'\\$c" ] && s=10
    [ "$(cat "$EVAL_OUTPUT_FILE")" = "a  b'\\$c" ] && f=20
    echo "{\\"score\\": $((${v:-0} + ${s:-0} + ${f:-0}))}"
    """.replace("a  b'$c", "a  b'\\$c", 1)
    assert (await run(opened, command, "a  b'$c")).score == 31.0


async def test_s3_17_the_last_json_object_on_standard_output_counts(opened: Open) -> None:
    command = """
    echo '{"score": 1}'; echo 'progress {not json'; echo '{"score": 2}' >&2
    printf '{\n "score": 70,\n "details": {"score": 3},\n "reasoning": "spread over lines"\n}\ndone\n'
    """
    found = await run(opened, command)
    assert (found.score, found.reason) == (70.0, "spread over lines")


async def test_s3_18_it_says_score_and_reasoning(opened: Open) -> None:
    found = await run(opened, """echo '{"score": 40, "reasoning": "because"}'""")
    assert (found.score, found.reason) == (40.0, "because")
    assert (await run(opened, """echo '{"score": 40}'""")).reason == ""


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # read alike on any loop
@pytest.mark.parametrize(("said", "score"), [("0", 0.0), ("99.5", 99.5), ("100", 100.0), ("-1", None), ("100.1", None)])
async def test_s3_19_its_number_is_a_score_from_0_to_100_as_it_is(opened: Open, said: str, score: float | None) -> None:
    found = await run(opened, f"""echo '{{"score": {said}}}'""")
    assert found.score == score
    if isinstance(found.outcome, Scored):
        assert found.outcome.raw == score


async def test_s3_20_it_reads_files_the_agent_wrote_and_runs_its_tests(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "answer.py").write_text("def double(x): return 2 * x\n")
    (tmp_path / "test_answer.py").write_text("import answer\nassert answer.double(21) == 42\n")
    command = "python3 test_answer.py && grep -q double answer.py && touch made && echo '{\"score\": 100}'"
    async with opened(trust_code=True) as session:
        found = await session.evaluate(Case(output="x", workspace=str(tmp_path)), Script(command=command))
    assert found.score == 100.0
    assert not (tmp_path / "made").exists()


async def test_s3_20_it_calls_a_service_only_if_it_was_given_a_network(opened: Open) -> None:
    if await SandboxRunner(trust_code=False).tier() is None:
        pytest.skip("no sandbox on this machine, and without one the network is open")
    with closing(socket.socket()) as service:
        service.bind(("127.0.0.1", 0))
        service.listen()
        port = service.getsockname()[1]
        connect = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
        call = f"""python3 -c "{connect}" && echo '{{"score": 100}}'"""
        # Of a network of its own, bubblewrap's has this machine's only where it is shared.
        assert (await run(opened, call, network=True)).score == 100.0
        assert (await run(opened, call)).score is None


# --- other protocols, and what is wrong -------------------------------------------------------------


@pytest.mark.parametrize(
    ("protocol", "printed", "score", "reason"),
    [
        ("number", "all is well\n 87.5 \n", 87.5, "all is well"),
        ("number", "87.5%", None, ""),
        ("number", "nan", None, ""),
        ("number", "", None, ""),
        ("kapso", "SCORE: 0.1\nlog\nscore: 0.25\nSTOP: true\n", 25.0, ""),
        ("kapso", "SCORE: high", None, ""),
        ("kapso", "no score", None, ""),
        ("kapso", "SCORE: 1.5", None, ""),
    ],
)
def test_other_protocols_are_read(protocol: str, printed: str, score: float | None, reason: str) -> None:
    script = Script(command="x", protocol=protocol)  # type: ignore[arg-type]
    try:
        raw, said = _READERS[protocol](printed)
    except EvaluatorError:
        assert score is None
        return
    found = measured(script, raw, scale="0..1" if protocol == "kapso" else "0..100", reason=said)
    assert found.score == score
    assert score is None or found.reason == reason


async def test_a_protocol_is_followed(opened: Open) -> None:
    found = await run(opened, "echo SCORE: 0.25; echo STOP: true", protocol="kapso")
    assert found.score == 25.0
    assert (await run(opened, "echo 12", protocol="number")).score == 12.0
    assert (await run(opened, "echo 12", protocol="number", scale="0..12")).score == 100.0


@pytest.mark.parametrize(
    ("params", "where"),
    [
        ({"command": " "}, "script.command"),
        ({"command": "a\0b"}, "script.command"),
        ({"command": "x", "protocol": "xml"}, "script.protocol"),
        ({"command": "x", "scale": "high"}, "script.scale"),
        ({"command": "x", "timeout_seconds": 0.0}, "script.timeout_seconds"),
        ({"command": "x", "timeout_seconds": float("nan")}, "script.timeout_seconds"),
        ({"command": "x", "timeout_seconds": float("inf")}, "script.timeout_seconds"),
    ],
)
def test_bad_parameters_are_refused_when_it_is_built(params: dict[str, Any], where: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Script(**params)
    assert caught.value.where == where


async def test_too_much_that_looks_like_an_object_is_a_failed_reading_and_keeps_nobody_waiting(opened: Open) -> None:
    command = """python3 -c "print(('{\\"a\\": [' + '1, ' * 300) * 900)" """
    async with turning() as held:
        found = await run(opened, command)
    assert isinstance(found.outcome, Unscored)
    assert held() < 0.3  # 0.1, and what measuring coverage takes


async def test_a_script_that_prints_more_than_can_be_kept_has_no_score(opened: Open) -> None:
    found = await run(opened, "head -c 1100000 /dev/zero | tr '\\0' x; echo '{\"score\": 1}'")
    assert isinstance(found.outcome, Unscored)
    assert "more than can be kept" in found.outcome.detail


async def test_its_own_files_are_part_of_its_fingerprint_and_may_not_change(opened: Open, tmp_path: Path) -> None:
    script = tmp_path / "check.sh"
    script.write_text("echo '{\"score\": 1}'\n")
    (tmp_path / "data").write_text("1")
    case = Case(output="x", workspace=str(tmp_path))
    async with opened(trust_code=True) as session:
        first = await session.evaluate(case, Script(command="sh check.sh", files=("data",)))
        again = await session.evaluate(case, Script(command="sh check.sh", files=("data",)))
        (tmp_path / "data").write_text("2")
        other = await session.evaluate(case, Script(command="sh check.sh", files=("data",)))
        script.write_text("echo '{\"score\": 1}' # changed\n")
        third = await session.evaluate(case, Script(command="sh check.sh", files=("data",)))
        assert first.score == 1.0
        assert first.fingerprint == again.fingerprint
        assert len({first.fingerprint, other.fingerprint, third.fingerprint}) == 3

        script.write_text("sleep 1; echo '{\"score\": 1}'\n")
        async with anyio.create_task_group() as tasks:

            async def change() -> None:
                await anyio.sleep(0.6)
                script.write_text("echo '{\"score\": 100}'\n")

            tasks.start_soon(change)
            found = await session.evaluate(case, Script(command="sh check.sh"))
    assert isinstance(found.outcome, Unscored)
    assert "files changed while it ran: check.sh" in found.outcome.detail


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "missing", "link", "folder"])
async def test_a_file_of_its_own_lies_in_the_workspace(opened: Open, tmp_path: Path, name: str) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "folder").mkdir(parents=True)
    (tmp_path / "outside").touch()
    (workspace / "link").symlink_to(tmp_path / "outside")
    async with opened(trust_code=True) as session:
        with pytest.raises(ConfigError, match=r"script\.files"):
            await session.evaluate(Case(output="x", workspace=str(workspace)), Script(command="x", files=(name,)))
        with pytest.raises(ConfigError, match="no workspace"):
            await session.evaluate(Case(output="x"), Script(command="x", files=("a",)))
