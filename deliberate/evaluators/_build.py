"""Specs -> evaluators: parts by name, from a plan file or from Python.

What is wrong is told with its place: a plan file's line and column, or the name of the part and its parameter.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, cast
from typing import Protocol as Contract

import msgspec

from deliberate import plugins
from deliberate.errors import ConfigError, UnknownName
from deliberate.evaluators._base import Evaluator
from deliberate.evaluators.composite import Composite, Member
from deliberate.evaluators.deliberation import Deliberation
from deliberate.types import (
    AUTO,
    GENERAL,
    Carry,
    Gate,
    Panel,
    Param,
    Plan,
    PlanPart,
    Record,
    Spec,
    bracket_named,
)

__all__ = [
    "Place",
    "combine",
    "default_of",
    "evaluator_of",
    "fitting",
    "kind_of",
    "own_evaluators",
    "params_schema",
    "plan_of",
]

_FREE = (("tests", "test_runner", 0.3), ("static_analysis", "static_analysis", 0.2))
"""What runs before any judge is asked, by name, evaluator and weight."""

PanelNamed = Callable[[str], Panel]

_STEP = re.compile(r"[^.\[\]`$]+")


class Place(Contract):
    """Where something stands: ``file:line:column`` of a path of keys and indices, or of its key."""

    def __call__(self, *path: str | int, key: bool = False) -> str:
        """The place, as people read it."""
        ...


class _Builder(Record, frozen=True, kw_only=True):
    """What building needs besides the spec."""

    panel: PanelNamed
    place: Place
    folder: Path | None = None
    own: Mapping[str, Any] = {}


def evaluator_of(
    spec: Spec, *, panel: PanelNamed, where: str | Place = "", own: Mapping[str, Any] | None = None
) -> Evaluator:
    """The evaluator of that name with those parameters.

    Args:
        spec: Name and parameters; a ``composite`` takes ``parts``, ``combine`` and ``gates`` as a plan file does.
        panel: Finds a panel by its name or file, where a parameter names one.
        where: File and key, for messages; or what gives the place of a path in a file.
        own: Evaluators of the user's own module, by name, which come before those there are.

    Raises:
        UnknownName: There is no such evaluator.
        ConfigError: A parameter is unknown, missing or wrong.
    """
    place = _spelled(where or spec.type) if isinstance(where, str) else where
    return _evaluator_of(spec, _Builder(panel=panel, place=place, own=own or {}), ())


def plan_of(
    plan: Plan,
    *,
    panel: PanelNamed,
    where: str | Place = "plan",
    folder: Path | None = None,
    own: Mapping[str, Any] | None = None,
) -> Composite:
    """The composite a plan describes.

    Args:
        plan: Names and values.
        panel: Finds a panel by its name or file.
        where: What gives the place of a path in the plan's file (``LoadedPlan.where``); else its name.
        folder: The folder its parts run in; a script that is not there is an error then.
        own: Evaluators of the user's own module, by name.

    Raises:
        ConfigError: A part, rule or gate does not fit; the message says where.
    """
    place = _spelled(where) if isinstance(where, str) else where
    return _plan_of(plan, _Builder(panel=panel, place=place, folder=folder, own=own or {}), ())


def kind_of(name: str, *, where: str = "", own: Mapping[str, Any] | None = None) -> type[Any]:
    """The class of the evaluator of that name.

    Raises:
        UnknownName: There is none.
    """
    own = own or {}
    known = plugins.names("evaluators")
    if name not in own and name not in known:
        raise UnknownName("evaluator", name, {*known, *own}, where=where)
    found: Any = own[name] if name in own else plugins.part("evaluators", name)
    return found if isinstance(found, type) else type(found)


def params_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of an evaluator's parameters, as a plan file writes them.

    Raises:
        UnknownName: There is no such evaluator.
    """
    kind = kind_of(name)
    if kind is Composite:
        inner = {"parts": "/properties/parts", "combine": "/properties/combine", "gates": "/properties/gates"}
        fields: dict[str, Any] = {key: {"$ref": f"#{path}"} for key, path in inner.items()}
        return {"type": "object", "properties": fields, "required": ["parts"], "additionalProperties": False}
    known = msgspec.structs.fields(kind)
    return {
        "type": "object",
        "properties": {field.name: _field_schema(field) for field in known},
        "required": [field.name for field in known if field.required],
        "additionalProperties": False,
    }


def _field_schema(field: msgspec.structs.FieldInfo) -> dict[str, Any]:
    # A panel is named in a plan, and laid out elsewhere.
    found: dict[str, Any] = {"type": "string"} if field.type is Panel else msgspec.json.schema(field.type)
    if field.default is not msgspec.NODEFAULT:
        found["default"] = msgspec.to_builtins(field.default)
    return found


