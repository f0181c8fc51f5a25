"""What a report says, worked out once; each rendering gives it its form.

Pure functions of an evaluation. The text in what they return is raw: it is escaped at the door of each sink, never
here. Sentences made here are whole sentences, so that every rendering says the same in the same words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import combinations
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
    Decided,
    Evaluation,
    Finding,
    Gate,
    Move,
    Note,
    Record,
    Reply,
    Review,
    Seat,
    Undecided,
    Unscored,
    Usage,
    Verdict,
    ask_id,
    bracket_of,
    state_of,
)

__all__ = [
    "Cast",
    "Cell",
    "Imprint",
    "Matrix",
    "Other",
    "PanelPart",
    "Quorum",
    "Raised",
    "Rater",
    "ReadBack",
    "Round",
    "Whole",
    "by_dimension",
    "casts",
    "flag_note",
    "gate_text",
    "hinges",
    "last_words",
    "matrix_of",
    "missing",
    "next_step",
    "normalized_text",
    "other_text",
    "other_words",
    "others",
    "panel_parts",
    "quorum",
    "raised",
    "read_back_text",
    "reason_text",
    "rounds",
    "score_text",
    "severity_counts",
    "split",
    "tie_text",
    "undecided_text",
    "usage_text",
    "voices",
    "whole_parts",
]

_SEVERITIES = ("blocker", "important", "suggestion")
_HIGHEST = 100.0


class ReadBack(Record, frozen=True, kw_only=True):
    """How many of the votes were already on record; ``oldest`` is when the first of them was cast (ISO 8601)."""

    votes: int
    of: int
    oldest: str = ""


class Imprint(Record, frozen=True, kw_only=True):
    """What stands at the foot of a report and is not in the evaluation itself: its run, and how it ended."""

    run: str = ""
    result: Result | None = None
    read_back: ReadBack | None = None


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
        return "" if absent is None else _absent_text(absent)


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


def other_text(other: Other) -> str:
    """What such a word comes to, in one line; its own text follows it."""
    reply = other.reply
    if isinstance(reply, Ballot):
        return f"{other.role} {other.seat}: {reply.bracket.label}, {score_text(reply.score)}"
    if isinstance(reply, Review):
        told = f"confirms {_count(len(reply.confirmed), 'finding')}, refutes {_count(len(reply.refuted), 'finding')}"
        return f"{other.role} {other.seat}: {told}"
    if isinstance(reply, Absent):
        return f"{other.role} {other.seat}: {reply.state}, {_absent_text(reply)}"
    return f"{other.role} {other.seat}"


def other_words(other: Other) -> str:
    """The words themselves; empty if there are none."""
    reply = other.reply
    if isinstance(reply, Ballot):
        return reply.reason
    return reply.text if isinstance(reply, Note) else ""


def _absent_text(absent: Absent) -> str:
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
    """One round: its ballots by bracket, their agreement (0–1, None below two votes), and who moved into it."""

    number: int
    brackets: tuple[Bracket, ...]
    agreement: float | None
    moves: tuple[Move, ...]


def rounds(verdict: Verdict) -> tuple[Round, ...]:
    """All rounds in which voting seats were asked, the first (0) included."""
    voters = {seat.name for seat in verdict.panel.voters}
    found: list[Round] = []
    for number in sorted({ask.round for ask in _asked(verdict)}):
        ballots = verdict.rounds.get(number, {})
        brackets = tuple(ballot.bracket for seat, ballot in ballots.items() if seat in voters)
        moves = tuple(move for move in verdict.moves if move.round == number and move.seat in voters)
        found.append(Round(number, brackets, percent_agreement([brackets]), moves))
    return tuple(found)


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
    """A finding, who raised it (seats, or the part that is no panel), and whether verifiers refuted it."""

    finding: Finding
    by: tuple[str, ...]
    refuted: bool = False


def raised(evaluation: Evaluation) -> tuple[Raised, ...]:
    """The findings, most severe first and else in their order, each with all who raised it."""
    by: dict[object, list[str]] = {}
    for name, finding in _raisers(evaluation, ""):
        names = by.setdefault(_identity(finding), [])
        if name and name not in names:
            names.append(name)
    struck = {key for part in panel_parts(evaluation) if part.verdict.close for key in part.verdict.close.struck}
    found = [
        Raised(finding, tuple(by.get(_identity(finding), ())), finding.key in struck) for finding in evaluation.findings
    ]
    return tuple(sorted(found, key=lambda one: _SEVERITIES.index(one.finding.severity)))


def _raisers(evaluation: Evaluation, name: str) -> Iterator[tuple[str, Finding]]:
    if evaluation.verdict is not None:
        for vote in evaluation.verdict.votes:
            if vote.ballot is not None:
                yield from ((vote.seat.name, finding) for finding in vote.ballot.findings)
    elif evaluation.parts:
        for part in evaluation.parts:
            yield from _raisers(part.evaluation, part.name)
    else:
        yield from ((name, finding) for finding in evaluation.findings)


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


def gate_text(gate: Gate) -> str:
    """A gate inside the score, in words: what it asks of which part, what it does, and whether it held."""
    asks = [
        f"score at least {gate.min_score:g}" if gate.min_score is not None else "",
        f"at least {gate.min_bracket.label}" if gate.min_bracket is not None else "",
        f"at most {gate.max_blockers} blockers" if gate.max_blockers is not None else "",
    ]
    effect = "veto: the whole is 0" if gate.effect == "veto" else f"cap: the whole is at most {gate.cap:g}"
    held = {True: "held", False: f"lost ({effect})", None: "not tried"}[gate.held]
    return f"{gate.part}: {' and '.join(ask for ask in asks if ask) or 'nothing asked'}: {held}"


# --- sentences -------------------------------------------------------------------------------------


def score_text(score: float) -> str:
    """A score in as few decimals as keep it in its bracket, one at the most otherwise.

    >>> score_text(71.0), score_text(70.97), score_text(75.04)
    ('71', '71', '75.04')
    """
    text = f"{score:.1f}"
    for digits in range(1, 10):
        text = f"{score:.{digits}f}"
        if not 0.0 <= score <= _HIGHEST or bracket_of(float(text)) == bracket_of(score):
            break
    return text.rstrip("0").rstrip(".")


def normalized_text(score: float) -> str:
    """The same number as 0–1.

    >>> normalized_text(71.0), normalized_text(75.04), normalized_text(100.0)
    ('0.71', '0.7504', '1.00')
    """
    text = score_text(score)
    return f"{Decimal(text) / 100:.{max(2, len(text.partition('.')[2]) + 2)}f}"


def reason_text(evaluation: Evaluation) -> str:
    """Why an evaluation has its score, without the bracket, which stands beside it."""
    bracket = evaluation.bracket
    return evaluation.reason if bracket is None else evaluation.reason.removeprefix(f"{bracket.label}: ")


_FLAGS = {
    "blocker_of_unknown_dimension": "a blocker names no dimension of the rubric and caps its ballot at 30",
    "degenerate": "the output holds no letter and no digit: decided without asking anybody",
    "injection_suspected": "the output seems to speak to its judges: read it before relying on this verdict",
    "one_model": "its seats share one model: opinions are not independent",
    "quote_not_found": "a judge quotes words that are not in the output",
    "stale": "cast on an earlier version of what is judged",
    "uncalibrated": "uncalibrated: use for ranking",
}


def flag_note(flag: str) -> str:
    """What a flag tells its reader."""
    return _FLAGS.get(flag, flag.replace("_", " "))


def split(verdict: Verdict) -> str:
    """How the votes fell: ``"2 of 3 votes for Good, 1 seat absent"``."""
    votes = [vote.ballot.bracket for vote in verdict.votes if vote.ballot is not None]
    absent = sum(count for state, count in verdict.counts.items() if state != "voted")
    if isinstance(verdict.decision, Decided):
        won = verdict.decision.bracket
        text = f"{votes.count(won)} of {_count(len(votes), 'vote')} for {won.label}"
    else:
        text = ", ".join(
            f"{votes.count(bracket)} for {bracket.label}" for bracket in reversed(Bracket) if bracket in votes
        )
        text = text or "no votes"
    return f"{text}, {_count(absent, 'seat')} absent" if absent else text


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def tie_text(decision: Decided) -> str:
    """Between which brackets the votes were tied; empty if they were not."""
    names = [bracket.label for bracket in decision.tied]
    return f"tied between {', '.join(names[:-1])} and {names[-1]}, settled by policy" if names else ""


def hinges(verdict: Verdict) -> tuple[str, ...]:
    """What the verdict hinges on: first among its seats, then among the rules; nothing while undecided."""
    told = verdict.sensitivity
    decision = verdict.decision
    if told is None or not isinstance(decision, Decided):
        return ()
    if not told.without:
        seats = "its only seat"
    elif told.hinges_on:
        seats = ", ".join(f"{name} (without it {_label(told.without.get(name))})" for name in told.hinges_on)
    else:
        seats = "no single seat"
    other = {rule: bracket for rule, bracket in told.rules.items() if bracket != decision.bracket}
    if not told.rules:
        return (seats,)
    if not other:
        return (seats, f"every other rule gives {decision.bracket.label} too")
    return (seats, "other rules: " + ", ".join(f"{rule} {_label(bracket)}" for rule, bracket in other.items()))


def _label(bracket: Bracket | None) -> str:
    return "no verdict" if bracket is None else bracket.label


_WHY: Mapping[str, str] = {
    "tied": "tied",
    "no_quorum": "quorum not reached",
    "not_independent": "votes not independent enough",
    "waiting": "a person has not voted",
    "budget": "the budget is spent",
    "deadline": "out of time",
    "cancelled": "cancelled",
}


def undecided_text(decision: Undecided) -> str:
    """Why a panel did not decide, in words."""
    why = _WHY[decision.why]
    return decision.detail if decision.detail.startswith(why) else f"{why}: {decision.detail}".removesuffix(": ")


def missing(verdict: Verdict) -> tuple[tuple[str, str, str], ...]:
    """Seat, state and reason of every voting seat whose vote is missing."""
    return tuple((cast.seat.name, cast.state, cast.why) for cast in last_words(verdict) if cast.state != "voted")


def next_step(verdict: Verdict) -> str:
    """What to do about a panel that did not decide; empty if it did."""
    decision = verdict.decision
    if not isinstance(decision, Undecided):
        return ""
    if decision.why != "no_quorum":
        return _NEXT[decision.why]
    lost = [cast.absent for cast in last_words(verdict) if cast.state != "voted"]
    if all(absent is not None and absent.lasting for absent in lost):
        return "these replies are on record; ask anew with --fresh, or give the seat another model"
    return "run it again: votes cast are read back, only the missing ones are asked; or lower --quorum"


_NEXT: Mapping[str, str] = {
    "tied": "run it again with --tie lower; votes are read back, nothing is asked",
    "not_independent": "add a seat whose model is of another family, or lower 'independence' in the panel",
    "waiting": "run it again when the person has voted; all other votes are kept",
    "budget": "run it again with a higher --max-cost; votes cast are kept",
    "deadline": "run it again, or with a later --deadline; votes cast are kept",
    "cancelled": "run it again; votes cast are kept",
}


def usage_text(usage: Usage) -> str:
    """Calls, tokens and cost; an unknown cost is called unknown."""
    if not usage.calls:
        return "no calls"
    cost = "cost unknown" if usage.cost_usd is None else f"${_dollars(usage.cost_usd)}"
    return f"{_count(usage.calls, 'call')}, {usage.tokens_in:,} tokens in, {usage.tokens_out:,} out, {cost}"


def _dollars(cost: float) -> str:
    """Two decimals, or as many as show two digits of a small sum."""
    text = f"{cost:.2f}"
    if cost and cost < 1:
        text = f"{Decimal(f'{cost:.2g}'):f}"
    return text


def read_back_text(read_back: ReadBack | None) -> str:
    """How many votes were read back, and how old they are; empty if none was."""
    if read_back is None or not read_back.votes:
        return ""
    oldest = f", oldest {read_back.oldest[:10]}" if read_back.oldest else ""
    return f"{read_back.votes} of {_count(read_back.of, 'vote')} read back{oldest}"


# --- judge × judge ---------------------------------------------------------------------------------


class Rater(NamedTuple):
    """A judge across evaluations: its seat, and the model asked for."""

    seat: str
    model: str


class Cell(NamedTuple):
    """Two judges: items both judged, how many of them into the same bracket, mean absolute difference of scores."""

    items: int
    same: int
    apart: float


class Matrix(NamedTuple):
    """Judge × judge over several evaluations; a pair that shares no item has no cell."""

    raters: tuple[Rater, ...]
    cells: Mapping[tuple[int, int], Cell]
    cases: int
    agreement: float | None

    def cell(self, one: int, other: int) -> Cell | None:
        """The cell of two judges, in either order."""
        return self.cells.get((min(one, other), max(one, other)))


def matrix_of(evaluations: Sequence[Evaluation]) -> Matrix:
    """How far every two judges concur over these evaluations.

    Each evaluation is one case; a judge is a seat with its model, whatever panel it sits in. Where two judges both
    scored dimensions of the same name, each of those is an item, in the bracket of its adjusted score; otherwise the
    case is one item, in the bracket of the ballot. ``agreement`` is the share of pairs of whole ballots on the same
    case in the same bracket, None if no case has two.
    """
    cases = [_ballots(one) for one in evaluations]
    raters = tuple(dict.fromkeys(rater for case in cases for rater in case))
    cells: dict[tuple[int, int], Cell] = {}
    for (i, one), (j, other) in combinations(enumerate(raters), 2):
        items = [pair for case in cases if one in case and other in case for pair in _items(case[one], case[other])]
        if items:
            same = sum(bracket == bracket_ for (bracket, _), (bracket_, _) in items)
            apart = sum(abs(score - score_) for (_, score), (_, score_) in items) / len(items)
            cells[i, j] = Cell(len(items), same, apart)
    agreement = percent_agreement([[ballot.bracket for ballot in case.values()] for case in cases])
    return Matrix(raters, cells, len(cases), agreement)


def _ballots(evaluation: Evaluation) -> dict[Rater, Ballot]:
    """The ballots of all panels of one evaluation; a judge that sits in two of them is told apart by its part."""
    found: dict[Rater, Ballot] = {}
    for part in panel_parts(evaluation):
        for vote in part.verdict.votes:
            if vote.ballot is not None:
                rater = Rater(vote.seat.name, vote.seat.judge.model)
                if rater in found:
                    rater = Rater(f"{part.path}.{vote.seat.name}", vote.seat.judge.model)
                found[rater] = vote.ballot
    return found


_Judged = tuple[Bracket, float]


def _items(one: Ballot, other: Ballot) -> list[tuple[_Judged, _Judged]]:
    theirs = {each.dimension: each.adjusted for each in other.dimensions}
    shared = [(each.adjusted, theirs[each.dimension]) for each in one.dimensions if each.dimension in theirs]
    if shared:
        return [((bracket_of(mine), mine), (bracket_of(its), its)) for mine, its in shared]
    return [((one.bracket, one.score), (other.bracket, other.score))]
