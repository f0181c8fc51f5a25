"""The JSON of ``ask --json``: one object, documented in ``docs/json.md``, its schema made from the types below.

Rules for whoever edits it: a field may be added; none is renamed, removed or given another meaning, and no value is
taken from an enumeration. Every field has its description, from which the schema and the page are made
(``tests/reports/json_page.py`` writes the page). Everything is a pure function of the evaluation.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from deliberate.errors import UnknownName
from deliberate.reports._facts import Cast, Raised, casts, panel_parts, quorum, raised, rounds
from deliberate.types import (
    AbsentReason,
    BallotState,
    Bracket,
    Decided,
    DimensionScore,
    Evaluation,
    Finding,
    Gate,
    Part,
    Record,
    Scored,
    Sensitivity,
    Severity,
    Undecided,
    UndecidedWhy,
    Unscored,
    UnscoredWhy,
    Usage,
    Verdict,
    Vote,
    bracket_of,
)

__all__ = ["SCHEMAS", "VerdictObject", "encode", "schema", "verdict_object"]

BracketName = Literal["poor", "fair", "good", "excellent"]
Score = Annotated[float, msgspec.Meta(ge=0.0, le=100.0)]
Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]

_HIDDEN = frozenset({"Cc", "Cf", "Co", "Zl", "Zp"})
_INDENT = 2


def _says(text: str) -> msgspec.Meta:
    return msgspec.Meta(description=text)


class UsageObject(Record, frozen=True, kw_only=True):
    """Calls, tokens and US dollars."""

    calls: Annotated[int, _says("Calls made, retries included.")]
    tokens_in: Annotated[int, _says("Tokens sent.")]
    tokens_out: Annotated[int, _says("Tokens received.")]
    cost_usd: Annotated[float | None, _says("US dollars; null is unknown, never 0.")]


class FindingObject(Record, frozen=True, kw_only=True):
    """One concrete issue."""

    id: Annotated[str, _says("`F1`, `F2` … within its list.")]
    key: Annotated[str, _says("Its identity across iterations: a digest of dimension, title and location.")]
    severity: Annotated[Severity, _says("How bad it is.")]
    dimension: Annotated[str, _says("The dimension of the rubric it touches; may be empty.")]
    title: Annotated[str, _says("What is wrong, in a few words.")]
    description: Annotated[str, _says("What is wrong, at length; may be empty.")]
    location: Annotated[str | None, _says("`file:line`, or a place in the text.")]
    quote: Annotated[str | None, _says("Words of the output it is about.")]
    fix: Annotated[str | None, _says("What would mend it.")]
    state: Annotated[
        Literal["new", "persisting", "resolved", "regressed"], _says("What became of it since the last iteration.")
    ]
    flags: Annotated[
        tuple[str, ...], _says("`quote_not_found`: the quote is not in the output; `refuted`: verifiers struck it.")
    ]


class RaisedObject(FindingObject, frozen=True, kw_only=True):
    """One finding of the whole, with all who raised it."""

    raised_by: Annotated[tuple[str, ...], _says("Seats, or the name of the part that is no panel, in seat order.")]


class DimensionObject(Record, frozen=True, kw_only=True):
    """One dimension's score."""

    dimension: Annotated[str, _says("Its name in the rubric.")]
    weight: Annotated[float, _says("Its weight in the rubric.")]
    judged: Annotated[Score, _says("0–100, as the judge gave it.")]
    adjusted: Annotated[Score, _says("0–100, after the severity of its findings; this is what counts.")]
    origin: Annotated[Literal["measured", "carried"], _says("`carried`: taken over from an earlier evaluation.")]


class MoveObject(Record, frozen=True, kw_only=True):
    """A seat that changed its bracket."""

    seat: Annotated[str, _says("Who moved.")]
    before: Annotated[BracketName, _says("Its bracket before.")]
    after: Annotated[BracketName, _says("Its bracket in this round.")]


class RoundObject(Record, frozen=True, kw_only=True):
    """One round of ballots."""

    round: Annotated[int, _says("Its number; 0 is the first, in which no seat sees another's ballot.")]
    agreement: Annotated[Share | None, _says("Share of pairs of its ballots in the same bracket; null below two.")]
    moves: Annotated[tuple[MoveObject, ...], _says("Who changed the bracket in this round.")]


