"""Patterns on untrusted text: compiled once, searched in a thread, always with a time limit; numbers in captures."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import anyio.to_thread

from deliberate.errors import ConfigError, EvaluatorError

if TYPE_CHECKING:
    import regex

__all__ = ["all_matches", "check_group", "check_time", "compiled", "number_in", "search"]

_MOST_PATTERN = 10_000  # characters of a pattern
_MOST_MATCHES = 100_000
_MOST_NUMBER = 400  # characters of a number
_PLAIN = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d*)?", re.ASCII)


@cache
def compiled(
    pattern: str, *, ignore_case: bool = False, multiline: bool = False, where: str = "pattern"
) -> regex.Pattern[str]:
    """The compiled pattern.

    Raises:
        ConfigError: It does not compile; the message says where.
    """
    import regex  # noqa: PLC0415  52 ms that a plan without patterns need not pay

    if len(pattern) > _MOST_PATTERN:
        raise ConfigError(
            f"a pattern of {len(pattern)} characters", where=where, expected=f"at most {_MOST_PATTERN} characters"
        )
    flags = (regex.IGNORECASE if ignore_case else 0) | (regex.MULTILINE if multiline else 0)
    try:
        return regex.compile(pattern, flags)
    except regex.error as error:
        what = f"{pattern!r} is no pattern: {error}"
        raise ConfigError(what, where=where, expected="a regular expression") from None


def check_group(pattern: regex.Pattern[str], group: int | str, *, where: str) -> None:
    """Checks that a pattern has the group a number is read from.

    Raises:
        ConfigError: It has not.
    """
    known = group in pattern.groupindex if isinstance(group, str) else 1 <= group <= pattern.groups
    if not known:
        named = ", ".join(pattern.groupindex)
        raise ConfigError(
            f"the pattern {pattern.pattern!r} has no capture group {group!r}",
            where=where,
            expected=f"a group in parentheses around the number (it has {pattern.groups}{named and f': {named}'})",
        )


def check_time(timeout_seconds: float, *, part: str) -> None:
    """Checks the seconds a search may take.

    Raises:
        ConfigError: They are not above 0, or not finite.
    """
    if not 0 < timeout_seconds < math.inf:
        raise ConfigError("a search needs time", where=f"{part}.timeout_seconds", expected="seconds above 0")


async def search(pattern: regex.Pattern[str], text: str, *, timeout_seconds: float) -> regex.Match[str] | None:
    """The first match, looked for in a thread that lets others run.

    Raises:
        EvaluatorError: It took longer than ``timeout_seconds``.
    """
    (found,) = await all_matches([pattern], text, timeout_seconds=timeout_seconds, only_first=True)
    return found[0] if found else None


async def all_matches(
    patterns: Sequence[regex.Pattern[str]], text: str, *, timeout_seconds: float, only_first: bool = False
) -> list[list[regex.Match[str]]]:
    """The matches of each pattern in the order of the text, looked for in one thread that lets others run.

    Raises:
        EvaluatorError: All together took longer than ``timeout_seconds``, or there are more than 100,000.
    """

    def find(pattern: regex.Pattern[str], ends: float) -> list[regex.Match[str]]:
        found: list[regex.Match[str]] = []
        at = 0
        while at <= len(text):
            # One search at a time: the time limit of an iterator begins anew with every match.
            left = ends - time.monotonic()
            match = pattern.search(text, at, timeout=max(left, 1e-3), concurrent=True)
            if left <= 0:
                raise TimeoutError
            if match is None:
                break
            found.append(match)
            if only_first:
                break
            if len(found) > _MOST_MATCHES:
                msg = f"the pattern matches more than {_MOST_MATCHES} times"
                raise EvaluatorError(msg)
            at = match.end() + (match.end() == match.start())
        return found

    def find_all() -> list[list[regex.Match[str]]]:
        ends = time.monotonic() + timeout_seconds
        return [find(pattern, ends) for pattern in patterns]

    try:
        return await anyio.to_thread.run_sync(find_all)
    except TimeoutError:
        msg = f"the pattern took longer than {timeout_seconds:g} s"
        raise EvaluatorError(msg) from None


def number_in(text: str) -> float:
    """The number a capture says: sign, digits, fraction, exponent, thousands by comma; a percent is a hundredth.

    Raises:
        ValueError: It is no number, or not a finite one.

    >>> number_in("-1,234.5"), number_in("1e-3"), number_in("87 %"), number_in(".5")
    (-1234.5, 0.001, 0.87, 0.5)
    """
    body = text.strip() if len(text) <= _MOST_NUMBER else ""
    percent = body.endswith("%")
    body = body.removesuffix("%").rstrip()
    if _THOUSANDS.fullmatch(body):
        body = body.replace(",", "")
    shown = text if len(text) <= 60 else f"{text[:60]}…"  # noqa: PLR2004  enough to recognize it
    if not _PLAIN.fullmatch(body):
        msg = f"{shown!r} is no number"
        raise ValueError(msg)
    value = float(body)
    if not math.isfinite(value):
        msg = f"{shown!r} is not finite"
        raise ValueError(msg)
    return value / 100 if percent else value
