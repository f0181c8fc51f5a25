"""What a failed candidate's author needs: the tasks it failed, why, and whether it had been better before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deliberate.suites.records import Outcome, TaskResult, Trial
from deliberate.types import Task

__all__ = ["trace_of"]


def trace_of(outcome: Outcome, trial: Trial, tasks: Sequence[Task], *, told: Mapping[str, object]) -> dict[str, Any]:
    """The trace of a fail as JSON says it.

    A task that the baseline passed is a ``regression``, any other is ``unsolved``; ``failed_category`` of the whole is
    ``regression`` if one of the tasks is.

    Args:
        outcome: How it ended.
        trial: The results of both sides.
        tasks: The tasks of the suite, in the order of the results.
        told: What else is to be said: run_id, candidate_id …
    """
    before = {one.task_id: one for one in trial.baseline or ()}
    failed = [
        _failed(task, result, before.get(task.id))
        for task, result in zip(tasks, trial.candidate or (), strict=True)
        if result.passed is False
    ]
    worse = any(one["category"] == "regression" for one in failed)
    return {
        "schema_version": "1.0",
        "stage": "evaluated",
        **told,
        "verdict": outcome.verdict,
        "reason": outcome.reason,
        "failed_category": "regression" if worse else "unsolved",
        "failed_tasks": failed,
    }


def _failed(task: Task, result: TaskResult, before: TaskResult | None) -> dict[str, Any]:
    passed_before = before is not None and before.passed is True
    return {
        "task_id": task.id,
        "category": "regression" if passed_before else "unsolved",
        "description": task.description,
        "prompt": task.prompt,
        "judge": task.judge.type,
        "score": result.score,
        "attempts": [
            {
                "output": one.output,
                "reason": one.error or ("" if one.evaluation is None else one.evaluation.reason),
            }
            for one in result.attempts
        ],
        "baseline_output": _passing(before) if before is not None and passed_before else None,
    }


def _passing(result: TaskResult) -> str:
    return next((one.output for one in result.attempts if one.passed), "")
