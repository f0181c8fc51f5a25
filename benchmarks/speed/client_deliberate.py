"""Ours, through its public stream: a panel of three over many cases, read as they finish.

``--option`` takes words: ``native`` (the default), ``litellm``, ``mixed`` (two seats native, one litellm) or
``scripted`` (no transport) for the path; ``bare`` for no ledger on disk and no log, ``quiet`` for no log (both are on
by default); ``single`` for one case at a time; ``uvloop`` for that event loop.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from benchmarks.speed.scenario import BRACKETS, CRITERIA, JUDGES, TASK, Meter, Scenario, main, output_of, vote_of

_PATHS = {
    "native": ("openai/{}", "openai/{}", "openai/{}"),
    "litellm": ("litellm/openai/{}", "litellm/openai/{}", "litellm/openai/{}"),
    "mixed": ("openai/{}", "openai/{}", "litellm/openai/{}"),
    "scripted": ("scripted/{}", "scripted/{}", "scripted/{}"),
}


def load() -> dict[str, str]:
    """Imports the library as a user does."""
    from deliberate import Case, Judge, Panel, Seat, Session  # noqa: F401  names are imported when first used

    return {"deliberate": _version("deliberate-eval"), "aiohttp": _version("aiohttp"), "litellm": _version("litellm")}


@asynccontextmanager
async def client(scenario: Scenario) -> AsyncIterator[Callable[[Iterable[int], Meter], Awaitable[None]]]:
    """A session for all cases."""
    from deliberate import Judge, Panel, Seat, Session

    words = set(scenario.option.split(",")) - {""}
    path = next((word for word in words if word in _PATHS), "native")
    seats = tuple(
        Seat(name=name, judge=Judge(model=model.format(name))) for name, model in zip(JUDGES, _PATHS[path], strict=True)
    )
    panel = Panel(seats=seats, rubric=None, criteria=CRITERIA)
    folder = Path(scenario.folder)
    bare = "bare" in words
    if not bare and "quiet" not in words:
        _log_to(folder / "log.jsonl")
    options: dict[str, Any] = {"providers": {"*": scripted()}} if path == "scripted" else {}
    async with Session(
        ledger=":memory:" if bare else folder / f"ledger-{os.getpid()}.db",
        api_base={"openai": scenario.address},
        env={"OPENAI_API_KEY": "none"},
        in_flight=scenario.in_flight,
        **options,
    ) as session:

        async def judge(numbers: Iterable[int], meter: Meter) -> None:
            if "single" in words:
                await _one_by_one(session, panel, _cases(numbers, scenario.size), meter)
                return
            async with session.stream(_cases(numbers, scenario.size), panel) as stream:
                async for case, evaluation in stream:
                    _count(case.id, evaluation.verdict, meter)

        yield judge


async def _one_by_one(session: Any, panel: Any, cases: Iterable[Any], meter: Meter) -> None:  # noqa: ANN401  of ours
    for case in cases:
        before = time.perf_counter()
        evaluation = await session.evaluate(case, panel)
        meter.took(time.perf_counter() - before)
        _count(case.id, evaluation.verdict, meter)


def _count(number: str, verdict: Any, meter: Meter) -> None:  # noqa: ANN401  of ours
    for vote in verdict.votes:
        meter.vote(int(number), vote.seat.name, vote.ballot.bracket)
    for _ in range(len(verdict.panel.seats) - len(verdict.votes)):
        meter.lost()


def _cases(numbers: Iterable[int], size: int) -> Iterator[Any]:
    from deliberate import Case

    for number in numbers:
        yield Case(id=str(number), task=TASK, output=output_of(number, size=size))


def _log_to(file: Path) -> None:
    """The library's log as a service keeps it: every event of level INFO, to a file."""
    handler = logging.FileHandler(file)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.getLogger("deliberate").addHandler(handler)
    logging.getLogger("deliberate").setLevel(logging.INFO)


def scripted() -> Any:  # noqa: ANN401  of ours
    """The stub's own votes without a network between."""
    from benchmarks.speed.scenario import MARK
    from benchmarks.speed.stub import vote_text
    from deliberate.providers._base import Response
    from deliberate.providers.scripted import Scripted
    from deliberate.types import Usage

    texts = [vote_text(bracket) for bracket in range(len(BRACKETS))]
    usage = Usage(calls=1, tokens_in=1200, tokens_out=200, cost_usd=0.0)

    def reply(request: Any) -> Response:  # noqa: ANN401  of ours
        text = request.messages[-1].content
        at = text.index(MARK) + len(MARK)
        bracket = vote_of(int(text[at : at + 6]), request.model.rpartition("/")[2])
        return Response(text=texts[bracket], model=request.model, usage=usage)

    return Scripted(reply)


def _version(name: str) -> str:
    from importlib.metadata import version

    return version(name)


if __name__ == "__main__":
    main(load, client)
