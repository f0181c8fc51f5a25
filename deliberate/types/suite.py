"""A task suite: what a skill is tried on."""

from __future__ import annotations

from collections.abc import Mapping

from deliberate.types._record import Record
from deliberate.types.case import Param, Spec

__all__ = ["Suite", "Task"]


class Task(Record, frozen=True, kw_only=True):
    """One task: ``prompt`` is what the subject is asked, ``judge`` the evaluator of what comes back.

    ``timeout_seconds`` is the total for one attempt of the subject's.
    """

    id: str
    prompt: str
    judge: Spec
    description: str = ""
    timeout_seconds: float = 300.0


class Suite(Record, frozen=True, kw_only=True):
    """The tasks that one skill is tried on, and what is required of the outcome (``gates.Required`` by its names)."""

    skill_id: str
    tasks: tuple[Task, ...]
    require: Mapping[str, Param] = {}
