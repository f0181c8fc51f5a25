"""A whole suite run in an open session: cache, baseline, candidate, outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

import anyio.to_thread

from deliberate.engine import Session
from deliberate.errors import ConfigError
from deliberate.library import LoadedSuite
from deliberate.suites.cache import cache_key, read_cached, write_cached
from deliberate.suites.compare import Bar, outcome_of
from deliberate.suites.judges import judge_of
from deliberate.suites.records import Outcome, Side, TaskResult, Trial
from deliberate.suites.subjects import Subject, lanes_of
from deliberate.suites.trial import Course, play
from deliberate.types import Record, digest_of

__all__ = ["Order", "Ran", "order_digest", "run_suite"]


class Order(Record, frozen=True, kw_only=True):
    """What is to be tried.

    Args:
        suite: The tasks.
        subject: Who does them.
        candidate: The text of the skill on trial.
        baseline: The text of the skill it must not fall behind; None: it is tried alone. "" is no skill at all.
        k: Attempts per task; the first that passes is the last.
        samples: Attempts per task that are all made, for the estimates; None stops at the first pass.
        bar: What the candidate must clear.
        mock: Whether judges that would open a door give a fixed passing score instead.
        judge: The model of judges that name none, as part of what a cached baseline hangs on.
        cache: The folder of cached baselines, or None.
        width: Tasks under way at once.
    """

    suite: LoadedSuite
    subject: Subject
    candidate: str
    baseline: str | None = None
    k: int = 1
    samples: int | None = None
    bar: Bar = Bar()
    mock: bool = False
    judge: str = ""
    cache: Path | None = None
    width: int = 8

    def __post_init__(self) -> None:
        """Checks the numbers.

        Raises:
            ConfigError: There would be no attempt, or fewer than k.
        """
        if self.k < 1:
            raise ConfigError(f"{self.k} attempts are none", where="--pass-k", expected="1 or more")
        if self.samples is not None and self.samples < self.k:
            what = f"{self.samples} samples do not tell about {self.k} attempts"
            raise ConfigError(what, where="--samples", expected="at least as many as --pass-k")


class Ran(Record, frozen=True, kw_only=True):
    """What came of an order; ``cached`` says that the baseline was measured before, ``run`` where it is on record."""

    outcome: Outcome
    trial: Trial
    cached: bool = False
    run: str = ""


def order_digest(order: Order) -> str:
    """Sha-256 of what an order is made of, by content."""
    return digest_of(["suite", _cache_key(order, order.candidate), order.baseline])


async def run_suite(order: Order, session: Session, *, now: Callable[[], float] = time.time) -> Ran:
    """The outcome of an order.

    Args:
        order: What is to be tried.
        session: Open, with the subject's providers.
        now: Seconds since 1970, for the age of what is cached.

    Raises:
        ConfigError: A judge or the subject is not to be had; nothing was spent.
        LedgerError: It cannot be written down.
    """
    document = order.suite.document
    tasks = tuple(
        (task, judge_of(task, mock=order.mock, where=document.where("tasks", at, "judge")))
        for at, task in enumerate(order.suite.suite.tasks)
    )
    plans = [evaluator for _, evaluator in tasks if evaluator is not None]
    runtime = await session.begin(order_digest(order), plans=plans, models=[order.subject.judge.model])
    cache = order.cache if order.subject.lasting else None
    key = "" if order.baseline is None else _cache_key(order, order.baseline)
    cached = await anyio.to_thread.run_sync(lambda: read_cached(cache, key, now=now())) if key else None
    skills: dict[Side, str] = {"candidate": order.candidate}
    if order.baseline is not None and cached is None:
        skills = {"baseline": order.baseline, **skills}
    if cached is not None and outcome_of(Trial(candidate=None, baseline=cached), order.bar).verdict == "error":
        skills = {}
    course = Course(
        tasks=tasks,
        folder=str(order.suite.folder),
        subject=order.subject,
        k=order.k,
        samples=order.samples,
        gated=order.bar.weak_baseline == "error",
        # Attempts at one task that follow each other share what a model in this process has read.
        width=min(order.width, lanes_of(order.subject) or order.width),
    )
    results = await play(course, skills, runtime=runtime)
    trial = _trial(results, cached)
    outcome = outcome_of(trial, order.bar)
    await session.end(runtime, "incomplete" if outcome.incomplete else "ok")
    if "baseline" in results and trial.baseline is not None:
        await anyio.to_thread.run_sync(lambda: write_cached(cache, key, trial.baseline or (), now=now()))
    return Ran(outcome=outcome, trial=trial, cached=cached is not None, run=runtime.run or "")


def _trial(results: Mapping[Side, tuple[TaskResult, ...]], cached: tuple[TaskResult, ...] | None) -> Trial:
    return Trial(candidate=results.get("candidate"), baseline=results.get("baseline") or cached)


def _cache_key(order: Order, skill: str) -> str:
    return cache_key(
        skill=skill,
        digests=order.suite.digests,
        subject=order.subject.judge,
        judge=order.judge,
        k=order.k,
        samples=order.samples,
        mock=order.mock,
    )
