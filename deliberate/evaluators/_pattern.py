"""Patterns on untrusted text: compiled once, searched in a thread, always with a time limit."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import anyio.to_thread

from deliberate.errors import ConfigError, EvaluatorError

if TYPE_CHECKING:
    import regex

__all__ = ["compiled", "search"]


@cache
def compiled(pattern: str, *, ignore_case: bool = False, multiline: bool = False) -> regex.Pattern[str]:
    """The compiled pattern.

    Raises:
        ConfigError: It does not compile; the message says where.
    """
    import regex  # noqa: PLC0415  52 ms that a plan without patterns need not pay

    flags = (regex.IGNORECASE if ignore_case else 0) | (regex.MULTILINE if multiline else 0)
    try:
        return regex.compile(pattern, flags)
    except regex.error as error:
        what = f"{pattern!r} is no pattern: {error}"
        raise ConfigError(what, where="pattern", expected="a regular expression") from None


async def search(pattern: regex.Pattern[str], text: str, *, timeout_seconds: float) -> regex.Match[str] | None:
    """The first match, looked for in a thread that lets others run.

    Raises:
        EvaluatorError: It took longer than ``timeout_seconds``.
    """

    def find() -> regex.Match[str] | None:
        return pattern.search(text, timeout=timeout_seconds, concurrent=True)

    try:
        return await anyio.to_thread.run_sync(find)
    except TimeoutError:
        msg = f"the pattern took longer than {timeout_seconds:g} s"
        raise EvaluatorError(msg) from None