def own_evaluators(modules: Iterable[ModuleType]) -> dict[str, Any]:
    """The evaluators in a user's own modules, by their names: classes, and what ``@evaluator`` made.

    Raises:
        ConfigError: Two have one name, or one has the name of one there is.
    """
    found: dict[str, Any] = {}
    known = plugins.names("evaluators")
    for module in modules:
        for value in vars(module).values():
            kind = value if isinstance(value, type) else type(value)
            name = getattr(kind, "name", None)
            if not (isinstance(name, str) and name and hasattr(kind, "evaluate") and hasattr(kind, "spends_tokens")):
                continue
            if kind.__module__.startswith("deliberate."):
                continue  # one of ours, which the module imported
            if name in known or found.get(name, value) is not value:
                raise ConfigError(
                    f"{module.__name__} brings an evaluator {name!r}, and there is one",
                    where="--import",
                    hint="rename it",
                )
            found[name] = value
    return found


def _evaluator_of(spec: Spec, builder: _Builder, path: tuple[str | int, ...]) -> Evaluator:
    kind = kind_of(spec.type, where=builder.place(*path, "type"), own=builder.own)
    if kind is Composite:
        return _nested(spec, builder, (*path, "params"))
    params: dict[str, Any] = dict(spec.params)
    known = {field.name: field for field in msgspec.structs.fields(kind)}
    for name in params:
        if name not in known:
            raise UnknownName("parameter", name, known, where=builder.place(*path, "params", name, key=True))
    for name, field in known.items():
        if field.type in (Panel, "Panel") and isinstance(params.get(name), str):
            with _placed(builder.place, path, lambda _, name=name: ("params", name)):  # type: ignore[misc]
                params[name] = builder.panel(params[name])
    with _placed(builder.place, path, lambda where: ("params", *where.split(".")[1:])):
        built = cast("Evaluator", msgspec.convert(params, kind, strict=True))
    _check_command(built, builder, path)
    return built


def _check_command(built: Evaluator, builder: _Builder, path: tuple[str | int, ...]) -> None:
    """Refuses a part whose command begins with a script that is not in the plan's folder."""
    command = getattr(built, "command", None)
    if builder.folder is None or not isinstance(command, str):
        return
    script = _script(command)
    if script and not (builder.folder / script).exists():
        raise ConfigError(
            f"there is no file {script!r}",
            where=builder.place(*path, "params", "command"),
            expected=f"a script in {builder.folder}",
            hint="write it there, or mend its name",
        )


def _script(command: str) -> str:
    """The script a shell command begins with, as far as its first words tell; else nothing.

    >>> _script("./check.sh --fast"), _script("python tools/check.py"), _script("make test")
    ('./check.sh', 'tools/check.py', '')
    """
    try:
        first, *rest = shlex.split(command)
    except ValueError:  # no words: an empty command, or an open quote, which is for the shell to refuse
        return ""
    if "/" in first and "=" not in first:
        return first
    shell = first in ("sh", "bash", "python", "python3")
    return rest[0] if shell and rest and rest[0].endswith((".sh", ".py")) else ""


@contextmanager
def _placed(
    place: Place, path: tuple[str | int, ...], steps: Callable[[str], tuple[str | int, ...]]
) -> Generator[None, None, None]:
    """Tells of an error where it was written: ``steps`` leads from what the error calls its place to a path."""
    try:
        yield
    except msgspec.ValidationError as error:
        what, _, at = str(error).partition(" - at ")
        inner = (int(step) if step.isdigit() else step for step in _STEP.findall(at))
        raise ConfigError(what, where=place(*path, *steps(""), *inner)) from None
    except ConfigError as error:
        # One that stands in another file (a panel's, say) says so already.
        raise (error if ":" in error.where else error.at(place(*path, *steps(error.where)))) from None


def _steps(where: str) -> tuple[str | int, ...]:
    """The path a composite's error names, with dots between; its gates are a list."""
    first, *rest = where.split(".")
    return (first, *(int(step) if first == "gates" and step.isdigit() else step for step in rest))


def _spelled(where: str) -> Place:
    """Places in what is no file: the names, with dots between."""

    def place(*path: str | int, key: bool = False) -> str:  # noqa: ARG001  a key and its value have one name
        return ".".join(str(step) for step in (where, *path) if step != "")

    return place


# --- plans -----------------------------------------------------------------------------------------


