"""Text -> plain data, and where each piece of it stands: the only file that knows ruamel.

Rules for whoever edits it: data is made from the parser's events, never by a constructor, so that no tag, merge key or
directive in a file can choose what is made. Plain scalars follow the core schema of YAML 1.2 (section 10.3.2): ``no``,
``on``, ``1:30`` and ``2026-01-01`` stay text. Only what JSON can say comes out, with tuples for lists.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from ruamel.yaml import YAML
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from deliberate.types import Param

__all__ = ["MOST_DEEP", "MOST_VALUES", "KeyPath", "Mark", "RefusedText", "compose"]

MOST_DEEP = 64
"""Levels of nesting."""

MOST_VALUES = 50_000
"""What a file of the largest size holds if that is to take a second or two."""

KeyPath = tuple[str | int, ...]
"""The keys and indices that lead to a value; () is the whole document."""

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_LARGEST = 2**63
_OPENS: dict[type[Event], str] = {SequenceStartEvent: "[", MappingStartEvent: "{"}
_CLOSES: tuple[type[Event], ...] = (SequenceEndEvent, MappingEndEvent)


class Mark(NamedTuple):
    """Where a value stands, and where the key that leads to it does; lines and columns count from 1."""

    line: int
    column: int
    key_line: int
    key_column: int


class RefusedText(Exception):
    """The text is not a document we read; lines and columns count from 1."""

    def __init__(self, what: str, *, line: int = 1, column: int = 1, hint: str = "") -> None:
        self.what = what
        self.line = line
        self.column = column
        self.hint = hint
        super().__init__(what)


class _Piece(NamedTuple):
    """One parser event: ``open`` is what it begins (``"["``, ``"{"`` or nothing), ``plain`` a scalar without quotes."""

    line: int
    column: int
    open: str = ""
    close: bool = False
    text: str = ""
    plain: bool = False


def compose(text: str, *, first_line: int = 1) -> tuple[Param, dict[KeyPath, Mark]]:
    """The one document of a text as plain data, and the mark of every path in it; None for an empty text.

    Args:
        text: YAML 1.2.
        first_line: What line of its file the text begins in.

    Raises:
        RefusedText: It is no YAML, or makes use of what we do not read.
    """
    composer = _Composer(_pieces(text, first_line - 1))
    return composer.document(), composer.marks


def _pieces(text: str, lines_before: int) -> Iterator[_Piece]:
    """The pieces of a text's one document."""
    documents = 0
    for event in _events(text, lines_before):
        kind = cast("type[Event]", type(event))
        line, column = event.start_mark.line + 1 + lines_before, event.start_mark.column + 1
        documents += kind is DocumentStartEvent
        fault, hint = _fault(kind, event, documents)
        if fault:
            raise RefusedText(fault, line=line, column=column, hint=hint)
        if kind is ScalarEvent:
            yield _Piece(line, column, text=event.value, plain=event.implicit[0])
        elif kind in _OPENS:
            yield _Piece(line, column, open=_OPENS[kind])
        elif kind in _CLOSES:
            yield _Piece(line, column, close=True)


def _events(text: str, lines_before: int) -> Iterator[Any]:
    try:
        yield from cast("Any", YAML(typ="safe", pure=True)).parse(text)
    except Exception as error:  # all: it asserts on directives and overflows on escapes, as fuzzing showed
        raise _refused(error, text, lines_before) from error


def _fault(kind: type[Event], event: Any, documents: int) -> tuple[str, str]:  # noqa: ANN401  ruamel is half typed
    """What is wrong with an event, and what to do about it."""
    if kind is DocumentStartEvent:
        if documents > 1:
            return "a second document begins here", "one document a file"
        if event.tags or event.version not in {None, (1, 2)}:
            return "directives other than %YAML 1.2 are not read", "take it out"
    elif kind is AliasEvent:
        return f"alias *{event.anchor} is not read", "write out what it stands for"
    elif (kind is ScalarEvent or kind in _OPENS) and event.tag is not None:
        return f"tag {event.tag!r} is not read", "put text in quotes instead"
    return "", ""


