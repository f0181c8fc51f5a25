"""What a report says, worked out once; each rendering gives it its form.

Pure functions of an evaluation. The text in what they return is raw: it is escaped at the door of each sink, never
here.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from deliberate.agreement.percent_agreement import percent_agreement
from deliberate.gates import Result
from deliberate.tallies import needed
from deliberate.types import (
    Absent,
    Answer,
    Ask,
    Ballot,
    BallotState,
    Bracket,
    Evaluation,
    Finding,
    Merged,
    Move,
    Record,
    Reply,
    Seat,
    Undecided,
    Unscored,
    Verdict,
    Voiced,
    ask_id,
    state_of,
)

__all__ = [
    "Cast",
    "Imprint",
    "Other",
    "PanelPart",
    "Quorum",
    "Raised",
    "ReadBack",
    "Round",
    "Whole",
    "absent_text",
    "by_dimension",
    "casts",
    "last_words",
    "others",
    "panel_parts",
    "quorum",
    "raised",
    "rounds",
    "severity_counts",
    "voices",
    "whole_parts",
]

_SEVERITIES = ("blocker", "important", "suggestion")


class ReadBack(Record, frozen=True, kw_only=True):
    """How many of the votes were already on record; ``oldest`` is when the first of them was cast (ISO 8601)."""

    votes: int
    of: int
    oldest: str = ""


class Imprint(Record, frozen=True, kw_only=True):
    """What stands at the foot of a report and is not in the evaluation itself: its run, and how it ended.

    ``ledger`` names the file the run is in, where it is not the one that is looked into by default.
    """

    run: str = ""
    ledger: str = ""
    result: Result | None = None
    read_back: ReadBack | None = None

    @property
    def again(self) -> str:
        """The command that shows it again; empty if it is in no ledger."""
        at = f" --ledger {shlex.quote(self.ledger)}" if self.ledger else ""
        return f"deliberate show {self.run}{at}" if self.run else ""


# --- ballots ---------------------------------------------------------------------------------------


class Cast(NamedTuple):
    """What became of one ballot of a voting seat; ``answer`` is None if none came before it all stopped."""

    seat: Seat
    round: int | None
    answer: Answer | None

    @property
    def ballot(self) -> Ballot | None:
        """The ballot, if the seat voted."""
        reply = None if self.answer is None else self.answer.reply
        return reply if isinstance(reply, Ballot) else None

    @property
    def absent(self) -> Absent | None:
        """Why there is none, if an answer says so."""
        reply = None if self.answer is None else self.answer.reply
        return reply if isinstance(reply, Absent) else None

    @property
    def state(self) -> BallotState:
        """The ballot's state; without an answer it is unasked."""
        return "unasked" if self.answer is None else state_of(self.answer.reply)

    @property
    def why(self) -> str:
        """Why there is no ballot, in words; empty if there is one."""
        if self.answer is None:
            return "no answer when it stopped" if self.round is not None else "never asked"
        absent = self.absent
        return "" if absent is None else absent_text(absent)


def casts(verdict: Verdict) -> tuple[Cast, ...]:
    """Every ballot asked of the voting seats, round by round, in seat order; then the seats never asked."""
    asked = _asked(verdict)
    found = [
        Cast(seat, number, verdict.answers.get(ask_id(ask)))
        for number in sorted({ask.round for ask in asked})
        for seat in verdict.panel.voters
        for ask in asked
        if ask.round == number and ask.seat == seat.name
    ]
    heard = {cast.seat.name for cast in found}
    return (*found, *(Cast(seat, None, None) for seat in verdict.panel.voters if seat.name not in heard))


def last_words(verdict: Verdict) -> tuple[Cast, ...]:
    """One ballot a voting seat, in seat order: its vote, else the last that was asked for."""
    found = {cast.seat.name: cast for cast in casts(verdict)}
    asked = {ask_id(ask): ask.round for ask in verdict.asks}
    for vote in verdict.votes:
        found[vote.seat.name] = Cast(vote.seat, asked[vote.id], vote.answer)
    return tuple(found[seat.name] for seat in verdict.panel.voters)


