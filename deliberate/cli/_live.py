"""A table that follows a panel at work, on a terminal, on standard error; it is gone when the result comes.

Where there is no terminal, or one that wants no codes, each vote is a line instead.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Protocol as Contract

import anyio
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from deliberate.cli._exits import say
from deliberate.judging import UnderWay
from deliberate.reports import Screen, score_text
from deliberate.runtime import task_group
from deliberate.types import BallotCast, DimensionScore, Event, RoundClosed, SeatAbsent, Usage

__all__ = ["Drawn", "Progress", "following", "shows_tables"]

_EVERY_SECONDS = 0.25
_MOST_ROWS = 24


def shows_tables() -> bool:
    """Whether standard error is a terminal that a table can be drawn on and drawn again."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")


class Progress:
    """Counts what happens while it happens; ``lines`` says it too, a line a vote."""

    def __init__(self, *, lines: bool = False) -> None:
        self._lines = lines
        self._seats: dict[tuple[str, str], BallotCast | SeatAbsent] = {}
        self._round = 1
        self.run = ""
        self.votes = 0
        self.read_back = 0
        self.usage = Usage()

    def __call__(self, event: Event) -> None:
        """Takes note of an event."""
        match event:
            case BallotCast():
                self.votes += 1
                self.read_back += event.read_back
                self.usage += Usage() if event.read_back else event.usage
                self._seats[event.case, event.seat] = event
                told = "  (read back)" if event.read_back else ""
                self._say(f"  {event.seat}: {event.bracket.label} {event.score:.0f}{told}")
            case SeatAbsent():
                self._seats[event.case, event.seat] = event
                self._say(f"  {event.seat}: {event.state} ({event.detail})")
            case RoundClosed():
                self._round = event.round + 2
            case _:
                self.run = getattr(event, "run", self.run)

    def drawn(self, screen: Screen, under_way: Sequence[UnderWay]) -> Group:
        """The table as it is now: a row a seat, with what it said or what it waits for."""
        busy = {(one.case, one.seat): one for one in under_way}
        names = list(dict.fromkeys((*self._seats, *busy)))
        dimensions = _dimensions(tuple(self._seats.values()))
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for head in ("seat", "bracket", "score", *dimensions, "state", "cost"):
            table.add_column(head, overflow="fold", justify="right" if head in ("score", *dimensions) else "left")
        for name in names[-_MOST_ROWS:]:
            vote, one = self._seats.get(name), busy.get(name)
            table.add_row(
                screen.named(name[1]), *_said(screen, vote, dimensions), _state(screen, vote, one), _cost(vote)
            )
        spent = "cost unknown" if self.usage.cost_usd is None else f"${self.usage.cost_usd:.4f}"
        foot = (f"round {self._round}", f"{self.votes} votes", f"{len(busy)} open", spent)
        return Group(table, Text(screen.signs.dot.join(foot), "dim"))

    def _say(self, text: str) -> None:
        if self._lines:
            say(text)


class Drawn(Contract):
    """What can be drawn as it is now."""

    def drawn(self, screen: Screen, under_way: Sequence[UnderWay]) -> Group:
        """The table as it is now."""
        ...


@asynccontextmanager
async def following(progress: Drawn, under_way: Callable[[], Sequence[UnderWay]]) -> AsyncGenerator[None]:
    """Draws the table, and draws it again four times a second, until the block ends."""
    console = Console(stderr=True, highlight=False)
    screen = Screen(console)
    with Live(
        console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as live:
        async with task_group() as tasks:

            async def draw() -> None:
                while True:
                    live.update(progress.drawn(screen, under_way()), refresh=True)
                    await anyio.sleep(_EVERY_SECONDS)

            tasks.start_soon(draw)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()


def _dimensions(votes: Sequence[BallotCast | SeatAbsent]) -> tuple[str, ...]:
    """The dimensions some seat judged several of: a lone one is the score itself."""
    several = [vote.dimensions for vote in votes if isinstance(vote, BallotCast) and len(vote.dimensions) > 1]
    return tuple(dict.fromkeys(one.dimension for each in several for one in each))


def _said(screen: Screen, vote: BallotCast | SeatAbsent | None, dimensions: Sequence[str]) -> list[Text]:
    if not isinstance(vote, BallotCast):
        return [Text("") for _ in range(2 + len(dimensions))]
    by_name: dict[str, DimensionScore] = {one.dimension: one for one in vote.dimensions}
    scores = [score_text(by_name[name].adjusted) if name in by_name else screen.signs.none for name in dimensions]
    return [screen.bracket(vote.bracket), Text(score_text(vote.score)), *(Text(score) for score in scores)]


def _state(screen: Screen, vote: BallotCast | SeatAbsent | None, one: UnderWay | None) -> Text:
    if one is not None and one.state == "waiting":
        return screen.shown(f"waiting {one.seconds:.0f} s for {one.why}", "yellow")
    if one is not None:
        return Text("running" if one.state == "asked" else "queued", "cyan")
    if isinstance(vote, SeatAbsent):
        return screen.named(f"{vote.state} ({vote.detail})", "red")
    return Text("read back" if vote is not None and vote.read_back else "voted", "dim")


def _cost(vote: BallotCast | SeatAbsent | None) -> Text:
    if not isinstance(vote, BallotCast):
        return Text("")
    return Text("unknown" if vote.usage.cost_usd is None else f"${vote.usage.cost_usd:.4f}")
