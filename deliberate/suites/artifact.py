"""The artifact of a suite run: what gates and orchestrators read.

Its fields stand flat, and once more under ``evaluation`` for readers of the older form.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from deliberate.errors import LedgerError
from deliberate.suites.records import Outcome, TaskResult, Trial
from deliberate.suites.words import estimates

__all__ = ["artifact_of", "candidate_of", "headline", "write_artifact", "write_whole"]

_STATUS = {"error": "failed", "skipped": "skipped"}


def headline(outcome: Outcome) -> dict[str, Any]:
    """The four figures that gates read."""
    return {
        "execution_pass_rate": outcome.execution_pass_rate,
        "baseline_pass_rate": outcome.baseline_pass_rate,
        "delta": outcome.delta,
        "verdict": outcome.verdict,
    }


def artifact_of(
    outcome: Outcome, trial: Trial, *, path: Path, told: Mapping[str, object], cached: bool = False
) -> dict[str, Any]:
    """The whole artifact as JSON says it.

    Args:
        outcome: How it ended.
        trial: The results of both sides.
        path: Where it will lie.
        told: What else is to be said of the run: run_id, candidate_id, task_suite, pass_k, subject, trace …
        cached: Whether the baseline was measured before, and so cost nothing now.
    """
    where = str(path.absolute())
    compared = outcome.comparison
    return {
        "schema_version": "1.0",
        "lane": "execution",
        "stage": "evaluated",
        "status": _STATUS.get(outcome.verdict, "success"),
        **told,
        **headline(outcome),
        "reason": outcome.reason,
        "warnings": list(outcome.warnings),
        "comparison": None if compared is None else msgspec.to_builtins(compared),
        "estimates": {"candidate": estimates(trial.candidate), "baseline": estimates(trial.baseline)},
        "evaluation": {**headline(outcome), "reason": outcome.reason},
        "candidate_results": _results(trial.candidate),
        "baseline_results": _results(trial.baseline),
        "baseline_cached": cached,
        "usage": _usage(trial.candidate, None if cached else trial.baseline),
        "next_step": {"pass": "gate", "fail": "generate"}.get(outcome.verdict, "review"),
        "next_owner": {"pass": "gate", "fail": "generator"}.get(outcome.verdict, "human"),
        "truth_anchor": where,
    }


def _results(side: Sequence[TaskResult] | None) -> list[dict[str, Any]]:
    return [_result(one) for one in side or ()]


def _result(result: TaskResult) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(result, attempts=()))
    found["attempts"] = [
        {
            "passed": one.passed,
            "score": one.score,
            "duration_ms": one.duration_ms,
            "error": one.error,
            "reason": "" if one.evaluation is None else one.evaluation.reason,
            "output": one.output,
            "usage": msgspec.to_builtins(one.usage),
        }
        for one in result.attempts
    ]
    return found


def _usage(*sides: Sequence[TaskResult] | None) -> dict[str, Any]:
    attempts = [one for side in sides for task in side or () for one in task.attempts]
    costs = [one.usage.cost_usd for one in attempts]
    return {
        "calls": sum(one.usage.calls for one in attempts),
        "tokens_in": sum(one.usage.tokens_in for one in attempts),
        "tokens_out": sum(one.usage.tokens_out for one in attempts),
        "cost_usd": None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs),
    }


class _Own(msgspec.Struct):
    candidate_id: str


def candidate_of(path: Path) -> str | None:
    """Whose artifact lies there; None if it is none."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Own).candidate_id
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def write_artifact(path: Path, artifact: Mapping[str, object] | None) -> None:
    """Writes it, whole or not at all; None takes away the one that may lie there.

    Raises:
        LedgerError: It cannot be written; what was heard is in the ledger, and the same command goes on from there.
    """
    try:
        if artifact is None:
            if path.exists():
                path.unlink()
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, msgspec.json.format(msgspec.json.encode(artifact), indent=2) + b"\n")
    except OSError as error:
        spent = LedgerError(
            f"{path} cannot be written: {error.strerror or error}",
            hint="what was heard is in the ledger: the same command goes on from there",
        )
        spent.spent = True
        raise spent from None


def write_whole(path: Path, data: bytes) -> None:
    """The old file or the new one, never half of one."""
    spare = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with spare.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        spare.replace(path)
    finally:
        spare.unlink(missing_ok=True)
