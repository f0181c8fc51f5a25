"""What the raw clients share: the bytes of a request, and a vote read out of a reply as strictly as ours is."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from benchmarks.speed.scenario import BRACKETS, JUDGES, PLACE, Scenario, output_of

__all__ = ["asks", "read", "requests"]


class _Finding(msgspec.Struct, frozen=True):
    severity: Literal["blocker", "important", "suggestion"]
    dimension: str
    title: str
    description: str
    location: str | None
    quote: str | None
    fix: str | None


class _Vote(msgspec.Struct, frozen=True):
    reasoning: str
    findings: list[_Finding]
    bracket: Literal["poor", "fair", "good", "excellent"]
    score: float
    suggestion: str


class _Message(msgspec.Struct, frozen=True):
    content: str


class _Choice(msgspec.Struct, frozen=True):
    message: _Message
    finish_reason: str


class _Envelope(msgspec.Struct, frozen=True):
    choices: list[_Choice]


_ENVELOPE = msgspec.json.Decoder(_Envelope)
_VOTE = msgspec.json.Decoder(_Vote)
_LEVELS = {name: level for level, name in enumerate(BRACKETS)}


class requests:  # noqa: N801  called as a function is
    """Makes the body of each ask: the same that ours sends, but for the codes in its fences."""

    def __init__(self, scenario: Scenario) -> None:
        self._size = scenario.size
        self._body = msgspec.json.decode(Path(scenario.template).read_bytes())
        self._before, _, self._after = self._body["messages"][-1]["content"].partition(PLACE)
        self._first = self._body["messages"][:-1]

    def __call__(self, number: int, judge: str) -> bytes:
        """The body of one ask, made anew as every client has to."""
        content = f"{self._before}{output_of(number, size=self._size)}{self._after}"
        messages = [*self._first, {"role": "user", "content": content}]
        return msgspec.json.encode({**self._body, "model": judge, "messages": messages})


def asks(numbers: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Every case with every judge."""
    return itertools.product(numbers, JUDGES)


def read(body: bytes) -> int:
    """The bracket of a reply.

    Raises:
        msgspec.DecodeError: It holds no vote, or one whose bracket and score contradict.
    """
    vote = _VOTE.decode(_ENVELOPE.decode(body).choices[0].message.content)
    level = _LEVELS[vote.bracket]
    if not 25 * level <= vote.score <= 25 * (level + 1):
        msg = f"{vote.bracket} at {vote.score}"
        raise msgspec.ValidationError(msg)
    return level