class QuorumObject(Record, frozen=True, kw_only=True):
    """Whether enough seats voted."""

    needed: Annotated[int, _says("Valid votes needed.")]
    valid: Annotated[int, _says("Valid votes there were.")]
    seats: Annotated[int, _says("Seats it is counted over; absent ones stay in.")]


class AbsentObject(Record, frozen=True, kw_only=True):
    """Why a ballot did not come."""

    reason: Annotated[AbsentReason | None, _says("Null where the seat was not asked, or had not answered at the stop.")]
    detail: Annotated[str, _says("In words.")]


class VoteObject(Record, frozen=True, kw_only=True):
    """One ballot of one voting seat in one round."""

    seat: Annotated[str, _says("The seat's name.")]
    judge: Annotated[str, _says("The model asked for (`provider/name`), or the person.")]
    model: Annotated[str | None, _says("The model that says it answered; null if none did.")]
    family: Annotated[str, _says("The model family that counts for independence.")]
    round: Annotated[int | None, _says("The round, from 0; null if the seat was never asked.")]
    bracket: Annotated[BracketName | None, _says("Null unless it voted.")]
    score: Annotated[Score | None, _says("0–100; null unless it voted, never 0 for a missing vote.")]
    reason: Annotated[str | None, _says("The judge's own words.")]
    dimensions: Annotated[tuple[DimensionObject, ...], _says("Its scores by dimension, where the rubric has any.")]
    findings: Annotated[tuple[FindingObject, ...], _says("What it found.")]
    status: Annotated[BallotState, _says("What became of the ballot.")]
    absent: Annotated[AbsentObject | None, _says("Why there is none; null if it voted.")]
    usage: Annotated[UsageObject, _says("What this ballot took, whenever it was paid.")]
    requested: Annotated[
        Mapping[str, str], _says("Parameters asked for, as text, with `prompt_sha256`: the digest of the prompt.")
    ]
    effective: Annotated[
        Mapping[str, str],
        _says("Parameters that really held, as text, with `attempts` and `latency_seconds` over all of them."),
    ]


class CountsObject(Record, frozen=True, kw_only=True):
    """Voting seats by the state of their last ballot; they sum to the number of voting seats."""

    voted: Annotated[int, _says("A valid ballot.")]
    abstained: Annotated[int, _says("The judge declined.")]
    unread: Annotated[int, _says("It answered, but not in a form that can be read.")]
    failed: Annotated[int, _says("No answer: deadline, connection, crash.")]
    unasked: Annotated[int, _says("Not asked: budget, no longer needed, stopped before.")]


class DissentObject(Record, frozen=True, kw_only=True):
    """A vote for another bracket than the one decided, in the dissenter's own words."""

    seat: Annotated[str, _says("Who dissents.")]
    bracket: Annotated[BracketName, _says("What it voted.")]
    score: Annotated[Score, _says("0–100.")]
    reason: Annotated[str, _says("Why, in its own words.")]
    findings: Annotated[tuple[FindingObject, ...], _says("What it found.")]


class SensitivityObject(Record, frozen=True, kw_only=True):
    """Whether the verdict hinges on one seat or on the rule."""

    hinges_on: Annotated[tuple[str, ...], _says("Seats without which the bracket would be another.")]
    without: Annotated[Mapping[str, BracketName | None], _says("The bracket without each seat; null is no verdict.")]
    rules: Annotated[Mapping[str, BracketName | None], _says("The bracket under each other rule; null is no verdict.")]


