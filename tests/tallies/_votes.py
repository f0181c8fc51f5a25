"""A panel and its ballots in one line."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from deliberate.tallies import decide
from deliberate.types import (
    Absent,
    AbsentReason,
    AskId,
    Ballot,
    Bracket,
    Close,
    Decided,
    Judge,
    Panel,
    Reply,
    Rules,
    Seat,
    Undecided,
    bracket_named,
    bracket_of,
    midpoint,
)

RULES = Rules()


def ballot(word: str | float) -> Ballot:
    """A ballot by its bracket (with its midpoint) or by its score."""
    if isinstance(word, str):
        bracket = bracket_named(word)
        return Ballot(bracket=bracket, score=midpoint(bracket))
    return Ballot(bracket=bracket_of(word), score=float(word))


def absent(reason: AbsentReason = "transport") -> Absent:
    """A ballot that did not come."""
    return Absent(reason=reason)


def at(seat: str, *, turn: int = 0) -> AskId:
    """Where a seat's ballot stands."""
    return AskId(f"{turn}.ballot..{seat}")


def seats(*names: str, families: Mapping[str, str] | None = None, weights: Mapping[str, float] | None = None) -> Panel:
    """A panel of voters, each of a family of its own unless said."""
    return Panel(
        seats=tuple(
            Seat(
                name=name,
                judge=Judge(model=f"local/{name}", family=(families or {}).get(name, name)),
                weight=(weights or {}).get(name, 1.0),
            )
            for name in names
        )
    )


def chaired(panel: Panel, *, human: bool = False, name: str = "chair") -> Panel:
    """The panel with a chair."""
    chair = Seat(name=name, judge=Judge(model=f"local/{name}", human=human), duty="chair")
    return msgspec.structs.replace(panel, seats=(*panel.seats, chair))


def verdict_of(
    replies: Mapping[str, Reply | str | float],
    rules: Rules = RULES,
    *,
    panel: Panel | None = None,
    also: Mapping[AskId, Reply] | None = None,
    close: Close | None = None,
) -> Decided | Undecided:
    """What a panel of these seats decides; a word or a number stands for a ballot."""
    heard = {
        at(seat): ballot(reply) if isinstance(reply, (str, int, float)) else reply for seat, reply in replies.items()
    }
    sitting = panel or seats(*replies)
    closing = close or Close(counting=tuple(at(seat.name) for seat in sitting.voters), because="done")
    return decide(sitting, {**heard, **(also or {})}, closing, rules)


def won(
    replies: Mapping[str, Reply | str | float], rules: Rules = RULES, *, panel: Panel | None = None
) -> Bracket | str:
    """The bracket a panel decides, or why there is none."""
    decision = verdict_of(replies, rules, panel=panel)
    return decision.bracket if isinstance(decision, Decided) else decision.why
