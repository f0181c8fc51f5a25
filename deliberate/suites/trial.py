"""A suite on its way: the baseline first, then both sides in turn, under one limit.

Rules for whoever edits this file: the candidate is asked nothing before enough of the baseline has passed for the
suite to be worth it; from then on the two sides take turns, so that what changes at a provider meanwhile changes for
both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import anyio
import msgspec

from deliberate.evaluators import Evaluator
from deliberate.judging import key_of
from deliberate.runtime import Post, Runtime, task_group
from deliberate.suites.compare import LEAST_BASELINE, task_result
from deliberate.suites.judges import judged
from deliberate.suites.records import Attempted, Side, TaskResult
from deliberate.suites.subjects import FORM, Subject, prompt_of
from deliberate.types import Absent, Answer, Ask, Case, Note, Record, Seat, Task

__all__ = ["Course", "play"]

_OWN = frozenset({"refused", "truncated", "deadline", "unreadable"})
"""Absences that are the subject's own: the attempt failed. All others say nothing about it."""


class Course(Record, frozen=True, kw_only=True):
    """How the tasks of a suite are tried.

    Args:
        tasks: The tasks, each with its evaluator (None: a fixed passing score).
        folder: Where the suite lies.
        subject: Who does them.
        k: Attempts per task; the first that passes is the last.
        samples: Attempts per task that are all made, k at least; None stops at the first pass.
        gated: Whether the candidate waits until the baseline is known to be usable.
        width: Tasks under way at once.
    """

    tasks: tuple[tuple[Task, Evaluator | None], ...]
    folder: str
    subject: Subject
    k: int = 1
    samples: int | None = None
    gated: bool = True
    width: int = 8


async def play(
    course: Course, skills: Mapping[Side, str], *, runtime: Runtime
) -> Mapping[Side, tuple[TaskResult, ...]]:
    """The results of each side in the order of the tasks; a side that was not begun has none.

    Args:
        course: How.
        skills: The text of the skill of each side to be tried.
        runtime: The doors, with a run that was begun.

    Raises:
        ConfigError: An evaluator is set up wrongly.
        LedgerError: The record cannot be written.
    """
    desk = _Desk(len(course.tasks), tuple(side for side in ("baseline", "candidate") if side in skills), course.gated)
    found: dict[tuple[Side, int], TaskResult] = {}

    async def work() -> None:
        while (job := await desk.wait_next()) is not None:
            side, at = job
            task, evaluator = course.tasks[at]
            result = await _task(task, evaluator, course, skills[side], side=side, runtime=runtime)
            found[job] = result
            await desk.done(side, passed=result.passed is True)

    async with task_group() as tasks:
        for _ in range(min(course.width, len(course.tasks) * len(skills))):
            tasks.start_soon(work)
    return {
        side: tuple(found[side, at] for at in range(len(course.tasks)))
        for side in skills
        if all((side, at) in found for at in range(len(course.tasks)))
    }


class _Desk:
    """Hands out what is to be tried next."""

    def __init__(self, tasks: int, sides: Sequence[Side], gated: bool) -> None:  # noqa: FBT001  one caller
        self._jobs: list[tuple[Side, int]] = [(side, at) for at in range(tasks) for side in sides]
        self._least = math.ceil(LEAST_BASELINE * tasks)
        self._open = not gated or "baseline" not in sides
        self._left = tasks
        self._passed = 0
        self._changed = anyio.Condition()

    async def wait_next(self) -> tuple[Side, int] | None:
        """The next job; None if there is no more to be had."""
        async with self._changed:
            while self._jobs:
                job = next((one for one in self._jobs if self._open or one[0] == "baseline"), None)
                if job is not None:
                    self._jobs.remove(job)
                    return job
                if not self._left:
                    return None
                await self._changed.wait()
        return None

    async def done(self, side: Side, *, passed: bool) -> None:
        """One is done; the candidate may begin once enough of the baseline has passed."""
        async with self._changed:
            if side == "baseline":
                self._left -= 1
                self._passed += passed
                self._open = self._open or self._passed >= self._least
            self._changed.notify_all()


async def _task(
    task: Task, evaluator: Evaluator | None, course: Course, skill: str, *, side: Side, runtime: Runtime
) -> TaskResult:
    attempts: list[Attempted] = []
    for number in range(course.samples or course.k):
        attempts.append(await _attempt(task, evaluator, course, skill, at=(side, number), runtime=runtime))
        if attempts[-1].unasked or (course.samples is None and attempts[-1].passed):
            break
    return task_result(task.id, attempts, k=course.k)


async def _attempt(
    task: Task, evaluator: Evaluator | None, course: Course, skill: str, *, at: tuple[Side, int], runtime: Runtime
) -> Attempted:
    side, number = at
    post = _post(task, skill, course.subject, number, runtime=runtime)
    (answer,) = await runtime.judges.ask([post])
    if not isinstance(answer, Answer):
        raise TypeError(answer)  # only people answer later, and no subject is one
    reply = answer.reply
    absent = reply if isinstance(reply, Absent) and not answer.lasting else None
    runtime.ledger.place(f"{task.id}/{side}.{number + 1}", post.key, absent=absent, run=runtime.run)
    if isinstance(reply, Note):
        found = await judged(task, reply.text, evaluator, folder=course.folder, runtime=runtime)
    else:
        found = _missing(reply if isinstance(reply, Absent) else None, runtime)
    seconds = answer.latency_seconds + (0.0 if found.evaluation is None else found.evaluation.duration_seconds)
    return msgspec.structs.replace(found, duration_ms=round(1000 * seconds), usage=found.usage + answer.usage)


def _missing(absent: Absent | None, runtime: Runtime) -> Attempted:
    """An attempt without an output: failed where that is the subject's own doing, else not measured."""
    reason, detail = ("unreadable", "no text") if absent is None else (absent.reason, absent.detail)
    late = runtime.ends is not None and anyio.current_time() >= runtime.ends
    error = f"subject: {reason}: {detail}"
    if reason in _OWN and not (reason == "deadline" and late):
        return Attempted(passed=False, score=0.0, error=error)
    return Attempted(passed=None, score=None, error=error, unasked=reason == "budget" or late)


def _post(task: Task, skill: str, subject: Subject, number: int, *, runtime: Runtime) -> Post:
    case = Case(output="", task=task.prompt, id=task.id, context={"skill": skill})
    criteria = prompt_of(task.prompt, skill)
    ask = Ask(seat="subject", form=FORM.name)
    seat = Seat(name="subject", judge=subject.judge, sample=number)
    key = key_of(ask, seat=seat, case=case, rubric=None, form=FORM, protocol="suite@1", criteria=criteria)
    return Post(
        key=key,
        ask=ask,
        judge=subject.judge,
        sample=number,
        case=case,
        rubric=None,
        form=FORM,
        criteria=criteria,
        deadline_seconds=task.timeout_seconds,
        session_seconds=None if runtime.ends is None else max(0.001, runtime.ends - anyio.current_time()),
    )
