"""What may be asked, and what may come back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, NewType

import msgspec

from deliberate.types._record import Record
from deliberate.types.rubric import SeverityMode
from deliberate.types.scale import Bracket

__all__ = [
    "Absent",
    "AbsentReason",
    "Answer",
    "Ask",
    "AskId",
    "Ballot",
    "BallotState",
    "DimensionScore",
    "Finding",
    "Form",
    "Heard",
    "Key",
    "Later",
    "Note",
    "Reply",
    "Review",
    "Revised",
    "Severity",
    "Usage",
    "ask_id",
    "form_at",
    "role_at",
    "round_at",
    "seat_at",
    "state_of",
]

AskId = NewType("AskId", str)
"""Position, ``"<round>.<form>.<role>.<seat>"``: for reading and order, never in a key."""

Key = NewType("Key", str)
"""Content: what was asked of whom; made in one function (``judging.key``)."""

Severity = Literal["blocker", "important", "suggestion"]
BallotState = Literal["voted", "abstained", "unread", "failed", "unasked"]


class Finding(Record, frozen=True, kw_only=True):
    """One concrete issue.

    ``id`` is F1, F2 … in order after merging; ``key`` is its identity across iterations, a digest of dimension, title
    and location. ``location`` is ``file:line`` or a place in the text; ``quote`` occurs in the output.
    """

    id: str = ""
    key: str = ""
    severity: Severity
    dimension: str
    title: str
    description: str = ""
    location: str | None = None
    quote: str | None = None
    fix: str | None = None
    state: Literal["new", "persisting", "resolved", "regressed"] = "new"
    flags: tuple[str, ...] = ()


class DimensionScore(Record, frozen=True, kw_only=True):
    """One dimension's score, 0–100: as judged, and adjusted by the severity of its findings."""

    dimension: str
    weight: float
    judged: float
    adjusted: float
    origin: Literal["measured", "carried"] = "measured"


class Usage(Record, frozen=True, kw_only=True):
    """Calls, tokens and US dollars; a cost of None is unknown, never 0."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        """Both together; an unknown cost stays unknown."""
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            calls=self.calls + other.calls,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            cost_usd=(self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
        )


class Ask(Record, frozen=True, kw_only=True):
    """The question to one seat: data, never a prompt.

    ``role`` is the ask's, the persona is the judge's. ``shows`` are the peers' replies this seat sees, in the order
    it sees them; ``about`` names findings; ``dimensions`` () = all.
    """

    seat: str
    form: str
    round: int = 0
    role: str = ""
    shows: tuple[AskId, ...] = ()
    about: tuple[str, ...] = ()
    dimensions: tuple[str, ...] = ()


def ask_id(ask: Ask) -> AskId:
    """Where an ask stands: ``"<round>.<form>.<role>.<seat>"``."""
    return AskId(f"{ask.round}.{ask.form}.{ask.role}.{ask.seat}")


def round_at(at: AskId) -> int:
    """The round an ask stands in."""
    return int(at.split(".", 1)[0])


def form_at(at: AskId) -> str:
    """The form an ask was put in."""
    return at.split(".", 3)[1]


def role_at(at: AskId) -> str:
    """The role an ask was put to."""
    return at.split(".", 3)[2]


@lru_cache(maxsize=4096)
def seat_at(at: AskId) -> str:
    """The name of the seat an ask was put to: what stands behind the third dot, dots in it included."""
    return at.split(".", 3)[3]


class Ballot(Record, frozen=True, kw_only=True, tag=True):
    """All a seat hands in. ``score`` 0–100 and ``bracket`` never contradict.

    ``number`` says where the score came from: the judge gave it, it was derived from dimensions, or it is the
    midpoint of a bracket voted alone. ``shares`` is P(bracket), lowest first, where the model gives it.
    """

    bracket: Bracket
    score: float
    number: Literal["given", "derived", "midpoint"] = "given"
    dimensions: tuple[DimensionScore, ...] = ()
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    suggestion: str = ""
    cites: tuple[AskId, ...] = ()
    shares: tuple[float, float, float, float] | None = None
    severity: SeverityMode = "adjust"
    flags: tuple[str, ...] = ()


class Revised(Ballot, frozen=True, kw_only=True, tag=True):
    """A ballot on what changed in an output: it also names, by id, earlier findings that the change resolved."""

    resolved: tuple[str, ...] = ()


class Review(Record, frozen=True, kw_only=True, tag=True):
    """A verifier's word on findings it was shown; every refutation carries a quote."""

    confirmed: tuple[str, ...]
    refuted: tuple[str, ...]
    quotes: tuple[str, ...] = ()


