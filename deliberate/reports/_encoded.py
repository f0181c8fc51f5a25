"""Our objects as JSON: harmless to a terminal, and the same when read back."""

from __future__ import annotations

import unicodedata

import msgspec

from deliberate.types import Record

__all__ = ["encode", "encode_line"]

_HIDDEN = frozenset({"Cc", "Cf", "Co", "Zl", "Zp"})
_INDENT = 2


def encode(found: Record) -> bytes:
    """The object as JSON, indented, ended by a newline; signs nobody can see are written as escapes.

    What is read back is the same; what is printed can do nothing to a terminal.
    """
    return _harmless(msgspec.json.format(msgspec.json.encode(found), indent=_INDENT).decode())


def encode_line(found: object) -> bytes:
    """The object as one line of JSON, as harmless as ``encode``'s."""
    return _harmless(msgspec.json.encode(found).decode())


def _harmless(text: str) -> bytes:
    if not text.isascii() or "\x7f" in text:
        text = "".join(_escaped(sign) for sign in text)
    return f"{text}\n".encode()


def _escaped(sign: str) -> str:
    """JSON's own escape of a hidden sign; such signs stand only inside strings, but for our newlines."""
    if sign == "\n" or unicodedata.category(sign) not in _HIDDEN:
        return sign
    units = sign.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
