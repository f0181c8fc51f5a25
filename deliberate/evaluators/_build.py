"""Specs -> evaluators: parts by name, from a plan file or from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

import msgspec

from deliberate import plugins
from deliberate.errors import ConfigError, UnknownName
from deliberate.evaluators._base import Evaluator
from deliberate.evaluators.composite import Composite, Member
from deliberate.evaluators.deliberation import Deliberation
from deliberate.types import Gate, Panel, Plan, Spec

__all__ = ["combine", "evaluator_of", "plan_of"]

T = TypeVar("T")
PanelNamed = Callable[[str], Panel]


def evaluator_of(spec: Spec, *, panel: PanelNamed, where: str = "") -> Evaluator:
    """The evaluator of that name with those parameters.

    Args:
        spec: Name and parameters.
        panel: Finds a panel by its name or file, where a parameter names one.
        where: File and key, for messages.

    Raises:
        UnknownName: There is no such evaluator.
        ConfigError: A parameter is unknown, missing or wrong.
    """
    kind: type[Any] = plugins.part("evaluators", spec.type, where=where)
    params: dict[str, Any] = dict(spec.params)
    known = {field.name: field for field in msgspec.structs.fields(kind)}
    for name in params:
        if name not in known:
            raise UnknownName("parameter", name, known, where=f"{where or spec.type}.params")
    for name, field in known.items():
        if field.type in (Panel, "Panel") and isinstance(params.get(name), str):
            params[name] = panel(params[name])
    return cast("Evaluator", _converted(params, kind, where=where or spec.type))


def _converted(params: Mapping[str, Any], kind: type[T], *, where: str) -> T:
    try:
        return msgspec.convert(params, kind, strict=True)
    except msgspec.ValidationError as error:
        raise ConfigError(str(error), where=where) from None


def plan_of(plan: Plan, *, panel: PanelNamed, where: str = "plan") -> Composite:
    """The composite a plan describes.

    Raises:
        ConfigError: A part, rule or gate does not fit; the message names it.
    """
    members = tuple(
        Member(
            name=part.name,
            weight=part.weight,
            evaluator=evaluator_of(part.spec, panel=panel, where=f"{where}: parts.{part.name}"),
        )
        for part in plan.parts
    )
    return _converted_composite(members, plan.combine, plan.gates, where=where)


def _converted_composite(members: tuple[Member, ...], by: Spec, gates: Sequence[Gate], *, where: str) -> Composite:
    known = ("on_missing", "min_coverage")
    for name in by.params:
        if name not in known:
            raise UnknownName("parameter", name, ("by", *known), where=f"{where}: combine")
    params = cast("Mapping[str, Any]", by.params)
    return Composite(members=members, by=by.type, gates=tuple(gates), **params)


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
        min_coverage: With ``exclude``: the least observed share of the declared weight.
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
