"""What happened, as the tail of the ledger's own records tells it: never a second truth."""

from __future__ import annotations

from deliberate.types._record import Record
from deliberate.types.ballot import AskId, BallotState, DimensionScore, Usage
from deliberate.types.scale import Bracket

__all__ = [
    "BallotCast",
    "CaseFailed",
    "CaseStarted",
    "Event",
    "ResultReached",
    "RoundClosed",
    "RunEnded",
    "RunStarted",
    "SeatAbsent",
]


class RunStarted(Record, frozen=True, kw_only=True, tag=True):
    """A run began, or went on."""

    run: str
    plan_digest: str


class CaseStarted(Record, frozen=True, kw_only=True, tag=True):
    """A case was taken up."""

    case: str


class BallotCast(Record, frozen=True, kw_only=True, tag=True):
    """A seat voted; ``read_back`` says that the vote was already in the ledger, ``usage`` what it took then."""

    case: str
    at: AskId
    seat: str
    bracket: Bracket
    score: float
    dimensions: tuple[DimensionScore, ...] = ()
    usage: Usage = Usage()
    read_back: bool = False


class SeatAbsent(Record, frozen=True, kw_only=True, tag=True):
    """A seat's ballot did not come."""

    case: str
    at: AskId
    seat: str
    state: BallotState
    detail: str = ""


class RoundClosed(Record, frozen=True, kw_only=True, tag=True):
    """All asks of one wave are answered."""

    case: str
    round: int


class ResultReached(Record, frozen=True, kw_only=True, tag="Decided"):
    """A panel ended: decided (bracket, score) or not (both None, ``why`` says it)."""

    case: str
    digest: str
    bracket: Bracket | None = None
    score: float | None = None
    why: str = ""


class CaseFailed(Record, frozen=True, kw_only=True, tag=True):
    """A case could not be evaluated at all."""

    case: str
    detail: str


class RunEnded(Record, frozen=True, kw_only=True, tag=True):
    """A run ended; ``status`` is ok, incomplete or interrupted."""

    run: str
    status: str


Event = RunStarted | CaseStarted | BallotCast | SeatAbsent | RoundClosed | ResultReached | CaseFailed | RunEnded
