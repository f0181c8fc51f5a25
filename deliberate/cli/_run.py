"""``run``: many cases through a plan or before a panel; run again, it goes on."""

from __future__ import annotations

import io
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import msgspec

from deliberate.cli._asked import (
    Asked,
    Limits,
    adjusted,
    as_planned,
    check,
    check_spend,
    code_text,
    estimate_text,
    import_modules,
    limits_of,
    required_of,
)
from deliberate.cli._cases import Source
from deliberate.cli._exits import say
from deliberate.cli._following import Following
from deliberate.cli._github import fenced, tell
from deliberate.cli._live import following, shows_tables
from deliberate.cli._read import addresses, text_or_file
from deliberate.cli._result import baseline_mean
from deliberate.cli._results import Results, checked_results, placed
from deliberate.cli._table import print_lines, print_rows
from deliberate.engine import Code, Estimate, Session
from deliberate.errors import ConfigError, LedgerError
from deliberate.evaluators import Evaluator, own_evaluators, plan_of
from deliberate.gates import EXIT, INCOMPLETE, Required, result_of_run
from deliberate.library import Library
from deliberate.library.cases import ENDINGS
from deliberate.library.plans import LoadedPlan
from deliberate.reports import Totals, encode_line, result_command, why_without
from deliberate.reports.run_objects import CodeObject, DoneObject, DryRunObject, EstimateObject, LaunchObject
from deliberate.reports.runs import done_line, done_object, run_rows, usage_object
from deliberate.runtime import task_group
from deliberate.types import AUTO, Panel, Record, Usage, digest_of

__all__ = ["run"]

_GRACE_SECONDS = 10.0


async def run(
    *,
    cases: list[Path] | None,
    requests_per_minute: int | None,
    tokens_per_minute: int | None,
    case_seconds: float | None,
    call_seconds: float | None,
    **flags: Any,  # noqa: ANN401  those of `ask`, as `_verbs` declares them
) -> int:
    """Judges many cases, and gives the exit code."""
    asked = Asked(output="", reference=None, category=None, previous=None, **flags)
    if asked.plan is not None and asked.plan.suffix in ENDINGS:
        raise ConfigError("holds cases, not a plan", where=str(asked.plan), hint=f"deliberate run --cases {asked.plan}")
    check(asked)
    own = own_evaluators(import_modules(asked.modules or ()))
    library = Library(workspace=Path.cwd())
    loaded = None if asked.plan is None else library.plan(asked.plan, own=tuple(own))
    limits = limits_of(
        {
            "requests_per_minute": requests_per_minute,
            "tokens_per_minute": tokens_per_minute,
            "case_seconds": case_seconds,
            "call_seconds": call_seconds,
        }
    )
    if loaded is not None:
        asked, limits = as_planned(asked, loaded.plan), limits_of({**loaded.plan.limits, **limits})
    required = required_of(asked)
    for path in asked.out or ():
        checked_results(path)
    task = text_or_file(asked.task, where="--task")
    with ExitStack() as stack:
        spare = Path()
        if asked.github or Path("-") in (cases or ()):  # otherwise there is nothing to keep beside
            spare = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="deliberate-run-")))
        source = await anyio.to_thread.run_sync(lambda: Source.of(cases or (), loaded, task, spare=spare))
        running = _Running(
            asked, source, loaded=loaded, library=library, limits=limits, required=required, own=own, spare=spare
        )
        return await running.run()


