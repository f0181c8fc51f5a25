"""One panel as an object of the JSON: every ballot, what was decided, and what it hinges on."""

from __future__ import annotations

from deliberate.reports._facts import Cast, casts, quorum, rounds
from deliberate.reports._leaves import bracket_name, dimension_object, finding_object, maybe_named, rounded_usage
from deliberate.reports._objects import (
    AbsentObject,
    CountsObject,
    DissentObject,
    MoveObject,
    PanelObject,
    QuorumObject,
    RoundObject,
    SensitivityObject,
    UsageObject,
    VoteObject,
)
from deliberate.types import (
    Decided,
    Move,
    Sensitivity,
    Undecided,
    Usage,
    Verdict,
    Vote,
)

__all__ = ["NO_PANEL", "panel_object"]

NO_PANEL = PanelObject(
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
"""In place of a panel where there is none, or more than one."""


def panel_object(verdict: Verdict) -> PanelObject:
    """What was decided, with every ballot it came from."""
    decision = verdict.decision
    decided = decision if isinstance(decision, Decided) else None
    undecided = decision if isinstance(decision, Undecided) else None
    number = quorum(verdict)
    return PanelObject(
        status="undecided" if decided is None else "decided",
        why=None if undecided is None else undecided.why,
        flags=verdict.flags,
        bracket=None if decided is None else bracket_name(decided.bracket),
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
        tied=tuple(bracket_name(bracket) for bracket in decision.tied),
        usage=rounded_usage(verdict.usage),
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
        bracket=None if ballot is None else bracket_name(ballot.bracket),
        score=None if ballot is None else ballot.score,
        reason=None if ballot is None else ballot.reason,
        dimensions=() if ballot is None else tuple(dimension_object(one) for one in ballot.dimensions),
        findings=() if ballot is None else tuple(finding_object(one) for one in ballot.findings),
        status=cast.state,
        absent=_absent(cast),
        usage=rounded_usage(Usage() if answer is None else answer.usage),
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
            bracket=bracket_name(ballot.bracket),
            score=ballot.score,
            reason=ballot.reason,
            findings=tuple(finding_object(one) for one in ballot.findings),
        ),
    )


def _sensitivity(told: Sensitivity) -> SensitivityObject:
    return SensitivityObject(
        hinges_on=told.hinges_on,
        without={name: maybe_named(bracket) for name, bracket in told.without.items()},
        rules={name: maybe_named(bracket) for name, bracket in told.rules.items()},
    )


def _move(move: Move) -> MoveObject:
    return MoveObject(
        seat=move.seat,
        before=bracket_name(move.before),
        after=bracket_name(move.after),
        direction=move.direction,
        to_majority=move.to_majority,
        cited=move.cited,
    )