class PanelObject(Record, frozen=True, kw_only=True):
    """How a panel's deliberation ended."""

    status: Annotated[Literal["decided", "undecided"], _says("Whether there is a score.")]
    why: Annotated[UndecidedWhy | UnscoredWhy | None, _says("Why not; null if decided.")]
    flags: Annotated[tuple[str, ...], _says("What every reader must know, such as `one_model` or `uncalibrated`.")]
    bracket: Annotated[BracketName | None, _says("The bracket that won.")]
    score: Annotated[float | None, _says("0–100; null unless decided.")]
    normalized: Annotated[float | None, _says("The same as 0–1.")]
    numbers: Annotated[
        Mapping[str, float] | None,
        _says("Every named score of the same votes (`nearest`, `mean` …); null unless decided."),
    ]
    rule: Annotated[str | None, _says("Which bracket wins: `plurality`, `median` …")]
    tie: Annotated[tuple[str, ...] | None, _says("How ties are settled, in order.")]
    path: Annotated[
        Literal["full", "shortened"] | None,
        _says("`shortened`: seats were left out that could not change the bracket; null unless decided."),
    ]
    rounds: Annotated[tuple[RoundObject, ...] | None, _says("Every round.")]
    because: Annotated[str | None, _says("Why the deliberation stopped.")]
    quorum: Annotated[QuorumObject | None, _says("Whether enough seats voted.")]
    votes: Annotated[
        tuple[VoteObject, ...] | None,
        _says(
            "Every ballot of every voting seat, by round and seat; a seat's last word is its entry of the last round."
        ),
    ]
    counts: Annotated[CountsObject | None, _says("Voting seats by the state of their last ballot.")]
    dissent: Annotated[tuple[DissentObject, ...] | None, _says("Votes for another bracket; empty while undecided.")]
    sensitivity: Annotated[
        SensitivityObject | None, _says("Whether it hinges on one seat or rule; null unless decided.")
    ]
    contested: Annotated[
        bool | None, _says("Winner and median, or two tied brackets, lie two or more apart; null unless decided.")
    ]
    tied: Annotated[tuple[BracketName, ...] | None, _says("The brackets that were tied; empty if none were.")]
    usage: Annotated[UsageObject, _says("What it took, whenever it was paid.")]
    digest: Annotated[
        str | None,
        _says("Sha-256 of the decision: no time, cost or place is in it, so equal decisions have equal ones."),
    ]
    digests: Annotated[
        Mapping[str, str] | None,
        _says("Sha-256 of case, panel, rules and rubric (empty: none), and the protocol's version."),
    ]


class GateObject(Record, frozen=True, kw_only=True):
    """A condition on one part that changes the whole."""

    part: Annotated[str, _says("The part it looks at.")]
    min_score: Annotated[float | None, _says("The least score it accepts.")]
    min_bracket: Annotated[BracketName | None, _says("The least bracket it accepts.")]
    max_blockers: Annotated[int | None, _says("The most blockers it accepts.")]
    effect: Annotated[Literal["cap", "veto"], _says("`veto` makes the whole 0, `cap` at most `cap`.")]
    cap: Annotated[float, _says("The cap, 0–100.")]
    held: Annotated[bool | None, _says("Whether it held; null if it could not be tried.")]


class ScoredObject(Record, frozen=True, kw_only=True, tag="scored", tag_field="type"):
    """There is a score."""

    bracket: Annotated[BracketName, _says("The bracket of the score.")]
    raw: Annotated[float, _says("The source's own number.")]
    scale: Annotated[str, _says("The scale of that number, `low..high`.")]
    origin: Annotated[
        Literal["measured", "carried", "defaulted"],
        _says("`carried`: from an earlier evaluation; `defaulted`: from a default somebody asked for."),
    ]
    gates: Annotated[tuple[GateObject, ...], _says("Conditions on parts that stand in the plan.")]


class UnscoredObject(Record, frozen=True, kw_only=True, tag="unscored", tag_field="type"):
    """There is none."""

    why: Annotated[UnscoredWhy, _says("Why not.")]
    detail: Annotated[str, _says("In words.")]
    gates: Annotated[tuple[GateObject, ...], _says("Conditions on parts that stand in the plan.")]


