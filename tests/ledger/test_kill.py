"""Processes that are killed while they write; nothing they were told is on disk may be missing."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from deliberate.ledger import open_ledger, read_ledger, verify
from deliberate.types import Key

pytestmark = pytest.mark.anyio

WORKS = """
import sys
import anyio
from deliberate.ledger import open_ledger
from deliberate.types import Attempt, Usage

CASES = int(sys.argv[5])

async def main(path, name, size):
    async with open_ledger(path) as ledger:
        run = await ledger.begin("plan " + name, {})
        for case in range(CASES):
            keys = [f"{name} {case} {judge}" for judge in range(3)]
            for key in keys:
                if await ledger.read(key) is None:
                    print("asked", key, flush=True)
                    ledger.attempted(Attempt(key=key, number=1, outcome="stop", usage=Usage(calls=1)))
                    ledger.put(key, "Answer", key.encode() * int(size))
                ledger.place(key, key)
            if case % 7 == 0:
                await ledger.committed()
                print("acknowledged", case, flush=True)
            await anyio.sleep(0)
        await ledger.end(run, "ok")
    print("done", flush=True)

anyio.run(main, *sys.argv[2:5], backend=sys.argv[1])
"""


ALL = os.environ.get("DELIBERATE_CHECK") == "all"
SEEDS = 10 if ALL else 1
CASES = 400 if ALL else 200


def command(backend: str, place: Path, name: str, *, size: int = 1) -> list[str]:
    return [sys.executable, "-c", WORKS, backend, str(place), name, str(size), str(CASES)]


def until_killed(works: list[str], lines: int) -> tuple[list[str], int, bool]:
    """What a process asked for and the last case it acknowledged, when killed after that many lines."""
    asked: list[str] = []
    acknowledged = -1
    with subprocess.Popen(works, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for number, line in enumerate(process.stdout):
            if number == lines:
                process.kill()
            word, _, rest = line.strip().partition(" ")
            if word == "asked":
                asked.append(rest)
            elif word == "acknowledged":
                acknowledged = int(rest)
        process.wait()
    return asked, acknowledged, process.returncode == 0


async def acknowledged_and_gone(place: Path, name: str, last: int) -> list[str]:
    async with read_ledger(place) as reader:
        keys = [f"{name} {case} {judge}" for case in range(last + 1) for judge in range(3)]
        return [key for key in keys if await reader.body(Key(key)) is None]


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_what_was_acknowledged_is_there_after_any_kill_and_the_run_goes_on(
    place: Path, seed: int, anyio_backend_name: str
) -> None:
    chance = random.Random(seed)
    asked: list[str] = []
    kills = 0
    done = False
    while not done:
        more, last, done = until_killed(command(anyio_backend_name, place, "a"), chance.randrange(1, 500))
        kills += not done
        asked += more
        assert await acknowledged_and_gone(place, "a", last) == []
        assert (await verify(place)).sound
    async with read_ledger(place) as reader:
        (run,) = await reader.runs()
        assert run.status == "ok"
        steps = await reader.steps(run.run, most=10_000)
        assert len(steps) == 3 * CASES
        assert all(step.body == step.key.encode() for step in steps)
        audit = await verify(place)
        assert audit.records == 3 * CASES
        # What was asked for again was in flight, or in the group that was being written.
        assert len(asked) - 3 * CASES <= kills * 7 * 3
        assert sum([len(await reader.attempts(Key(f"a {case} 0"))) for case in range(CASES)]) >= CASES


async def test_two_processes_share_a_ledger_and_one_is_killed(place: Path, anyio_backend_name: str) -> None:
    async with open_ledger(place):
        pass
    with subprocess.Popen(command(anyio_backend_name, place, "b"), stdout=subprocess.PIPE, text=True) as other:
        for lines in (CASES // 10, 3 * CASES // 4, 9 * CASES // 4):
            _, last, _ = until_killed(command(anyio_backend_name, place, "a"), lines)
            assert await acknowledged_and_gone(place, "a", last) == []
            assert (await verify(place)).sound
        assert other.stdout is not None
        assert other.stdout.read().splitlines()[-1] == "done"
    assert until_killed(command(anyio_backend_name, place, "a"), 10_000)[2]
    audit = await verify(place)
    assert audit.sound
    assert audit.records == 6 * CASES
    assert audit.anchored == 6 * CASES


@pytest.mark.thorough
@pytest.mark.timeout(1200)
async def test_a_hundred_kills(place: Path, anyio_backend_name: str) -> None:
    chance = random.Random(7)
    kills = 0
    run = 0
    while kills < 100:
        name = f"run{run}"
        _, last, done = until_killed(
            command(anyio_backend_name, place, name, size=chance.choice((1, 100))), chance.randrange(1, 300)
        )
        assert await acknowledged_and_gone(place, name, last) == []
        assert (await verify(place)).sound
        kills += not done
        run += done
