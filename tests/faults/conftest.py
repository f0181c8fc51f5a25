"""An ask against an endpoint of its own, to be killed."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import anyio
import anyio.abc
import msgspec
import pytest

from deliberate.testing.endpoint import Stats

MODELS = ("seeded-a", "seeded-b", "seeded-c")


class Table(NamedTuple):
    """Where an ask is made: its folder, and the address of its judges."""

    folder: Path
    address: str

    def command(self) -> list[str]:
        """The ask: three judges, the whole result as JSON."""
        judges = [part for name in MODELS for part in ("--judge", f"ollama/{name}")]
        case = ("ask", "answer.txt", "--task", "What is 2 + 2?")
        return [sys.executable, "-m", "deliberate", *case, *judges, "--api-base", f"ollama={self.address}", "--json"]

    def environment(self) -> dict[str, str]:
        """An environment from nothing, and what coverage needs to follow us."""
        measured = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE")}
        home = str(self.folder / "home")
        return {**measured, "PATH": os.environ.get("PATH", os.defpath), "HOME": home, "DELIBERATE_HOME": home}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[anyio.abc.Process]:
        """The ask while it runs; whoever leaves kills it."""
        async with await anyio.open_process(
            self.command(),
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                yield process
            finally:
                await killed(process)

    async def ask(self) -> Any:  # noqa: ANN401  JSON
        """The ask to its end, and what it printed."""
        done = await anyio.run_process(self.command(), cwd=self.folder, env=self.environment(), check=False)
        assert done.returncode == 0, done.stderr.decode()
        return msgspec.json.decode(done.stdout)

    def held(self) -> list[dict[str, Any]]:
        """The answers on disk as they are now; the ledger itself is not touched."""
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.folder / "home", copy)
        if not (copy / "ledger.db").exists():
            return []
        with closing(sqlite3.connect(copy / "ledger.db")) as connection:
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'step'").fetchone():
                return []  # killed before its first commit
            rows = connection.execute("SELECT body FROM step WHERE kind = 'Answer' ORDER BY seq").fetchall()
        return [msgspec.json.decode(body) for (body,) in rows]


async def killed(process: anyio.abc.Process) -> None:
    """Kills a process, unless it has ended by itself, and waits for its end."""
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()


def laid(folder: Path, address: str) -> Table:
    """A table in a new folder, with a case on it."""
    (folder / "home").mkdir(parents=True)
    (folder / "answer.txt").write_text("4\n", encoding="utf-8")
    return Table(folder, address)


@asynccontextmanager
async def serving(*flags: str) -> AsyncIterator[str]:
    """The endpoint as a process of its own: its address."""
    command: Sequence[str] = [sys.executable, "-m", "deliberate.testing.endpoint", *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield (await anyio.to_thread.run_sync(process.stdout.readline)).strip()
        finally:
            process.kill()


async def seen(client: aiohttp.ClientSession, address: str) -> Stats:
    """What the endpoint saw so far."""
    async with client.get(f"{address.removesuffix('/v1')}/stats") as reply:
        return msgspec.json.decode(await reply.read(), type=Stats)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
