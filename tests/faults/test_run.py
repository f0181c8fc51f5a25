"""The command over many cases: stopped, doubled, short of files; and no key of ours in anything it leaves."""

from __future__ import annotations

import base64
import signal
import subprocess
import sys
import urllib.parse
from collections.abc import Callable, Mapping
from pathlib import Path

import anyio
import msgspec
import pytest

from deliberate.testing.endpoint import Call
from tests.faults._runs import CASES, VOTES, laid, undisturbed_digests

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return anyio.run(undisturbed_digests, tmp_path_factory.mktemp("calm") / "t")


async def test_a_second_process_refuses_and_names_the_first_and_takes_over_when_that_is_gone(
    tmp_path: Path, undisturbed: list[str]
) -> None:
    async with laid(tmp_path / "t", lambda call: "silent" if call.number == 2 else None) as runs:
        async with runs.running("--in-flight", "1") as first:
            while runs.endpoint.stats.requests < 2:
                await anyio.sleep(0.01)
            before = runs.endpoint.stats.requests
            second = await runs.run()
            assert second.code == 2
            assert f"is being executed by process {first.pid} on host " in second.err
            assert runs.endpoint.stats.requests == before
            other = await runs.run("--criteria", "Is it short?", "--judge", "openai/good", "--in-flight", "1")
            assert other.code == 0, other.err  # another run shares the ledger
        done = await runs.run()
        assert done.code == 0, done.err
        assert runs.digests() == undisturbed


@pytest.mark.parametrize("seconds", [1.5, pytest.param(30.0, marks=pytest.mark.thorough)])
async def test_stopped_for_a_while_it_goes_on_where_it_was(
    tmp_path: Path, undisturbed: list[str], seconds: float
) -> None:
    async with laid(tmp_path / "t", latency_seconds=0.2) as runs:
        async with runs.running("--in-flight", "2", "--call-seconds", "20") as process:
            while runs.endpoint.stats.requests < 4:
                await anyio.sleep(0.01)
            process.send_signal(signal.SIGSTOP)
            await anyio.sleep(seconds)
            process.send_signal(signal.SIGCONT)
            code = await process.wait()
        if seconds < 20:
            assert code == 0
            assert runs.endpoint.stats.requests == VOTES
        done = await runs.run()  # what ended at its deadline meanwhile is asked again
        assert done.code == 0, done.err
        assert runs.digests() == undisturbed


async def test_three_judges_dead_exit_4_and_after_repair_the_bytes_are_those_without_fault(
    tmp_path: Path, undisturbed: list[str]
) -> None:
    gone = True

    def script(call: Call) -> str | None:
        return "no_such_model" if gone and call.body.get("model") != "seeded-a" else None

    async with laid(tmp_path / "t", script) as runs:
        done = await runs.run()
        assert (done.code, done.end["status"], done.end["without"]) == (4, "no_verdict", {"no_quorum": CASES})
        gone = False
        done = await runs.run()
        assert done.code == 0, done.err
        assert done.end["read_back"] == CASES
        assert runs.digests() == undisturbed


