"""``suite``: does a skill make a subject do better? And ``suite lint``: what weakens a suite."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from deliberate.cli._exits import say
from deliberate.cli._gates import required_of, stated_in
from deliberate.cli._github import fenced, tell_workflow
from deliberate.cli._given import Given
from deliberate.cli._read import addresses
from deliberate.cli._table import print_json, print_lines
from deliberate.engine import Session
from deliberate.errors import ConfigError, LedgerError
from deliberate.gates import GateLine, Required, Result, result_of
from deliberate.library import Library, LoadedSuite, read_suite
from deliberate.reports import Imprint, checked, write
from deliberate.sandbox import SandboxRunner
from deliberate.suites import Bar, Order, Outcome, Ran, Subject, Trial, lint, mocked, modeled, run_suite, running
from deliberate.suites.artifact import artifact_of, candidate_of, headline, write_artifact
from deliberate.suites.compare import skipped
from deliberate.suites.evaluation import evaluation_of
from deliberate.suites.ranking import Candidate, read_ranking, read_skill
from deliberate.suites.run import order_digest
from deliberate.suites.subjects import MOCK
from deliberate.suites.trace import trace_of
from deliberate.suites.words import compared_text, estimates_text
from deliberate.types import Case

__all__ = ["suite", "suite_lint"]


class Asked(Given, frozen=True, kw_only=True):
    """The flags of ``suite``, as they were declared."""

    task_suite: Path | None
    state_root: Path | None
    input: Path | None
    candidate_id: str | None
    standalone: bool
    skill_path: Path | None
    baseline_skill: str | None
    mock: bool
    subject: str | None
    command: str | None
    judge: str | None
    temperature: float | None
    pass_k: int
    samples: int | None
    baseline_cache_dir: Path | None
    eval_threshold: float
    weak_baseline: str
    min_effect: float
    inconclusive: bool
    require_pass: bool
    max_drop: float | None
    output: Path | None


async def suite(**flags: Any) -> int:  # noqa: ANN401  as `_verbs` declares them
    """Tries a skill on its tasks, prints the figures, writes the artifact, and gives the exit code."""
    asked = Asked(**flags)
    _check(asked)
    if asked.task_suite is None or asked.state_root is None:
        raise ConfigError("always needed", where="--task-suite and --state-root", expected="a file and a folder")
    for path in asked.out or ():
        checked(path)
    loaded = read_suite(asked.task_suite)
    required = stated_in(loaded.suite.require, required_of(asked))
    candidate = _candidate(asked)
    _need_judge(asked, loaded)
    low = "" if asked.standalone else skipped(candidate.score, asked.eval_threshold)
    library = Library(workspace=Path.cwd())
    order = _order(asked, loaded, candidate)
    if low:
        ran = Ran(outcome=Outcome(verdict="skipped", reason=low), trial=Trial(candidate=None))
    else:
        ran = await _run(asked, order, library)
    path = _place(asked, order, candidate)
    told = {**_told(asked, order, candidate, ran), "trace": _trace(asked, order, candidate, ran)}
    artifact = artifact_of(ran.outcome, ran.trial, path=path, told=told, cached=ran.cached)
    write_artifact(path, artifact)
    return _tell(asked, ran, artifact, path, required)


async def suite_lint(*, task_suite: Path, as_json: bool) -> int:
    """Says what weakens a suite; exit 0 whatever it says, unless it cannot be read."""
    found = lint(read_suite(task_suite).suite)
    if as_json:
        print_json({"warnings": found})
    else:
        print_lines(*(f"{task_suite}: {one}" for one in found), *([] if found else [f"{task_suite}: nothing to say"]))
    return 0


def _check(asked: Asked) -> None:
    """Whether the flags go together."""
    pipeline = {"--input": asked.input, "--candidate-id": asked.candidate_id}
    given = [name for name, value in pipeline.items() if value is not None]
    if asked.standalone and given:
        raise ConfigError("belongs to pipeline mode", where=given[0], hint="leave it out, or --standalone")
    if not asked.standalone and len(given) < len(pipeline):
        missing = " and ".join(name for name in pipeline if name not in given)
        hint = "or try a skill alone: --standalone --skill-path SKILL.md"
        raise ConfigError(f"pipeline mode needs {missing}", where="suite", hint=hint)
    if not asked.standalone and asked.skill_path is not None:
        raise ConfigError("belongs to standalone mode", where="--skill-path", hint="--standalone beside it")
    who = [name for name in ("mock", "subject", "command") if getattr(asked, name)]
    if len(who) > 1:
        raise ConfigError(f"both --{who[0]} and --{who[1]} are given", where="suite", expected="one subject")
    if asked.weak_baseline not in {"error", "warn"}:
        raise ConfigError(f"{asked.weak_baseline!r}", where="--weak-baseline", expected="error or warn")
    if asked.replay is not None and asked.record is not None:
        raise ConfigError("nothing new can be heard in a replay", where="--record", hint="leave out --replay")


def _need_judge(asked: Asked, loaded: LoadedSuite) -> None:
    """Whether each task that asks a model says, or is told, which."""
    if asked.mock or asked.judge or os.environ.get("DELIBERATE_JUDGE"):
        return
    for at, task in enumerate(loaded.suite.tasks):
        if task.judge.type == "llm_rubric" and "model" not in task.judge.params:
            where = loaded.document.where("tasks", at, "judge")
            raise ConfigError("no model is named that would judge", where=where, hint="--judge MODEL, or model: in it")


def _candidate(asked: Asked) -> Candidate:
    if asked.input is not None:
        return read_ranking(asked.input, asked.candidate_id or "")
    skill = "" if asked.skill_path is None else read_skill(asked.skill_path, where="--skill-path")
    return Candidate(id="standalone", skill=skill, score=None)


def _baseline(asked: Asked, candidate: Candidate) -> str | None:
    """The text of the skill that the candidate must not fall behind; "" is a run without any skill."""
    if asked.standalone:
        return None
    if asked.baseline_skill is not None:
        return (
            "" if asked.baseline_skill == "none" else read_skill(Path(asked.baseline_skill), where="--baseline-skill")
        )
    if not candidate.target:
        hint = "--baseline-skill PATH, or none for a run without any skill"
        raise ConfigError("the ranking names no target.path to compare with", where=str(asked.input), hint=hint)
    beside = (asked.input or Path()).parent  # a relative path starts at the file that names it
    return read_skill(beside / candidate.target, where=f"{asked.input}: target.path")


def _subject(asked: Asked, loaded: LoadedSuite) -> Subject:
    if asked.mock:
        return mocked(loaded.suite.tasks)
    if asked.command is not None:
        return running(asked.command, sandbox=SandboxRunner(trust_code=True, tiers=()))  # they typed it
    model = asked.subject or os.environ.get("DELIBERATE_JUDGE", "")
    if not model:
        hint = "--subject MODEL, --command COMMAND, or --mock for a run without any model"
        raise ConfigError("there is nobody to do the tasks", where="--subject", hint=hint)
    return modeled(model, temperature=asked.temperature)


def _order(asked: Asked, loaded: LoadedSuite, candidate: Candidate) -> Order:
    return Order(
        suite=loaded,
        subject=_subject(asked, loaded),
        candidate=candidate.skill,
        baseline=_baseline(asked, candidate),
        k=asked.pass_k,
        samples=asked.samples,
        bar=Bar(min_effect=asked.min_effect, weak_baseline=asked.weak_baseline, inconclusive=asked.inconclusive),
        mock=asked.mock,
        judge=asked.judge or "",
        cache=asked.baseline_cache_dir,
        width=asked.in_flight or 8,
    )


async def _run(asked: Asked, order: Order, library: Library) -> Ran:
    asking = False
    session = Session(
        ledger=":memory:" if asked.mock and asked.ledger is None else asked.ledger,
        max_cost_usd=asked.max_cost,
        deadline_seconds=asked.deadline,
        in_flight=asked.in_flight or "auto",
        judge=MOCK if asked.mock else asked.judge,
        trust_code=asked.trust_code,
        replay=asked.replay,
        record=asked.record,
        fresh=asked.fresh,
        providers=order.subject.providers,
        library=library,
        api_base=addresses(asked.api_base),
        exclusive=True,
    )
    try:
        async with session:
            asking = True
            return await run_suite(order, session)
    except LedgerError as error:
        error.spent = error.spent or asking
        raise


_NO_PASS = GateLine(gate="require-pass", wanted="pass", got="fail", held=False)
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def _run_id(asked: Asked, order: Order, candidate: Candidate) -> str:
    """A name that can be a file's: the ranking's own, else one made of what was tried."""
    if candidate.run_id and not asked.standalone:
        return _UNSAFE.sub("-", candidate.run_id).strip(".-") or "run"
    mode = "standalone" if asked.standalone else "pipeline"
    skill = _UNSAFE.sub("-", order.suite.suite.skill_id).strip(".-") or "skill"
    return f"{mode}-{skill}-{order_digest(order)[:8]}"


def _place(asked: Asked, order: Order, candidate: Candidate) -> Path:
    """The artifact's file; that of another candidate of the same ranking is left alone."""
    if asked.output is not None:
        return asked.output
    folder = (asked.state_root or Path()) / "evaluations"
    own = folder / f"{_run_id(asked, order, candidate)}.json"
    if own.exists() and candidate_of(own) != candidate.id:
        return own.with_name(f"{own.stem}-{_UNSAFE.sub('-', candidate.id)}.json")
    return own


