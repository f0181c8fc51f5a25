"""``suite`` as a program: recordings, a full disk, Ctrl-C, a workflow, and what goes with what."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.conftest import command, environment
from tests.requirements._suites import Bench, contains, task


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_recorded_run_is_replayed_without_its_subject(bench: Bench) -> None:
    tape = bench.folder / "tape.jsonl"
    first = bench.pipeline(*bench.says(("new skill", "good"), ("Do a", "good"), "bad"), "--record", tape)
    replay = ("--command", bench.says(("new skill", "good"), ("Do a", "good"), "bad")[1], "--replay", tape)
    assert bench.pipeline(*replay).line == first.line
    other = bench.pipeline("--command", "echo another", "--replay", tape, code=4)
    assert "has no such ask" in other.artifact["reason"]


def test_an_artifact_that_cannot_be_written_loses_nothing(bench: Bench) -> None:
    (bench.folder / "state").write_text("a file where the folder should be")
    asked = f'echo . >> "{bench.folder}/n"; cat > /dev/null; echo good'
    ledger = ("--ledger", bench.folder / "l.db")
    told = bench.alone("--command", asked, *ledger, code=5)
    assert "what was heard is in the ledger" in told.err
    (bench.folder / "state").unlink()
    bench.alone("--command", asked, *ledger)
    assert (bench.folder / "n").read_text().count(".") == 2, "nobody was asked again"


def test_interrupted_it_goes_on_where_it_was(bench: Bench) -> None:
    folder = bench.folder
    asked = (
        f'p=$(cat); echo . >> "{folder}/n"; case "$p" in *"Do b."*) [ -e "{folder}/go" ] || sleep 60;; esac; echo good'
    )
    words = ["--task-suite", "suite.yaml", "--state-root", "state", "--standalone", "--command", asked, "--ledger", "l"]
    program = subprocess.Popen(
        command("suite", *words), cwd=folder, env=environment(folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    ends = time.monotonic() + 30
    while not (folder / "n").exists() or (folder / "n").read_text().count(".") < 2:
        assert time.monotonic() < ends
        os.sched_yield()
    program.send_signal(signal.SIGINT)
    _, said = program.communicate(timeout=30)
    assert program.returncode == 130, said
    assert not (folder / "state").exists()
    (folder / "go").touch()
    done = subprocess.run(
        command("suite", *words), cwd=folder, env=environment(folder), capture_output=True, text=True, check=False
    )
    assert json.loads(done.stdout)["verdict"] == "pass", done.stderr
    asks = (folder / "n").read_text().count(".")
    assert asks in {3, 4}, "what was in flight is asked again: task b, and a if its reply was still on its way"


def test_a_spent_budget_is_incomplete(bench: Bench) -> None:
    assert bench.alone(*bench.says("good"), "--max-cost", 0, code=5).line["verdict"] == "error"


def test_what_a_subject_says_is_no_command_of_a_workflow(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(bench.folder / "summary.md"))
    hostile = "printf '\\n::error::owned\\n' >&2; exit 3"
    told = bench.alone("--command", hostile, "--github", code=4)
    lines = told.err.splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    assert lines[0].startswith("::stop-commands::")
    fenced_until = lines.index(f"::{token}::")
    assert not [line for line in lines[fenced_until + 1 :] if line.startswith("::error")]
    assert lines[fenced_until + 1].startswith("::warning title=s::no verdict")
    assert (bench.folder / "summary.md").exists()


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--mock", "--subject", "m/x"), "both --mock and --subject"),
        (("--mock", "--weak-baseline", "shrug"), "error or warn"),
        (("--mock", "--replay", "a", "--record", "b"), "nothing new can be heard"),
        (("--mock", "--samples", "1", "--pass-k", "2"), "--samples"),
        (("--mock", "-o", "x.docx"), "cannot be written as"),
    ],
)
def test_flags_that_do_not_go_together_are_refused(bench: Bench, flags: tuple[str, ...], said: str) -> None:
    assert said in bench.alone(*flags, code=2).err


def test_a_suite_can_require_something_itself(bench: Bench) -> None:
    bench.suite(task("a"), task("b"), require={"min_score": 75})
    half = bench.says(("Do a", "good"), "bad")
    assert "min-score 75 (got 50)" in bench.alone(*half, code=3).err
    assert bench.alone(*half, "--min-score", 40).code == 0, "a flag comes before the file"


def test_another_candidate_of_the_same_ranking_does_not_overwrite_the_first(bench: Bench) -> None:
    bench.pipeline("--mock", candidate="c1")
    bench.pipeline("--mock", candidate="c2")
    found = sorted(path.name for path in (bench.folder / "state" / "evaluations").iterdir())
    assert found == ["r1-c2.json", "r1.json"]


def test_lint_says_what_weakens_a_suite(bench: Bench) -> None:
    bench.suite({**task("a", contains("do A")), "description": ""})
    done = subprocess.run(
        command("suite", "lint", "suite.yaml"),
        cwd=bench.folder,
        env=environment(bench.folder),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    told = " ".join(done.stdout.split())
    for words in (
        "its prompt says 'do A' itself",
        "no description",
        "fewer than 5",
        "every task is judged by contains",
    ):
        assert words in told
