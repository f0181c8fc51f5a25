"""What is required of a result: by flags, and by the file they stand beside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from deliberate.errors import UnknownName
from deliberate.gates import Required
from deliberate.types import BRACKETS, Bracket, Param, bracket_named

__all__ = ["required_of", "stated_in"]


def required_of(asked: object) -> Required:
    """What the flags require, as far as a verb has them; without a baseline nothing is held against one.

    Raises:
        UnknownName: There is no such bracket.
    """
    named = {name: getattr(asked, name, None) for name in Required.__struct_fields__}
    if getattr(asked, "baseline", "") is None:
        del named["max_drop"]
    if isinstance(bracket := named.get("min_bracket"), str):
        named["min_bracket"] = _bracket(bracket)
    return Required(**{name: value for name, value in named.items() if value is not None})


def stated_in(require: Mapping[str, Param], flags: Required) -> Required:
    """The same with what a file requires where no flag says otherwise."""
    stated: dict[str, Any] = {name: _value(value) for name, value in require.items() if getattr(flags, name) is None}
    return msgspec.structs.replace(flags, **stated)


def _value(value: Param) -> Param | Bracket:
    return bracket_named(value) if isinstance(value, str) else value


def _bracket(name: str) -> Bracket:
    try:
        return bracket_named(name)
    except ValueError:
        kind = "bracket"
        raise UnknownName(kind, name, BRACKETS.labels, where="--min-bracket") from None
