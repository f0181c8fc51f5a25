"""What several protocols look at: who has voted what by now, and who is asked when votes tie."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import msgspec

from deliberate.tallies import decide
from deliberate.types import (
    Ask,
    AskId,
    Ballot,
    Bracket,
    Case,
    Close,
    Heard,
    Panel,
    Seat,
    Undecided,
    Wave,
)

__all__ = ["agreed", "ask_of", "brackets", "chair_asks", "closed", "in_order", "round_of", "standing", "where"]


def ask_of(panel: Panel, seat: Seat, *, round: int = 0, role: str = "", shows: Sequence[AskId] = ()) -> Ask:  # noqa: A002  the record's own word
    """The ask for a seat's vote."""
    return Ask(seat=seat.name, form=panel.form, round=round, role=role, shows=tuple(shows), dimensions=seat.dimensions)


def round_of(at: AskId) -> int:
    """The round an ask stands in."""
    return int(at.split(".", 1)[0])


def standing(panel: Panel, heard: Heard) -> Mapping[str, AskId]:
    """Each voting seat's last ballot, or its last ask if it never cast one, in seat order."""
    found: dict[str, AskId] = {}
    for seat in panel.voters:
        asks = [at for at in heard if where(at) == seat.name and f".{panel.form}." in at]
        ballots = [at for at in asks if isinstance(heard[at], Ballot)]
        if asks:
            found[seat.name] = max(ballots or asks, key=round_of)
    return found


def where(at: AskId) -> str:
    """The seat an ask was put to."""
    return at.rsplit(".", 1)[-1]


def brackets(heard: Heard, asks: Sequence[AskId]) -> Mapping[str, Bracket]:
    """The brackets voted in these asks, by seat."""
    return {where(at): reply.bracket for at in asks if isinstance(reply := heard[at], Ballot)}


def agreed(heard: Heard, asks: Sequence[AskId]) -> bool:
    """Whether all ballots among these asks name one bracket; none or one is agreement too."""
    return len(set(brackets(heard, asks).values())) <= 1


def in_order(panel: Panel, case: Case, asks: Sequence[AskId], *, round: int, seat: str) -> tuple[AskId, ...]:  # noqa: A002
    """Peers' asks in the order this seat sees them: by a digest of seed, case, round, seat and peer."""

    def place(at: AskId) -> str:
        return hashlib.sha256(f"{panel.seed}|{case.digest}|{round}|{seat}|{where(at)}".encode()).hexdigest()

    return tuple(sorted((at for at in asks if where(at) != seat), key=place))


def chair_asks(panel: Panel) -> int:
    """How many asks a tie may cost: one where the panel has a chair that can settle it."""
    return int(any(seat.duty == "chair" and _settles(panel, seat) for seat in panel.seats))


def closed(panel: Panel, heard: Heard, close: Close) -> Wave | Close:
    """The close; or, where the votes tie and a chair can settle it, the ask to the chair before it."""
    chairs = [seat for seat in panel.seats if seat.duty == "chair" and _settles(panel, seat)]
    if not chairs:
        return close
    shows = tuple(at for at in close.counting if isinstance(heard[at], Ballot))
    ask = ask_of(panel, chairs[0], round=1 + max(map(round_of, heard)), role="chair", shows=shows)
    if any(where(at) == ask.seat for at in heard):
        return close
    open_rules = msgspec.structs.replace(panel.rules, tie=("unresolved",))
    decision = decide(panel, heard, close, open_rules)
    tied = isinstance(decision, Undecided) and decision.why == "tied"
    return Wave(asks=(ask,)) if tied else close


def _settles(panel: Panel, seat: Seat) -> bool:
    return ("human" if seat.judge.human else "chair") in panel.rules.tie
