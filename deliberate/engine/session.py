"""A session: it owns clients, limits, ledger and actors, and lends them to every evaluation.

``_doors`` opens what it owns, ``_runs`` names and ends its runs, ``_evaluated`` takes one case to its commit. Rules
for whoever edits this: nothing outlives ``async with``; what is wrong with a plan is found before the first paid call;
an evaluation is given out only after the commit that holds it.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import anyio
import anyio.to_thread
import msgspec

from deliberate.engine._calibrated import refuse_uncalibrated
from deliberate.engine._doors import Doors, Opening, ledger_path, open_doors
from deliberate.engine._evaluated import could_go_on, digested, evaluated, is_incomplete
from deliberate.engine._identity import identity_of
from deliberate.engine._judged import code_of, make_ready, panels_of
from deliberate.engine._options import SessionOptions
from deliberate.engine._runs import Ended, Runs
from deliberate.engine._settings import default_judge, default_panel
from deliberate.engine.estimate import Code, Estimate, estimate_of
from deliberate.engine.stream import Stream
from deliberate.evaluators import Evaluator, default_of, fingerprint_of, fitting, plan_of
from deliberate.evaluators.deliberation import Deliberation
from deliberate.gates import verdicts_of
from deliberate.judging import Purse, UnderWay
from deliberate.ledger import Ledger
from deliberate.library import Library
from deliberate.providers._base import Provider
from deliberate.runtime import Runtime
from deliberate.sandbox import SandboxRunner
from deliberate.types import Case, Evaluation, Event, Panel, Plan, digest_of

__all__ = ["Session", "SessionOptions"]

_AUTO_IN_FLIGHT = 128
"""Half of what a limit that finds out may find."""


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
        require_calibration: Whether only judges count that were measured against people by the rubric they judge by,
            at the version of the model that answers.
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
        require_calibration: bool = False,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        self._env = dict(os.environ if env is None else env)
        self._library = Library() if library is None else library
        self._purse = Purse(max_cost_usd)
        self._case_seconds = case_seconds
        self._in_flight = None if in_flight == "auto" else in_flight
        self._judge = judge
        self._sandbox = SandboxRunner(trust_code=trust_code)
        self._on_event = on_event
        self._runs = Runs(self._emit, source=source, fresh=fresh, exclusive=exclusive)
        self._opening = Opening(
            env=self._env,
            ledger_path=ledger_path(ledger, self._env, replaying=replay is not None),
            purse=self._purse,
            deadline_seconds=deadline_seconds,
            call_seconds=call_seconds,
            in_flight=self._in_flight,
            requests_per_minute=requests_per_minute,
            tokens_per_minute=tokens_per_minute,
            sandbox=self._sandbox,
            replay=replay,
            record=record,
            given=dict(providers or {}),
            library=self._library,
            api_base=dict(api_base or {}),
            require_calibration=require_calibration,
        )
        self.ledger_path = self._opening.ledger_path
        self._stack = AsyncExitStack()
        self._open: Doors | None = None

    async def __aenter__(self) -> Self:
        fresh = await self._runs.token(self.ledger_path)
        async with AsyncExitStack() as stack:
            doors = open_doors(self._opening, fresh=fresh, emit=self._emit, model=cache(self._model))
            self._open = await stack.enter_async_context(doors)
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
        await digested(case)
        doors = self._opened
        run = await self._runs.begin(doors.ledger, digest_of(["evaluate", fingerprint_of(evaluator), case.digest]))
        status: Ended = "interrupted"

        async def written(evaluation: Evaluation) -> None:
            nonlocal status
            said: Ended = "incomplete" if is_incomplete(evaluation) else "ok"
            await doors.ledger.end(run, said)  # one wait for the disk: the result, and the end of its run
            status = said

        try:
            runtime = self._runtime(run)
            return await evaluated(evaluator, case, runtime=runtime, previous=previous, written=written)
        finally:
            await self._runs.end(doors.ledger, run, status)

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
        run = await self._runs.begin(self._opened.ledger, name)
        return msgspec.structs.replace(self._opened.runtime, run=run)

    async def end(self, runtime: Runtime, status: Ended) -> None:
        """Ends what ``begin`` began, after the commit of all it did."""
        await self._opened.ledger.committed()
        await self._runs.end(self._opened.ledger, runtime.run or "", status)

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
            doors = self._opened
            identity = identity_of(evaluator, runtime=doors.runtime, library=self._library)
            run = await self._runs.begin_many(doors.ledger, identity)
            return run

        async def one(case: Case) -> Evaluation:
            if evaluator is None:
                msg = "a stream is open only within its 'async with'"
                raise RuntimeError(msg)
            nonlocal open_ended
            evaluation = await evaluated(evaluator, case, runtime=self._runtime(run, emit=emit), again=True)
            open_ended = open_ended or could_go_on(evaluation)
            return evaluation

        async def end(status: Ended) -> None:
            await self._runs.end(self._opened.ledger, run, "incomplete" if status == "ok" and open_ended else status)

        def emit(event: Event) -> None:
            if self._on_event is not None:
                self._on_event(event)
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
        evaluator = await self._checked(plan)
        panels = tuple(panels_of(evaluator, runtime=self._opened.runtime))
        return await estimate_of(case, panels, library=self._library, provider=self._opened.providers.of)

    async def code(self, plan: Evaluator | Panel | Plan | None = None) -> tuple[Code, ...]:
        """The parts of a plan that run programs, in its order, with the sandbox of this machine; nothing is run."""
        found = tuple(code_of(self.evaluator_of(plan)))
        tier = await self._sandbox.tier() if found else None
        return tuple(Code(part=part, tier=tier, network=network) for part, network in found)

    async def read_back(self, evaluation: Evaluation) -> tuple[str, ...]:
        """When each stored vote of an evaluation was cast: UTC, ISO 8601, oldest first."""
        found: list[str] = []
        for panel in verdicts_of(evaluation):
            for key in dict.fromkeys(answer.key for answer in panel.answers.values() if answer.lasting):
                attempts = await self._opened.ledger.reader.attempts(key)
                found += [attempt.at for attempt in attempts[-1:]]
        return tuple(sorted(found))

    @property
    def _opened(self) -> Doors:
        if self._open is None:
            msg = "a session is open only within its 'async with'"
            raise RuntimeError(msg)
        return self._open

    def _runtime(self, run: str, *, emit: Callable[[Event], None] | None = None) -> Runtime:
        """The doors for a case that begins now: it has to end with the session, or before."""
        runtime = self._opened.runtime
        ends = runtime.ends
        if self._case_seconds is not None:
            own = anyio.current_time() + self._case_seconds
            ends = own if ends is None else min(own, ends)
        return msgspec.structs.replace(runtime, run=run, ends=ends, emit=emit or self._emit)

    async def _checked(self, plan: Evaluator | Panel | Plan | None) -> Evaluator:
        """The evaluator of a plan, its documents read and its providers opened before anything is paid."""
        reads = plan is None or isinstance(plan, Plan)  # documents, which are read in a thread
        evaluator = await anyio.to_thread.run_sync(self.evaluator_of, plan) if reads else self.evaluator_of(plan)
        await make_ready(
            evaluator, runtime=self._opened.runtime, library=self._library, opened=self._opened.providers.of
        )
        if self._opened.calibrated is not None:
            panels = panels_of(evaluator, runtime=self._opened.runtime)
            refuse_uncalibrated(panels, self._opened.calibrated, rubric=self._library.rubric)
        return evaluator

    def _default(self) -> Panel:
        return default_panel(self._judge, self._env, self._library)

    def _model(self) -> str:
        return default_judge(self._judge, self._env, self._library)

    def _emit(self, event: Event) -> None:
        if self._on_event is not None:
            self._on_event(event)
