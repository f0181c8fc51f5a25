"""One case of a run, from its beginning to the commit that holds its result."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import anyio.to_thread
import msgspec
import structlog

from deliberate.engine._settings import LOCAL_PANEL
from deliberate.evaluators import Evaluator, assess
from deliberate.evaluators.deliberation import Deliberation
from deliberate.evaluators.similarity import Similarity
from deliberate.gates import INCOMPLETE, verdicts_of
from deliberate.judging import MOST_ATTEMPTS, key_of_case
from deliberate.runtime import Runtime
from deliberate.types import (
    Absent,
    BallotCast,
    Case,
    CaseFailed,
    CaseStarted,
    Evaluation,
    Event,
    Key,
    Part,
    Undecided,
    Unscored,
    digest_of,
)

__all__ = ["could_go_on", "digested", "evaluated", "is_incomplete"]

_LARGE_CHARACTERS = 500_000

_encode = msgspec.json.Encoder().encode  # made once: takes half the time of ``msgspec.json.encode``

_log: structlog.stdlib.BoundLogger = structlog.wrap_logger(
    logging.getLogger("deliberate"),
    wrapper_class=structlog.stdlib.BoundLogger,
    processors=[
        structlog.stdlib.filter_by_level,
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.render_to_log_kwargs,
    ],
    cache_logger_on_first_use=True,
)
"""Through the standard library, so that a program which configures nothing prints nothing."""


async def evaluated(
    evaluator: Evaluator,
    case: Case,
    *,
    runtime: Runtime,
    previous: Evaluation | None = None,
    again: bool = False,
    written: Callable[[Evaluation], Awaitable[None]] | None = None,
) -> Evaluation:
    """The evaluation of a case in the run of ``runtime``, after the commit that holds both.

    Args:
        evaluator: What judges.
        case: What is judged.
        runtime: The doors, with the run and when the case has to end.
        previous: What was said of an earlier iteration.
        again: Whether to go through it once more where a vote was lost by chance.
        written: Waits for that commit; None waits for whatever was put into the ledger.
    """
    await digested(case)
    name = case.id or case.digest[:8]
    ledger, run = runtime.ledger, runtime.run or ""
    bound = structlog.contextvars.bind_contextvars(run=run, case=name)
    try:
        runtime.emit(CaseStarted(case=name))
        asked = key_of_case(case)
        ledger.put(asked, "Case", _encode(case))
        ledger.place(f"{name}/case", asked, run=run)
        evaluation = await assess(evaluator, case, runtime=runtime, previous=previous)
        if again and _was_lost(evaluation):
            # One vote in tens of thousands fails five times by chance: in a run that many are asked.
            once = msgspec.structs.replace(runtime, emit=_told_once(runtime.emit))
            evaluation = await assess(evaluator, case, runtime=once, previous=previous)
        if case.reference is not None and _is_local(evaluator):
            evaluation = await _with_similarity(evaluation, case, runtime=runtime)
        key = Key(digest_of([run, name, evaluation.digest]))
        ledger.put(key, "Evaluation", _encode(evaluation))
        ledger.place(f"{name}/result", key, run=run)
        await (ledger.committed() if written is None else written(evaluation))
        if isinstance(evaluation.outcome, Unscored) and evaluation.outcome.why == "failed":
            runtime.emit(CaseFailed(case=name, detail=evaluation.outcome.detail))
        _log.info(
            "evaluated",
            evaluator=evaluation.evaluator,
            score=evaluation.score,
            seconds=evaluation.duration_seconds,
            calls=evaluation.usage.calls,
            cost_usd=evaluation.usage.cost_usd,
        )
    finally:
        structlog.contextvars.reset_contextvars(**bound)
    return evaluation


async def digested(case: Case) -> None:
    """Works the digest of a large case out in a thread: it is kept, and nobody else waits for it."""
    if len(case.output) > _LARGE_CHARACTERS:
        await anyio.to_thread.run_sync(getattr, case, "digest")


def could_go_on(evaluation: Evaluation) -> bool:
    """Whether asking again could bring more: a stop, or a ballot that did not come for a reason of ours."""
    absences = [
        answer.reply
        for verdict in verdicts_of(evaluation)
        for answer in verdict.answers.values()
        if isinstance(answer.reply, Absent)
    ]
    ours = any(not one.lasting and one.reason != "not_needed" for one in absences)
    return ours or is_incomplete(evaluation)


def is_incomplete(evaluation: Evaluation) -> bool:
    """Whether a panel of it was stopped before all was asked."""
    decisions = [verdict.decision for verdict in verdicts_of(evaluation)]
    return any(isinstance(one, Undecided) and one.why in INCOMPLETE for one in decisions)


def _is_local(evaluator: Evaluator) -> bool:
    return isinstance(evaluator, Deliberation) and evaluator.panel.name == LOCAL_PANEL


async def _with_similarity(evaluation: Evaluation, case: Case, *, runtime: Runtime) -> Evaluation:
    """The local panel's evaluation with a second signal beside it: reported, never counted.

    A static embedding sees what the model does not, and is blind to negation, so it may not move the score by itself.
    """
    beside = await assess(Similarity(by="embedding"), case, runtime=runtime)
    return msgspec.structs.replace(evaluation, parts=(Part(name="similarity", weight=0.0, evaluation=beside),))


def _was_lost(evaluation: Evaluation) -> bool:
    """Whether a vote did not come though it was tried as often as it may be, each time for a reason that passes."""
    return any(
        isinstance(answer.reply, Absent) and answer.reply.reason == "transport" and answer.attempts >= MOST_ATTEMPTS
        for verdict in verdicts_of(evaluation)
        for answer in verdict.answers.values()
    )


def _told_once(emit: Callable[[Event], None]) -> Callable[[Event], None]:
    """Passes on what is new when a case is gone through again: no vote that was told before."""

    def told(event: Event) -> None:
        if not isinstance(event, BallotCast) or not event.read_back:
            emit(event)

    return told
