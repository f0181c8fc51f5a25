"""Small protocols to play with, and a sitting in one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from deliberate.protocols import BALLOT, conclude
from deliberate.types import (
    Answer,
    Ask,
    AskId,
    Ballot,
    Case,
    Close,
    Form,
    Heard,
    Judge,
    Key,
    Panel,
    Record,
    Reply,
    Rules,
    Seat,
    UndecidedWhy,
    Verdict,
    Wave,
    ask_id,
    bracket_named,
    midpoint,
)

CASE = Case(output="o", task="t")
RULES = Rules()


class Again(Record, frozen=True, kw_only=True):
    """All seats a number of times, each round seeing the one before."""

    name: ClassVar[str] = "again"
    version: ClassVar[int] = 1
    forms: ClassVar[tuple[Form, ...]] = (BALLOT,)

    rounds: int = 2

    def move(self, case: Case, panel: Panel, heard: Heard) -> Wave | Close:  # noqa: ARG002  the contract's
        """The next round, or the close over the last."""
        before: tuple[AskId, ...] = ()
        for number in range(self.rounds):
            asks = tuple(Ask(seat=seat.name, form="ballot", round=number, shows=before) for seat in panel.voters)
            before = tuple(ask_id(ask) for ask in asks)
            if not all(at in heard for at in before):
                return Wave(asks=asks, spend=panel.spend)
        return Close(counting=before, because=f"{self.rounds} rounds")

    def most_asks(self, panel: Panel) -> int:
        """Every seat in every round."""
        return self.rounds * len(panel.voters)


class Wrong(Record, frozen=True, kw_only=True):
    """Does not keep to what it declares."""

    name: ClassVar[str] = "wrong"
    version: ClassVar[int] = 1
    forms: ClassVar[tuple[Form, ...]] = (BALLOT,)

    way: str

    def move(self, case: Case, panel: Panel, heard: Heard) -> Wave | Close:  # noqa: ARG002  the contract's
        """Another wave, for ever."""
        seat = panel.voters[0].name
        ask = Ask(seat=seat, form="ballot", round=0 if self.way in ("repeats", "twice") else len(heard))
        return Wave(asks={"asks nobody": (), "twice": (ask, ask)}.get(self.way, (ask,)))

    def most_asks(self, panel: Panel) -> int:  # noqa: ARG002  the contract's
        """Three."""
        return 3


def panel(*names: str, weights: Mapping[str, float] | None = None, rules: Rules = RULES) -> Panel:
    """A panel of voters, each of a family of its own."""
    return Panel(
        seats=tuple(
            Seat(name=name, judge=Judge(model=f"local/{name}"), weight=(weights or {}).get(name, 1.0)) for name in names
        ),
        rules=rules,
    )


def ballot(word: str) -> Ballot:
    """A ballot by its bracket."""
    bracket = bracket_named(word)
    return Ballot(bracket=bracket, score=midpoint(bracket))


def replies(said: Mapping[str, Reply | str], *, turn: int = 0) -> dict[AskId, Reply]:
    """Ballots by seat; a word stands for a ballot."""
    return {
        AskId(f"{turn}.ballot..{seat}"): ballot(reply) if isinstance(reply, str) else reply
        for seat, reply in said.items()
    }


def verdict(
    said: Mapping[str, Reply | str],
    *,
    rules: Rules = RULES,
    sitting: Panel | None = None,
    stopped: UndecidedWhy | None = None,
    closed: bool = True,
    flags: tuple[str, ...] = (),
) -> Verdict:
    """A verdict over one round."""
    heard = replies(said)
    voting = sitting or panel(*said, rules=rules)
    return conclude(
        voting,
        asks=[Ask(seat=name, form="ballot") for name in said],
        answers={at: Answer(key=Key(at), reply=reply) for at, reply in heard.items()},
        close=Close(counting=tuple(AskId(f"0.ballot..{seat.name}") for seat in voting.voters), because="done")
        if closed
        else None,
        digests={"case": "c"},
        stopped=stopped,
        flags=flags,
    )