class _WrittenPart(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    type: str
    params: Mapping[str, Param] = {}
    weight: float = 1.0


class _WrittenGate(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    part: str
    min_score: float | None = None
    min_bracket: str | None = None
    max_blockers: int | None = None
    effect: str = "veto"
    cap: float = 0.0


class _WrittenCombine(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    by: str = "weighted_mean"
    on_missing: str = "fail"
    min_coverage: float | None = None


class _Nested(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The parameters of a composite within a plan: what a plan file says at its top."""

    parts: Mapping[str, _WrittenPart]
    combine: _WrittenCombine = _WrittenCombine()
    gates: tuple[_WrittenGate, ...] = ()


def _nested(spec: Spec, builder: _Builder, path: tuple[str | int, ...]) -> Composite:
    with _placed(builder.place, path, lambda _: ()):
        written = msgspec.convert(dict(spec.params), _Nested, strict=True)
    parts = tuple(
        PlanPart(name=name, spec=Spec(type=part.type, params=part.params), weight=part.weight)
        for name, part in written.parts.items()
    )
    combine = msgspec.structs.asdict(written.combine)
    by = Spec(type=combine.pop("by"), params=combine)
    with _placed(builder.place, path, lambda _: ("gates",)):
        gates = tuple(_gate(gate) for gate in written.gates)
    return _plan_of(Plan(parts=parts, combine=by, gates=gates), builder, path)


def _gate(written: _WrittenGate) -> Gate:
    told = msgspec.structs.asdict(written)
    try:
        bracket = None if written.min_bracket is None else bracket_named(written.min_bracket)
        return msgspec.convert({**told, "min_bracket": bracket}, Gate)
    except ValueError as error:
        raise ConfigError(str(error)) from None


def _plan_of(plan: Plan, builder: _Builder, path: tuple[str | int, ...]) -> Composite:
    members = tuple(
        Member(
            name=part.name, weight=part.weight, evaluator=_evaluator_of(part.spec, builder, (*path, "parts", part.name))
        )
        for part in plan.parts
    )
    known = ("on_missing", "min_coverage", "carry")
    for name in plan.combine.params:
        if name not in known:
            raise UnknownName("parameter", name, ("by", *known), where=builder.place(*path, "combine", name, key=True))
    params = dict(cast("Mapping[str, Any]", plan.combine.params))
    with _placed(builder.place, (*path, "combine", "carry"), lambda _: ()):
        carry = msgspec.convert(params.pop("carry", {}), Carry, strict=True)
    with _placed(builder.place, path, _steps):
        return Composite(members=members, by=plan.combine.type, gates=plan.gates, carry=carry, **params)


def default_of(panel: Panel) -> Composite:
    """What judges a case when no plan is named: its tests, static analysis, and the panel by the rubric that fits.

    Tests weigh 0.3 and static analysis 0.2 against the rubric's 1.0; what does not apply to a case leaves the sum. A
    panel that names a rubric of its own, or criteria, keeps them.
    """
    members = [
        Member(name=name, weight=weight, evaluator=plugins.part("evaluators", kind)())
        for name, kind, weight in _FREE
        if kind in plugins.names("evaluators")
    ]
    return Composite(members=(*members, Member(name="judge", weight=1.0, evaluator=Deliberation(panel=fitting(panel)))))


def fitting(panel: Panel) -> Panel:
    """The panel, by the rubric that fits each case, unless it names one of its own."""
    return msgspec.structs.replace(panel, rubric=AUTO) if panel.rubric == GENERAL else panel


def combine(
    *,
    gates: Sequence[Gate | Evaluator] = (),
    by: str = "weighted_mean",
    on_missing: str = "fail",
    min_coverage: float | None = None,
    **parts: tuple[Evaluator | Panel, float],
) -> Composite:
    """A plan of named, weighted parts.

    Args:
        gates: Conditions inside the score. An evaluator given as a gate becomes a part of weight 0 that must reach
            100, else the whole is 0.
        by: The aggregation rule.
        on_missing: ``fail`` (default), ``exclude``, ``zero`` or ``default(v)``.
        min_coverage: The least observed share of the declared weight.
        **parts: ``name=(evaluator or panel, weight)``.

    Raises:
        ConfigError: A weight, name or rule does not fit.
    """
    members = [Member(name=name, weight=weight, evaluator=_evaluator(part)) for name, (part, weight) in parts.items()]
    inner: list[Gate] = []
    for at, gate in enumerate(gates, start=1):
        if isinstance(gate, Gate):
            inner.append(gate)
        else:
            name = f"gate-{at}"
            members.append(Member(name=name, weight=0.0, evaluator=gate))
            inner.append(Gate(part=name, min_score=100.0))
    return Composite(
        members=tuple(members), by=by, on_missing=on_missing, min_coverage=min_coverage, gates=tuple(inner)
    )


def _evaluator(part: Evaluator | Panel) -> Evaluator:
    return Deliberation(panel=part) if isinstance(part, Panel) else part
