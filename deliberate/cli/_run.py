"""``run``: many cases through a plan or before a panel; run again, it goes on."""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import msgspec

from deliberate.cli._ask import (
    Asked,
    Limits,
    adjusted,
    as_planned,
    check,
    check_spend,
    estimate_text,
    import_modules,
    limits_of,
    required_of,
)
from deliberate.cli._exits import say
from deliberate.cli._following import Following
from deliberate.cli._live import following, shows_tables
from deliberate.cli._read import addresses, text_or_file
from deliberate.cli._result import baseline_mean
from deliberate.cli._results import Results, checked_results
from deliberate.cli._table import print_lines, print_rows
from deliberate.engine import Estimate, Session
from deliberate.errors import ConfigError, LedgerError
from deliberate.evaluators import Evaluator, own_evaluators, plan_of
from deliberate.gates import EXIT, INCOMPLETE, Required, Result, result_of_run
from deliberate.library import Library
from deliberate.library.cases import Columns, Survey, read_cases, survey
from deliberate.library.plans import LoadedPlan
from deliberate.reports import Totals, encode_line, score_text, why_without
from deliberate.runtime import task_group
from deliberate.types import AUTO, Case, Panel, Usage, digest_of

__all__ = ["run"]

_AT_ONCE = 64
_GRACE_SECONDS = 10.0


async def run(
    *,
    cases: Path | None,
    requests_per_minute: int | None,
    tokens_per_minute: int | None,
    case_seconds: float | None,
    call_seconds: float | None,
    **flags: Any,  # noqa: ANN401  those of `ask`, as `_app` declares them
) -> int:
    """Judges many cases, and gives the exit code."""
    asked = Asked(output="", reference=None, category=None, replay=flags.pop("replay"), record=None, **flags)
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
    source = await anyio.to_thread.run_sync(_Source.of, cases, loaded, text_or_file(asked.task, where="--task"))
    return await _Running(
        asked, source, loaded=loaded, library=library, limits=limits, required=required, own=own
    ).run()


class _Source:
    """Where the cases come from: walked over once before anything is paid, then read again."""

    def __init__(self, path: Path, *, columns: Columns, task: str, workspace: str, found: Survey) -> None:
        self.path = path
        self.found = found
        self._read = partial(read_cases, path, columns=columns, task=task, workspace=workspace)

    @classmethod
    def of(cls, given: Path | None, loaded: LoadedPlan | None, task: str) -> _Source:
        """The cases a flag names, else those of the plan."""
        stated: Mapping[str, Any] = {} if loaded is None else loaded.plan.cases
        columns = Columns(**{name: value for name, value in stated.items() if name != "from"})
        workspace = "" if loaded is None else str(loaded.folder)
        path = given
        if path is None:
            if loaded is None or "from" not in stated:
                where = "--cases" if loaded is None else loaded.where()
                hint = "give --cases FILE|FOLDER, or a plan with cases: {from: FILE}"
                raise ConfigError("there are no cases to run", where=where, hint=hint)
            path = loaded.folder / str(stated["from"])
        found = survey(path, columns=columns, task=task)
        return cls(path, columns=columns, task=task, workspace=workspace, found=found)

    def cases(self) -> Cases:
        """The cases from the first on."""
        return Cases(self._read())


class Cases:
    """Cases one at a time, read some at once on a thread; ``row`` tells whose turn each was."""

    def __init__(self, cases: Iterator[Case]) -> None:
        self._cases = cases
        self._ahead: list[Case] = []
        self._rows: dict[str, int] = {}
        self._taken = 0

    def row(self, case: Case) -> int:
        """The number of a case that was given out, from 1; asked once for each."""
        return self._rows.pop(case.id)

    def __aiter__(self) -> AsyncIterator[Case]:
        return self

    async def __anext__(self) -> Case:
        if not self._ahead:
            self._ahead = await anyio.to_thread.run_sync(lambda: list(islice(self._cases, _AT_ONCE)))
            self._ahead.reverse()
        if not self._ahead:
            raise StopAsyncIteration
        case = self._ahead.pop()
        self._taken += 1
        self._rows[case.id] = self._taken
        return case


