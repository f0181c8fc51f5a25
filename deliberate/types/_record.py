"""The base of every record, and the canonical bytes they are hashed by."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from enum import Enum
from typing import Any, cast

import msgspec

__all__ = ["Record", "canonical", "digest_of"]

_AS_THEY_ARE = frozenset({str, int, bool})  # most of what there is, and no subclass of these
_ENCODER = msgspec.json.Encoder(order="sorted")


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A frozen record. Every subclass repeats ``frozen=True, kw_only=True``: neither is inherited."""


def canonical(value: object) -> bytes:
    """The one JSON spelling of a value: keys sorted, no white space, UTF-8, shortest numbers.

    A whole number is spelled without a fraction whatever its type (3.0 as ``3``, as in RFC 8785), so that a value and
    the same value read back have the same bytes.

    Raises:
        ValueError: A float in it is not finite; JSON has no word for it, and silence would hash it as ``null``.
        TypeError: JSON cannot say it.

    >>> canonical({"b": 1.0, "a": (0.5, None)})
    b'{"a":[0.5,null],"b":1}'
    """
    return _ENCODER.encode(_plain(value))


def digest_of(value: object) -> str:
    """Sha-256 of the canonical bytes, in lower-case hex (64 characters)."""
    return hashlib.sha256(canonical(value)).hexdigest()


def _plain(value: object) -> object:
    """The value in JSON's own types, records with their tag."""
    if value is None or type(value) in _AS_THEY_ARE:
        return value
    found = value
    if isinstance(value, float):
        found = _number(value)
    elif isinstance(value, Enum):
        found = _plain(value.value)
    elif isinstance(value, msgspec.Struct):
        config = value.__struct_config__
        fields: dict[str, Any] = {name: _plain(getattr(value, name)) for name in value.__struct_fields__}
        found = fields if config.tag is None else {**fields, config.tag_field or "type": config.tag}
    elif isinstance(value, Mapping):
        found = {str(key): _plain(item) for key, item in cast("Mapping[object, object]", value).items()}
    elif isinstance(value, (set, frozenset)):
        msg = "a set has no order, and so no bytes of its own"
        raise TypeError(msg)
    elif isinstance(value, (tuple, list)):
        found = [_plain(item) for item in cast("list[object]", value)]
    return found


def _number(value: float) -> float | int:
    if not math.isfinite(value):
        msg = f"{value} is not a finite number"
        raise ValueError(msg)
    return int(value) if value.is_integer() else value