def _trace(asked: Asked, order: Order, candidate: Candidate, ran: Ran) -> str | None:
    """Writes what the candidate's author needs after a fail; where, or None. One of an earlier fail is taken away."""
    run_id = _run_id(asked, order, candidate)
    name = f"{run_id}-{_UNSAFE.sub('-', candidate.id)}.json"
    path = ((asked.state_root or Path()) / "traces" / name).absolute()
    if ran.outcome.verdict != "fail":
        write_artifact(path, None)
        return None
    told = {"run_id": run_id, "candidate_id": candidate.id, "skill_id": order.suite.suite.skill_id, "run": ran.run}
    write_artifact(path, trace_of(ran.outcome, ran.trial, order.suite.suite.tasks, told=told))
    return str(path)


def _told(asked: Asked, order: Order, candidate: Candidate, ran: Ran) -> dict[str, object]:
    return {
        "run_id": _run_id(asked, order, candidate),
        "run": ran.run,
        "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "mode": "standalone" if asked.standalone else "pipeline",
        "skill_id": order.suite.suite.skill_id,
        "candidate_id": candidate.id,
        "candidate_score": candidate.score,
        "candidate_score_scale": "0..10",
        "eval_threshold": asked.eval_threshold,
        "weak_baseline": asked.weak_baseline,
        "task_suite": str((asked.task_suite or Path()).absolute()),
        "suite_digests": dict(order.suite.digests),
        "subject": order.subject.judge.model,
        "mock": asked.mock,
        "pass_k": asked.pass_k,
        "samples": asked.samples,
        "target": {"path": str(asked.skill_path or "") if asked.standalone else candidate.target},
    }


