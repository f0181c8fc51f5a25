"""Plans: which parts make up a score, and with what weight (``*.plan.yaml``).

A plan is names and values only. Parts are built from it higher up; a fault found there is placed in the file by
``LoadedPlan.where``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, cast
from typing import Protocol as Contract

from pydantic import BeforeValidator, Field

from deliberate import plugins
from deliberate.errors import UnknownName
from deliberate.library._filed import PANEL_SUFFIX
from deliberate.library._files import names_a_path, path_of
from deliberate.library._yaml import Document, Format, Name, Words, Written, load_file
from deliberate.library.dialects import codebolt_part, kapso_spec
from deliberate.types import Bracket, Gate, Panel, Plan, PlanPart, Record, Spec, bracket_named

__all__ = ["LoadedPlan", "Require", "plan_schema", "read_plan", "stated"]

_Points = Annotated[float, Field(ge=0, le=100)]
_Share = Annotated[float, Field(ge=0, le=1)]
_Count = Annotated[int, Field(ge=0)]


class _Panels(Contract):
    def panel(self, name: str) -> Panel: ...


class LoadedPlan(Record, frozen=True, kw_only=True):
    """A plan with the folder its file lies in: relative paths in its parameters start there.

    ``roots`` says of parts that stand elsewhere than under ``parts`` where that is: in documents of other systems.
    """

    plan: Plan
    folder: Path
    document: Document
    roots: Mapping[str, tuple[str | int, ...]] = {}

    def where(self, *path: str | int, key: bool = False) -> str:
        """``file:line:column`` of what stands at a path, or of its key: ``where("parts", "tests", "weight")``."""
        if path[:1] == ("parts",) and len(path) > 1 and path[1] in self.roots:
            path = (*self.roots[str(path[1])], *path[2:])
        return self.document.where(*path, key=key)

    def panel(self, library: _Panels) -> Callable[[str], Panel]:
        """Finds the panels the plan names: beside its file, else in the library."""

        def find(name: str) -> Panel:
            if names_a_path(name):
                return library.panel(str(path_of(name, beside=self.folder)))
            beside = self.folder / f"{name}{PANEL_SUFFIX}"
            return library.panel(str(beside) if beside.is_file() else name)

        return find


def _bracket(value: object) -> object:
    if isinstance(value, str):
        return bracket_named(value)
    raise ValueError(f"{value!r} is not a bracket: expected one of poor, fair, good, excellent")


_Bracket = Annotated[Bracket, BeforeValidator(_bracket)]


class _Part(Written):
    type: Words
    params: Annotated[dict[str, Any], Field(default_factory=dict)]
    weight: Annotated[float, Field(ge=0)] = 1.0


class _Carry(Written):
    """When what was said of an earlier iteration may stand."""

    skip_eval_confidence: _Share | None = None
    require_evidence: bool | None = None
    full_every: Annotated[int, Field(ge=1)] | None = None
    most_changed: _Share | None = None
    most_weight: _Share | None = None


class _Combine(Written):
    by: Words = "weighted_mean"
    on_missing: Words | None = None
    min_coverage: _Share | None = None
    carry: _Carry | None = None


class _Gate(Written):
    part: Words
    min_score: _Points | None = None
    min_bracket: _Bracket | None = None
    max_blockers: _Count | None = None
    effect: Literal["cap", "veto"] = "veto"
    cap: _Points | None = None


class _Cases(Written):
    path: Annotated[Words, Field(alias="from")]
    id: Words | None = None
    task: Words | None = None
    output: Words | None = None
    reference: Words | None = None
    category: Words | None = None


class Require(Written):
    """What is required of an outcome, from outside."""

    min_score: _Points | None = None
    min_bracket: _Bracket | None = None
    max_blockers: _Count | None = None
    max_unread: _Share | None = None
    min_agreement: Annotated[float, Field(ge=-1, le=1)] | None = None
    max_drop: _Points | None = None


class _Limits(Written):
    in_flight: Annotated[int, Field(ge=1)] | None = None
    max_cost_usd: Annotated[float, Field(ge=0)] | None = None
    deadline_seconds: Annotated[float, Field(gt=0)] | None = None
    case_seconds: Annotated[float, Field(gt=0)] | None = None
    call_seconds: Annotated[float, Field(gt=0)] | None = None
    requests_per_minute: Annotated[int, Field(ge=1)] | None = None
    tokens_per_minute: Annotated[int, Field(ge=1)] | None = None


class _Plan(Written):
    deliberate: Format
    cases: _Cases | None = None
    parts: Annotated[dict[Name, _Part], Field(min_length=1)]
    combine: _Combine = _Combine()
    gates: tuple[_Gate, ...] = ()
    require: Require = Require()
    limits: _Limits = _Limits()


def read_plan(path: Path, *, own: Sequence[str] = ()) -> LoadedPlan:
    """The plan in a file; ``own`` are names of evaluators that come besides those there are.

    The configuration of an evaluator in Kapso (``evaluator: {type, params}``) and of a task's evaluators in Codebolt
    (``evaluators: [{type, weight, …}]``) are plans too.

    Raises:
        ConfigError: It cannot be read; the message names file, line, column, key and what was expected.
        UnknownName: It names an evaluator, a rule or a part that does not exist.
    """
    document = load_file(path)
    foreign = _foreign(document)
    if foreign:
        return _read_foreign(document, foreign, folder=path.absolute().parent)
    written = document.read(_Plan)
    evaluators = (*plugins.names("evaluators"), *own)
    for name, part in written.parts.items():
        if part.type not in evaluators:
            raise UnknownName("evaluator", part.type, evaluators, where=document.where("parts", name, "type"))
    if not any(part.weight > 0 for part in written.parts.values()):
        raise document.fault("no part has a weight above 0", "parts", expected="one that has")
    plugins.part("aggregation", written.combine.by, where=document.where("combine", "by"))
    plan = Plan(
        parts=tuple(
            PlanPart(name=name, spec=Spec(type=part.type, params=part.params), weight=part.weight)
            for name, part in written.parts.items()
        ),
        combine=Spec(type=written.combine.by, params=stated(written.combine, "by")),
        gates=tuple(_gate(at, gate, written, document) for at, gate in enumerate(written.gates)),
        cases={} if written.cases is None else stated(written.cases),
        require=stated(written.require),
        limits=stated(written.limits),
    )
    return LoadedPlan(plan=plan, folder=path.absolute().parent, document=document)


def plan_schema(params: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a plan file, for editors.

    Args:
        params: By the name of each evaluator, the schema of its parameters.
    """
    found: dict[str, Any] = {"$schema": "https://json-schema.org/draft/2020-12/schema", **_Plan.model_json_schema()}
    found["title"] = "Plan"
    found["properties"]["deliberate"] = {"const": 1}
    inner = found["$defs"]
    inner["Bracket"] = {"enum": [one.label.lower() for one in Bracket]}
    inner["_Combine"]["properties"]["by"]["enum"] = list(plugins.names("aggregation"))
    one: dict[str, Any] = inner["_Part"]
    inner["_Part"] = {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"enum": sorted(params)}},
        "anyOf": [_part_schema(one, name, params[name]) for name in sorted(params)],
    }
    return found