class Other(NamedTuple):
    """A word that is no vote: a chair's, a verifier's, an argument."""

    seat: str
    role: str
    round: int
    reply: Reply


def others(verdict: Verdict) -> tuple[Other, ...]:
    """What was heard besides the votes, in the order in which it was asked."""
    votes = {ask_id(ask) for ask in _asked(verdict)}
    return tuple(
        Other(ask.seat, ask.role or ask.form, ask.round, verdict.answers[ask_id(ask)].reply)
        for ask in verdict.asks
        if ask_id(ask) not in votes and ask_id(ask) in verdict.answers
    )


def absent_text(absent: Absent) -> str:
    return f"{absent.detail} ({absent.reason})" if absent.detail else absent.reason


def _asked(verdict: Verdict) -> tuple[Ask, ...]:
    voters = {seat.name for seat in verdict.panel.voters}
    return tuple(ask for ask in verdict.asks if ask.form == verdict.panel.form and ask.seat in voters)


def voices(verdict: Verdict) -> tuple[Cast, ...]:
    """Whose words speak for the verdict: of the winner's voters the one nearest to the score; undecided, everybody."""
    votes = [cast for cast in last_words(verdict) if cast.ballot is not None and cast.ballot.reason]
    decision = verdict.decision
    if isinstance(decision, Undecided):
        return tuple(votes)
    winners = [cast for cast in votes if cast.ballot is not None and cast.ballot.bracket == decision.bracket]
    winners.sort(key=lambda cast: 0.0 if cast.ballot is None else abs(cast.ballot.score - decision.score))
    return tuple(winners[:1])


def by_dimension(seats: Sequence[Cast]) -> Mapping[str, tuple[float | None, ...]]:
    """The seats' adjusted scores by dimension; none where each seat judged one alone, for that is its score."""
    scores = [{} if c.ballot is None else {d.dimension: d.adjusted for d in c.ballot.dimensions} for c in seats]
    if all(len(one) < 2 for one in scores):  # noqa: PLR2004  one is the score itself
        return {}
    return {name: tuple(one.get(name) for one in scores) for name in dict.fromkeys(n for one in scores for n in one)}


class Round(NamedTuple):
    """One round: its ballots by bracket, how far apart they are, and who moved into it.

    ``agreement`` (0–1) is the share of pairs in the same bracket, ``spread`` (0–100) the highest score less the
    lowest; both None below two votes. ``entropy`` (bits, 0 to 2) is that of the votes' brackets: 0 if all agree.
    """

    number: int
    brackets: tuple[Bracket, ...]
    agreement: float | None
    moves: tuple[Move, ...]
    entropy: float
    spread: float | None


def rounds(verdict: Verdict) -> tuple[Round, ...]:
    """All rounds in which voting seats were asked, the first (0) included."""
    voters = {seat.name for seat in verdict.panel.voters}
    found: list[Round] = []
    for number in sorted({ask.round for ask in _asked(verdict)}):
        ballots = verdict.rounds.get(number, {})
        cast = [ballot for seat, ballot in ballots.items() if seat in voters]
        brackets = tuple(ballot.bracket for ballot in cast)
        scores = [ballot.score for ballot in cast]
        spread = max(scores) - min(scores) if len(scores) > 1 else None
        moves = tuple(move for move in verdict.moves if move.round == number and move.seat in voters)
        found.append(Round(number, brackets, percent_agreement([brackets]), moves, _entropy(brackets), spread))
    return tuple(found)


def _entropy(brackets: Sequence[Bracket]) -> float:
    """Shannon's entropy in bits: -sum p log2 p over the brackets voted for."""
    shares = [brackets.count(one) / len(brackets) for one in set(brackets)]
    return round(math.fsum(share * math.log2(1 / share) for share in shares), 9)


class Quorum(NamedTuple):
    """Votes needed, valid votes, and the seats they are counted over."""

    needed: int
    valid: int
    seats: int


def quorum(verdict: Verdict) -> Quorum:
    """The quorum of a verdict; a deliberation that was cut off is counted over all voting seats."""
    close = verdict.close
    if close is None:
        seats = len(verdict.panel.voters)
        return Quorum(needed(verdict.panel.rules, seats), verdict.counts["voted"], seats)
    over = close.quorum_over or close.counting
    valid = sum(at in verdict.answers and not isinstance(verdict.answers[at].reply, Absent) for at in over)
    return Quorum(needed(verdict.panel.rules, len(over)), valid, len(over))