class PartObject(Record, frozen=True, kw_only=True):
    """One named, weighted part of a plan."""

    name: Annotated[str, _says("Its name in the plan.")]
    weight: Annotated[float, _says("Its weight; 0 is reported and never counted.")]
    evaluator: Annotated[str, _says("What kind of evaluator it is.")]
    fingerprint: Annotated[str, _says("Digest of evaluator and parameters: scores compare only within one.")]
    outcome: Annotated[ScoredObject | UnscoredObject, _says("Whether it has a score, and where that comes from.")]
    score: Annotated[float | None, _says("0–100; null if it has none.")]
    normalized: Annotated[float | None, _says("The same as 0–1.")]
    reason: Annotated[str, _says("Why, in words.")]
    suggestion: Annotated[str, _says("What to do better; may be empty.")]
    flags: Annotated[tuple[str, ...], _says("What every reader must know.")]
    details: Annotated[Mapping[str, Any], _says("What the evaluator has to add.")]
    dimensions: Annotated[
        tuple[DimensionObject, ...], _says("Means over its judges: for reading, nothing is computed from them.")
    ]
    findings: Annotated[tuple[RaisedObject, ...], _says("What it found.")]
    missing: Annotated[tuple[str, ...], _says("Its own parts that broke.")]
    coverage: Annotated[Share, _says("Observed over declared weight of its own parts.")]
    parts: Annotated[tuple[PartObject, ...], _says("Its own parts.")]
    usage: Annotated[UsageObject, _says("What it took.")]
    duration_seconds: Annotated[float, _says("How long it took.")]
    verdict: Annotated[PanelObject | None, _says("Its panel's verdict; null if it is no panel.")]


class EvaluationObject(Record, frozen=True, kw_only=True):
    """The whole: a panel's score, or the aggregate of a plan."""

    outcome: Annotated[ScoredObject | UnscoredObject, _says("Whether there is a score, and where it comes from.")]
    score: Annotated[float | None, _says("0–100; null if there is none.")]
    normalized: Annotated[float | None, _says("The same as 0–1.")]
    parts: Annotated[tuple[PartObject, ...], _says("The parts of a plan; empty for a panel alone.")]
    findings: Annotated[tuple[RaisedObject, ...], _says("All findings, most severe first.")]
    missing: Annotated[tuple[str, ...], _says("Parts that broke.")]
    coverage: Annotated[Share, _says("Observed over declared weight.")]


class VerdictObject(PanelObject, frozen=True, kw_only=True):
    """What `ask --json` prints: the whole, and the verdict of its only panel."""

    evaluation: Annotated[EvaluationObject, _says("The whole, with its parts.")]
    run: Annotated[str | None, _says("The run in the ledger.")]
    ledger: Annotated[str | None, _says("The ledger's file.")]


SCHEMAS: Mapping[str, type[Record]] = {"verdict": VerdictObject}


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of an object we print, by its name.

    Raises:
        UnknownName: We print none of that name.
    """
    kind = SCHEMAS.get(name)
    if kind is None:
        what = "schema"
        raise UnknownName(what, name, SCHEMAS)
    _, components = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    own = components.pop(kind.__name__)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **own, "$defs": dict(sorted(components.items()))}


def encode(found: Record) -> bytes:
    """The object as JSON, indented, ended by a newline; signs nobody can see are written as escapes.

    What is read back is the same; what is printed can do nothing to a terminal.
    """
    text = msgspec.json.format(msgspec.json.encode(found), indent=_INDENT).decode()
    if not text.isascii() or "\x7f" in text:
        text = "".join(_escaped(sign) for sign in text)
    return f"{text}\n".encode()


def _escaped(sign: str) -> str:
    """JSON's own escape of a hidden sign; such signs stand only inside strings, but for our newlines."""
    if sign == "\n" or unicodedata.category(sign) not in _HIDDEN:
        return sign
    units = sign.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def verdict_object(evaluation: Evaluation, *, run: str | None = None, ledger: str | None = None) -> VerdictObject:
    """What ``ask --json`` prints of an evaluation.

    Args:
        evaluation: A panel's, or a plan's.
        run: Its run in the ledger.
        ledger: The ledger's file, as it may be shown.
    """
    panels = panel_parts(evaluation)
    only = _panel(panels[0].verdict) if len(panels) == 1 else _NO_PANEL
    found: dict[str, Any] = msgspec.structs.asdict(only)
    found.update(
        status="decided" if isinstance(evaluation.outcome, Scored) else "undecided",
        why=_why(evaluation, only),
        flags=evaluation.flags,
        score=evaluation.score,
        normalized=evaluation.normalized,
        usage=_usage(evaluation.usage),
        evaluation=_whole(evaluation),
        run=run,
        ledger=ledger,
    )
    return VerdictObject(**found)