def _refused(error: Exception, text: str, lines_before: int) -> RefusedText:
    position = getattr(error, "position", None)
    if position is not None:
        before = text[:position]
        what = f"character U+{ord(text[position]):04X} may not stand in YAML"
        return RefusedText(what, line=lines_before + before.count("\n") + 1, column=len(before) - before.rfind("\n"))
    problem = getattr(error, "problem", None) or getattr(error, "context", None) or error
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line, column = (mark.line, mark.column) if mark is not None else (0, 0)
    what = f"not readable as YAML: {' '.join(str(problem).split())}"
    return RefusedText(what, line=lines_before + line + 1, column=column + 1)


class _Composer:
    """Holds the stream of pieces, and the marks found so far."""

    def __init__(self, pieces: Iterator[_Piece]) -> None:
        self.marks: dict[KeyPath, Mark] = {}
        self._pieces = pieces

    def document(self) -> Param:
        first = next(self._pieces, None)
        data = None if first is None else self._value(first, ())
        next(self._pieces, None)  # what stands behind it is refused there
        return data

    def _value(self, piece: _Piece, path: KeyPath, key: _Piece | None = None) -> Param:
        at = key or piece
        if key is not None and piece.plain and not piece.text:
            piece = piece._replace(line=key.line, column=key.column)  # nothing stands where its key does
        self.marks[path] = Mark(piece.line, piece.column, at.line, at.column)
        if len(self.marks) > MOST_VALUES:
            raise _refusal(f"more than {MOST_VALUES} values", piece)
        if not piece.open:
            return _scalar(piece)
        if len(path) == MOST_DEEP:
            raise _refusal(f"nested deeper than {MOST_DEEP} levels", piece)
        return self._sequence(path) if piece.open == "[" else self._mapping(path)

    def _sequence(self, path: KeyPath) -> tuple[Param, ...]:
        items: list[Param] = []
        while not (piece := next(self._pieces)).close:
            items.append(self._value(piece, (*path, len(items))))
        return tuple(items)

    def _mapping(self, path: KeyPath) -> dict[str, Param]:
        found: dict[str, Param] = {}
        lines: dict[str, int] = {}
        while not (piece := next(self._pieces)).close:
            key = _key(piece)
            same = unicodedata.normalize("NFC", key).strip()
            if same in lines:
                raise _refusal(f"key {key!r} stands twice, first in line {lines[same]}", piece)
            lines[same] = piece.line
            found[key] = self._value(next(self._pieces), (*path, key), piece)
        return found


def _key(piece: _Piece) -> str:
    if piece.open:
        raise _refusal("a key is text, not a list or a mapping", piece)
    key = _scalar(piece)
    if not isinstance(key, str):
        raise _refusal(f"key {piece.text!r} is not text", piece, hint="put it in quotes")
    return key


def _scalar(piece: _Piece) -> bool | float | str | None:
    text = piece.text
    if "\0" in text or not _encodes(text):
        raise _refusal("text with a NUL or half a surrogate pair in it", piece)
    if not piece.plain:
        return text
    if text in _NULLS:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    if _INT.fullmatch(text):
        return _int(piece)
    if _FLOAT.fullmatch(text):
        return _float(piece)
    return text


def _int(piece: _Piece) -> int:
    text = piece.text
    if len(text) <= len(oct(_LARGEST)):  # long ones take Python long, or are too long for it
        number = int(text, 0 if text[:2] in {"0o", "0x"} else 10)
        if abs(number) < _LARGEST:
            return number
    raise _refusal("whole number of more than 63 bits", piece, hint="put text in quotes")


def _float(piece: _Piece) -> float:
    number = math.nan if piece.text[-1] in "fFnN" else float(piece.text)
    if not math.isfinite(number):
        raise _refusal("not a finite number", piece)
    return number


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refusal(what: str, piece: _Piece, *, hint: str = "") -> RefusedText:
    return RefusedText(what, line=piece.line, column=piece.column, hint=hint)
