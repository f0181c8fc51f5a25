"""A suite's outcome as an evaluation, so that gates and reports say the same of it as of everything else."""

from __future__ import annotations

from deliberate.suites.records import Outcome, TaskResult, Trial
from deliberate.suites.words import compared_text
from deliberate.types import Evaluation, Part, Scored, Unscored, Usage
from deliberate.types import Outcome as Scoring

__all__ = ["evaluation_of"]


def evaluation_of(trial: Trial, outcome: Outcome) -> Evaluation:
    """The candidate's pass rate as the score (0–100), its tasks as parts of equal weight."""
    rate = outcome.execution_pass_rate
    parts = tuple(Part(name=one.task_id, weight=1.0, evaluation=_task(one)) for one in trial.candidate or ())
    return Evaluation(
        evaluator="suite",
        outcome=Scored(score=100.0 * rate, raw=rate, scale="0..1") if rate is not None else _none(outcome),
        reason="; ".join(filter(None, (f"{outcome.verdict}: {outcome.reason}", compared_text(outcome, trial)))),
        parts=parts,
        details={"verdict": outcome.verdict, "baseline_pass_rate": outcome.baseline_pass_rate, "delta": outcome.delta},
        usage=sum((part.evaluation.usage for part in parts), Usage()),
    )


def _none(outcome: Outcome) -> Unscored:
    return Unscored(why="skipped" if outcome.verdict == "skipped" else "failed", detail=outcome.reason)


def _task(result: TaskResult) -> Evaluation:
    """One task: 100 if it passed, 0 if not, no score if it could not be measured."""
    told = result.attempts[-1].evaluation if result.attempts else None
    scored: Scoring = Unscored(why="failed", detail=result.error)
    if result.passed is not None:
        scored = Scored(score=100.0 if result.passed else 0.0, raw=float(result.passed), scale="0..1")
    inner = () if told is None else (Part(name="judge", weight=0.0, evaluation=told),)
    return Evaluation(
        evaluator="task",
        outcome=scored,
        reason=result.error or ("" if told is None else told.reason),
        findings=() if told is None else told.findings,
        parts=inner,
        duration_seconds=result.duration_ms / 1000,
        usage=sum((one.usage for one in result.attempts), Usage()),
    )
