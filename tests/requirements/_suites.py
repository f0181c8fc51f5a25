"""A skill, a suite and a ranking on disk, and the command that tries them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from typer.testing import CliRunner

from deliberate.cli._app import app

__all__ = ["Bench", "Told", "contains", "task"]


class Told(NamedTuple):
    """What a run of ``suite`` gave back."""

    code: int
    out: str
    err: str

    @property
    def line(self) -> dict[str, Any]:
        """The one JSON line on standard output."""
        found: dict[str, Any] = msgspec.json.decode(self.out)
        return found

    @property
    def artifact(self) -> dict[str, Any]:
        """The artifact that standard error names."""
        path = next(line.split(maxsplit=1)[1] for line in self.err.splitlines() if line.startswith("ARTIFACT"))
        found: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
        return found


def contains(*expected: str) -> dict[str, Any]:
    """A judge that looks for words."""
    return {"type": "contains", "expected": list(expected)}


def task(name: str, judge: dict[str, Any] | None = None, **more: object) -> dict[str, Any]:
    """One task of a suite."""
    return {"id": name, "description": "d", "prompt": f"Do {name}.", "judge": judge or contains("good"), **more}


class Bench:
    """A folder with a suite, a skill and a ranking of candidates ``c1`` (8 of 10), ``c2`` (3) and ``c3`` (none)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.suite(task("a"), task("b"))
        (folder / "SKILL.md").write_text("The old skill.", encoding="utf-8")
        scored: list[dict[str, object]] = [{"id": "c1", "score": 8.0}, {"id": "c2", "score": 3.0}, {"id": "c3"}]
        ranking = {
            "run_id": "r1",
            "target": {"path": str(folder / "SKILL.md")},
            "scored_candidates": [{**one, "content": f"The new skill of {one['id']}."} for one in scored],
        }
        (folder / "rank.json").write_text(json.dumps(ranking), encoding="utf-8")

    def suite(self, *tasks: object, **more: object) -> Path:
        """Writes the suite; JSON is YAML."""
        path = self.folder / "suite.yaml"
        path.write_text(json.dumps({"skill_id": "s", "version": "1.0", "tasks": tasks, **more}), encoding="utf-8")
        return path

    def run(self, *args: object, code: int | None = 0) -> Told:
        """Runs ``deliberate suite`` in this process."""
        words = ["suite", "--task-suite", str(self.folder / "suite.yaml"), "--state-root", str(self.folder / "state")]
        words += [] if "--ledger" in args else ["--ledger", ":memory:"]
        env = {"DELIBERATE_HOME": str(self.folder / "home"), "DELIBERATE_JUDGE": "", "DELIBERATE_PANEL": ""}
        done = CliRunner().invoke(app, [*words, *map(str, args)], env=env)
        assert code is None or done.exit_code == code, done.stderr
        return Told(done.exit_code, done.stdout, done.stderr)

    def pipeline(self, *args: object, candidate: str = "c1", code: int | None = 0) -> Told:
        """The same in pipeline mode."""
        return self.run("--input", self.folder / "rank.json", "--candidate-id", candidate, *args, code=code)

    def alone(self, *args: object, code: int | None = 0) -> Told:
        """The same in standalone mode."""
        return self.run("--standalone", "--skill-path", self.folder / "SKILL.md", *args, code=code)

    def says(self, *lines: Sequence[str] | str) -> tuple[str, str]:
        """``--command`` with a subject: each line is (a word of the prompt, what is then said); the last, else."""
        script = 'p=$(cat); case "$p" in '
        for line in lines:
            word, said = ("", line) if isinstance(line, str) else line
            script += f'*"{word}"*) echo "{said}";; '
        return "--command", f"{script}esac"