def _tell(asked: Asked, ran: Ran, artifact: dict[str, Any], path: Path, required: Required) -> int:
    """Prints the figures and where the artifact lies, and gives the exit code."""
    outcome = ran.outcome
    evaluation = evaluation_of(ran.trial, outcome)
    rate = outcome.baseline_pass_rate
    result = _result(asked, ran, result_of(evaluation, required, baseline=None if rate is None else 100.0 * rate))
    figures = msgspec.json.encode(artifact if asked.as_json else headline(outcome)).decode()
    sys.stdout.write(figures + "\n")
    with fenced(sys.stderr):
        if asked.mock:
            say("MOCK        no model was asked: these figures measure nothing")
        for warning in outcome.warnings:
            say(f"WARNING     {warning}")
        say(f"SUITE       {outcome.verdict}: {outcome.reason}")
        for word, text in _figures(asked, ran):
            say(f"{word:<12}{text}")
        say(f"ARTIFACT    {path.absolute()}")
        if artifact["trace"]:
            say(f"TRACE       {artifact['trace']}")
        say(f"RESULT      {result.line}")
    told = Imprint(run=ran.run, result=result)
    for place in asked.out or ():
        write(evaluation, place, case=Case(output="", id=artifact["skill_id"]), imprint=told)
    if asked.github:
        tell_workflow(evaluation, title=artifact["skill_id"], imprint=told, where=str(path))
    return result.exit_code


def _figures(asked: Asked, ran: Ran) -> list[tuple[str, str]]:
    """What stands behind the verdict, where there is any of it."""
    cached = " · baseline measured before" if ran.cached else ""
    compared = compared_text(ran.outcome, ran.trial)
    several = asked.pass_k > 1 or asked.samples is not None  # of one attempt, the rate says it all
    estimates = estimates_text(ran.trial, asked.pass_k) if several else ""
    told = [("COMPARED", compared and compared + cached), ("ESTIMATES", estimates)]
    return [(word, text) for word, text in told if text]


def _result(asked: Asked, ran: Ran, gated: Result) -> Result:
    """The result of the gates, but for what a suite's own verdict says first."""
    outcome = ran.outcome
    if outcome.incomplete:
        return Result(status="incomplete", why=outcome.reason)
    if outcome.verdict in {"error", "inconclusive"}:
        return Result(status="no_verdict", why=f"{outcome.verdict}: {outcome.reason}")
    if outcome.verdict == "skipped":
        return Result(status="ok", why=outcome.reason)
    if outcome.verdict == "fail" and asked.require_pass and gated.status == "ok":
        return msgspec.structs.replace(gated, status="gate", gates=(*gated.gates, _NO_PASS))
    return gated
