"""The command over many cases: killed, stopped, doubled, short of files; and no key of ours in anything it leaves."""

from __future__ import annotations

import base64
import os
import random
import signal
import sqlite3
import subprocess
import sys
import urllib.parse
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import anyio.abc
import msgspec
import pytest

from deliberate.ledger import verify
from deliberate.testing.endpoint import Call, Endpoint, Script
from tests.faults._dies import POINTS
from tests.faults.conftest import killed

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]

ALL = os.environ.get("DELIBERATE_ALL") == "1" or os.environ.get("DELIBERATE_CHECK") == "all"
CASES = 8
SEATS = 3
VOTES = CASES * SEATS
GROUP = 64
"""The most records in one commit of the ledger."""


class Done(NamedTuple):
    """How the command ended."""

    code: int
    out: bytes
    err: str

    @property
    def end(self) -> Any:  # noqa: ANN401  JSON
        """The done record."""
        return msgspec.json.decode(self.out.splitlines()[-1])


class Runs(NamedTuple):
    """A folder in which the command is given, again and again."""

    folder: Path
    endpoint: Endpoint

    def command(self, *more: str, program: tuple[str, ...] = ("deliberate",)) -> list[str]:
        judges = [part for name in "abc" for part in ("--judge", f"openai/seeded-{name}")]
        where = ("--api-base", f"openai={self.endpoint.address}")
        flags = ("--cases", "cases.jsonl", "--criteria", "Is it right?", "--json", "-o", "r.jsonl")
        return [sys.executable, "-m", *program, "run", *flags, *judges, *where, *more]

    def environment(self, **more: str) -> dict[str, str]:
        home, temporary = self.folder / "home", self.folder / "tmp"
        measured = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE")}
        path = os.environ.get("PATH", os.defpath)
        own = {"HOME": str(home), "DELIBERATE_HOME": str(home), "TMPDIR": str(temporary), "OPENAI_API_KEY": "sk-none"}
        return {**measured, "PATH": path, "PYTHONPATH": str(Path(__file__).parents[2]), **own, **more}

    @asynccontextmanager
    async def running(
        self, *more: str, program: tuple[str, ...] = ("deliberate",), **env: str
    ) -> AsyncIterator[anyio.abc.Process]:
        async with await anyio.open_process(
            self.command(*more, program=program),
            cwd=self.folder,
            env=self.environment(**env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                yield process
            finally:
                await killed(process)

    async def run(self, *more: str, **env: str) -> Done:
        done = await anyio.run_process(
            self.command(*more), cwd=self.folder, env=self.environment(**env), check=False, stdin=subprocess.DEVNULL
        )
        return Done(done.returncode, done.stdout, done.stderr.decode())

    def digests(self) -> list[str]:
        """The decision digests in the file of results, in the order of the cases."""
        return [msgspec.json.decode(line)["digest"] for line in (self.folder / "r.jsonl").read_bytes().splitlines()]

    def held(self) -> int:
        """Answers in the ledger."""
        with suppress(sqlite3.OperationalError), closing(sqlite3.connect(self.folder / "home/ledger.db")) as connection:
            (count,) = connection.execute("SELECT count(*) FROM step WHERE kind = 'Answer'").fetchone()
            return int(count)
        return 0


@asynccontextmanager
async def laid(folder: Path, script: Script | None = None, **options: Any) -> AsyncIterator[Runs]:  # noqa: ANN401  those of an endpoint
    """A folder with cases, and judges."""
    for name in ("home", "tmp"):
        (folder / name).mkdir(parents=True)
    rows = [{"id": f"q{at}", "output": str(2 * at), "task": f"{at} + {at}?"} for at in range(CASES)]
    (folder / "cases.jsonl").write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    async with Endpoint(script, **options) as endpoint:
        yield Runs(folder, endpoint)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What is decided when nothing goes wrong."""

    async def main() -> list[str]:
        async with laid(tmp_path_factory.mktemp("calm") / "t") as runs:
            done = await runs.run()
            assert (done.code, done.end["votes"]["voted"]) == (0, VOTES), done.err
            return runs.digests()

    return anyio.run(main)


KILLS = [(point, times) for point in POINTS for times in (1, 3, 7)]


@pytest.mark.parametrize(
    ("point", "times"),
    [
        pytest.param(point, times, marks=() if times == 3 and point != "report" else pytest.mark.thorough)
        for point, times in KILLS
        if times == 1 or point not in {"anchor", "report"}
    ],
)
async def test_killed_at_a_named_point_it_goes_on_to_the_same_bytes(
    tmp_path: Path, undisturbed: list[str], point: str, times: int
) -> None:
    async with laid(tmp_path / "t") as runs:
        async with runs.running("--in-flight", "4", program=("tests.faults._dies", point, str(times))) as process:
            assert await process.wait() == -signal.SIGKILL
        before, held = runs.endpoint.stats.requests, runs.held()
        done = await runs.run("--in-flight", "4")
        assert done.code == 0, done.err
        assert runs.digests() == undisturbed
        assert runs.endpoint.stats.requests - before == VOTES - held
        assert runs.endpoint.stats.requests - VOTES <= 4 + GROUP
        assert (await verify(runs.folder / "home/ledger.db")).sound


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(2, 41))])
async def test_killed_again_and_again_at_any_moment_it_ends_with_the_same_bytes(
    tmp_path: Path, undisturbed: list[str], seed: int
) -> None:
    chance = random.Random(seed)
    kills = 0
    async with laid(tmp_path / "t", latency_seconds=0.15, jitter=0.8, seed=seed) as runs:
        for _ in range(5):
            wanted = runs.endpoint.stats.requests + chance.randint(1, 6)
            async with runs.running("--in-flight", "4") as process:
                while runs.endpoint.stats.requests < wanted and process.returncode is None:
                    await anyio.sleep(0.005)
                await anyio.sleep(chance.uniform(0.0, 0.2))
                kills += process.returncode is None
        done = await runs.run()
        assert done.code == 0, done.err
        assert runs.digests() == undisturbed
        assert runs.endpoint.stats.requests - VOTES <= kills * (4 + GROUP)
        assert (await verify(runs.folder / "home/ledger.db")).sound


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