class _Running:
    """One run: what it was told, and what came of it so far."""

    def __init__(
        self,
        asked: Asked,
        source: _Source,
        *,
        loaded: LoadedPlan | None,
        library: Library,
        limits: Limits,
        required: Required,
        own: Mapping[str, object],
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
        self._heard = Following(self._totals, cases=self._cases, lines=not self._tables)
        self._interrupted = False

    async def run(self) -> int:
        asked = self._asked
        session = Session(
            ledger=asked.ledger,
            max_cost_usd=asked.max_cost,
            deadline_seconds=asked.deadline,
            in_flight=asked.in_flight or "auto",
            trust_code=asked.trust_code,
            replay=asked.replay,
            fresh=asked.fresh,
            library=self._library,
            api_base=addresses(asked.api_base),
            exclusive=True,
            source=self._name(),
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
            self._print(estimate, None)
            return 0
        baseline = None if asked.baseline is None else await baseline_mean(session.ledger.reader, asked.baseline)
        with ExitStack() as files:
            results = [Results(path) for path in asked.out or ()]
            for one in results:
                files.callback(one.close)
            await self._judged(session, evaluator, estimate, results)
            spent = await session.ledger.reader.spent(self._heard.run)
            if self._interrupted:
                self._say_how_to_go_on()
                return EXIT["interrupted"]
            for one in results:
                await anyio.to_thread.run_sync(one.place)
        result = result_of_run(self._totals.facts(self._cases), self._required, baseline=baseline)
        self._print(estimate, spent, result)
        return result.exit_code

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
                {
                    "event": "launch",
                    "run": run,
                    "ledger": str(session.ledger_path),
                    "cases": self._cases,
                    "answers_kept": held,
                    "paid": paid,
                    "estimate": estimate,
                }
            )
        say(f"run {run}: {self._cases} cases, {estimate_text(estimate)}")
        if held:
            cost = "an unknown sum" if paid.cost_usd is None else f"${paid.cost_usd:.4f}"
            say(f"run {run} goes on: {held} answers are kept, {cost} already paid; --fresh starts anew")
        self._heard.began()

    def _print(self, estimate: Estimate, spent: Usage | None, result: Result | None = None) -> None:
        """The end of a run, or of a dry one: the estimate, beside it what it was."""
        if spent is None or result is None:
            if self._asked.as_json:
                self._line({"event": "dry_run", "cases": self._cases, "estimate": estimate})
            else:
                print_lines(f"{self._cases} cases: {estimate_text(estimate)}; nothing was asked")
            return
        facts = self._totals.facts(self._cases)
        brackets = {bracket.label.lower(): number for bracket, number in sorted(self._totals.brackets.items())}
        if self._asked.as_json:
            self._line(
                {
                    "event": "done",
                    "run": self._heard.run,
                    "status": result.status,
                    "why": result.why,
                    "exit_code": result.exit_code,
                    "gates": result.gates,
                    **msgspec.structs.asdict(facts),
                    "brackets": brackets,
                    "votes": dict(sorted(self._totals.states.items())),
                    "read_back": self._heard.read_back,
                    "judges": {
                        name: {"votes": dict(sorted(seat.states.items())), "agreement": seat.agreement}
                        for name, seat in sorted(self._totals.seats.items())
                    },
                    "usage": spent,
                    "estimate": estimate,
                }
            )
            return
        told = ", ".join(f"{name} {number}" for name, number in (brackets | dict(facts.without)).items())
        mean = "none" if facts.mean is None else f"{score_text(facts.mean)}/100"
        alpha = "undefined" if facts.agreement is None else f"{facts.agreement:.2f} (ordinal alpha)"
        print_rows(
            [
                ("run", self._heard.run),
                ("cases", f"{facts.judged} of {facts.cases} judged: {told or 'none'}"),
                ("score", f"{mean}, the mean of {facts.scored}"),
                ("agreement", alpha),
                ("votes", self._votes()),
                ("took", _took(estimate, spent)),
                ("RESULT", f"{result.line}{f' (exit {result.exit_code})' if result.exit_code else ''}"),
            ]
        )

    def _votes(self) -> str:
        states = ", ".join(f"{number} {name}" for name, number in sorted(self._totals.states.items()) if number)
        lost = [
            f"{name} {seat.states['failed']}"
            for name, seat in sorted(self._totals.seats.items())
            if seat.states["failed"]
        ]
        back = f"; {self._heard.read_back} read back" if self._heard.read_back else ""
        whose = f" ({', '.join(lost)})" if lost else ""
        return f"{states or 'none'}{whose}{back}"

    def _say_how_to_go_on(self) -> None:
        done = f"{self._totals.judged} of {self._cases} cases are judged, {self._heard.votes} votes are in the ledger"
        say(f"{EXIT['interrupted']} interrupted: {done}; the same command goes on with run {self._heard.run}")

    def _line(self, found: Mapping[str, object]) -> None:
        sys.stdout.write(encode_line(found).decode())
        sys.stdout.flush()

    def _name(self) -> str:
        """What is the same when the same command is run again, whatever the files say by then."""
        asked = self._asked
        plan = "" if asked.plan is None else str(asked.plan.absolute())
        judges = [asked.panel, asked.judge, asked.rubric, asked.criteria]
        return digest_of(["run", plan, str(self._source.path.absolute()), judges])

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


def _took(estimate: Estimate, spent: Usage) -> str:
    actual = "unknown" if spent.cost_usd is None else f"${spent.cost_usd:.4f}"
    expected = "unknown" if estimate.expected_usd is None else f"${estimate.expected_usd:.4f}"
    tokens = (
        f"{spent.tokens_in} tokens in, {spent.tokens_out} out (estimated {estimate.tokens_in}, {estimate.tokens_out})"
    )
    return (
        f"{spent.calls} calls (estimated {estimate.expected_calls:.0f}), {tokens}, cost {actual} (estimated {expected})"
    )
