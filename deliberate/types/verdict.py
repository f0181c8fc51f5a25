"""How a deliberation goes on and how it ended."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property, reduce
from typing import Literal, NamedTuple

from deliberate.types._record import Record, canonical
from deliberate.types.ballot import (
    Absent,
    Answer,
    Ask,
    AskId,
    Ballot,
    BallotState,
    Finding,
    Heard,
    Review,
    Usage,
    ask_id,
    seat_at,
    state_of,
)
from deliberate.types.merged import Merged, Voiced, grouped, most_severe
from deliberate.types.panel import Panel, Seat, Spend
from deliberate.types.scale import Bracket

__all__ = [
    "CallRange",
    "Close",
    "Closed",
    "Decided",
    "Move",
    "Pending",
    "Sensitivity",
    "Undecided",
    "UndecidedWhy",
    "Verdict",
    "Vote",
    "Wave",
]


_Spoken = tuple[AskId, Ask, Finding]
"""A finding, with the ask it answers and where that stands."""


class Wave(Record, frozen=True, kw_only=True):
    """Asks released together. ``spend="enough"`` lets the runner leave out what can no longer change the bracket."""

    asks: tuple[Ask, ...]
    spend: Spend = "all"


class Close(Record, frozen=True, kw_only=True):
    """The protocol is done: it stops, it does not decide.

    ``counting`` are the ballots the rule is applied to; ``quorum_over`` () = counting; ``struck`` are keys of refuted
    findings, without which ballots are re-scored.
    """

    counting: tuple[AskId, ...]
    quorum_over: tuple[AskId, ...] = ()
    struck: tuple[str, ...] = ()
    because: str


class Pending(Record, frozen=True, kw_only=True):
    """Not done: this wave still has ``open`` asks, those without an answer."""

    wave: Wave
    heard: Heard
    open: tuple[AskId, ...]


class Closed(Record, frozen=True, kw_only=True):
    """Done, with all that was heard in finished waves."""

    close: Close
    heard: Heard


class CallRange(Record, frozen=True, kw_only=True):
    """Calls a deliberation may take; the engine puts tokens and dollars to them."""

    least: int
    expected: float
    most: int


class Decided(Record, frozen=True, kw_only=True, tag=True):
    """A bracket won. ``score`` 0–100 is the headline; ``numbers`` holds every named score of the same votes."""

    bracket: Bracket
    score: float
    numbers: Mapping[str, float]
    tied: tuple[Bracket, ...] = ()
    contested: bool = False
    path: Literal["full", "shortened"] = "full"


UndecidedWhy = Literal["tied", "no_quorum", "not_independent", "waiting", "budget", "deadline", "cancelled"]


class Undecided(Record, frozen=True, kw_only=True, tag=True):
    """No bracket, and why."""

    why: UndecidedWhy
    detail: str = ""
    tied: tuple[Bracket, ...] = ()


class Sensitivity(Record, frozen=True, kw_only=True):
    """Whether the verdict hinges on one seat or on the rule.

    ``without`` says, for each seat, the bracket if it is left out; ``rules`` the bracket under each other rule; None =
    undecided then. ``hinges_on`` names the seats whose leaving out changes the bracket.
    """

    hinges_on: tuple[str, ...] = ()
    without: Mapping[str, Bracket | None] = {}
    rules: Mapping[str, Bracket | None] = {}


class Vote(NamedTuple):
    """One seat's last word: its position, seat, answer, and its ballot where it voted."""

    id: AskId
    seat: Seat
    answer: Answer
    ballot: Ballot | None


class Move(NamedTuple):
    """A seat that changed its bracket from one round to the next.

    ``to_majority`` says that it moved to the bracket most of the others held in the round before; ``cited`` are the
    keys of the findings that came new with it and quote the output: without one, it moved on words alone.
    """

    seat: str
    round: int
    before: Bracket
    after: Bracket
    to_majority: bool = False
    cited: tuple[str, ...] = ()

    @property
    def direction(self) -> Literal["up", "down"]:
        """Whether the bracket became better or worse."""
        return "up" if self.after > self.before else "down"