def _part_schema(part: Mapping[str, Any], name: str, params: Mapping[str, Any]) -> dict[str, Any]:
    needed = ["type", "params"] if params.get("required") else ["type"]
    properties = {**part["properties"], "type": {"const": name}, "params": params}
    return {**part, "title": name, "properties": properties, "required": needed}


def _foreign(document: Document) -> str:
    """The one key by which a document of another system is known; nothing where it is ours."""
    data = document.data
    if not isinstance(data, Mapping) or "deliberate" in data or "parts" in data:
        return ""
    return next((key for key in ("evaluator", "evaluators") if key in data), "")


class _Kapso(Written):
    type: Words
    params: Annotated[dict[str, Any], Field(default_factory=dict)]


class _KapsoPlan(Written):
    evaluator: _Kapso


class _KapsoNamed(Written):
    evaluator: Words
    evaluator_params: Annotated[dict[str, Any], Field(default_factory=dict)]


class _CodeboltPlan(Written):
    evaluators: Annotated[tuple[dict[str, Any], ...], Field(min_length=1)]


def _read_foreign(document: Document, key: str, *, folder: Path) -> LoadedPlan:
    parts: list[PlanPart] = []
    roots: dict[str, tuple[str | int, ...]] = {}
    combine = Spec(type="weighted_mean")
    if key == "evaluator":
        with document.placing():
            spec = _kapso(document)
        parts.append(PlanPart(name=spec.type, spec=spec))
        roots[spec.type] = ("evaluator",)
        combine = Spec(type="weighted_mean", params={"on_missing": "exclude"})
    else:
        written = document.read(_CodeboltPlan)
        for at, one in enumerate(written.evaluators):
            with document.placing():
                part = codebolt_part(one, at=at, where=f"evaluators.{at}")
            parts.append(part)
            roots[part.name] = ("evaluators", at)
    return LoadedPlan(plan=Plan(parts=tuple(parts), combine=combine), folder=folder, document=document, roots=roots)


def _kapso(document: Document) -> Spec:
    data = cast("Mapping[str, object]", document.data)
    if isinstance(data["evaluator"], str):
        named = document.read(_KapsoNamed)
        return kapso_spec(named.evaluator, named.evaluator_params, within=True)
    written = document.read(_KapsoPlan).evaluator
    return kapso_spec(written.type, written.params, within=True)


def stated(written: Written, *without: str) -> dict[str, Any]:
    """What a mapping says, by the keys people write; a bracket by its name."""
    found = written.model_dump(by_alias=True, exclude_none=True, exclude=set(without))
    return {key: value.label.lower() if isinstance(value, Bracket) else value for key, value in found.items()}


def _gate(at: int, gate: _Gate, written: _Plan, document: Document) -> Gate:
    if gate.part not in written.parts:
        raise UnknownName("part", gate.part, written.parts, where=document.where("gates", at, "part"))
    if gate.min_score is None and gate.min_bracket is None and gate.max_blockers is None:
        raise document.fault(
            "a gate without a condition", "gates", at, expected="min_score, min_bracket or max_blockers"
        )
    if (gate.effect == "cap") != (gate.cap is not None):
        raise document.fault(
            f"effect {gate.effect} {'without' if gate.cap is None else 'with'} cap",
            *("gates", at, "cap"),
            expected="effect: cap and cap: POINTS, or effect: veto",
        )
    return Gate(
        part=gate.part,
        min_score=gate.min_score,
        min_bracket=gate.min_bracket,
        max_blockers=gate.max_blockers,
        effect=gate.effect,
        cap=gate.cap or 0.0,
    )
