"""A terminal, and the ways we write on it: paragraphs beside a label, and tables.

All text from outside passes through ``Screen.shown`` or ``Screen.named``. Widths are counted in cells; a table that is
too wide becomes two; where the terminal knows no more than its own letters, bars and dots are ASCII.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from deliberate.judging import visible
from deliberate.types import Bracket

__all__ = ["SEVERITY_STYLES", "Column", "Screen", "Signs"]

SEVERITY_STYLES = {"blocker": "bold red", "important": "yellow", "suggestion": "dim"}

_INDENT = 12
"""Where text begins beside a label, in cells."""

_GAP = 2
_NARROWEST = 8
_STYLES = {Bracket.POOR: "red", Bracket.FAIR: "yellow", Bracket.GOOD: "green", Bracket.EXCELLENT: "bold green"}

_ORDERS = (
    (re.compile(r"\A\s*(::)(?=\S+.*::)"), "∷ ", ".:"),
    (re.compile(r"(##)(?=\[)"), "♯#", ".#"),
)
"""What the log of a CI service takes for an order to itself, and what is shown instead, in as many cells."""


class Signs(NamedTuple):
    """Signs beyond letters, and what stands for them in plain ASCII."""

    full: str
    empty: str
    dot: str
    arrow: str
    none: str
    times: str


_FINE = Signs("■", "□", " · ", "→", "–", "×")
_PLAIN = Signs("#", ".", " | ", "->", "-", "x")


class Column(NamedTuple):
    """One column of a table, with a cell for each row."""

    head: str
    cells: tuple[Text, ...]
    right: bool = False


class Screen:
    """A console, the signs it can show, and the ways we write on it."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._encoding = console.encoding if console.options.ascii_only else None
        self.signs = _PLAIN if self._encoding or console.is_dumb_terminal else _FINE

    def shown(self, text: str, style: str = "") -> Text:
        """Text from outside, harmless: no markup, no control characters.

        On a terminal that cannot show a letter, its escape is shown.
        """
        text = visible(text).expandtabs(4)
        if self._encoding:
            text = text.encode(self._encoding, "backslashreplace").decode(self._encoding)
        return Text(text, style)

    def named(self, text: str, style: str = "") -> Text:
        """A name from outside, on one line: it stands at the left edge, where a second line could pass for ours."""
        return self.shown(" ".join(text.split()), style)

    def bracket(self, bracket: Bracket, style: str = "") -> Text:
        """A bracket as a bar and a word."""
        bar = self.signs.full * (bracket + 1) + self.signs.empty * (Bracket.EXCELLENT - bracket)
        return Text(f"{bar} {bracket.label}", f"{style} {_STYLES[bracket]}".strip())

    def joined(self, texts: Sequence[Text]) -> Text:
        """Texts in one line, with dots between."""
        return Text(self.signs.dot).join(texts)

    def blank(self) -> None:
        """An empty line."""
        self._console.print()

    def line(self, text: Text) -> None:
        """A paragraph from the left edge, wrapped."""
        self._write(self._wrapped(text, self._console.width))

    def labeled(self, label: str, text: Text, style: str = "bold") -> None:
        """A paragraph beside its label, wrapped, each line indented."""
        lines = self._wrapped(text, max(_NARROWEST, self._console.width - _INDENT))
        heads = [Text(label.ljust(_INDENT), style), *(Text(" " * _INDENT) for _ in lines[1:])]
        self._write([Text.assemble(head, line) for head, line in zip(heads, lines, strict=True)])

    def ending(self, label: str, texts: Sequence[Text]) -> None:
        """Texts beside a label: on one line if they fit, else below each other."""
        line = Text("   ").join(texts)
        if cell_len(line.plain) <= self._console.width - _INDENT:
            texts = [line] if texts else []
        for at, text in enumerate(texts):
            self.labeled("" if at else label, text)

    def table(self, columns: Sequence[Column], *, split: bool = True) -> bool:
        """A table, or several side by side in turn if it is too wide, each beginning with the first column.

        Returns:
            Whether it was printed: one that is too wide is not, where ``split`` is False.
        """
        key, *rest = columns
        chunks: list[list[Column]] = [[]]
        for column in rest:
            if chunks[-1] and self._total([key, *chunks[-1], column]) > self._console.width:
                chunks.append([])
            chunks[-1].append(column)
        if len(chunks) > 1 and not split:
            return False
        for at, chunk in enumerate(chunks):
            if at:
                self.blank()
            self._rows([key, *chunk])
        return True

    def _total(self, columns: Sequence[Column]) -> int:
        return sum(_width(column) for column in columns) + _GAP * (len(columns) - 1)

    def _rows(self, columns: Sequence[Column]) -> None:
        widths = [_width(column) for column in columns]
        for at in (-1, 0):
            over = sum(widths) + _GAP * (len(widths) - 1) - self._console.width
            if over > 0:
                widths[at] = max(_NARROWEST, widths[at] - over)
        if any(column.head for column in columns):
            self._row([self.named(column.head, "dim") for column in columns], columns, widths)
        for cells in zip(*(column.cells for column in columns), strict=True):
            self._row(cells, columns, widths)

    def _row(self, cells: Sequence[Text], columns: Sequence[Column], widths: Sequence[int]) -> None:
        wrapped = [self._wrapped(cell, width) for cell, width in zip(cells, widths, strict=True)]
        lines: list[Text] = []
        for at in range(max(len(one) for one in wrapped)):
            line = Text()
            for cell, column, width in zip(wrapped, columns, widths, strict=True):
                text = cell[at].copy() if at < len(cell) else Text()
                space = " " * (width - cell_len(text.plain))
                line.append_text(Text(space).append_text(text) if column.right else text.append(space))
                line.append(" " * _GAP)
            lines.append(line)
        self._write(lines)

    def _wrapped(self, text: Text, width: int) -> list[Text]:
        return list(text.wrap(self._console, width, overflow="fold")) or [Text()]

    def _write(self, lines: Sequence[Text]) -> None:
        for line in lines:
            line.rstrip()
            for order, fine, plain in _ORDERS:
                for found in order.finditer(line.plain):
                    start, end = found.span(1)
                    line.plain = line.plain[:start] + (fine if self.signs is _FINE else plain) + line.plain[end:]
            self._console.print(line, soft_wrap=True)


def _width(column: Column) -> int:
    lines = [line for cell in column.cells for line in cell.plain.split("\n")]
    return max(cell_len(line) for line in (visible(column.head), *lines))
