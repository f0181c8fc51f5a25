"""A suite that is killed, and then run again: nothing that was heard is asked a second time."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import command, environment
from tests.requirements._suites import Bench, task

TASKS = 4


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path)
    made.suite(*(task(f"t{at}") for at in range(TASKS)))
    return made


def kept(bench: Bench, subject: str) -> tuple[str, ...]:
    """One call at a time, with a ledger and a cache of baselines on disk."""
    folder = str(bench.folder)
    cache = ("--baseline-cache-dir", f"{folder}/cache")
    return ("--command", subject, "--ledger", f"{folder}/l.db", *cache, "--in-flight", "1")


def stuck_after(bench: Bench, calls: int) -> str:
    """A subject that notes each call, and does not come back from that one until there is a file ``go``."""
    folder = bench.folder
    note = f'cat > "{folder}/prompt"; tail -1 "{folder}/prompt" >> "{folder}/calls"; echo >> "{folder}/calls"'
    wait = f'[ "$(wc -l < "{folder}/calls")" -le {calls} ] || while [ ! -e "{folder}/go" ]; do sleep 0.05; done'
    return f"{note}; {wait}; echo good"


def started(bench: Bench, subject: str) -> subprocess.Popen[bytes]:
    where = ("--task-suite", "suite.yaml", "--state-root", "state", "--input", "rank.json", "--candidate-id", "c1")
    return subprocess.Popen(
        command("suite", *where, *kept(bench, subject)),
        cwd=bench.folder,
        env=environment(bench.folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def calls(bench: Bench) -> list[str]:
    path = bench.folder / "calls"
    return path.read_text(encoding="utf-8").split("\n")[:-1] if path.exists() else []


def committed(bench: Bench) -> int:
    """Replies that are on disk."""
    try:
        with closing(sqlite3.connect(f"file:{bench.folder}/l.db?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM step WHERE kind = 'Answer'").fetchone()[0])
    except sqlite3.OperationalError:
        return 0  # there is none yet


def wait_until(condition: Callable[[], bool]) -> None:
    ends = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < ends
        os.sched_yield()


@pytest.mark.parametrize(
    "done", [5, *(pytest.param(done, marks=pytest.mark.thorough) for done in (0, 1, 2, 3, 4, 6, 7))]
)
def test_killed_while_a_call_is_under_way_only_that_call_is_made_again(bench: Bench, done: int) -> None:
    subject = stuck_after(bench, done)
    with started(bench, subject) as program:
        wait_until(lambda: len(calls(bench)) == done + 1 and committed(bench) == done)
        program.send_signal(signal.SIGKILL)
    assert not (bench.folder / "state").exists(), "no artifact of half a run"
    (bench.folder / "go").touch()
    assert bench.pipeline(*kept(bench, subject)).line["verdict"] == "pass"
    assert len(calls(bench)) == 2 * TASKS + 1


def test_a_suite_that_changed_between_two_runs_is_asked_only_what_changed(bench: Bench) -> None:
    subject = stuck_after(bench, 99)
    bench.pipeline(*kept(bench, subject))
    bench.suite(*(task(f"t{at}") for at in range(TASKS - 1)), {**task("t9"), "prompt": "Do another thing."})
    told = bench.pipeline(*kept(bench, subject))
    changed = calls(bench)[2 * TASKS :]
    assert changed == ["Task: Do another thing."] * 2, "once a side"
    assert not told.artifact["baseline_cached"], "the baseline of the other suite is not taken for this one's"


def test_a_disk_that_fills_up_leaves_it_incomplete_and_it_goes_on(bench: Bench, small_disk: Path) -> None:
    said = bench.folder / "said.txt"
    said.write_text("good " * 20_000, encoding="utf-8")
    note = f'cat > /dev/null; echo "Task." >> "{bench.folder}/calls"; [ ! -e "{small_disk}/ballast" ] || sleep 0.4'
    words = ("--command", f'{note}; cat "{said}"', "--ledger", small_disk / "l.db", "--in-flight", 1)
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 500_000)
    full = bench.pipeline(*words, code=5)
    assert "the disk is full" in full.err
    assert full.out == ""
    assert not (bench.folder / "state").exists()
    before = len(calls(bench))
    assert 0 < before < 2 * TASKS
    ballast.unlink()
    said.write_text("good", encoding="utf-8")
    assert bench.pipeline(*words).line["verdict"] == "pass"
    again = len(calls(bench)) - 2 * TASKS
    assert 0 <= again <= 2, "the reply that did not fit, and at most the one before it"
