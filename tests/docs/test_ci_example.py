"""The workflow and the suite in ``examples/`` do what they say: each shell step is run, and the suite is tried."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

from deliberate.library import read_suite
from deliberate.library._yaml import load
from deliberate.suites import lint

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = ROOT / "examples" / "ci" / "deliberate.yml"
SKILL = ROOT / "examples" / "release-notes"


def steps() -> list[dict[str, Any]]:
    """The steps of the workflow's one job."""
    data = cast("dict[str, Any]", load(WORKFLOW.read_text(encoding="utf-8"), file=str(WORKFLOW)).data)
    return list(data["jobs"]["review"]["steps"])


def shell(name: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A step's script as a workflow runs it, in a checkout."""
    step = next(one for one in steps() if one.get("name") == name)
    if not (folder / "examples").exists():
        (folder / "examples").symlink_to(ROOT / "examples")
    program = folder / "bin" / "deliberate"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m deliberate "$@"\n')
    program.chmod(0o755)
    env = {
        **{name: value for name, value in os.environ.items() if name.startswith("COVERAGE")},
        **step.get("env", {}),
        "PATH": f"{program.parent}:{os.defpath}",
        "HOME": str(folder),
        "DELIBERATE_HOME": str(folder / "home"),
        "GITHUB_ACTIONS": "true",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }
    return subprocess.run(
        ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_suite_step_passes_and_its_summary_is_written(tmp_path: Path) -> None:
    done = shell("Suite", tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "suite.json").read_text())["verdict"] == "pass"
    assert "release-notes" in (tmp_path / "summary.md").read_text()
    assert (tmp_path / "suite.junit.xml").read_text().count("<testcase") >= 1
    begins, ends = (done.stderr.index(mark) for mark in ("::stop-commands::", "RESULT"))
    assert begins < ends, "what is said is fenced"
    assert "\n::notice title=release-notes::ok" in done.stderr


def test_the_review_step_writes_what_the_next_steps_upload(tmp_path: Path) -> None:
    done = shell("Review", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("review.html", "review.junit.xml", "review.sarif"):
        assert (tmp_path / name).stat().st_size
    assert done.stdout.startswith("::stop-commands::")
    token = done.stdout.splitlines()[0].removeprefix("::stop-commands::")
    assert f"\n::{token}::\n" in done.stdout


def test_every_step_either_runs_here_or_is_somebody_elses() -> None:
    assert {one["name"] for one in steps() if "run" in one} == {"Install", "Review", "Suite"}


def test_the_linter_of_workflows_has_nothing_to_say(tmp_path: Path) -> None:
    broken = tmp_path / "broken.yml"
    broken.write_text(WORKFLOW.read_text(encoding="utf-8").replace("runs-on:", "runs-in:"), encoding="utf-8")
    assert "runs-in" in linted(broken), "it would be told"
    assert linted(WORKFLOW) == ""


def linted(workflow: Path) -> str:
    """What ``actionlint`` says of a workflow."""
    program = Path(sys.executable).with_name("actionlint")
    words = [str(program), "-no-color", "-shellcheck=", "-pyflakes=", "-oneline", str(workflow)]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


def test_the_suite_has_at_least_seven_tasks_and_nothing_that_weakens_it() -> None:
    suite = read_suite(SKILL / "task_suite.yaml").suite
    assert len(suite.tasks) >= 7
    assert {task.judge.type for task in suite.tasks} == {"contains", "pytest", "llm_rubric"}
    assert not lint(suite)


def test_the_ranking_holds_the_skill_beside_it() -> None:
    ranking = json.loads((SKILL / "ranking.json").read_text(encoding="utf-8"))
    assert ranking["scored_candidates"][0]["content"] == (SKILL / "SKILL.md").read_text(encoding="utf-8")


def test_the_page_on_suites_shows_one_that_can_be_read(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "suites.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    path = tmp_path / "task_suite.yaml"
    path.write_text(text, encoding="utf-8")
    suite = read_suite(path).suite
    assert [task.judge.type for task in suite.tasks] == ["contains", "pytest", "llm_rubric"]
    assert dict(suite.require) == {"max_drop": 10}
    flags = set(re.findall(r"--[a-z][a-z-]+", page)) - {"--junitxml"}
    known = "".join(subprocess.run(COMMAND, capture_output=True, text=True, check=True).stdout.split())
    assert not [flag for flag in flags if flag not in known]


COMMAND = (sys.executable, "-m", "deliberate", "suite", "--help")
