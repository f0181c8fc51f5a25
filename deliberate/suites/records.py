"""What came of a suite: attempts, tasks, both sides, and the outcome."""

from __future__ import annotations

from typing import Literal

from deliberate.types import Evaluation, Record, Usage

__all__ = ["Attempted", "Comparison", "Outcome", "Ruling", "Side", "TaskResult", "Trial"]

Side = Literal["baseline", "candidate"]
Ruling = Literal["pass", "fail", "skipped", "error", "inconclusive"]
"""A suite's outcome; its JSON field is called ``verdict``."""


class Attempted(Record, frozen=True, kw_only=True):
    """One attempt at a task.

    ``passed`` and ``score`` (0–1) are None where nothing could be measured, and ``error`` says why. ``unasked`` says
    that budget or time was up before it could be asked. ``output`` is what the subject wrote.
    """

    passed: bool | None
    score: float | None
    duration_ms: int = 0
    error: str = ""
    unasked: bool = False
    output: str = ""
    usage: Usage = Usage()
    evaluation: Evaluation | None = None


class TaskResult(Record, frozen=True, kw_only=True):
    """What came of a task on one side.

    ``passed``, ``score`` (0–1) and ``duration_ms`` are those of the attempt that passed, else of the first with the
    highest score; None where none passed and one of the first k could not be measured. ``pass_at_k``, ``pass_pow_k``
    and ``flake_rate`` (0–1) are None where the attempts made do not tell.
    """

    task_id: str
    passed: bool | None
    score: float | None
    duration_ms: int
    error: str = ""
    pass_at_k: float | None = None
    pass_pow_k: float | None = None
    flake_rate: float | None = None
    attempts: tuple[Attempted, ...] = ()


class Comparison(Record, frozen=True, kw_only=True):
    """Both sides of a suite, task by task.

    ``delta`` and ``score_delta`` are candidate minus baseline, −1 to 1. ``gained`` and ``lost`` count the tasks that
    only the candidate, and only the baseline, passed; ``p_value`` is McNemar's, exact and two-sided.
    """

    delta: float
    score_delta: float | None
    gained: int
    lost: int
    p_value: float


class Trial(Record, frozen=True, kw_only=True):
    """The tasks of both sides as they came out; a side that was not tried is None."""

    candidate: tuple[TaskResult, ...] | None
    baseline: tuple[TaskResult, ...] | None = None


class Outcome(Record, frozen=True, kw_only=True):
    """How a suite ended: rates 0–1, None where they do not exist; ``incomplete`` if going on would ask more."""

    verdict: Ruling
    reason: str
    execution_pass_rate: float | None = None
    baseline_pass_rate: float | None = None
    comparison: Comparison | None = None
    warnings: tuple[str, ...] = ()
    incomplete: bool = False

    @property
    def delta(self) -> float | None:
        """Candidate minus baseline, as it was compared: not rounded."""
        return None if self.comparison is None else self.comparison.delta
