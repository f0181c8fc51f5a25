"""The JSON of ``ask --json``: one object, a pure function of the evaluation; ``docs/json.md`` explains it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from deliberate.errors import UnknownName
from deliberate.reports._again import in_part
from deliberate.reports._facts import Raised, panel_parts, raised
from deliberate.reports._leaves import bracket_name, dimension_object, finding_object, maybe_named, rounded_usage
from deliberate.reports._objects import (
    EvaluationObject,
    GateObject,
    MergedObject,
    PanelObject,
    PartObject,
    RaisedObject,
    RevisionObject,
    ScoredObject,
    UnscoredObject,
    VerdictObject,
)
from deliberate.reports._panel_object import NO_PANEL, panel_object
from deliberate.reports.run_objects import CaseObject, DoneObject, DryRunObject, LaunchObject
from deliberate.types import (
    Evaluation,
    Gate,
    Part,
    Record,
    Scored,
    UndecidedWhy,
    Unscored,
    UnscoredWhy,
    bracket_of,
)

__all__ = ["SCHEMAS", "VerdictObject", "schema", "verdict_object"]

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


def verdict_object(evaluation: Evaluation, *, run: str | None = None, ledger: str | None = None) -> VerdictObject:
    """What ``ask --json`` prints of an evaluation.

    Args:
        evaluation: A panel's, or a plan's.
        run: Its run in the ledger.
        ledger: The ledger's file, as it may be shown.
    """
    panels = panel_parts(evaluation)
    only = panel_object(panels[0].verdict) if len(panels) == 1 else NO_PANEL
    found: dict[str, Any] = msgspec.structs.asdict(only)
    found.update(
        status="decided" if isinstance(evaluation.outcome, Scored) else "undecided",
        why=_why(evaluation, only),
        flags=evaluation.flags,
        score=evaluation.score,
        normalized=evaluation.normalized,
        usage=rounded_usage(evaluation.usage),
        evaluation=_whole(evaluation),
        run=run,
        ledger=ledger,
    )
    if in_part(evaluation):
        found["bracket"] = maybe_named(evaluation.bracket)
    return VerdictObject(**found)


def _why(evaluation: Evaluation, only: PanelObject) -> UndecidedWhy | UnscoredWhy | None:
    """Why the whole has no score: what its only panel says, if that is the reason."""
    if isinstance(evaluation.outcome, Scored):
        return None
    return only.why if evaluation.outcome.why == "undecided" and only.why is not None else evaluation.outcome.why


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
        dimensions=tuple(dimension_object(one) for one in evaluation.dimensions),
        resolved=tuple(finding_object(one) for one in evaluation.resolved),
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
        dimensions=tuple(dimension_object(one) for one in found.dimensions),
        findings=tuple(_raised(one) for one in raised(found)),
        missing=found.missing,
        coverage=found.coverage,
        parts=tuple(_part(one) for one in found.parts),
        usage=rounded_usage(found.usage),
        duration_seconds=found.duration_seconds,
        verdict=None if found.verdict is None else panel_object(found.verdict),
        resolved=tuple(finding_object(one) for one in found.resolved),
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
        bracket=bracket_name(bracket), raw=outcome.raw, scale=outcome.scale, origin=outcome.origin, gates=gates
    )


def _gate(gate: Gate) -> GateObject:
    return GateObject(
        part=gate.part,
        min_score=gate.min_score,
        min_bracket=maybe_named(gate.min_bracket),
        max_blockers=gate.max_blockers,
        effect=gate.effect,
        cap=gate.cap,
        held=gate.held,
    )


def _raised(one: Raised) -> RaisedObject:
    told: dict[str, Any] = msgspec.structs.asdict(one.finding)
    if one.refuted:
        told["flags"] = (*one.finding.flags, "refuted")
    others = tuple(
        MergedObject(seat=seat, key=finding.key, severity=finding.severity, title=finding.title)
        for seat, finding in one.others
    )
    return RaisedObject(**told, raised_by=one.by, agreed_by=one.agreed, disputed_by=one.disputed, merged=others)