MEASURED = """
import atexit, pathlib, re, sys
status = pathlib.Path("/proc/self/status")  # what getrusage says is at least what whoever started us had
atexit.register(lambda: print("kilobytes", re.search(r"VmHWM:\\s*(\\d+)", status.read_text())[1], file=sys.stderr))
from deliberate.cli import main
main()
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc on this system")
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("number", [30, pytest.param(4000, marks=pytest.mark.thorough)])
async def test_memory_has_its_bound_however_many_cases_there_are(
    tmp_path: Path, number: int, record_property: Callable[[str, object], None]
) -> None:
    async with laid(tmp_path / "t", cases=number) as runs:
        done = await anyio.run_process(
            [sys.executable, "-c", MEASURED, *runs.command()[3:]],
            cwd=runs.folder,
            env=runs.environment(),
            check=False,
            stdin=subprocess.DEVNULL,
        )
        told = done.stderr.decode()
        assert done.returncode == 0, told
        megabytes = int(told.rpartition("kilobytes ")[2]) / 1024
        assert len(runs.digests()) == number
        assert megabytes < 150
    record_property("sampled", f"{number} cases of 3 votes: {megabytes:.0f} MiB at the most")


async def test_with_few_files_to_open_it_completes(tmp_path: Path, undisturbed: list[str]) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))"
    few = f"{limit}; from deliberate.cli import main; main()"
    async with laid(tmp_path / "t", latency_seconds=0.1) as runs:
        command = runs.command()
        done = await anyio.run_process(
            [sys.executable, "-c", few, *command[3:]],
            cwd=runs.folder,
            env=runs.environment(),
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stderr.decode()
        assert runs.digests() == undisturbed


ONE_WORKER = """
import asyncio, concurrent.futures, sys
from anyio.to_thread import current_default_thread_limiter
current_default_thread_limiter().total_tokens = 1
asyncio.get_running_loop().set_default_executor(concurrent.futures.ThreadPoolExecutor(1))
print("one worker", file=sys.stderr)
"""


async def test_with_one_worker_thread_it_completes(tmp_path: Path, undisturbed: list[str]) -> None:
    async with laid(tmp_path / "t", latency_seconds=0.1) as runs:
        (runs.folder / "few.py").write_text(ONE_WORKER, encoding="utf-8")
        done = await runs.run("--import", "few", "--record", "said.jsonl")  # a recording is written in a worker
        assert done.code == 0, done.err
        assert "one worker\n" in done.err
        assert runs.digests() == undisturbed


async def test_with_one_worker_thread_programs_and_judges_do_not_wait_for_each_other(tmp_path: Path) -> None:
    script = {"type": "script", "params": {"command": "echo '{\"score\": 80}'"}}
    jury = {"type": "deliberation", "params": {"panel": "two"}}
    async with laid(tmp_path / "t") as runs:
        (runs.folder / "few.py").write_text(ONE_WORKER, encoding="utf-8")
        seats = "seats: [{model: openai/good}, {model: openai/fair}]\ncriteria: Is it right?\n"
        (runs.folder / "two.panel.yaml").write_text(f"deliberate: 1\n{seats}", encoding="utf-8")
        plan = {"deliberate": 1, "parts": {"check": script, "jury": jury}}
        (runs.folder / "p.plan.yaml").write_bytes(msgspec.json.encode(plan))
        flags = ("--cases", "cases.jsonl", "--trust-code", "--import", "few", "--json")
        where = ("--api-base", f"openai={runs.endpoint.address}")
        done = await anyio.run_process(
            [sys.executable, "-m", "deliberate", "run", "p.plan.yaml", *flags, *where],
            cwd=runs.folder,
            env=runs.environment(),
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stderr.decode()
        end = msgspec.json.decode(done.stdout.splitlines()[-1])
        assert (end["status"], end["judged"]) == ("ok", CASES)


CANARY = "sk-canary/7f3a+Q9=zz"


def traces(folder: Path, secret: str) -> list[str]:
    """Files in which a secret stands: as it is, in a URL, in base64 at any offset."""
    raw = secret.encode()
    forms = {raw, urllib.parse.quote(secret, safe="").encode(), urllib.parse.quote_plus(secret).encode()}
    forms |= {base64.b64encode(b"x" * shift + raw)[4:-4] for shift in range(3)}
    found = []
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            found += [str(path) for form in forms if form in content]
    return found


@pytest.mark.parametrize("fault", ["bad_key", "server_error", None])
async def test_a_planted_key_is_in_nothing_it_leaves_and_nothing_is_left_elsewhere(
    tmp_path: Path, fault: str | None
) -> None:
    env: Mapping[str, str] = {"OPENAI_API_KEY": CANARY, "ANTHROPIC_API_KEY": CANARY + "2"}
    async with laid(tmp_path / "t", lambda call: fault if call.attempt < 3 else None) as runs:
        done = await runs.run(**env)
        assert runs.endpoint.calls[0].headers["Authorization"] == f"Bearer {CANARY}"
        (runs.folder / "stdout").write_bytes(done.out)
        (runs.folder / "stderr").write_text(done.err, encoding="utf-8")
        assert traces(tmp_path, CANARY) == []
        assert list((runs.folder / "tmp").iterdir()) == []
        left = {path.name for path in runs.folder.iterdir()}
        assert left == {"home", "tmp", "cases.jsonl", "r.jsonl", "stdout", "stderr"}
        assert {path.name for path in (runs.folder / "home").iterdir()} == {"ledger.db", "ledger.db.anchor"}
        assert {path.stat().st_mode & 0o077 for path in (runs.folder / "home").iterdir()} == {0}
