"""The doors of a session: opened together, closed together, found wrong before anything is asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import msgspec

from deliberate.engine._calibrated import CalibratedJudges
from deliberate.engine._providers import Providers
from deliberate.engine._settings import settings_of
from deliberate.judging import JudgeActors, Purse
from deliberate.ledger import Ledger, default_path, open_ledger
from deliberate.library import Calibrated, Library, read_calibrations
from deliberate.providers._base import Provider
from deliberate.providers.recorded import Recorded
from deliberate.runtime import Runtime, Steps, task_group
from deliberate.sandbox import SandboxRunner
from deliberate.types import Event, Record

__all__ = ["Doors", "Opening", "ledger_path", "open_doors"]


class Opening(Record, frozen=True, kw_only=True):
    """What a session is opened with; its arguments of the same names say what each is."""

    env: Mapping[str, str]
    ledger_path: str | Path
    purse: Purse
    deadline_seconds: float | None
    call_seconds: float
    in_flight: int | None
    requests_per_minute: int | None
    tokens_per_minute: int | None
    sandbox: SandboxRunner
    replay: str | Path | None
    record: str | Path | None
    given: Mapping[str, Provider]
    library: Library
    api_base: Mapping[str, str]
    require_calibration: bool = False


class Doors(Record, frozen=True, kw_only=True):
    """What is there only while the session is open; ``calibrated`` is None where no calibration is required."""

    runtime: Runtime
    ledger: Ledger
    providers: Providers
    judges: JudgeActors
    calibrated: tuple[Calibrated, ...] | None = None


@asynccontextmanager
async def open_doors(
    opening: Opening, *, fresh: bool | str, emit: Callable[[Event], None], model: Callable[[], str]
) -> AsyncGenerator[Doors]:
    """Ledger, providers and judges, for as long as the block lasts.

    Args:
        opening: What the operator said.
        fresh: Whether to ask anew what the ledger holds (``open_ledger``).
        emit: Told of everything that happens.
        model: The model that evaluators without one of their own ask.

    Raises:
        ConfigError: Something the operator said is wrong.
        LedgerError: The ledger cannot be used. On leaving: something could not be written.
    """
    calibrated = read_calibrations(opening.library.home) if opening.require_calibration else None
    async with open_ledger(opening.ledger_path, fresh=fresh) as ledger:
        providers = await _providers(opening)
        try:
            async with task_group() as tasks:
                steps = Steps(ledger)
                judges = JudgeActors(
                    tasks=tasks,
                    provider=providers.of,
                    ledger=ledger,
                    steps=steps,
                    secret=ledger.secret,
                    purse=opening.purse,
                    most_in_flight=opening.in_flight,
                    requests_per_minute=opening.requests_per_minute,
                    tokens_per_minute=opening.tokens_per_minute,
                )
                seconds = opening.deadline_seconds
                runtime = Runtime(
                    judges=judges if calibrated is None else CalibratedJudges(judges, calibrated),
                    ledger=ledger,
                    library=opening.library,
                    sandbox=opening.sandbox,
                    steps=steps,
                    emit=emit,
                    default_judge=model,
                    call_seconds=opening.call_seconds,
                    ends=None if seconds is None else anyio.current_time() + seconds,
                )
                try:
                    yield Doors(
                        runtime=runtime, ledger=ledger, providers=providers, judges=judges, calibrated=calibrated
                    )
                finally:
                    judges.close()
        finally:
            await providers.aclose()


def ledger_path(ledger: str | Path | None, env: Mapping[str, str], *, replaying: bool) -> str | Path:
    """Where the record lies: a replay leaves no trace unless it is told where."""
    if ledger is not None:
        return ledger
    return ":memory:" if replaying else default_path(env)


async def _providers(opening: Opening) -> Providers:
    given = opening.given
    if opening.replay is not None:
        recorded = Recorded(opening.replay)
        await recorded.inputs()
        given = {"*": recorded}
    settings = settings_of(opening.env, api_base=opening.api_base, home=opening.library.home)
    if opening.in_flight is not None:
        settings = msgspec.structs.replace(settings, most_connections=opening.in_flight)
    wrap: Callable[[Provider], Provider] | None = None
    if opening.record is not None:
        sink = Recorded.sink(opening.record)
        wrap = lambda inner: Recorded.recording(inner, sink)  # noqa: E731  a function of one expression
    return Providers(settings, given=given, wrap=wrap)