def _why(evaluation: Evaluation, only: PanelObject) -> UndecidedWhy | UnscoredWhy | None:
    """Why the whole has no score: what its only panel says, if that is the reason."""
    if isinstance(evaluation.outcome, Scored):
        return None
    return only.why if evaluation.outcome.why == "undecided" and only.why is not None else evaluation.outcome.why


_NO_PANEL = PanelObject(
    status="undecided",
    why=None,
    flags=(),
    bracket=None,
    score=None,
    normalized=None,
    numbers=None,
    rule=None,
    tie=None,
    path=None,
    rounds=None,
    because=None,
    quorum=None,
    votes=None,
    counts=None,
    dissent=None,
    sensitivity=None,
    contested=None,
    tied=None,
    usage=UsageObject(calls=0, tokens_in=0, tokens_out=0, cost_usd=0.0),
    digest=None,
    digests=None,
)


def _panel(verdict: Verdict) -> PanelObject:
    decision = verdict.decision
    decided = decision if isinstance(decision, Decided) else None
    undecided = decision if isinstance(decision, Undecided) else None
    number = quorum(verdict)
    return PanelObject(
        status="undecided" if decided is None else "decided",
        why=None if undecided is None else undecided.why,
        flags=verdict.flags,
        bracket=None if decided is None else _name(decided.bracket),
        score=None if decided is None else decided.score,
        normalized=None if decided is None else decided.score / 100,
        numbers=None if decided is None else dict(decided.numbers),
        rule=verdict.panel.rules.rule,
        tie=verdict.panel.rules.tie,
        path=None if decided is None else decided.path,
        rounds=tuple(
            RoundObject(
                round=one.number,
                agreement=one.agreement,
                moves=tuple(
                    MoveObject(seat=move.seat, before=_name(move.before), after=_name(move.after)) for move in one.moves
                ),
            )
            for one in rounds(verdict)
        ),
        because=_because(verdict),
        quorum=QuorumObject(needed=number.needed, valid=number.valid, seats=number.seats),
        votes=tuple(_vote(cast) for cast in casts(verdict)),
        counts=CountsObject(**{str(state): count for state, count in verdict.counts.items()}),
        dissent=tuple(one for vote in verdict.dissent for one in _dissent(vote)),
        sensitivity=None if verdict.sensitivity is None else _sensitivity(verdict.sensitivity),
        contested=None if decided is None else decided.contested,
        tied=tuple(_name(bracket) for bracket in decision.tied),
        usage=_usage(verdict.usage),
        digest=verdict.digest,
        digests=dict(verdict.digests),
    )


def _because(verdict: Verdict) -> str:
    if verdict.close is not None:
        return verdict.close.because
    return verdict.decision.detail if isinstance(verdict.decision, Undecided) else ""


def _vote(cast: Cast) -> VoteObject:
    answer, ballot = cast.answer, cast.ballot
    requested: dict[str, str] = {}
    effective: dict[str, str] = {}
    if answer is not None:
        requested |= answer.requested
        effective |= answer.effective
        if answer.prompt_sha256:
            requested["prompt_sha256"] = answer.prompt_sha256
        if answer.attempts:
            effective |= {"attempts": str(answer.attempts), "latency_seconds": f"{answer.latency_seconds:g}"}
    return VoteObject(
        seat=cast.seat.name,
        judge=cast.seat.judge.model,
        model=(answer.model or None) if answer is not None else None,
        family=cast.seat.judge.kin,
        round=cast.round,
        bracket=None if ballot is None else _name(ballot.bracket),
        score=None if ballot is None else ballot.score,
        reason=None if ballot is None else ballot.reason,
        dimensions=() if ballot is None else tuple(_dimension(one) for one in ballot.dimensions),
        findings=() if ballot is None else tuple(_finding(one) for one in ballot.findings),
        status=cast.state,
        absent=_absent(cast),
        usage=_usage(Usage() if answer is None else answer.usage),
        requested=requested,
        effective=effective,
    )


