"""The JSON Schema of a reply: what a judge is asked to write, and what is read back.

Every property is required and no other allowed, so that strict structured output takes it as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from deliberate.types import BRACKETS, Ballot, Dimension, Form, Review, Revised, Rubric, parse_scale, same_name

__all__ = ["asked_dimensions", "schema_for", "schema_of"]

_TEXT: Mapping[str, Any] = {"type": "string"}
_MAYBE: Mapping[str, Any] = {"type": ["string", "null"]}


def asked_dimensions(rubric: Rubric | None, wanted: Sequence[str]) -> tuple[Dimension, ...]:
    """The rubric's dimensions an ask is about: those named, else all; none without a rubric."""
    if rubric is None:
        return ()
    if not wanted:
        return rubric.dimensions
    return tuple(one for one in rubric.dimensions if any(same_name(one.name, name) for name in wanted))


def schema_of(form: Form, rubric: Rubric | None, wanted: Sequence[str]) -> Mapping[str, Any] | None:
    """The schema of a form's reply, to be read and never changed; None for a form that is answered in text."""
    return schema_for(form, asked_dimensions(rubric, wanted))


@lru_cache(maxsize=128)
def schema_for(form: Form, dimensions: tuple[Dimension, ...]) -> Mapping[str, Any] | None:
    """``schema_of`` with the dimensions the ask is about."""
    if form.wire in ("score", "text"):
        return None
    if form.wire == "number":
        low, high = sorted(parse_scale(form.scale))
        return _object({"reasoning": _TEXT, "score": {"type": "number", "minimum": low, "maximum": high}})
    if issubclass(form.reply, Ballot):
        return _ballot(dimensions, cites=form.cites, revised=form.reply is Revised)
    names = {"type": "array", "items": _TEXT}
    if form.reply is Review:
        refuted = {"type": "array", "items": _object({"finding": _TEXT, "quote": _TEXT})}
        return _object({"reasoning": _TEXT, "confirmed": names, "refuted": refuted})
    return _object({"text": _TEXT})


def _ballot(dimensions: Sequence[Dimension], *, cites: bool, revised: bool) -> Mapping[str, Any]:
    finding = _object(
        {
            "severity": {"type": "string", "enum": ["blocker", "important", "suggestion"]},
            "dimension": {"type": "string", "enum": [one.name for one in dimensions]} if dimensions else _TEXT,
            "title": _TEXT,
            "description": _TEXT,
            "location": _MAYBE,
            "quote": _MAYBE,
            "fix": _MAYBE,
        }
    )
    reply: dict[str, Any] = {"reasoning": _TEXT, "findings": {"type": "array", "items": finding}}
    if dimensions:
        share = {"type": "number", "minimum": 0, "maximum": 1}
        reply["dimensions"] = _object({one.name: share for one in dimensions})
    else:
        reply["bracket"] = {"type": "string", "enum": list(BRACKETS.labels)}
        reply["score"] = {"type": "number", "minimum": 0, "maximum": 100}
    if revised:
        reply["resolved"] = {"type": "array", "items": _TEXT}
    if cites:
        reply["cites"] = {"type": "array", "items": _TEXT, "minItems": 1}
    return _object({**reply, "suggestion": _TEXT})


def _object(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
