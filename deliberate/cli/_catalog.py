"""``rubric``, ``judge``, ``panel`` and ``evaluator``: lists, and one of each in full."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import msgspec

from deliberate import plugins
from deliberate.cli._table import print_json, print_lines, print_rows
from deliberate.errors import ConfigError
from deliberate.evaluators import kind_of
from deliberate.library import Library
from deliberate.types import Judge

__all__ = [
    "list_evaluators",
    "list_judges",
    "list_panels",
    "list_rubrics",
    "show_evaluator",
    "show_judge",
    "show_panel",
    "show_rubric",
]

_ANY = "any model"
"""Stands for the model of a seat that takes the one named with the panel."""


async def list_rubrics(*, as_json: bool) -> int:
    """All rubrics, highest source first."""
    found = _library().rubrics()
    if as_json:
        print_json(
            {"rubrics": [{"name": one.name, "source": one.source, "categories": one.categories} for one in found]}
        )
    else:
        print_rows([(one.name, one.source, ", ".join(one.categories) or "any task") for one in found])
    return 0


async def show_rubric(*, name: str, as_json: bool) -> int:
    """One rubric."""
    found = _library().rubric(name)
    if as_json:
        print_json({**msgspec.to_builtins(found), "digest": found.digest})
        return 0
    print_lines(f"{found.name}  ({found.source}, {found.digest[:12]})", found.description, "")
    print_rows([(one.name, f"{one.weight:g}", one.description) for one in found.dimensions])
    print_lines("", found.body.strip())
    return 0


async def list_judges(*, as_json: bool) -> int:
    """All agent cards."""
    found = _library().cards()
    if as_json:
        print_json(
            {"judges": [{"name": one.name, "model": one.model, "description": one.description} for one in found]}
        )
    else:
        print_rows([(one.name, one.model or "any model", one.description) for one in found])
    return 0


async def show_judge(*, name: str, as_json: bool) -> int:
    """One agent card."""
    found = _library().card(name)
    if as_json:
        print_json(found)
        return 0
    print_lines(f"{found.name}  ({found.model or 'any model'})", found.description, "", found.persona.strip())
    return 0


async def list_panels(*, as_json: bool) -> int:
    """All panels."""
    library = _library()
    rows = [(name, *_told(library, name)) for name in library.panels()]
    if as_json:
        print_json({"panels": [{"name": name, "seats": seats, "told": told} for name, seats, told in rows]})
    else:
        print_rows(rows)
    return 0


async def show_panel(*, name: str, as_json: bool) -> int:
    """One panel."""
    found = _library().panel(name, model=_ANY)
    if as_json:
        print_json(found)
        return 0
    rules = found.rules
    print_lines(f"{found.name}  ({found.digest[:12]})", "")
    print_rows(
        [
            (
                seat.name if not seat.each else f"one a {seat.each}",
                seat.duty,
                f"{_judged_by(seat.judge)}, weight {seat.weight:g}",
            )
            for seat in found.seats
        ]
    )
    print_lines("")
    print_rows(
        [
            ("how", found.rubric or found.criteria),
            ("protocol", found.protocol.type),
            ("rule", f"{rules.rule}; ties: {', '.join(rules.tie)}; number: {rules.bracket_score}"),
            ("quorum", f"{rules.quorum}; independence {rules.independence}; spend {found.spend}"),
        ]
    )
    return 0


async def list_evaluators(*, as_json: bool) -> int:
    """All evaluators, and whether each asks a model."""
    found = [_evaluator(name) for name in plugins.names("evaluators")]
    if as_json:
        print_json({"evaluators": found})
    else:
        print_rows([(one["name"], one["needs_model"], one["description"]) for one in found])
    return 0


async def show_evaluator(*, name: str, as_json: bool) -> int:
    """One evaluator with its parameters."""
    found = _evaluator(name)
    if as_json:
        print_json(found)
        return 0
    print_lines(
        f"{found['name']}  ({found['needs_model']})",
        inspect.cleandoc(kind_of(name).__doc__ or ""),
        "",
    )
    print_rows([(one["name"], one["default"], one["type"]) for one in found["parameters"]])
    return 0


def _evaluator(name: str) -> dict[str, Any]:
    kind: Any = kind_of(name)
    needs = "asks a model" if kind.spends_tokens else "free"
    if name == "composite":
        needs = "depends on its parts"
    return {
        "name": name,
        "description": (inspect.getdoc(kind) or "").split("\n\n", 1)[0].replace("\n", " ").replace("``", ""),
        "needs_model": needs,
        "parameters": [
            {"name": field.name, "type": _type(kind, field.name), "default": _default(field)}
            for field in msgspec.structs.fields(kind)
        ],
    }


def _type(kind: type[msgspec.Struct], name: str) -> str:
    return str(kind.__annotations__.get(name, ""))


def _default(field: msgspec.structs.FieldInfo) -> str:
    if isinstance(field.default, msgspec.Struct):
        return f"{type(field.default).__name__}()"
    if field.default is not msgspec.NODEFAULT:
        return repr(field.default)
    return "(required)" if field.default_factory is msgspec.NODEFAULT else repr(field.default_factory())


def _told(library: Library, name: str) -> tuple[str, str]:
    """A panel in two cells; one that cannot be read as it is says why."""
    try:
        panel = library.panel(name, model=_ANY)
    except ConfigError as error:
        return "", str(error)
    each = any(seat.each for seat in panel.seats)
    return (
        "one seat a dimension" if each else f"{len(panel.seats)} seats",
        f"rule {panel.rules.rule}, {panel.rubric or 'criteria'}",
    )


def _judged_by(judge: Judge) -> str:
    if judge.model == _ANY:
        return "any model (--judge MODEL)"
    return judge.model if judge.human else f"{judge.model}, family {judge.kin}"


def _library() -> Library:
    return Library(workspace=Path.cwd())