class _Running:
    """One run: what it was told, and what came of it so far."""

    def __init__(
        self,
        asked: Asked,
        source: Source,
        *,
        loaded: LoadedPlan | None,
        library: Library,
        limits: Limits,
        required: Required,
        own: Mapping[str, object],
        spare: Path,
    ) -> None:
        self._asked = asked
        self._source = source
        self._loaded = loaded
        self._library = library
        self._required = required
        self._own = own
        self._limits = limits
        self._cases = source.found.cases
        self._tables = shows_tables() and not asked.as_json
        self._totals = Totals()
        self._heard = Following(self._totals, cases=self._cases, lines=not self._tables, most_usd=asked.max_cost)
        self._interrupted = False
        self._spare = spare

    async def run(self) -> int:
        asked = self._asked
        session = Session(
            ledger=asked.ledger,
            max_cost_usd=asked.max_cost,
            deadline_seconds=asked.deadline,
            in_flight=asked.in_flight or "auto",
            trust_code=asked.trust_code,
            replay=asked.replay,
            record=asked.record,
            fresh=asked.fresh,
            library=self._library,
            api_base=addresses(asked.api_base),
            exclusive=True,
            source=self._name(),
            require_calibration=asked.require_calibration,
            on_event=self._heard,
            **self._limits,
        )
        try:
            async with session:
                return await self._within(session)
        except LedgerError as error:
            error.spent = bool(self._heard.run)
            raise

    async def _within(self, session: Session) -> int:
        asked = self._asked
        evaluator = adjusted(session.evaluator_of(self._plan() or session.default_panel()), asked)
        check_spend(evaluator, asked)
        estimate = (await session.estimate(self._source.found.typical, evaluator)).times(self._cases)
        if asked.dry_run:
            self._print_dry(estimate, await session.code(evaluator))
            return 0
        baseline = None if asked.baseline is None else await baseline_mean(session.ledger.reader, asked.baseline)
        with ExitStack() as files:
            results = [Results(path) for path in (*(asked.out or ()), *self._for_workflow())]
            for one in results:
                files.callback(one.close)
            await self._judged(session, evaluator, estimate, results)
            done = done_object(
                self._totals,
                self._cases,
                result_of_run(self._totals.facts(self._cases), self._required, baseline=baseline),
                run=self._heard.run,
                usage=await session.ledger.reader.spent(self._heard.run),
                read_back=self._heard.read_back,
                estimate=_estimated(estimate),
                interrupted=self._interrupted,
            )
            self._print(done)
            if asked.record is not None and done.read_back:
                say(f"{done.read_back} votes were read back and are not recorded; --fresh asks them anew")
            if self._interrupted:
                self._say_how_to_go_on()
                return done.exit_code
            await self._placed(results, done, kept=session.ledger_path != ":memory:")
        return done.exit_code

    def _for_workflow(self) -> tuple[Path, ...]:
        """Where the summary of a step is put together."""
        return (self._spare / "summary.md",) if self._asked.github else ()

    async def _placed(self, results: Sequence[Results], done: DoneObject, *, kept: bool) -> None:
        """Puts the files where they belong, and tells the workflow.

        Raises:
            ReportError: One could not be written, after all others were.
        """
        at = f" --ledger {self._asked.ledger}" if self._asked.ledger is not None else ""
        again = f"deliberate show {done.run}{at}" if kept else ""
        asked = results[: len(self._asked.out or ())]
        error = await anyio.to_thread.run_sync(lambda: placed(asked, done, again=again))
        for summary in results[len(asked) :]:
            whole = io.BytesIO()
            await anyio.to_thread.run_sync(summary.copy, whole, done)
            where = str(asked[0].path) if asked else again or "the log"
            command = result_command(done.status, done_line(done), title=f"run {done.run}")
            tell(f"{command}\n", whole.getvalue().decode(), where=where, again=again)
        if error is not None:
            raise error

    async def _judged(
        self, session: Session, evaluator: Evaluator, estimate: Estimate, results: Sequence[Results]
    ) -> None:
        """Takes the results as they come, until there are no more, or it is told to stop."""
        async with task_group() as tasks:
            stopping = anyio.Event()
            self._interrupted = True  # until it comes to its end
            tasks.start_soon(_watching, stopping, tasks.cancel_scope)
            try:
                async with task_group() as work:
                    work.start_soon(self._winding_down, session, stopping, work.cancel_scope)
                    cases = self._source.cases()
                    async with session.stream(cases, evaluator) as stream:
                        await self._launch(session, stream.run, estimate)
                        live = following(self._heard, lambda: session.under_way) if self._tables else nullcontext()
                        async with live:
                            async for case, evaluation in stream:
                                self._totals.add(evaluation)
                                row = cases.row(case)
                                for one in results:
                                    one.add(row, case, evaluation, run=stream.run)
                                self._heard.tell()
                                if why_without(evaluation) in INCOMPLETE - {"waiting"}:
                                    stream.stop()  # the budget or the time is spent: the rest is for another time
                    self._interrupted = False
                    work.cancel_scope.cancel()
            finally:
                tasks.cancel_scope.cancel()

    async def _winding_down(self, session: Session, stopping: anyio.Event, work: anyio.CancelScope) -> None:
        await stopping.wait()
        say(f"stopping: calls in flight have {_GRACE_SECONDS:.0f} s to be answered; again stops at once")
        await session.wind_down(_GRACE_SECONDS)
        work.cancel()

    async def _launch(self, session: Session, run: str, estimate: Estimate) -> None:
        reader = session.ledger.reader
        held = await reader.held(run, kind="Answer")
        paid = await reader.spent(run) if held else Usage()
        if self._asked.as_json:
            self._line(
                LaunchObject(
                    event="launch",
                    run=run,
                    ledger=str(session.ledger_path),
                    cases=self._cases,
                    answers_kept=held,
                    paid=usage_object(paid),
                    estimate=_estimated(estimate),
                )
            )
        say(f"run {run}: {self._cases} cases, {estimate_text(estimate)}")
        if held:
            cost = "an unknown sum" if paid.cost_usd is None else f"${paid.cost_usd:.4f}"
            say(f"run {run} goes on: {held} answers are kept, {cost} already paid; --fresh starts anew")
        self._heard.began()

    def _print_dry(self, estimate: Estimate, code: Sequence[Code]) -> None:
        if self._asked.as_json:
            told = tuple(CodeObject(part=one.part, tier=one.tier, network=one.network) for one in code)
            self._line(DryRunObject(event="dry_run", cases=self._cases, estimate=_estimated(estimate), code=told))
        else:
            print_lines(f"{self._cases} cases: {estimate_text(estimate)}; nothing was asked", *code_text(code))

    def _print(self, done: DoneObject) -> None:
        """The end of a run: the estimate, beside it what it was."""
        if self._asked.as_json:
            self._line(done)
        elif not self._interrupted:
            with fenced(sys.stdout):
                print_rows(run_rows(done))

    def _say_how_to_go_on(self) -> None:
        done = f"{self._totals.judged} of {self._cases} cases are judged, {self._heard.votes} votes are in the ledger"
        say(f"{EXIT['interrupted']} interrupted: {done}; the same command goes on with run {self._heard.run}")

    def _line(self, found: Record) -> None:
        sys.stdout.write(encode_line(found).decode())
        sys.stdout.flush()

    def _name(self) -> str:
        """What is the same when the same command is run again, whatever the files say by then."""
        asked = self._asked
        plan = "" if asked.plan is None else str(asked.plan.absolute())
        judges = [asked.panel, asked.judge, asked.rubric, asked.criteria]
        # One path stands alone in it, as it always did: a run that began then goes on.
        names = self._source.names
        return digest_of(["run", plan, names[0] if len(names) == 1 else list(names), judges])

    def _plan(self) -> Evaluator | Panel | None:
        asked = self._asked
        if self._loaded is not None:
            loaded = self._loaded
            return plan_of(
                loaded.plan,
                panel=loaded.panel(self._library),
                where=loaded.where,
                folder=loaded.folder,
                own=self._own,
            )
        if asked.panel is not None:
            return self._library.panel(asked.panel, model=asked.judge[0] if asked.judge else None)
        return Panel.of(*asked.judge, rubric=AUTO) if asked.judge else None


async def _watching(stopping: anyio.Event, everything: anyio.CancelScope) -> None:
    """The first SIGINT or SIGTERM asks to stop, the second stops at once."""
    try:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for _ in signals:
                if stopping.is_set():
                    everything.cancel()
                    return
                stopping.set()
    except NotImplementedError:
        return  # no signals on this event loop (Windows): Ctrl-C then stops at once, and what was heard is kept


def _estimated(estimate: Estimate) -> EstimateObject:
    return EstimateObject(**msgspec.structs.asdict(estimate))
