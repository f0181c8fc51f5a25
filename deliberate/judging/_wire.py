"""What a judge's JSON may say, form by form, and how it is taken: strictly, and nothing is repaired."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn, TypeVar

import msgspec

from deliberate.errors import ReplyError

__all__ = [
    "BallotSaid",
    "FindingSaid",
    "NoteSaid",
    "NumberSaid",
    "RefutedSaid",
    "ReviewSaid",
    "converted",
    "decoded",
    "unwrapped",
]

T = TypeVar("T")

_MOST_DEPTH = 32

_THINKING = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_FENCE = re.compile(r"\A```[A-Za-z]*\s*\n(.*)\n```\Z", re.DOTALL)


class FindingSaid(msgspec.Struct):
    severity: str
    title: str
    dimension: str = ""
    description: str = ""
    location: str | None = None
    quote: str | None = None
    fix: str | None = None


class BallotSaid(msgspec.Struct):
    reasoning: str = ""
    findings: list[FindingSaid] = []
    suggestion: str = ""
    dimensions: dict[str, float] | None = None
    bracket: str | None = None
    score: float | None = None
    cites: list[str] = []
    resolved: list[str] = []


class NumberSaid(msgspec.Struct):
    score: float
    reasoning: str = ""
    feedback: str = ""
    reason: str = ""


class RefutedSaid(msgspec.Struct):
    finding: str
    quote: str


class ReviewSaid(msgspec.Struct):
    confirmed: list[str]
    refuted: list[RefutedSaid]


class NoteSaid(msgspec.Struct):
    text: str


def unwrapped(text: str) -> str:
    """The reply without closed thinking before it and without a fence around the whole of it."""
    body = _THINKING.sub("", text, count=1).strip()
    if body[:7].lower() in {"<think>", "<thinki"}:
        msg = "it ended while still thinking"
        raise ReplyError(msg)
    fence = _FENCE.match(body)
    if fence is not None:
        body = fence.group(1).strip()
    if not body:
        msg = "it was empty"
        raise ReplyError(msg)
    return body


def decoded(body: str, kind: type[T], *, output: str) -> T:
    """What one JSON object says, in the form of that kind.

    Raises:
        ReplyError: It is none, it stands in the output that is judged, or a key or value in it is not as it must be.
    """
    if not body.startswith("{"):
        msg = "it was not one JSON object"
        raise ReplyError(msg)
    if "{" in output and body in output:
        msg = "it was copied from the output that is judged"
        raise ReplyError(msg)
    if body.count("{") + body.count("[") > _MOST_DEPTH and _depth(body) > _MOST_DEPTH:
        msg = f"it was nested deeper than {_MOST_DEPTH}"
        raise ReplyError(msg)
    try:
        data = _DECODER.decode(body)
    except (ValueError, RecursionError) as error:
        msg = f"it was not valid JSON ({error})"
        raise ReplyError(msg) from None
    return converted(data, kind)


def converted(data: object, kind: type[T]) -> T:
    """The data in the form of that kind.

    Raises:
        ReplyError: A value in it is missing or of another type.
    """
    try:
        return msgspec.convert(data, kind, strict=True)
    except msgspec.ValidationError as error:
        msg = f"a value was wrong ({error})"
        raise ReplyError(msg) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        msg = f"the key {twice!r} occurs twice"
        raise ValueError(msg)
    return found


def _no_constant(word: str) -> NoReturn:
    msg = f"{word} is not a JSON number"
    raise ValueError(msg)


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant)


def _depth(body: str) -> int:
    deepest = depth = 0
    quoted = escaped = False
    for sign in body:
        if quoted:
            quoted = escaped or sign != '"'
            escaped = sign == "\\" and not escaped
        elif sign == '"':
            quoted = True
        elif sign in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif sign in "}]":
            depth -= 1
    return deepest
