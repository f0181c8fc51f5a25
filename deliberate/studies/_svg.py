"""The strokes pictures are made of; every text passes through ``text_of``."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from deliberate.judging import visible

__all__ = ["label", "line", "svg", "text_of"]

_FONT = 'font-family="system-ui, sans-serif" font-size="12"'
_LONGEST = 34


def text_of(said: str, most: int = _LONGEST) -> str:
    """Text from outside, harmless and short enough for a picture; tables hold it whole."""
    clean = " ".join(visible(said).split())
    return escape(clean if len(clean) <= most else f"{clean[: most - 1]}…")


def svg(title: str, width: float, height: float, parts: Sequence[str]) -> str:
    """A picture under its title, wide enough for it."""
    width = max(width, 8.2 * len(title) + 24)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'role="img" aria-label="{escape(title, quote=True)}" {_FONT}>'
        f'<rect width="100%" height="100%" fill="#fff"/>'
        f'<text x="10" y="20" font-size="14" font-weight="bold">{escape(title)}</text>' + "".join(parts) + "</svg>"
    )


def label(x: float, y: float, said: str, *, anchor: str = "start", most: int = _LONGEST) -> str:
    """A text; ``anchor`` says which end of it stands there."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#222">{text_of(said, most)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, color: str = "#bbb", *, dash: str = "") -> str:
    """A straight line."""
    style = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}"{style}/>'
