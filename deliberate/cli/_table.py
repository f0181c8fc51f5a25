"""Lists for people: aligned columns that wrap and are never cut off."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence

import msgspec

__all__ = ["print_json", "print_rows", "width"]

_NARROWEST = 40


def width() -> int:
    """Columns to write in: the terminal's, 80 where there is none."""
    return max(_NARROWEST, shutil.get_terminal_size((80, 24)).columns if "COLUMNS" in os.environ or _tty() else 80)


def print_json(value: object) -> None:
    """One JSON object on standard output."""
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")


def print_rows(rows: Sequence[Sequence[str]]) -> None:
    """Rows of cells; the last column takes what is left and wraps under itself."""
    if not rows:
        return
    columns = len(rows[0]) - 1
    wide = [max(len(row[at]) for row in rows) for at in range(columns)]
    lead = sum(wide) + 2 * columns
    for row in rows:
        head = "  ".join(cell.ljust(size) for cell, size in zip(row, wide, strict=False))
        room = max(_NARROWEST // 2, width() - lead)
        lines = textwrap.wrap(row[-1], room) or [""]
        sys.stdout.write(f"{head}  {lines[0]}".rstrip() + "\n")
        for line in lines[1:]:
            sys.stdout.write(" " * lead + line + "\n")


def _tty() -> bool:
    return sys.stdout.isatty()
