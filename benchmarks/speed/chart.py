"""The chart: CPU per vote of every client, on a logarithmic scale, readable on a light and on a dark page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape

__all__ = ["chart"]

_WIDTH, _LEFT, _RIGHT, _ROW, _TOP = 760, 210, 90, 26, 56
_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2328; }
.title { font-size: 15px; font-weight: 600; }
.small { font-size: 11px; fill: #59636e; }
.grid { stroke: #d1d9e0; stroke-width: 1; }
.bar { fill: #8c959f; } .ours { fill: #0969da; } .raw { fill: #afb8c1; }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc; } .small { fill: #9198a1; } .grid { stroke: #3d444d; }
.bar { fill: #656c76; } .ours { fill: #4493f8; } .raw { fill: #545d68; }
}
"""


def chart(values: Mapping[str, float], *, ours: str, raw: tuple[str, ...], title: str, note: str) -> str:
    """An SVG of one bar a client, the cheapest first.

    Args:
        values: CPU microseconds per vote by client; all above 0.
        ours: The names that begin with it are set off.
        raw: Those that are no library.
        title: What is shown.
        note: How it was measured.

    Raises:
        ValueError: There is nothing to show.
    """
    if not values:
        msg = "no values to draw"
        raise ValueError(msg)
    low = 10.0 ** math.floor(math.log10(min(values.values())))
    high = 10.0 ** math.ceil(math.log10(max(values.values()) * 1.01))
    span = _WIDTH - _LEFT - _RIGHT
    height = _TOP + _ROW * len(values) + 34

    def x(value: float) -> float:
        return _LEFT + span * math.log(value / low) / math.log(high / low)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        f'<text class="title" x="12" y="24">{escape(title)}</text>',
        f'<text class="small" x="12" y="42">{escape(note)}</text>',
    ]
    bottom = _TOP + _ROW * len(values)
    tick = low
    while tick <= high * 1.001:
        parts.append(f'<line class="grid" x1="{x(tick):.1f}" y1="{_TOP}" x2="{x(tick):.1f}" y2="{bottom}"/>')
        label = f"{tick:,.0f}"
        parts.append(f'<text class="small" x="{x(tick):.1f}" y="{bottom + 18}" text-anchor="middle">{label}</text>')
        tick *= 10
    for row, (name, value) in enumerate(sorted(values.items(), key=lambda pair: pair[1])):
        top = _TOP + _ROW * row + 4
        kind = "ours" if name.startswith(ours) else "raw" if name in raw else "bar"
        wide = max(1.0, x(value) - _LEFT)
        parts += [
            f'<text x="{_LEFT - 8}" y="{top + 14}" text-anchor="end">{escape(name)}</text>',
            f'<rect class="{kind}" x="{_LEFT}" y="{top}" width="{wide:.1f}" height="{_ROW - 8}" rx="2"/>',
            f'<text class="small" x="{x(value) + 6:.1f}" y="{top + 13}">{value:,.0f}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])
