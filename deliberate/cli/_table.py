"""Lists and texts for people: they wrap, are never cut off, and hold nothing that could command a terminal."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import cast

from deliberate.judging import visible
from deliberate.reports import encode
from deliberate.types import Record

__all__ = ["print_json", "print_lines", "print_rows", "width"]

_NARROWEST = 40


def width() -> int:
    """Columns to write in: the terminal's, 80 where there is none."""
    return max(_NARROWEST, shutil.get_terminal_size((80, 24)).columns if "COLUMNS" in os.environ or _tty() else 80)


def print_json(value: object) -> None:
    """One JSON object on standard output, whatever signs it takes."""
    text = encode(cast("Record", value)).decode()
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        text = "".join(sign if sign.isascii() else _escape(sign) for sign in text)
    sys.stdout.write(text)


def print_lines(*texts: str) -> None:
    """Texts of one or more lines; a line too long goes on below where its own words begin."""
    for text in texts:
        for line in visible(text).split("\n"):
            indent = " " * (len(line) - len(line.lstrip(" ")) + (2 if line.lstrip().startswith("- ") else 0))
            lines = (
                [line]
                if len(line) <= width()
                else textwrap.wrap(line, width(), subsequent_indent=indent, break_on_hyphens=False)
            )
            sys.stdout.write("\n".join(lines) + "\n")


def print_rows(rows: Sequence[Sequence[str]]) -> None:
    """Rows of cells; the last column takes what is left and wraps under itself."""
    if not rows:
        return
    rows = [[visible(cell) for cell in row] for row in rows]
    columns = len(rows[0]) - 1
    wide = [max(len(row[at]) for row in rows) for at in range(columns)]
    lead = sum(wide) + 2 * columns
    for row in rows:
        head = "  ".join(cell.ljust(size) for cell, size in zip(row, wide, strict=False))
        room = max(_NARROWEST // 2, width() - lead)
        lines = textwrap.wrap(row[-1], room, break_on_hyphens=False) or [""]  # a command stays one
        sys.stdout.write(f"{head}  {lines[0]}".rstrip() + "\n")
        for line in lines[1:]:
            sys.stdout.write(" " * lead + line + "\n")


def _escape(sign: str) -> str:
    """JSON's own escape of a sign; such signs stand only inside strings."""
    units = sign.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _tty() -> bool:
    return sys.stdout.isatty()