def _absent(cast: Cast) -> AbsentObject | None:
    if cast.state == "voted":
        return None
    if cast.absent is None:
        return AbsentObject(reason=None, detail=cast.why)
    return AbsentObject(reason=cast.absent.reason, detail=cast.absent.detail)


def _dissent(vote: Vote) -> tuple[DissentObject, ...]:
    ballot = vote.ballot
    if ballot is None:
        return ()
    return (
        DissentObject(
            seat=vote.seat.name,
            bracket=_name(ballot.bracket),
            score=ballot.score,
            reason=ballot.reason,
            findings=tuple(_finding(one) for one in ballot.findings),
        ),
    )


def _sensitivity(told: Sensitivity) -> SensitivityObject:
    return SensitivityObject(
        hinges_on=told.hinges_on,
        without={name: _maybe(bracket) for name, bracket in told.without.items()},
        rules={name: _maybe(bracket) for name, bracket in told.rules.items()},
    )


def _whole(evaluation: Evaluation) -> EvaluationObject:
    return EvaluationObject(
        outcome=_outcome(evaluation),
        score=evaluation.score,
        normalized=evaluation.normalized,
        parts=tuple(_part(part) for part in evaluation.parts),
        findings=tuple(_raised(one) for one in raised(evaluation)),
        missing=evaluation.missing,
        coverage=evaluation.coverage,
    )


def _part(part: Part) -> PartObject:
    found = part.evaluation
    return PartObject(
        name=part.name,
        weight=part.weight,
        evaluator=found.evaluator,
        fingerprint=found.fingerprint,
        outcome=_outcome(found),
        score=found.score,
        normalized=found.normalized,
        reason=found.reason,
        suggestion=found.suggestion,
        flags=found.flags,
        details=dict(found.details),
        dimensions=tuple(_dimension(one) for one in found.dimensions),
        findings=tuple(_raised(one) for one in raised(found)),
        missing=found.missing,
        coverage=found.coverage,
        parts=tuple(_part(one) for one in found.parts),
        usage=_usage(found.usage),
        duration_seconds=found.duration_seconds,
        verdict=None if found.verdict is None else _panel(found.verdict),
    )


def _outcome(evaluation: Evaluation) -> ScoredObject | UnscoredObject:
    outcome = evaluation.outcome
    gates = tuple(_gate(gate) for gate in evaluation.gates)
    if isinstance(outcome, Unscored):
        return UnscoredObject(why=outcome.why, detail=outcome.detail, gates=gates)
    bracket = evaluation.bracket or bracket_of(outcome.score)
    return ScoredObject(
        bracket=_name(bracket), raw=outcome.raw, scale=outcome.scale, origin=outcome.origin, gates=gates
    )


def _gate(gate: Gate) -> GateObject:
    return GateObject(
        part=gate.part,
        min_score=gate.min_score,
        min_bracket=_maybe(gate.min_bracket),
        max_blockers=gate.max_blockers,
        effect=gate.effect,
        cap=gate.cap,
        held=gate.held,
    )


def _dimension(one: DimensionScore) -> DimensionObject:
    return DimensionObject(**msgspec.structs.asdict(one))


def _finding(finding: Finding) -> FindingObject:
    return FindingObject(**msgspec.structs.asdict(finding))


def _raised(one: Raised) -> RaisedObject:
    told: dict[str, Any] = msgspec.structs.asdict(one.finding)
    if one.refuted:
        told["flags"] = (*one.finding.flags, "refuted")
    return RaisedObject(**told, raised_by=one.by)


def _usage(usage: Usage) -> UsageObject:
    return UsageObject(
        calls=usage.calls,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        cost_usd=None if usage.cost_usd is None else round(usage.cost_usd, 9),
    )


_NAMES: Mapping[Bracket, BracketName] = {
    Bracket.POOR: "poor",
    Bracket.FAIR: "fair",
    Bracket.GOOD: "good",
    Bracket.EXCELLENT: "excellent",
}


def _name(bracket: Bracket) -> BracketName:
    return _NAMES[bracket]


def _maybe(bracket: Bracket | None) -> BracketName | None:
    return None if bracket is None else _NAMES[bracket]
