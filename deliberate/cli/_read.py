"""What a person hands to the command line: files, text, addresses; each mistake is one clear message."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from deliberate.errors import ConfigError, UnknownName
from deliberate.tallies import TIE_POLICIES

__all__ = ["MOST_BYTES", "addresses", "case_text", "policies_of", "quorum_of", "text_or_file"]

MOST_BYTES = 1024 * 1024
"""The largest output that can be put before a judge: about 250 000 tokens, more than any model reads."""


def case_text(output: str) -> str:
    """The output to judge, from a file or, for ``-``, from standard input.

    Raises:
        ConfigError: There is no such file, it is too large, or it is no text.
    """
    if output == "-":
        return _text(sys.stdin.buffer.read(MOST_BYTES + 1), where="standard input")
    return _file(Path(output), hint="give a file, or - for standard input")


def text_or_file(value: str, *, where: str) -> str:
    """The value itself, or what is in the file that ``@FILE`` names."""
    return _file(Path(value[1:]), hint=f"{where} @FILE reads a file") if value.startswith("@") else value


def addresses(given: Sequence[str] | None) -> Mapping[str, str]:
    """``PREFIX=URL`` pairs.

    Raises:
        ConfigError: A pair is not one.
    """
    found: dict[str, str] = {}
    for pair in given or ():
        prefix, sign, url = pair.partition("=")
        if not sign or not prefix or not url:
            what = f"{pair!r} is no address"
            raise ConfigError(what, where="--api-base", expected="PREFIX=URL, as in openai=http://127.0.0.1:8080/v1")
        found[prefix] = url
    return found


def quorum_of(value: str) -> int | Literal["majority", "all"]:
    """A quorum as it is written on the command line.

    Raises:
        ConfigError: It is none.
    """
    if value == "majority":
        return "majority"
    if value == "all":
        return "all"
    if not value.isdecimal():
        raise ConfigError(f"{value!r} is no quorum", where="--quorum", expected="majority, all, or a number of seats")
    return int(value)


def policies_of(value: str) -> tuple[str, ...]:
    """Tie policies as they are written on the command line.

    Raises:
        UnknownName: There is no such policy.
    """
    policies = tuple(part.strip() for part in value.split(","))
    for policy in policies:
        if policy not in TIE_POLICIES:
            kind = "tie policy"
            raise UnknownName(kind, policy, TIE_POLICIES, where="--tie")
    return policies


def _file(path: Path, *, hint: str) -> str:
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", where=str(path), hint=hint) from None
    return _text(data, where=str(path), size=size)


def _text(data: bytes, *, where: str, size: int | None = None) -> str:
    if len(data) > MOST_BYTES:
        told = f"{size / 1024 / 1024:.1f} MB" if size is not None else "more than 1 MB"
        raise ConfigError(
            f"too large to judge: {told}",
            where=where,
            expected="at most 1 MB",
            hint="judge it in parts, or a diff of it",
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        what = f"not UTF-8 text (byte {error.start})"
        raise ConfigError(what, where=where, expected="text", hint="judge a text form of it") from None
    if "\0" in text:
        what = f"binary (a NUL at byte {data.index(0)})"
        raise ConfigError(what, where=where, expected="text", hint="judge a text form of it")
    return text
