"""An evaluation that is cancelled at any moment: nothing is left running, the ledger is sound, and it can go on."""

from __future__ import annotations

import asyncio
import os
import random
import threading
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
import trio

from deliberate import Case, Panel, Session
from deliberate.ledger import verify
from deliberate.library import Library

pytestmark = pytest.mark.anyio

MOMENTS = 400 if os.environ.get("DELIBERATE_ALL") == "1" or os.environ.get("DELIBERATE_CHECK") == "all" else 50
CASE = Case(output="4", task="2 + 2?", id="q1")
PANEL = Panel.of("scripted/good:70@0.01", "scripted/fair:40@0.02", "scripted/good:60@0.03", rounds=2)


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def tasks_running(backend: str) -> int:
    """Tasks of this event loop, ours included."""
    if backend == "asyncio":
        return len(asyncio.all_tasks())
    return trio.lowlevel.current_statistics().tasks_living


async def test_cancelling_at_any_moment_leaves_nothing_running_and_a_sound_ledger(
    tmp_path: Path, anyio_backend_name: str, record_property: Callable[[str, object], None]
) -> None:
    library = Library(home=tmp_path / "home", workspace=tmp_path)
    chance = random.Random(5)
    cut = 0
    async with Session(ledger=":memory:", library=library, env={}) as session:
        undisturbed = (await session.evaluate(CASE, PANEL)).verdict
    assert undisturbed is not None
    tasks, threads = tasks_running(anyio_backend_name), threading.active_count()
    for moment in range(MOMENTS):
        ledger = tmp_path / f"{moment % 10}.db"  # each is cancelled several times over
        with anyio.move_on_after(chance.uniform(0.0, 0.12)) as scope:
            async with Session(ledger=ledger, library=library, env={}, fresh=moment >= 10) as session:
                await session.evaluate(CASE, PANEL)
        cut += scope.cancelled_caught
        assert tasks_running(anyio_backend_name) == tasks
        if ledger.exists():
            assert (await verify(ledger)).sound
    assert cut > MOMENTS / 4
    assert threading.active_count() <= threads + 4  # what anyio keeps for later
    for number in range(10):
        async with Session(ledger=tmp_path / f"{number}.db", library=library, env={}) as session:
            found = (await session.evaluate(CASE, PANEL)).verdict
            assert found is not None
            assert found.decision_bytes == undisturbed.decision_bytes
            runs = await session.ledger.reader.runs()
            assert {run.status for run in runs} <= {"ok", "interrupted"}
        assert (await verify(tmp_path / f"{number}.db")).sound
        assert not list(tmp_path.glob("*.lock"))
    record_property("sampled", f"{MOMENTS} moments of cancelling, {cut} before the end")


async def test_cancelling_inside_an_open_session_leaves_no_task_behind(tmp_path: Path, anyio_backend_name: str) -> None:
    library = Library(home=tmp_path / "home", workspace=tmp_path)
    chance = random.Random(6)
    async with Session(ledger=tmp_path / "runs.db", library=library, env={}, fresh=True) as session:
        await session.evaluate(CASE, PANEL)
        idle = tasks_running(anyio_backend_name)
        for number in range(MOMENTS // 2):
            case = Case(output=str(number), task="2 + 2?")
            with anyio.move_on_after(chance.uniform(0.0, 0.08)):
                await session.evaluate(case, PANEL)
            with anyio.fail_after(5):
                while tasks_running(anyio_backend_name) > idle:  # actors end when their inbox is empty
                    await anyio.sleep(0.001)
        assert (await session.evaluate(CASE, PANEL)).score is not None
    assert (await verify(tmp_path / "runs.db")).sound
