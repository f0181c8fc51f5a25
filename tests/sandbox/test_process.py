from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import anyio
import pytest

from deliberate.errors import EvaluatorError
from deliberate.sandbox._process import run_process
from deliberate.types import Finished

pytestmark = pytest.mark.anyio

ENV = {"PATH": os.environ["PATH"]}


async def shell(script: str, cwd: Path, *, timeout_seconds: float = 30, stdin: bytes = b"") -> Finished:
    return await run_process(["sh", "-c", script], cwd=str(cwd), env=ENV, stdin=stdin, timeout_seconds=timeout_seconds)


async def python(script: str, cwd: Path, *, timeout_seconds: float = 30) -> Finished:
    return await run_process([sys.executable, "-c", script], cwd=str(cwd), env=ENV, timeout_seconds=timeout_seconds)


def lives(pid: int) -> bool:
    """Whether a process runs; one that is dead and waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def wait_gone(pid: int) -> None:
    with anyio.fail_after(5):
        while lives(pid):
            await anyio.sleep(0.01)


async def test_it_gives_what_the_program_gave(tmp_path: Path) -> None:
    done = await shell("echo out; echo err >&2; exit 3", tmp_path)
    assert (done.exit_code, done.stdout, done.stderr) == (3, b"out\n", b"err\n")
    assert not done.timed_out
    assert not done.truncated
    assert 0 < done.seconds < 30


async def test_a_signal_is_a_negative_code(tmp_path: Path) -> None:
    assert (await shell("kill -TERM $$", tmp_path)).exit_code == -signal.SIGTERM


async def test_it_runs_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "here").write_text("yes")
    assert (await shell("cat here", tmp_path)).stdout == b"yes"


async def test_it_reads_what_it_is_given(tmp_path: Path) -> None:
    given = bytes(range(256)) * 4000
    assert (await shell("wc -c", tmp_path, stdin=given)).stdout.split() == [str(len(given)).encode()]
    assert (await shell("cat", tmp_path, stdin=b"\0\xff")).stdout == b"\0\xff"
    assert (await shell("cat", tmp_path)).stdout == b""


async def test_it_need_not_read_it(tmp_path: Path) -> None:
    assert (await shell("exit 0", tmp_path, stdin=b"x" * 10_000_000)).exit_code == 0


async def test_both_streams_keep_their_heads(tmp_path: Path) -> None:
    script = "import sys\nfor s, c in ((sys.stdout, 'o'), (sys.stderr, 'e')): s.write('head' + c * 300_000); s.flush()"
    done = await run_process([sys.executable, "-c", script], cwd=str(tmp_path), env=ENV, most_bytes=1000)
    assert done.exit_code == 0
    assert done.truncated
    assert (done.stdout, done.stderr) == (b"head" + b"o" * 996, b"head" + b"e" * 996)


async def test_a_stream_that_just_fits_is_whole(tmp_path: Path) -> None:
    done = await run_process(["printf", "12345"], cwd=str(tmp_path), env=ENV, most_bytes=5)
    assert (done.stdout, done.truncated) == (b"12345", False)
    done = await run_process(["printf", "12345"], cwd=str(tmp_path), env=ENV, most_bytes=0)
    assert (done.stdout, done.truncated) == (b"", True)


async def test_a_flood_is_cut_and_the_deadline_holds(tmp_path: Path) -> None:
    done = await shell("yes", tmp_path, timeout_seconds=0.5)
    assert done.timed_out
    assert done.truncated
    assert len(done.stdout) == 1024 * 1024
    assert done.seconds < 1.5


async def test_a_program_that_ignores_everything_is_killed_at_its_deadline(tmp_path: Path) -> None:
    done = await shell("trap '' TERM INT HUP; echo started; while :; do sleep 1; done", tmp_path, timeout_seconds=0.5)
    assert (done.exit_code, done.timed_out, done.stdout) == (None, True, b"started\n")
    assert 0.5 <= done.seconds < 1.5


async def test_its_children_are_killed_with_it(tmp_path: Path) -> None:
    done = await shell("sleep 1000 & echo $!; wait", tmp_path, timeout_seconds=0.5)
    assert done.timed_out
    await wait_gone(int(done.stdout))


async def test_children_it_leaves_behind_are_killed_and_not_waited_for(tmp_path: Path) -> None:
    done = await shell("sleep 1000 & echo $!", tmp_path)
    assert (done.exit_code, done.timed_out) == (0, False)
    assert done.seconds < 5
    await wait_gone(int(done.stdout))


@pytest.mark.parametrize(("ends", "timed_out"), [("exit 0", False), ("sleep 1000", True)])
async def test_a_grandchild_that_left_the_group_and_holds_the_pipes_delays_nothing(
    tmp_path: Path, ends: str, *, timed_out: bool
) -> None:
    script = f"""