class Verdict(Record, frozen=True, kw_only=True, dict=True):
    """How a deliberation ended, with everything needed to decide it again.

    ``digests`` names case, panel, rules, rubric and protocol by their sha-256: a verdict holds no case. Votes, counts,
    moves, dissent and digest are pure functions of these fields. ``protocols.conclude`` alone makes one.
    """

    panel: Panel
    asks: tuple[Ask, ...]
    answers: Mapping[AskId, Answer]
    close: Close | None
    decision: Decided | Undecided
    digests: Mapping[str, str]
    sensitivity: Sensitivity | None = None
    flags: tuple[str, ...] = ()

    @cached_property
    def votes(self) -> tuple[Vote, ...]:
        """One vote a voting seat, in seat order: what counted, else its last ballot, whatever became of it."""
        last: dict[str, AskId] = {}
        for ask in self.asks:
            at = ask_id(ask)
            voted = at in self.answers and isinstance(self.answers[at].reply, Ballot)
            if ask.form == self.panel.form and at in self.answers and (voted or ask.seat not in last):
                last[ask.seat] = at
        if self.close is not None:
            last |= {seat_at(at): at for at in (*self.close.quorum_over, *self.close.counting)}
        found: list[Vote] = []
        for seat in self.panel.voters:
            if (counted := last.get(seat.name)) is not None and (answer := self.answers.get(counted)) is not None:
                ballot = answer.reply if isinstance(answer.reply, Ballot) else None
                found.append(Vote(counted, seat, answer, ballot))
        return tuple(found)

    @property
    def counts(self) -> Mapping[BallotState, int]:
        """Ballots of the voting seats by state; a seat that was never asked is ``unasked``."""
        found: dict[BallotState, int] = {"voted": 0, "abstained": 0, "unread": 0, "failed": 0, "unasked": 0}
        votes = self.votes
        for vote in votes:
            found[state_of(vote.answer.reply)] += 1
        found["unasked"] += len(self.panel.voters) - len(votes)
        return found

    @property
    def rounds(self) -> Mapping[int, Mapping[str, Ballot]]:
        """The ballots cast in each round, by seat, in seat order."""
        found: dict[int, dict[str, Ballot]] = {}
        for ask in self.asks:
            answer = self.answers.get(ask_id(ask))
            if ask.form == self.panel.form and answer is not None and isinstance(answer.reply, Ballot):
                found.setdefault(ask.round, {})[ask.seat] = answer.reply
        return found

    @property
    def moves(self) -> tuple[Move, ...]:
        """Every change of bracket between a seat's successive ballots."""
        seen: dict[str, Ballot] = {}
        found: list[Move] = []
        for number, ballots in sorted(self.rounds.items()):
            before = dict(seen)
            for seat, ballot in ballots.items():
                if seat in before and before[seat].bracket != ballot.bracket:
                    peers = [other.bracket for name, other in before.items() if name != seat]
                    found.append(
                        Move(
                            seat,
                            number,
                            before[seat].bracket,
                            ballot.bracket,
                            to_majority=2 * peers.count(ballot.bracket) > len(peers),
                            cited=_cited(before[seat], ballot),
                        )
                    )
                seen[seat] = ballot
        return tuple(found)

    @cached_property
    def findings(self) -> tuple[Merged, ...]:
        """What the counted ballots found, in seat order, those that mean the same merged, with who said what of it."""
        spoken: list[_Spoken] = []
        for ask in sorted(self.asks, key=_round_of):
            at = ask_id(ask)
            answer = self.answers.get(at)
            if answer is not None and isinstance(answer.reply, Ballot):
                spoken += [(at, ask, finding) for finding in answer.reply.findings]
        last = {vote.id for vote in self.votes}
        order = [seat.name for seat in self.panel.seats]
        reviews = {at: answer.reply for at, answer in self.answers.items() if isinstance(answer.reply, Review)}
        found: list[tuple[int, Merged]] = []
        for group in grouped([finding for _, _, finding in spoken]):
            said = [spoken[at] for at in group]
            now = [one for one in said if one[0] in last]
            if now:
                first = min([order.index(ask.seat) for _, ask, _ in now])
                found.append((first, self._merged(said, now, reviews)))
        return tuple([one for _, one in sorted(found, key=_first_of)])

    def _merged(self, said: Sequence[_Spoken], now: Sequence[_Spoken], reviews: Mapping[AskId, Review]) -> Merged:
        """One group: who put it so before reading it from a peer, and who after."""
        places = {at for at, _, _ in said}
        raised: list[str] = []
        agreed: list[str] = []
        for _, ask, _ in said:
            if ask.seat not in raised and ask.seat not in agreed:
                (raised if places.isdisjoint(ask.shows) else agreed).append(ask.seat)
        keys = {finding.key for _, _, finding in said}
        disputed: list[str] = []
        for at, review in reviews.items():
            if not keys.isdisjoint(review.refuted):
                disputed.append(seat_at(at))
            elif not keys.isdisjoint(review.confirmed):
                agreed.append(seat_at(at))
        worst = most_severe([finding for _, _, finding in now])
        others = {one.key: Voiced(ask.seat, one) for _, ask, one in reversed(said) if one.key != worst.key}
        return Merged(
            finding=worst,
            raised=tuple(raised),
            agreed=tuple(agreed),
            disputed=tuple(disputed),
            others=tuple(reversed(others.values())),
            refuted=self.close is not None and keys.issubset(self.close.struck),
        )

    @property
    def dissent(self) -> tuple[Vote, ...]:
        """The votes for another bracket than the one decided; none while undecided."""
        if not isinstance(self.decision, Decided):
            return ()
        won = self.decision.bracket
        return tuple(vote for vote in self.votes if vote.ballot is not None and vote.ballot.bracket != won)

    @cached_property
    def usage(self) -> Usage:
        """What all asks of this deliberation took, whenever they were paid."""
        return reduce(Usage.__add__, (answer.usage for answer in self.answers.values()), Usage())

    @property
    def decision_bytes(self) -> bytes:
        """The canonical bytes of the decision: no time, cost, attempt, run or place in them.

        The digests of case, panel, rules and rubric, the ballots in seat order, bracket, score, numbers, status,
        flags and sensitivity.
        """
        ballots = [
            [vote.seat.name, vote.ballot if vote.ballot is not None else _reason(vote.answer)] for vote in self.votes
        ]
        return canonical(
            {
                "format": 1,
                "digests": dict(self.digests),
                "ballots": ballots,
                "decision": self.decision,
                "flags": sorted(self.flags),
                "sensitivity": self.sensitivity,
            }
        )

    @cached_property
    def digest(self) -> str:
        """Sha-256 of the decision bytes."""
        return hashlib.sha256(self.decision_bytes).hexdigest()


def _round_of(ask: Ask) -> int:
    return ask.round


def _first_of(found: tuple[int, Merged]) -> int:
    return found[0]


def _cited(before: Ballot, after: Ballot) -> tuple[str, ...]:
    """The keys of findings that are new and quote the output."""
    old = {finding.key for finding in before.findings}
    return tuple(
        finding.key
        for finding in after.findings
        if finding.key not in old and finding.quote and "quote_not_found" not in finding.flags
    )


def _reason(answer: Answer) -> str:
    return answer.reply.reason if isinstance(answer.reply, Absent) else answer.reply.__class__.__name__
