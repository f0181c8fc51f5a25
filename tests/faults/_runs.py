"""``deliberate run`` as a process, in a folder of its own with judges of its own: to be killed, stopped and doubled."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import anyio.abc
import msgspec

from deliberate.testing.endpoint import Endpoint, Script
from tests.faults.conftest import killed

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
async def laid(
    folder: Path,
    script: Script | None = None,
    *,
    cases: int = CASES,
    **options: Any,  # noqa: ANN401  those of an endpoint
) -> AsyncIterator[Runs]:
    """A folder with cases, and judges."""
    for name in ("home", "tmp"):
        (folder / name).mkdir(parents=True)
    rows = [{"id": f"q{at}", "output": str(2 * at), "task": f"{at} + {at}?"} for at in range(cases)]
    (folder / "cases.jsonl").write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    async with Endpoint(script, **options) as endpoint:
        yield Runs(folder, endpoint)


async def undisturbed_digests(folder: Path, *, cases: int = CASES) -> list[str]:
    """What is decided when nothing goes wrong."""
    async with laid(folder, cases=cases) as runs:
        done = await runs.run()
        assert (done.code, done.end["votes"]["voted"]) == (0, SEATS * cases), done.err
        return runs.digests()
