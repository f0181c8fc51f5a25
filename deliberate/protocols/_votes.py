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
    form_at,
    round_at,
    seat_at,
)

__all__ = ["agreed", "ask_of", "brackets", "chair_asks", "closed", "in_order", "standing"]


def ask_of(panel: Panel, seat: Seat, *, round: int = 0, role: str = "", shows: Sequence[AskId] = ()) -> Ask:  # noqa: A002  the record's own word
    """The ask for a seat's vote."""
    return Ask(seat=seat.name, form=panel.form, round=round, role=role, shows=tuple(shows), dimensions=seat.dimensions)


def standing(panel: Panel, heard: Heard) -> Mapping[str, AskId]:
    """Each voting seat's last ballot, or its last ask if it never cast one, in seat order."""
    found: dict[str, AskId] = {}
    for seat in panel.voters:
        asks = [at for at in heard if seat_at(at) == seat.name and form_at(at) == panel.form]
        ballots = [at for at in asks if isinstance(heard[at], Ballot)]
        if asks:
            found[seat.name] = max(ballots or asks, key=round_at)
    return found


def brackets(heard: Heard, asks: Sequence[AskId]) -> Mapping[str, Bracket]:
    """The brackets voted in these asks, by seat."""
    return {seat_at(at): reply.bracket for at in asks if isinstance(reply := heard[at], Ballot)}


def agreed(heard: Heard, asks: Sequence[AskId]) -> bool:
    """Whether all ballots among these asks name one bracket; none or one is agreement too."""
    return len(set(brackets(heard, asks).values())) <= 1


def in_order(panel: Panel, case: Case, asks: Sequence[AskId], *, round: int, seat: str) -> tuple[AskId, ...]:  # noqa: A002
    """Peers' asks in the order this seat sees them: by a digest of seed, case, round, seat and peer."""

    def place(at: AskId) -> str:
        return hashlib.sha256(f"{panel.seed}|{case.digest}|{round}|{seat}|{seat_at(at)}".encode()).hexdigest()

    return tuple(sorted((at for at in asks if seat_at(at) != seat), key=place))


def chair_asks(panel: Panel) -> int:
    """How many asks a tie may cost: one for each kind of chair, model or person, that a tie policy names."""
    return sum(_chair(panel, policy) is not None for policy in {*panel.rules.tie} & {"chair", "human"})


def closed(panel: Panel, heard: Heard, close: Close) -> Wave | Close:
    """The close; or, where the votes tie, the ask to the chair that the next tie policy names.

    Policies are tried in their order: what comes before a chair and settles the tie spares the ask, and a chair whose
    word settles nothing passes it on.
    """
    if not panel.chairs:
        return close
    tied = _tied(panel, heard, close)
    for policy in panel.rules.tie if tied else ():
        if policy not in ("round", "chair", "human"):
            break
        chair = _chair(panel, policy)
        if chair is None:
            continue
        words = [heard[at] for at in sorted(heard, key=round_at) if seat_at(at) == chair.name]
        if not words:
            shows = tuple(at for at in close.counting if isinstance(heard[at], Ballot))
            number = 1 + max(map(round_at, heard))
            return Wave(asks=(ask_of(panel, chair, round=number, role="chair", shows=shows),))
        if isinstance(words[-1], Ballot) and words[-1].bracket in tied:
            break
    return close


def _tied(panel: Panel, heard: Heard, close: Close) -> tuple[Bracket, ...]:
    """The brackets the counting votes tie between, whatever policy settles it; () if they do not."""
    decision = decide(panel, heard, close, msgspec.structs.replace(panel.rules, tie=("unresolved",)))
    return decision.tied if isinstance(decision, Undecided) else ()


def _chair(panel: Panel, policy: str) -> Seat | None:
    """The chair a tie policy asks: the first by name, so that nothing depends on where it sits."""
    if policy not in ("chair", "human"):
        return None
    return next((seat for seat in panel.chairs if seat.judge.human == (policy == "human")), None)
