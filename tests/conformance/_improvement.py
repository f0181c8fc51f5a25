"""The kinds of case of the task-suite evaluator."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import anyio.to_thread
import msgspec
from typer.testing import CliRunner

from deliberate import Session
from deliberate.cli._app import app
from deliberate.errors import SuiteError
from deliberate.library import Library, read_suite
from deliberate.suites import Bar, Order, calling, run_suite
from deliberate.suites.cache import cache_key, read_cached, write_cached
from deliberate.suites.compare import pass_rate, ruling, skipped, task_result
from deliberate.suites.records import Attempted
from deliberate.suites.subjects import prompt_of
from tests.conformance._cases import Missing, Observed

__all__ = ["ADAPTERS"]

Input = Mapping[str, Any]


def written(folder: Path, *, prompt: str = "do it", judge: Input | None = None) -> Path:
    """A suite of one task in a file."""
    task = {"id": "t1", "description": "d", "prompt": prompt, "judge": judge or {"type": "contains", "expected": ["x"]}}
    path = folder / "S.yaml"
    path.write_text(json.dumps({"skill_id": "s", "version": "1.0", "tasks": [task]}), encoding="utf-8")
    return path


async def suite_load(given: Input, folder: Path) -> Observed:
    path = folder / "S.yaml"
    path.write_text(given["text"], encoding="utf-8")
    try:
        suite = read_suite(path).suite
    except SuiteError as error:
        return {"valid": False, "error": str(error), "error_count": len(error.faults)}
    return {"valid": True, "timeouts": [task.timeout_seconds for task in suite.tasks]}


async def tried(given: Input, folder: Path, said: list[Any], *, k: int = 1) -> Observed:
    """A task whose subject says what it is told to, one reply an attempt."""
    replies = iter(said)

    async def subject(skill: str, prompt: str) -> str:  # noqa: ARG001
        reply = next(replies)
        if isinstance(reply, Mapping):
            raise RuntimeError(reply["raise"])  # noqa: TRY004  what a case says
        return str(reply)

    order = Order(suite=read_suite(written(folder, judge=given["judge"])), subject=calling(subject), candidate="", k=k)
    library = Library(home=folder, workspace=folder)
    async with Session(
        ledger=":memory:", env={}, library=library, providers=order.subject.providers, trust_code=True
    ) as session:
        (result,) = (await run_suite(order, session)).trial.candidate or ()
    return {"passed": result.passed is True, "score": result.score, "attempts": len(result.attempts)}


async def contains_judge(given: Input, folder: Path) -> Observed:
    return await tried({"judge": {"type": "contains", "expected": given["expected"]}}, folder, said=[given["output"]])


async def pass_at_k(given: Input, folder: Path) -> Observed:
    k = {} if given["pass_k"] is None else {"k": given["pass_k"]}
    return await tried(given, folder, said=given["attempt_outputs"], **k)


async def pass_rate_of(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    return {"rate": pass_rate([bool(one) for one in given["passed"]])}


async def verdict(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    if "eval_threshold" in given:
        reason = skipped(given.get("candidate_score"), given["eval_threshold"])
        return {"verdict": "skipped" if reason else "", "reason": reason}
    found, reason = ruling(given["candidate"], given.get("baseline"), Bar())
    return {"verdict": found, "reason": reason}


_CHANGES = {
    "skill_text_changed": ("skill", "other"),
    "suite_text_changed": ("digests", {"": "other"}),
    "fixture_changed": ("digests", {"": "suite", "fixtures/t.py": "other"}),
    "model_changed": ("subject", "other"),
    "pass_k_changed": ("k", 2),
    "mock_changed": ("mock", True),
}


async def baseline_cache(given: Input, folder: Path) -> Observed:
    for name in given.keys() - {"age_hours", "corrupt", "no_cache_dir", *_CHANGES}:
        raise Missing(f"baseline_cache: {name}")
    before: dict[str, Any] = {
        "skill": "skill",
        "digests": {"": "suite"},
        "subject": "m/a",
        "judge": "",
        "k": 1,
        "samples": None,
        "mock": False,
    }
    after = {**before, **dict(change for name, change in _CHANGES.items() if given.get(name))}
    place = None if given.get("no_cache_dir") else folder / "cache"
    then = 1e9
    passed = task_result("t1", [Attempted(passed=True, score=1.0)], k=1)
    write_cached(place, cache_key(**before), [passed], now=then)
    if given.get("corrupt"):
        (folder / "cache" / f"{cache_key(**before)}.json").write_bytes(b"{")
    now = then + 3600.0 * given.get("age_hours", 0)
    return {"hit": read_cached(place, cache_key(**after), now=now) is not None}


async def cli_run(given: Input, folder: Path) -> Observed:
    if "probe" in given:
        return {"prompt": prompt_of(given["task_prompt"], given["skill_text"])}
    (folder / "SKILL.md").write_text("The old skill.", encoding="utf-8")
    candidates = [{"id": "c1", "score": 8, "content": "The new skill."}]
    ranking = {"run_id": "r1", "target": {"path": str(folder / "SKILL.md")}, "scored_candidates": candidates}
    (folder / "RANK").write_text(json.dumps(ranking), encoding="utf-8")
    places = {"S": written(folder), "R": folder / "R", "RANK": folder / "RANK", "O.json": folder / "O.json"}
    args = ["suite", *(str(places.get(one, one)) for one in given["args"])]
    done = await anyio.to_thread.run_sync(lambda: CliRunner().invoke(app, args, env={"DELIBERATE_HOME": str(folder)}))
    found = {"exit": done.exit_code, "exit_nonzero": done.exit_code != 0, "stderr": done.stderr}
    if done.exit_code:
        return found
    artifact = msgspec.json.decode(_artifact(folder).read_bytes())
    return {**found, **artifact, "artifact_path": Path(artifact["truth_anchor"]).relative_to(folder).as_posix()}


def _artifact(folder: Path) -> Path:
    return next(path for path in folder.rglob("*.json"))


ADAPTERS: Mapping[str, Callable[[Input, Path], Awaitable[Observed]]] = {
    "baseline_cache": baseline_cache,
    "cli_run": cli_run,
    "contains_judge": contains_judge,
    "pass_at_k": pass_at_k,
    "pass_rate": pass_rate_of,
    "suite_load": suite_load,
    "verdict": verdict,
}