# --- findings --------------------------------------------------------------------------------------


class Raised(NamedTuple):
    """A finding, and who said what of it: seats, or the part that is no panel. See ``types.Merged``."""

    finding: Finding
    by: tuple[str, ...]
    agreed: tuple[str, ...] = ()
    disputed: tuple[str, ...] = ()
    others: tuple[Voiced, ...] = ()
    refuted: bool = False


def raised(evaluation: Evaluation) -> tuple[Raised, ...]:
    """The findings, most severe first and else in their order, each with all who raised it."""
    told: dict[object, Merged] = {}
    for one in _voices(evaluation, ""):
        same = told.get(_identity(one.finding))
        told[_identity(one.finding)] = one if same is None else _both(same, one)
    found = [
        Raised(finding, one.raised, one.agreed, one.disputed, one.others, one.refuted)
        for finding in evaluation.findings
        for one in (told.get(_identity(finding), Merged(finding)),)
    ]
    return tuple(sorted(found, key=lambda one: _SEVERITIES.index(one.finding.severity)))


def _voices(evaluation: Evaluation, name: str) -> Iterator[Merged]:
    if evaluation.verdict is not None:
        yield from evaluation.verdict.findings
    elif evaluation.parts:
        for part in evaluation.parts:
            yield from _voices(part.evaluation, part.name)
    else:
        yield from (Merged(finding, raised=(name,) if name else ()) for finding in evaluation.findings)


def _both(one: Merged, other: Merged) -> Merged:
    """What two parts say of the same finding."""
    return Merged(
        one.finding,
        raised=_all(one.raised, other.raised),
        agreed=_all(one.agreed, other.agreed),
        disputed=_all(one.disputed, other.disputed),
        others=(*one.others, *other.others),
        refuted=one.refuted and other.refuted,
    )


def _all(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))


def _identity(finding: Finding) -> object:
    return finding.key or (finding.dimension, finding.title, finding.location)


def severity_counts(findings: Sequence[Finding]) -> tuple[tuple[str, int], ...]:
    """How many of each severity there are, most severe first, without those there are none of."""
    severities = [finding.severity for finding in findings]
    return tuple((name, severities.count(name)) for name in _SEVERITIES if name in severities)


# --- parts -----------------------------------------------------------------------------------------


class PanelPart(NamedTuple):
    """A panel inside a plan, by the path of its part (``"jury"``, ``"outer.jury"``; ``""`` = the whole is a panel)."""

    path: str
    evaluation: Evaluation
    verdict: Verdict


def panel_parts(evaluation: Evaluation, path: str = "") -> tuple[PanelPart, ...]:
    """Every panel in an evaluation and its parts, in order."""
    own = () if evaluation.verdict is None else (PanelPart(path, evaluation, evaluation.verdict),)
    return own + tuple(
        found
        for part in evaluation.parts
        for found in panel_parts(part.evaluation, f"{path}.{part.name}" if path else part.name)
    )


class Whole(NamedTuple):
    """One part of a plan, by its path, with its share (0–1) of the weight that counts; None if it does not count."""

    path: str
    weight: float
    share: float | None
    evaluation: Evaluation


def whole_parts(evaluation: Evaluation, path: str = "") -> tuple[Whole, ...]:
    """All parts of a plan, those of a part after it. A skipped part, and one without weight, has no share."""
    counted = {part.name: part.weight for part in evaluation.parts if part.weight > 0 and not _skipped(part.evaluation)}
    total = sum(counted.values())
    found: list[Whole] = []
    for part in evaluation.parts:
        at = f"{path}.{part.name}" if path else part.name
        share = counted[part.name] / total if part.name in counted else None
        found += [Whole(at, part.weight, share, part.evaluation), *whole_parts(part.evaluation, at)]
    return tuple(found)


def _skipped(evaluation: Evaluation) -> bool:
    return isinstance(evaluation.outcome, Unscored) and evaluation.outcome.why == "skipped"
