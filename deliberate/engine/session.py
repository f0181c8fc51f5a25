"""A session: it owns clients, limits, ledger and actors, and lends them to every evaluation.

Rules for whoever edits this: nothing outlives ``async with``; what is wrong with a plan is found before the first
paid call; an evaluation is given out only after the commit that holds it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Literal, NamedTuple, Self, TypedDict

import anyio
import anyio.to_thread
import msgspec
import structlog

from deliberate.engine._identity import identity_of, last_run, refuse_changed
from deliberate.engine._judged import panels_of
from deliberate.engine._providers import Providers
from deliberate.engine._settings import LOCAL_PANEL, default_judge, default_panel, settings_of
from deliberate.engine.estimate import Estimate, estimate_of
from deliberate.engine.stream import Stream
from deliberate.evaluators import Evaluator, assess, default_of, fingerprint_of, fitting, plan_of
from deliberate.evaluators.deliberation import Deliberation
from deliberate.evaluators.similarity import Similarity
from deliberate.gates import INCOMPLETE, verdicts_of
from deliberate.judging import MOST_ATTEMPTS, JudgeActors, Purse, UnderWay, key_of_case
from deliberate.ledger import Ledger, Run, default_path, open_ledger
from deliberate.library import Library
from deliberate.providers._base import Provider
from deliberate.providers.recorded import Recorded
from deliberate.runtime import Runtime, Steps, task_group
from deliberate.sandbox import SandboxRunner
from deliberate.types import (
    AUTO,
    Absent,
    BallotCast,
    Case,
    CaseStarted,
    Evaluation,
    Event,
    Judge,
    Key,
    Panel,
    Param,
    Part,
    Plan,
    RunEnded,
    RunStarted,
    Seat,
    Undecided,
    digest_of,
)

__all__ = ["Session", "SessionOptions"]

_log: structlog.stdlib.BoundLogger = structlog.wrap_logger(
    logging.getLogger("deliberate"),
    wrapper_class=structlog.stdlib.BoundLogger,
    processors=[
        structlog.stdlib.filter_by_level,
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.render_to_log_kwargs,
    ],
)
"""Through the standard library, so that a program which configures nothing prints nothing."""


_AUTO_IN_FLIGHT = 128
"""Half of what a limit that finds out may find."""


class SessionOptions(TypedDict, total=False):
    """The arguments of ``Session``, for functions that pass them on."""

    ledger: str | Path | None
    max_cost_usd: float | None
    deadline_seconds: float | None
    call_seconds: float
    case_seconds: float | None
    in_flight: int | Literal["auto"]
    requests_per_minute: int | None
    tokens_per_minute: int | None
    judge: str | Panel | None
    trust_code: bool
    replay: str | Path | None
    record: str | Path | None
    fresh: bool | str
    providers: Mapping[str, Provider] | None
    library: Library | None
    api_base: Mapping[str, str] | None
    env: Mapping[str, str] | None
    exclusive: bool
    source: str
    on_event: Callable[[Event], None] | None


class Session:
    """Everything that evaluations share, for as long as its ``async with`` lasts.

    Args:
        ledger: The file of the record, or ``":memory:"`` for one that is kept nowhere; None means the user's own.
        max_cost_usd: The most to spend; a call that could pass it is not made.
        deadline_seconds: How long the session may take.
        call_seconds: How long one call may take, all attempts together, from when it has a place at its provider.
        case_seconds: How long one case may take, waiting for places included.
        in_flight: Calls at once at one provider and key; ``auto`` finds out, from 8 up to 256.
        requests_per_minute: The most requests in any minute there.
        tokens_per_minute: The most tokens in any minute there, those that may come back included.
        judge: The model, or the panel, asked where none is named; None means what the environment names
            (``DELIBERATE_PANEL``, ``DELIBERATE_JUDGE``), else the local panel.
        trust_code: Whether code may run unprotected where no sandbox works, and by its own tool configuration.
        replay: A recording to answer from, instead of any model.
        record: A file that every reply is recorded in.
        fresh: Whether to ask anew what the ledger already holds; the ``fresh`` of an earlier ledger goes on with
            what was asked anew then.
        providers: Providers by prefix (``"*"`` = all) that take the place of ours.
        library: Where rubrics, cards and panels are found; None means home, workspace and the bundled ones.
        api_base: Addresses by prefix.
        env: The environment; None means the process's.
        exclusive: Whether to refuse to run beside another process that executes the same plan.
        source: What whoever repeats a run repeats, such as the path of its plan and of its cases. A run of many
            cases goes on with what the last one of its source asked, and never mixes what changed meanwhile.
        on_event: Told of everything that happens.

    Attributes:
        ledger_path: Where the record lies.

    Raises:
        ConfigError: On entering: something the operator said is wrong.
        LedgerError: On entering: the ledger cannot be used. On leaving: something could not be written.
    """

    def __init__(
        self,
        *,
        ledger: str | Path | None = None,
        max_cost_usd: float | None = None,
        deadline_seconds: float | None = None,
        call_seconds: float = 120.0,
        case_seconds: float | None = None,
        in_flight: int | Literal["auto"] = "auto",
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        judge: str | Panel | None = None,
        trust_code: bool = False,
        replay: str | Path | None = None,
        record: str | Path | None = None,
        fresh: bool | str = False,
        providers: Mapping[str, Provider] | None = None,
        library: Library | None = None,
        api_base: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
        exclusive: bool = False,
        source: str = "",
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        self._env = dict(os.environ if env is None else env)
        self.ledger_path = _ledger_path(ledger, self._env, replaying=replay is not None)
        self._purse = Purse(max_cost_usd)
        self._deadline_seconds = deadline_seconds
        self._call_seconds = call_seconds
        self._case_seconds = case_seconds
        self._per_minute = (requests_per_minute, tokens_per_minute)
        self._in_flight = None if in_flight == "auto" else in_flight
        self._judge = judge
        self._sandbox = SandboxRunner(trust_code=trust_code)
        self._replay = replay
        self._record = record
        self._fresh = fresh
        self._given = dict(providers or {})
        self._library = Library() if library is None else library
        self._api_base = dict(api_base or {})
        self._exclusive = exclusive
        self._on_event = on_event
        self._source = source
        self._last: Run | None = None
        self._runs = 0
        self._stack = AsyncExitStack()
        self._open: _Open | None = None

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            ledger = await stack.enter_async_context(open_ledger(self.ledger_path, fresh=await self._token()))
            providers = await self._providers()
            stack.push_async_callback(providers.aclose)
            tasks = await stack.enter_async_context(task_group())
            steps = Steps(ledger)
            judges = JudgeActors(
                tasks=tasks,
                provider=providers.of,
                ledger=ledger,
                steps=steps,
                secret=ledger.secret,
                purse=self._purse,
                most_in_flight=self._in_flight,
                requests_per_minute=self._per_minute[0],
                tokens_per_minute=self._per_minute[1],
            )
            stack.callback(judges.close)
            ends = None if self._deadline_seconds is None else anyio.current_time() + self._deadline_seconds
            runtime = Runtime(
                judges=judges,
                ledger=ledger,
                library=self._library,
                sandbox=self._sandbox,
                steps=steps,
                emit=self._emit,
                judge=self._model(),
                call_seconds=self._call_seconds,
                ends=ends,
            )
            self._open = _Open(runtime, ledger, providers, judges)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = None
        await self._stack.__aexit__(kind, error, trace)

    @property
    def ledger(self) -> Ledger:
        """The open ledger."""
        return self._opened.ledger

    @property
    def spent_usd(self) -> float:
        """What was spent so far, where a budget was given."""
        return self._purse.spent

    @property
    def under_way(self) -> tuple[UnderWay, ...]:
        """The asks that are not answered yet, and what each waits for."""
        return self._opened.judges.under_way

    async def evaluate(
        self,
        case: Case,
        plan: Evaluator | Panel | Plan | None = None,
        *,
        previous: Evaluation | None = None,
    ) -> Evaluation:
        """The evaluation of one case, after the commit that holds it.

        Args:
            case: What is judged.
            plan: An evaluator, a panel or a plan; None means tests, static analysis and the session's judge by the
                rubric that fits the case.
            previous: What was said of an earlier iteration: what no change can have moved stands. The result says
                what was decided (``decision``), why (``revision``), and what to do next (``feedback``).

        Raises:
            ConfigError: The plan cannot be run as it is; nothing was spent.
            LedgerError: It cannot be written down.
        """
        evaluator = await self._checked(plan)
        await _digested(case)
        name = digest_of(["evaluate", fingerprint_of(evaluator), case.digest])
        run = await self._begun(name)
        status: Literal["ok", "incomplete", "interrupted"] = "interrupted"
        try:
            evaluation = await self._evaluated(case, evaluator, run=run, previous=previous)
            status = "incomplete" if _is_incomplete(evaluation) else "ok"
        finally:
            await self._opened.ledger.end(run, status)
            self._emit(RunEnded(run=run, status=status))
        return evaluation

    async def wind_down(self, seconds: float = 10.0) -> None:
        """No call begins from here on; those in flight get that long, and what they say is written down."""
        await self._opened.judges.wind_down(seconds)
        await self._opened.ledger.committed()

    async def begin(self, name: str, *, plans: Sequence[Evaluator] = (), models: Sequence[str] = ()) -> Runtime:
        """A run of work that is more than evaluations: the doors, with the run they are open for.

        Args:
            name: What the run is made from, as a digest; the same name goes on with what did not end well.
            plans: What will judge in it.
            models: Whom else it will ask.

        Raises:
            ConfigError: A judge, a document or a model is not to be had; nothing was spent.
            LedgerError: Another process executes that run, or it cannot be written down.
        """
        for plan in plans:
            await self._checked(plan)
        for model in models:
            self._opened.providers.of(model)
        run = await self._begun(name)
        return msgspec.structs.replace(self._opened.runtime, run=run)

    async def end(self, runtime: Runtime, status: Literal["ok", "incomplete", "interrupted"]) -> None:
        """Ends what ``begin`` began, after the commit of all it did."""
        run = runtime.run or ""
        await self._opened.ledger.committed()
        await self._opened.ledger.end(run, status)
        self._emit(RunEnded(run=run, status=status))

    def stream(
        self,
        cases: Iterable[Case] | AsyncIterable[Case],
        plan: Evaluator | Panel | Plan | None = None,
    ) -> Stream:
        """Evaluations of many cases as they finish: ``async with`` it, then ``async for case, evaluation``.

        Memory does not grow with the number of cases; leaving early cancels what is under way.

        Args:
            cases: What is judged; ids, where there are such, differ.
            plan: An evaluator, a panel or a plan; None means the session's judge.

        Entering raises ``ConfigError`` where the last run of the session's source did not end and was made of
        something else; it names what changed.
        """
        run = ""
        open_ended = False
        evaluator: Evaluator | None = None

        async def begin() -> str:
            nonlocal run, evaluator
            evaluator = await self._checked(plan)
            opened = self._opened
            identity = identity_of(evaluator, runtime=opened.runtime, library=self._library)
            refuse_changed(self._last, identity)
            config: dict[str, Param] = {"format": 1, "source": self._source, "identity": identity}
            config["fresh"] = opened.ledger.fresh
            run = await self._begun(digest_of(["stream", identity, self._source]), config)
            return run

        async def one(case: Case) -> Evaluation:
            if evaluator is None:
                msg = "a stream is open only within its 'async with'"
                raise RuntimeError(msg)
            nonlocal open_ended
            evaluation = await self._evaluated(case, evaluator, run=run, previous=None, emit=emit, again=True)
            open_ended = open_ended or _could_go_on(evaluation)
            return evaluation

        async def end(status: Literal["ok", "incomplete", "interrupted"]) -> None:
            ended = "incomplete" if status == "ok" and open_ended else status
            await self._opened.ledger.end(run, ended)
            self._emit(RunEnded(run=run, status=ended))

        def emit(event: Event) -> None:
            self._emit(event)
            stream.tell(event)

        stream = Stream(cases, begin=begin, evaluate=one, end=end, width=2 * (self._in_flight or _AUTO_IN_FLIGHT))
        return stream

    def evaluator_of(self, plan: Evaluator | Panel | Plan | None) -> Evaluator:
        """The evaluator a plan amounts to.

        Raises:
            ConfigError: A part does not fit, or nothing is named and there is no default.
        """
        if plan is None:
            return default_of(self._default())
        if isinstance(plan, Panel):
            return Deliberation(panel=plan)
        if isinstance(plan, Plan):
            return plan_of(plan, panel=self._library.panel)
        return plan

    def default_panel(self) -> Panel:
        """The panel that is asked when none is named, by the rubric that fits each case unless it names its own.

        Raises:
            ConfigError: There is none; the message names all the ways to name one.
        """
        return fitting(self._default())

    def panel_by(self, rubric: str) -> Panel:
        """The session's panel, to judge by that rubric.

        Raises:
            ConfigError: There is no such panel.
        """
        return msgspec.structs.replace(self._default(), rubric=rubric, criteria="")

    async def estimate(self, case: Case, plan: Evaluator | Panel | Plan | None = None) -> Estimate:
        """Calls, tokens and dollars that an evaluation of the case may take; nothing is asked."""
        evaluator = self.evaluator_of(plan)
        panels = tuple(panels_of(evaluator, runtime=self._opened.runtime))
        return await estimate_of(case, panels, library=self._library, provider=self._opened.providers.of)

    async def read_back(self, evaluation: Evaluation) -> tuple[str, ...]:
        """When each stored vote of an evaluation was cast: UTC, ISO 8601, oldest first."""
        found: list[str] = []
        for panel in verdicts_of(evaluation):
            for key in dict.fromkeys(answer.key for answer in panel.answers.values() if answer.lasting):
                attempts = await self._opened.ledger.reader.attempts(key)
                found += [attempt.at for attempt in attempts[-1:]]
        return tuple(sorted(found))

    @property
    def _opened(self) -> _Open:
        if self._open is None:
            msg = "a session is open only within its 'async with'"
            raise RuntimeError(msg)
        return self._open

    async def _providers(self) -> Providers:
        given: Mapping[str, Provider] = self._given
        if self._replay is not None:
            recorded = Recorded(self._replay)
            await recorded.inputs()
            given = {"*": recorded}
        settings = settings_of(self._env, api_base=self._api_base, home=self._library.home)
        wrap: Callable[[Provider], Provider] | None = None
        if self._record is not None:
            sink = Recorded.sink(self._record)
            wrap = lambda inner: Recorded.recording(inner, sink)  # noqa: E731
        return Providers(settings, given=given, wrap=wrap)

    async def _begun(self, name: str, config: Mapping[str, Param] | None = None) -> str:
        self._runs += 1
        if not self._exclusive:
            name = f"{name}.{os.getpid()}.{id(self):x}.{self._runs}"
        run = await self._opened.ledger.begin(name, config or {"format": 1})
        self._emit(RunStarted(run=run, plan_digest=name))
        return run

    async def _evaluated(
        self,
        case: Case,
        evaluator: Evaluator,
        *,
        run: str,
        previous: Evaluation | None,
        emit: Callable[[Event], None] | None = None,
        again: bool = False,
    ) -> Evaluation:
        opened = self._opened
        emit = emit or self._emit
        await _digested(case)
        name = case.id or case.digest[:8]
        with structlog.contextvars.bound_contextvars(run=run, case=name):
            emit(CaseStarted(case=name))
            runtime = msgspec.structs.replace(opened.runtime, run=run, emit=emit, ends=self._ends())
            asked = key_of_case(case)
            opened.ledger.put(asked, "Case", msgspec.json.encode(case))
            opened.ledger.place(f"{name}/case", asked, run=run)
            evaluation = await assess(evaluator, case, runtime=runtime, previous=previous)
            if again and _was_lost(evaluation):
                # One vote in tens of thousands fails five times by chance: in a run that many are asked.
                runtime = msgspec.structs.replace(runtime, emit=_told_once(emit))
                evaluation = await assess(evaluator, case, runtime=runtime, previous=previous)
            if case.reference is not None and _is_local(evaluator):
                evaluation = await _with_similarity(evaluation, case, runtime=runtime)
            body = msgspec.json.encode(evaluation)
            key = Key(digest_of([run, name, evaluation.digest]))
            opened.ledger.put(key, "Evaluation", body)
            opened.ledger.place(f"{name}/result", key, run=run)
            await opened.ledger.committed()
            _log.info(
                "evaluated",
                evaluator=evaluation.evaluator,
                score=evaluation.score,
                seconds=evaluation.duration_seconds,
                calls=evaluation.usage.calls,
                cost_usd=evaluation.usage.cost_usd,
            )
        return evaluation

    async def _token(self) -> bool | str:
        """What is asked anew: everything, or what the last run of the same source did."""
        if self._source and self._fresh is False:
            self._last = await last_run(str(self.ledger_path), self._source)
        token = "" if self._last is None else self._last.config.get("fresh")
        return token if isinstance(token, str) and token else self._fresh

    def _ends(self) -> float | None:
        """When a case that begins now has to end: with the session, or before."""
        ends = self._opened.runtime.ends
        if self._case_seconds is None:
            return ends
        own = anyio.current_time() + self._case_seconds
        return own if ends is None else min(own, ends)

    async def _checked(self, plan: Evaluator | Panel | Plan | None) -> Evaluator:
        """The evaluator of a plan, its documents read and its providers opened before anything is paid."""
        evaluator = await anyio.to_thread.run_sync(self.evaluator_of, plan)
        opened = self._opened
        for panel in panels_of(evaluator, runtime=opened.runtime):
            if panel.rubric not in (None, AUTO):
                # Read in a thread, and then at hand: the first document takes tens of milliseconds.
                await anyio.to_thread.run_sync(self._library.rubric, panel.rubric)
            for seat in panel.seats:
                if not seat.judge.human:
                    opened.providers.of(seat.judge.model)
        return evaluator

    def _default(self) -> Panel:
        if isinstance(self._judge, Panel):
            return self._judge
        if self._judge is not None:
            return Panel(name=self._judge, seats=(Seat(name="judge", judge=Judge(model=self._judge)),))
        return default_panel(self._env, self._library, home=self._library.home)

    def _model(self) -> str:
        if isinstance(self._judge, Panel):
            return self._judge.seats[0].judge.model
        return self._judge or default_judge(self._env, self._library, home=self._library.home)

    def _emit(self, event: Event) -> None:
        if self._on_event is not None:
            self._on_event(event)


_LARGE_CHARACTERS = 500_000


class _Open(NamedTuple):
    """What is there only while the session is open."""

    runtime: Runtime
    ledger: Ledger
    providers: Providers
    judges: JudgeActors


async def _digested(case: Case) -> None:
    """Works the digest of a large case out in a thread: it is kept, and nobody else waits for it."""
    if len(case.output) > _LARGE_CHARACTERS:
        await anyio.to_thread.run_sync(getattr, case, "digest")


def _ledger_path(ledger: str | Path | None, env: Mapping[str, str], *, replaying: bool) -> str | Path:
    """Where the record lies: a replay leaves no trace unless it is told where."""
    if ledger is not None:
        return ledger
    return ":memory:" if replaying else default_path(env)


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


def _could_go_on(evaluation: Evaluation) -> bool:
    """Whether asking again could bring more: a stop, or a ballot that did not come for a reason of ours."""
    absences = [
        answer.reply
        for verdict in verdicts_of(evaluation)
        for answer in verdict.answers.values()
        if isinstance(answer.reply, Absent)
    ]
    ours = any(not one.lasting and one.reason != "not_needed" for one in absences)
    return ours or _is_incomplete(evaluation)


def _is_incomplete(evaluation: Evaluation) -> bool:
    decisions = [verdict.decision for verdict in verdicts_of(evaluation)]
    return any(isinstance(one, Undecided) and one.why in INCOMPLETE for one in decisions)
