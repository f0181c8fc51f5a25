"""The base of every record, and the canonical bytes they are hashed by."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import Any, NoReturn

import msgspec

__all__ = ["Record", "canonical", "digest_of"]

_AS_THEY_ARE: set[type] = {str, int, bool, type(None), msgspec.Raw}
"""Types whose values the encoder spells as they have to be: most of what there is, and what was found out to be so; no
subclass of these."""
_WAYS: dict[type, Callable[[Any], object]] = {}
"""How values of all other types are spelled, as far as one was: found out once a type."""
_ENCODER = msgspec.json.Encoder(order="sorted")


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A frozen record. Every subclass repeats ``frozen=True, kw_only=True``: neither is inherited."""


def canonical(value: object) -> bytes:
    """The one JSON spelling of a value: keys sorted, no white space, UTF-8, shortest numbers.

    A whole number is spelled without a fraction whatever its type (3.0 as ``3``, as in RFC 8785), so that a value and
    the same value read back have the same bytes. ``msgspec.Raw`` is a value that was spelled this way before.

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
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    way = _WAYS.get(kind)
    if way is None:
        way = _way_of(kind)
        if way is None:
            _AS_THEY_ARE.add(kind)
            return value
        _WAYS[kind] = way
    return way(value)


def _way_of(kind: type) -> Callable[[Any], object] | None:
    """How values of one type are put into JSON's own types; None if they are left as they are."""
    way: Callable[[Any], object] | None = None
    if issubclass(kind, float):
        way = _number
    elif issubclass(kind, Enum):
        way = None if issubclass(kind, (int, str)) else _level
    elif issubclass(kind, msgspec.Struct):
        names = _walked(kind)
        way = partial(_fields, names, _tag_of(kind)) if names else None
    elif issubclass(kind, Mapping):
        way = _pairs
    elif issubclass(kind, (set, frozenset)):
        way = _refused
    elif issubclass(kind, (tuple, list)):
        way = _items
    return way


def _level(value: Enum) -> object:
    return _plain(value.value)


def _pairs(value: Mapping[object, object]) -> Mapping[str, object]:
    return {str(key): item if type(item) in _AS_THEY_ARE else _plain(item) for key, item in value.items()}


def _fields(names: tuple[str, ...], tag: Mapping[str, Any], value: msgspec.Struct) -> dict[str, Any]:
    found = msgspec.structs.asdict(value)
    for name in names:
        item: object = found[name]
        kind = type(item)
        if kind is float:
            found[name] = _number(found[name])
        elif kind not in _AS_THEY_ARE:
            found[name] = _plain(item)
    if tag:
        found.update(tag)
    return found


def _walked(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields that may hold more than text, truth and levels, or records of only such.

    All others the encoder spells one way by itself.
    """
    from msgspec import inspect  # noqa: PLC0415  only who digests needs it

    itself = (inspect.StrType, inspect.LiteralType, inspect.NoneType, inspect.BoolType)

    def spells_itself(one: inspect.Type, depth: int = 0) -> bool:
        if isinstance(one, inspect.VarTupleType):
            return spells_itself(one.item_type, depth)
        if isinstance(one, inspect.UnionType):
            return all(spells_itself(each, depth) for each in one.types)
        if isinstance(one, inspect.StructType):  # no further down: a record may hold its own kind
            return not depth and all(spells_itself(field.type, depth + 1) for field in one.fields)
        return isinstance(one, itself) or (isinstance(one, inspect.EnumType) and issubclass(one.cls, (int, str)))

    try:
        told = inspect.type_info(kind)
    except (NameError, TypeError):  # it names a type that is not there, or that the encoder does not know
        return kind.__struct_fields__
    fields = told.fields if isinstance(told, inspect.StructType) else ()
    return tuple(field.name for field in fields if not spells_itself(field.type))


def _tag_of(kind: type[msgspec.Struct]) -> Mapping[str, Any]:
    config = kind.__struct_config__
    return {} if config.tag is None else {config.tag_field or "type": config.tag}


def _items(value: Sequence[object]) -> Sequence[object]:
    return [item if type(item) in _AS_THEY_ARE else _plain(item) for item in value] if value else ()


def _refused(value: object) -> NoReturn:  # noqa: ARG001  whatever is in it
    msg = "a set has no order, and so no bytes of its own"
    raise TypeError(msg)


def _number(value: float) -> float | int:
    if value.is_integer():
        return int(value)
    if not math.isfinite(value):
        msg = f"{value} is not a finite number"
        raise ValueError(msg)
    return value
