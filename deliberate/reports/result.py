"""The JSON of ``ask --json``: one object, a pure function of the evaluation; ``docs/json.md`` explains it."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

import msgspec

from deliberate.errors import UnknownName
from deliberate.reports._again import in_part
from deliberate.reports._facts import Cast, Raised, casts, panel_parts, quorum, raised, rounds
from deliberate.reports._objects import (
    AbsentObject,
    BracketName,
    CountsObject,
    DimensionObject,
    DissentObject,
    EvaluationObject,
    FindingObject,
    GateObject,
    MergedObject,
    MoveObject,
    PanelObject,
    PartObject,
    QuorumObject,
    RaisedObject,
    RevisionObject,
    RoundObject,
    ScoredObject,
    SensitivityObject,
    UnscoredObject,
    UsageObject,
    VerdictObject,
    VoteObject,
)
from deliberate.reports.run_objects import CaseObject, DoneObject, DryRunObject, LaunchObject
from deliberate.types import (
    Bracket,
    Decided,
    DimensionScore,
    Evaluation,
    Finding,
    Gate,
    Move,
    Part,
    Record,
    Scored,
    Sensitivity,
    Undecided,
    UndecidedWhy,
    Unscored,
    UnscoredWhy,
    Usage,
    Verdict,
    Vote,
    bracket_of,
)

__all__ = ["SCHEMAS", "VerdictObject", "encode", "encode_line", "schema", "verdict_object"]

_HIDDEN = frozenset({"Cc", "Cf", "Co", "Zl", "Zp"})
_INDENT = 2

SCHEMAS: Mapping[str, type[Record]] = {
    "verdict": VerdictObject,
    "case": CaseObject,
    "launch": LaunchObject,
    "done": DoneObject,
    "dry-run": DryRunObject,
}
"""``verdict`` is what ``ask`` prints, ``case`` a line of ``run -o``, the others are the records of ``run --json``."""


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
    return _harmless(msgspec.json.format(msgspec.json.encode(found), indent=_INDENT).decode())


def encode_line(found: object) -> bytes:
    """The object as one line of JSON, as harmless as ``encode``'s."""
    return _harmless(msgspec.json.encode(found).decode())


def _harmless(text: str) -> bytes:
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
    if in_part(evaluation):
        found["bracket"] = _maybe(evaluation.bracket)
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
                entropy=one.entropy,
                spread=None if one.spread is None else round(one.spread, 9),
                moves=tuple(_move(move) for move in one.moves),
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
        suggestion=evaluation.suggestion,
        feedback=evaluation.feedback,
        details=dict(evaluation.details),
        dimensions=tuple(_dimension(one) for one in evaluation.dimensions),
        resolved=tuple(_finding(one) for one in evaluation.resolved),
        revision=_revision(evaluation),
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
        resolved=tuple(_finding(one) for one in found.resolved),
        revision=_revision(found),
    )


def _revision(evaluation: Evaluation) -> RevisionObject | None:
    told = evaluation.revision
    if told is None:
        return None
    return RevisionObject(
        decision=evaluation.decision,
        why=told.why,
        iteration=told.iteration,
        changed=told.changed,
        affected=told.affected,
        tokens=told.tokens,
        tokens_full=told.tokens_full,
        tokens_saved=told.tokens_saved,
    )


def _outcome(evaluation: Evaluation) -> ScoredObject | UnscoredObject:
    outcome = evaluation.outcome
    gates = tuple(_gate(gate) for gate in evaluation.gates)
    if isinstance(outcome, Unscored):
        return UnscoredObject(why=outcome.why, detail=outcome.detail, raw=outcome.raw, gates=gates)
    bracket = bracket_of(outcome.score) if evaluation.bracket is None else evaluation.bracket
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
    others = tuple(
        MergedObject(seat=seat, key=finding.key, severity=finding.severity, title=finding.title)
        for seat, finding in one.others
    )
    return RaisedObject(**told, raised_by=one.by, agreed_by=one.agreed, disputed_by=one.disputed, merged=others)


def _move(move: Move) -> MoveObject:
    return MoveObject(
        seat=move.seat,
        before=_name(move.before),
        after=_name(move.after),
        direction=move.direction,
        to_majority=move.to_majority,
        cited=move.cited,
    )


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
