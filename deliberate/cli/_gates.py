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
    """What the flags require, as far as a verb has them.

    Raises:
        UnknownName: There is no such bracket.
    """
    named: dict[str, Any] = {name: getattr(asked, name, None) for name in Required.__struct_fields__}
    if named["min_bracket"] is not None:
        named["min_bracket"] = _bracket(named["min_bracket"])
    return Required(**named)


def _bracket(name: str) -> Bracket:
    try:
        return bracket_named(name)
    except ValueError:
        raise UnknownName("bracket", name, BRACKETS.labels, where="--min-bracket") from None


def stated_in(require: Mapping[str, Param], flags: Required) -> Required:
    """The same with what a file requires where no flag says otherwise."""
    stated: dict[str, Any] = {name: _value(value) for name, value in require.items() if getattr(flags, name) is None}
    return msgspec.structs.replace(flags, **stated)


def _value(value: Param) -> Param | Bracket:
    return bracket_named(value) if isinstance(value, str) else value
