"""What is required of a result: by flags, and by the file they stand beside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from deliberate.gates import Required
from deliberate.types import Bracket, Param, bracket_named, check_bounds, required_bracket

__all__ = ["required_of", "stated_in"]


def required_of(asked: object) -> Required:
    """What the flags require, as far as a verb has them.

    Raises:
        ConfigError: There is no such bracket, or a number is outside of its bounds.
    """
    named: dict[str, Any] = {name: getattr(asked, name, None) for name in Required.__struct_fields__}
    bracket = required_bracket(named.pop("min_bracket"), where="--min-bracket")
    check_bounds(named, where=lambda name: f"--{name.replace('_', '-')}", of_run=True)
    return Required(**named, min_bracket=bracket)


def stated_in(require: Mapping[str, Param], flags: Required) -> Required:
    """The same with what a file requires where no flag says otherwise."""
    stated: dict[str, Any] = {name: _value(value) for name, value in require.items() if getattr(flags, name) is None}
    return msgspec.structs.replace(flags, **stated)


def _value(value: Param) -> Param | Bracket:
    return bracket_named(value) if isinstance(value, str) else value