import os, sys, time
heard, said = os.pipe()
if os.fork() == 0:
    os.setsid()
    print(os.getpid(), flush=True)
    os.write(said, b"x")
    time.sleep(1000)
os.read(heard, 1)
os.system({ends!r})
"""
    began = anyio.current_time()
    done = await python(script, tmp_path, timeout_seconds=1)
    assert anyio.current_time() - began < 60  # it holds them for a thousand seconds
    assert done.timed_out is timed_out
    escaped = int(done.stdout)
    assert lives(escaped)  # what this tier cannot do: see the module's docstring
    os.kill(escaped, signal.SIGKILL)


async def test_a_fork_bomb_ends_with_its_group(tmp_path: Path) -> None:
    script = """
import os, time
for _ in range(5):
    os.fork()
print(os.getpid(), flush=True)
time.sleep(1000)
"""
    done = await python(script, tmp_path, timeout_seconds=1.5)
    assert done.timed_out
    pids = done.stdout.split()
    assert pids
    for pid in pids:
        await wait_gone(int(pid))


async def test_cancelling_kills_it_at_once(tmp_path: Path) -> None:
    began = anyio.current_time()
    with anyio.move_on_after(10) as scope:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(shell, "echo $$ > told; trap '' TERM; sleep 1000", tmp_path)
            while not (tmp_path / "told").exists() or not (tmp_path / "told").read_text().endswith("\n"):
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
    assert not scope.cancelled_caught
    assert anyio.current_time() - began < 8
    await wait_gone(int((tmp_path / "told").read_text()))


async def test_many_run_at_once(tmp_path: Path) -> None:
    codes: list[int | None] = []

    async def one(number: int) -> None:
        codes.append((await shell(f"exit {number}", tmp_path)).exit_code)

    async with anyio.create_task_group() as tasks:
        for number in range(40):
            tasks.start_soon(one, number)
    assert sorted(code for code in codes if code is not None) == list(range(40))


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["no-such-program-anywhere"], r"'no-such-program-anywhere' cannot be started: .*No such file"),
        (["/"], r"'/' cannot be started: .*Permission denied"),
        (["nul\0inside"], r"cannot be started: embedded null byte"),
        (["true", "x" * 3_000_000], r"'true' cannot be started: .*Argument list too long"),
        (["x" * 3_000_000], r"the program 'x{200}' cannot be started"),
        ([], r"no program was named to run"),
    ],
)
async def test_a_program_that_cannot_be_started_is_named(tmp_path: Path, command: list[str], said: str) -> None:
    with pytest.raises(EvaluatorError, match=said):
        await run_process(command, cwd=str(tmp_path), env=ENV)


async def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(EvaluatorError, match="nowhere"):
        await shell("true", tmp_path / "nowhere")


@pytest.mark.parametrize("env", [{"A": "b\0c"}, {"A=B": "c"}, {"A": "\ud800"}, {"A": "x" * 200_000}])
async def test_a_variable_that_cannot_be_given_is_told(tmp_path: Path, env: dict[str, str]) -> None:
    with pytest.raises(EvaluatorError, match="'true' cannot be started"):
        await run_process(["true"], cwd=str(tmp_path), env=env)


async def test_no_handle_is_left_open(tmp_path: Path) -> None:
    await shell("true", tmp_path)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        await shell("sleep 1000 & echo", tmp_path)
        await shell("sleep 1000", tmp_path, timeout_seconds=0.01)
        with pytest.raises(EvaluatorError):
            await run_process(["no-such-program-anywhere"], cwd=str(tmp_path), env=ENV)
    assert len(list(Path("/proc/self/fd").iterdir())) <= before