class Note(Record, frozen=True, kw_only=True, tag=True):
    """An argument, a synthesis, anything that is no vote."""

    text: str
    data: Mapping[str, str] = {}


AbsentReason = Literal[
    "refused",
    "unreadable",
    "truncated",
    "deadline",
    "transport",
    "budget",
    "crashed",
    "abstained",
    "not_needed",
]

_STATES: Mapping[str, BallotState] = {
    "refused": "abstained",
    "abstained": "abstained",
    "unreadable": "unread",
    "truncated": "unread",
    "deadline": "failed",
    "transport": "failed",
    "crashed": "failed",
    "budget": "unasked",
    "not_needed": "unasked",
}

_THE_JUDGES_OWN = frozenset({"refused", "unreadable", "truncated", "abstained"})


class Absent(Record, frozen=True, kw_only=True, tag=True):
    """A ballot that did not come, with its reason: never a number."""

    reason: AbsentReason
    detail: str = ""

    @property
    def state(self) -> BallotState:
        """The ballot state this reason amounts to."""
        return _STATES[self.reason]

    @property
    def lasting(self) -> bool:
        """Whether it was the judge's own doing: kept under the key for good. Ours is asked again when going on."""
        return self.reason in _THE_JUDGES_OWN


Reply = Ballot | Revised | Review | Note | Absent


def state_of(reply: Reply) -> BallotState:
    """The ballot state of a reply; whatever is not absent was voted."""
    return reply.state if isinstance(reply, Absent) else "voted"


class Later(Record, frozen=True, kw_only=True, tag=True):
    """Not yet: a person has not voted. Never stored."""

    waits_for: str


class Answer(Record, frozen=True, kw_only=True):
    """What one step stores: the reply, with what was asked for and what really answered.

    ``requested`` and ``effective`` hold parameters as text; ``latency_seconds`` covers all attempts.
    """

    key: Key
    reply: Reply
    model: str = ""
    requested: Mapping[str, str] = {}
    effective: Mapping[str, str] = {}
    prompt_sha256: str = ""
    usage: Usage = Usage()
    latency_seconds: float = 0.0
    attempts: int = 0

    @property
    def lasting(self) -> bool:
        """Whether it may be kept under its key for good."""
        return not isinstance(self.reply, Absent) or self.reply.lasting


Heard = Mapping[AskId, Reply]
"""Finished waves only; wave, then seat order."""


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """A form to fill in: the template of its prompt and the type of its reply.

    A protocol or an evaluator brings its forms in its own file; both digests are in the key. ``wire`` names how the
    reply is written: ``"json"`` by the schema of the reply; ``"number"`` as one JSON object of a score on ``scale``
    and its reasoning; ``"score"`` for the same in text, ``SCORE: n`` / ``FEEDBACK: …``; with ``"text"`` the criteria
    are the whole prompt, and the reply is a note as it was written. ``cites`` says that a ballot must name the shown
    replies it rests on. ``fallback`` says what else is read where the reply is no JSON: ``"sections"`` is the text
    form ``SCORES:`` / ``FINDINGS:`` / ``SUGGESTION:``.
    ``artifact`` is what a judge that reads probabilities is shown instead of the whole output.
    """

    name: str
    template: str
    reply: type[Ballot | Review | Note]
    wire: Literal["json", "number", "score", "text"] = "json"
    scale: str = "0..100"
    cites: bool = False
    fallback: Literal["", "sections"] = ""
    artifact: str = ""
