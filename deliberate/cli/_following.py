"""What a run of many cases shows while it lasts: a table on a terminal, a plain line now and then without one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import anyio
from rich.console import Group
from rich.table import Table
from rich.text import Text

from deliberate.cli._exits import say
from deliberate.judging import UnderWay
from deliberate.reports import Screen, Totals
from deliberate.types import BallotCast, CaseFailed, Event, ResultReached, RoundClosed, SeatAbsent, Usage

__all__ = ["Following"]

_BAR = 10
_LINE_SECONDS = 30.0
_FIRST = "0."
"""How the position of an ask of the first round begins."""


class Following:
    """Counts what happens in a run; ``every_line`` sees to a line each half minute.

    Args:
        totals: The run's numbers, kept by whoever takes its results.
        cases: How many there are.
        lines: Whether to say a line now and then.
        most_usd: The budget, if there is one.
    """

    def __init__(self, totals: Totals, *, cases: int, lines: bool, most_usd: float | None = None) -> None:
        self._totals = totals
        self._cases = cases
        self._lines = lines
        self._most_usd = most_usd
        self._began: float | None = None
        self._said = 0.0
        self._done: Counter[str] = Counter()  # cases on which a seat's first ballot is in, or will not come
        self._unread: Counter[str] = Counter()
        self._past: set[str] = set()  # open cases whose first round is over
        self._failed = 0
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
                self._done[event.seat] += event.at.startswith(_FIRST)
            case SeatAbsent():
                self._done[event.seat] += event.at.startswith(_FIRST)
                self._unread[event.seat] += event.state == "unread"
            case RoundClosed(round=0):
                self._past.add(event.case)
            case ResultReached():
                self._past.discard(event.case)
            case CaseFailed():
                self._failed += 1
                if self._lines:
                    say(f"case {event.case} failed: {event.detail}")
            case _:
                self.run = getattr(event, "run", self.run)

    def began(self) -> None:
        """The first case is about to be taken."""
        self._began = self._said = anyio.current_time()

    @property
    def seconds(self) -> float:
        """Since it began."""
        return 0.0 if self._began is None else anyio.current_time() - self._began

    def tell(self) -> None:
        """Says how far it is, if nothing was said for half a minute."""
        if self._lines and anyio.current_time() - self._said >= _LINE_SECONDS:
            self._said = anyio.current_time()
            say(f"run {self.run}: {', '.join(self._foot())}")

    def drawn(self, screen: Screen, under_way: Sequence[UnderWay]) -> Group:
        """The table as it is now: a row a judge, with how far it is and what it waits for."""
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for head in ("judge", "progress", "done", "agree", "unread", "tok/min", "cost", "state"):
            right = head in ("done", "agree", "unread", "tok/min", "cost")
            table.add_column(head, overflow="fold", justify="right" if right else "left")
        names = list(dict.fromkeys((*self._totals.seats, *self._done, *(one.seat for one in under_way))))
        first = {one.case for one in under_way} - self._past
        for name in names:
            busy = [one for one in under_way if one.seat == name]
            ahead = len(first.difference(one.case for one in busy))  # it has answered, another seat has not
            table.add_row(*self._row(screen, name, busy, ahead=ahead))
        return Group(table, Text(screen.signs.dot.join(self._foot()), "dim"))

    def _row(self, screen: Screen, name: str, busy: Sequence[UnderWay], *, ahead: int) -> list[Text]:
        seat = self._totals.seats.get(name)
        # Each seat at its own pace: a slow one does not hold back what is shown of a fast one.
        done = min(self._cases, self._done[name] + ahead)
        full = min(_BAR, done * _BAR // self._cases)
        bar = screen.signs.full * full + screen.signs.empty * (_BAR - full)
        agreement = None if seat is None else seat.agreement
        tokens = 0 if seat is None else seat.usage.tokens_in + seat.usage.tokens_out
        pace = tokens / max(1.0, self.seconds) * 60
        cost = None if seat is None else seat.usage.cost_usd
        return [
            screen.named(name),
            Text(bar),
            Text(f"{done}/{self._cases}"),
            Text(screen.signs.none if agreement is None else f"{agreement:.2f}"),
            Text(str(self._unread[name])),
            Text(f"{pace / 1000:.0f}k" if pace >= 1000 else f"{pace:.0f}"),  # noqa: PLR2004  a thousand
            Text("unknown" if seat is not None and cost is None else f"${cost or 0.0:.2f}"),
            self._state(screen, done, busy),
        ]

    def _state(self, screen: Screen, done: int, busy: Sequence[UnderWay]) -> Text:
        waiting = [one for one in busy if one.state == "waiting"]
        asked = sum(one.state == "asked" for one in busy)
        if waiting and not asked:
            first = min(waiting, key=lambda one: one.seconds)
            return screen.shown(f"waiting {first.seconds:.0f} s for {first.why}", "yellow")
        if busy:
            return Text(f"running {asked}, queued {len(busy) - asked}", "cyan")
        return Text("finished" if done >= self._cases else "idle", "dim")

    def _foot(self) -> list[str]:
        totals = self._totals
        spent = "cost unknown" if self.usage.cost_usd is None else f"${self.usage.cost_usd:.4f}"
        agreement = "agreement undefined" if totals.agreement is None else f"agreement {totals.agreement:.2f}"
        told = [f"{totals.judged} of {self._cases} cases", f"{self.votes} votes", agreement]
        if unread := self._unread.total():
            told.append(f"{unread} unread")
        if self._failed:
            told.append(f"{self._failed} failed")
        told.append(spent if self._most_usd is None else f"{spent} of ${self._most_usd:g}")
        if 0 < totals.judged < self._cases:
            left = self.seconds / totals.judged * (self._cases - totals.judged)
            told.append(f"about {_span(left)} left")
        return told


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
