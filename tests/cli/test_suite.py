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
    summary = bench.folder / "summary.md"
    assert summary.exists()
    most, room = 900 * 1024, 400
    summary.write_bytes(b"x" * (most - room))
    bench.alone("--mock", "--github")
    assert most - room < summary.stat().st_size <= most, "one summary a step, whoever writes into it"
    assert "**Cut here**: the rest is in " in summary.read_text()[most - room :]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--mock", "--subject", "m/x"), "both --mock and --subject"),
        (("--mock", "--weak-baseline", "shrug"), "error or warn"),
        (("--mock", "--replay", "a", "--record", "b"), "nothing new can be heard"),
        (("--mock", "--samples", "1", "--pass-k", "2"), "--samples"),
        (("--mock", "-o", "x.docx"), "cannot be written as"),
        (("--mock", "--min-bracket", "fine"), "unknown bracket 'fine'"),
    ],
)
def test_flags_that_do_not_go_together_are_refused(bench: Bench, flags: tuple[str, ...], said: str) -> None:
    assert said in bench.alone(*flags, code=2).err


def test_a_rubric_without_a_model_is_told_with_its_place_before_anybody_is_asked(bench: Bench) -> None:
    bench.suite(task("a"), task("b", {"type": "llm-rubric", "rubric": "R"}))
    asked = ("--command", f'echo . >> "{bench.folder}/n"; echo good')
    told = bench.alone(*asked, code=2).err
    assert "suite.yaml:1:" in told
    assert "no model is named that would judge; --judge MODEL" in told
    assert not (bench.folder / "n").exists()


def test_a_suite_can_require_something_itself(bench: Bench) -> None:
    bench.suite(task("a"), task("b"), require={"min_score": 75})
    half = bench.says(("Do a", "good"), "bad")
    assert "min-score 75 (got 50)" in bench.alone(*half, code=3).err
    assert bench.alone(*half, "--min-score", 40).code == 0, "a flag comes before the file"


@pytest.mark.parametrize(
    ("require", "said"),
    [
        ({"min_score": 400}, "require.min_score is 400"),
        ({"min_agreement": -0.5}, "require.min_agreement is -0.5"),
        ({"max_blockers": -1}, "require.max_blockers is -1"),
    ],
)
def test_a_suite_cannot_require_what_nothing_could_have(bench: Bench, require: dict[str, float], said: str) -> None:
    bench.suite(task("a"), require=require)
    assert said in bench.alone("--mock", code=2).err


def test_another_candidate_of_the_same_ranking_does_not_overwrite_the_first(bench: Bench) -> None:
    bench.pipeline("--mock", candidate="c1")
    bench.pipeline("--mock", candidate="c2")
    found = sorted(path.name for path in (bench.folder / "state" / "evaluations").iterdir())
    assert found == ["r1-c2.json", "r1.json"]


def test_a_fail_leaves_a_trace_of_what_failed_for_whoever_writes_the_next_candidate(bench: Bench) -> None:
    bench.suite(task("a"), task("b"), task("c"))
    worse = bench.says(("new skill", "bad"), ("Do c.", "bad"), "good")
    told = bench.pipeline(*worse)
    assert told.line["verdict"] == "fail"
    path = Path(told.artifact["trace"])
    assert path == bench.folder / "state" / "traces" / "r1-c1.json"
    assert f"TRACE       {path}" in told.err
    trace = json.loads(path.read_text(encoding="utf-8"))
    assert (trace["failed_category"], trace["verdict"], trace["candidate_id"]) == ("regression", "fail", "c1")
    found = [(one["task_id"], one["category"], one["baseline_output"]) for one in trace["failed_tasks"]]
    assert found == [("a", "regression", "good\n"), ("b", "regression", "good\n"), ("c", "unsolved", None)]
    assert trace["failed_tasks"][0]["attempts"] == [{"output": "bad\n", "reason": "0 of 1 phrases occur, 1 must"}]
    again = bench.pipeline("--mock")
    assert (again.artifact["trace"], path.exists()) == (None, False), "what passes leaves none, and none of before"


def test_what_stands_behind_the_verdict_is_on_the_screen_and_in_reports(bench: Bench) -> None:
    bench.suite(task("a"), task("b"))
    told = bench.pipeline(
        *bench.says(("Do b.", "bad"), ("new skill", "good"), "bad"),
        *("--pass-k", 2, "--weak-baseline", "warn", "-o", bench.folder / "r.junit.xml"),
    )
    compared = "1 of 2 tasks, baseline 0 of 2; gained a, lost none; p = 1 (McNemar, exact)"
    assert f"COMPARED    {compared}" in told.err
    assert "ESTIMATES   pass@2 candidate 0.5, baseline 0" in told.err
    assert "every further attempt said what the first had said" in told.err
    assert compared in (bench.folder / "r.junit.xml").read_text(encoding="utf-8")
    assert told.artifact["estimates"] == {
        "candidate": {"pass_at_k": 0.5, "pass_pow_k": None, "flake_rate": None},
        "baseline": {"pass_at_k": 0.0, "pass_pow_k": 0.0, "flake_rate": 0.0},
    }


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        (("--min-score", 60), "min-score 60 (got 50)"),
        (("--min-bracket", "good"), "min-bracket Good (got Fair)"),
        (("--min-agreement", 0.5), "min-agreement 0.5 (got undefined)"),
        (("--max-drop", 10), "max-drop 10 (got 50)"),
    ],
)
def test_every_gate_is_held_against_the_pass_rate(bench: Bench, flags: tuple[object, ...], line: str) -> None:
    half = bench.says(("Do a.", "good"), ("old skill", "good"), "bad")
    assert line in bench.pipeline(*half, *flags, code=3).err


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
