"""Records are frozen, and their canonical bytes are what everything is hashed by."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from enum import Enum
from random import Random
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate import types
from deliberate.types import Event, Record, Usage, canonical, digest_of

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


class Box(Record, frozen=True, kw_only=True):
    """Holds anything."""

    value: object
    name: str = ""


def records() -> Iterator[type[msgspec.Struct]]:
    """Every record of the room."""
    for name in types.__all__:
        found = getattr(types, name)
        if isinstance(found, type) and issubclass(found, msgspec.Struct):
            yield found


@pytest.mark.parametrize("record", [*records()])
def test_every_record_is_frozen_and_takes_names_only(record: type[msgspec.Struct]) -> None:
    assert record.__struct_config__.frozen
    with pytest.raises(TypeError, match="positional"):
        record(*range(len(record.__struct_fields__) or 1))


def test_the_list_of_names_is_sorted_and_true() -> None:
    assert sorted(types.__all__) == sorted(set(types.__all__))
    assert all(hasattr(types, name) for name in types.__all__)


def test_a_frozen_record_refuses_to_change() -> None:
    usage = Usage(calls=1)
    with pytest.raises(AttributeError):
        usage.calls = 2  # type: ignore[misc]


def test_events_are_told_apart_by_their_tags() -> None:
    tags = [kind.__struct_config__.tag for kind in get_args(Event)]
    assert len(set(tags)) == len(tags)
    decoded: Event = msgspec.json.decode(b'{"type":"RunEnded","run":"r1","status":"ok"}', type=Event)
    assert decoded == types.RunEnded(run="r1", status="ok")


def test_keys_are_sorted_and_no_space_is_left() -> None:
    assert canonical({"b": 1, "a": [1.5, None, True], "ä": {"d": "x", "c": ()}}) == (
        '{"a":[1.5,null,true],"b":1,"ä":{"c":[],"d":"x"}}'.encode()
    )


def test_fields_of_a_record_are_sorted_too() -> None:
    assert canonical(Box(value=1, name="n")) == b'{"name":"n","value":1}'


@given(JSON)
def test_canonical_bytes_say_what_was_said(value: object) -> None:
    assert msgspec.json.decode(canonical(value)) == value


@given(st.dictionaries(st.text(), JSON, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_count(value: dict[str, object], chance: Random) -> None:
    shuffled = list(value.items())
    chance.shuffle(shuffled)
    assert canonical(dict(shuffled)) == canonical(value)
    assert digest_of(dict(shuffled)) == digest_of(value)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda bad: bad,
        lambda bad: [1.0, bad],
        lambda bad: (1.0, (bad,)),
        lambda bad: {"a": {"b": bad}},
        lambda bad: Box(value=bad),
        lambda bad: Box(value=[{"a": Box(value=(bad,))}]),
    ],
    ids=["itself", "in a list", "in a tuple", "in a mapping", "in a record", "deep"],
)
def test_a_number_that_is_not_finite_is_refused_wherever_it_stands(wrap: Callable[[float], object], bad: float) -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        canonical(wrap(bad))


def test_a_number_that_is_not_finite_is_refused_in_a_set_too() -> None:
    with pytest.raises((TypeError, ValueError)):
        canonical(frozenset({math.nan}))


def test_what_json_cannot_say_is_refused() -> None:
    with pytest.raises(TypeError):
        canonical(object())


def test_a_digest_is_the_sha256_of_the_canonical_bytes() -> None:
    assert digest_of({"a": 1}) == hashlib.sha256(b'{"a":1}').hexdigest()
    assert len(digest_of(None)) == 64


def test_a_level_is_spelled_as_its_value_whatever_its_kind() -> None:
    class Loose(Enum):
        HALF = 0.5
        WHOLE = 2.0

    assert canonical([types.Bracket.GOOD, Loose.HALF, Loose.WHOLE]) == b"[2,0.5,2]"


class Inner(Record, frozen=True, kw_only=True, tag=True):
    """Text and levels, and its own kind."""

    name: str
    level: types.Bracket = types.Bracket.GOOD
    others: tuple[Inner, ...] = ()


class Outer(Record, frozen=True, kw_only=True):
    """Holds such records, and a number."""

    inner: tuple[Inner, ...]
    score: float


def test_records_of_text_in_a_record_are_spelled_with_their_tags_and_so_are_numbers_beside_them() -> None:
    held = Outer(inner=(Inner(name="a"), Inner(name="b", others=(Inner(name="c"),))), score=3.0)
    assert canonical(held) == (
        b'{"inner":[{"level":2,"name":"a","others":[],"type":"Inner"},'
        b'{"level":2,"name":"b","others":[{"level":2,"name":"c","others":[],"type":"Inner"}],"type":"Inner"}],"score":3}'
    )


class Elsewhere(Record, frozen=True, kw_only=True):
    """A record of another package, with a type that is known only to a type checker."""

    score: NowhereHere  # type: ignore[name-defined]  # noqa: F821  that is the point


def test_a_field_of_a_type_that_is_not_there_is_spelled_by_what_it_holds() -> None:
    assert canonical(Elsewhere(score=2.0)) == b'{"score":2}'
