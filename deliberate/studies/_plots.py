"""Pictures of a study, each titled by the question it answers: SVG without script, and one Vega-Lite specification.

Every text passes through ``text_of``. Nothing is said by color alone: cells carry their number, points their name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from deliberate.studies._figures import Figures, RaterRow
from deliberate.studies._svg import label, line, svg, text_of

__all__ = ["plots", "vega_lite"]

_MOST_RATERS = 40
_MOST_CONFUSIONS = 9
_FEW_LABELS = 5
_LONGEST_NAME = 10
_LINE, _REACH = 14.0, 230.0


def plots(study: Figures) -> list[str]:
    """All pictures the votes allow, as SVG."""
    made = [
        _kappas(study),
        _bias(study),
        _lengths(study),
        _heatmap(study),
        _confusions(study),
        _curve(study),
        _pareto(study),
    ]
    return [one for one in made if one]


def vega_lite(study: Figures) -> dict[str, object]:
    """Kappa with its interval, one line a rater, as Vega-Lite."""
    values = [
        {"rater": row.name, "kind": row.kind, "kappa": row.kappa.value, "low": row.kappa.low, "high": row.kappa.high}
        for row in study.rows
        if row.kappa.value is not None
    ]
    rater = {"field": "rater", "type": "nominal", "sort": None, "title": None}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": _KAPPA_TITLE,
        "data": {"values": values},
        "layer": [
            {
                "mark": "rule",
                "encoding": {
                    "y": rater,
                    "x": {"field": "low", "type": "quantitative", "title": "kappa"},
                    "x2": {"field": "high"},
                },
            },
            {
                "mark": {"type": "point", "filled": True},
                "encoding": {
                    "y": rater,
                    "x": {"field": "kappa", "type": "quantitative"},
                    "color": {"field": "kind", "type": "nominal"},
                },
            },
        ],
    }


_KAPPA_TITLE = "Which judge agrees with people as well as people do with each other?"


def _ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers across a range."""
    raw = max(1e-9, (high - low) / count)
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * times for times in (1, 2, 5, 10) if size * times >= raw)
    return [at * step for at in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _bars(title: str, rows: Sequence[RaterRow], spans: Sequence[tuple[float, float, float]], unit: str) -> str:
    """A dot with a line a row, on one axis."""
    low = min(0.0, *(span[0] for span in spans))
    high = max(0.0, *(span[2] for span in spans))
    left, width, top = 250.0, 460.0, 40.0
    room = (high - low) or 1.0

    def x(value: float) -> float:
        return left + (value - low) / room * width

    bottom = top + 22 * len(rows)
    parts: list[str] = []
    for tick in _ticks(low, high):
        parts += [
            line(x(tick), top, x(tick), bottom, "#ddd"),
            label(x(tick), bottom + 16, f"{tick:g}", anchor="middle"),
        ]
    parts.append(line(x(0), top, x(0), bottom, "#555"))
    for at, (row, span) in enumerate(zip(rows, spans, strict=True)):
        y = top + 22 * at + 11
        color = {"human": "#1b7837", "floor": "#888", "panel": "#762a83", "judge": "#2166ac"}[row.kind]
        parts += [label(left - 8, y + 4, row.name, anchor="end"), line(x(span[0]), y, x(span[2]), y, color)]
        parts.append(
            f'<circle cx="{x(span[1]):.1f}" cy="{y:.1f}" r="4" fill="{color}">'
            f"<title>{text_of(row.name, 200)}: {span[1]:.3f}</title></circle>"
        )
        parts.append(label(left + width + 14, y + 4, f"{span[1]:.2f}"))
    parts.append(label(left + width / 2, bottom + 34, unit, anchor="middle", most=80))
    return svg(title, left + width + 70, bottom + 44, parts)


def _kappas(study: Figures) -> str:
    rows = [row for row in study.rows if row.kappa.value is not None]
    if not rows:
        return ""
    spans: list[tuple[float, float, float]] = []
    for row in rows:
        value = row.kappa.value or 0.0
        low = value if row.kappa.low is None else row.kappa.low
        high = value if row.kappa.high is None else row.kappa.high
        spans.append((low, value, high))
    return _bars(
        _KAPPA_TITLE, rows, spans, f"kappa, weights {study.weights}, 95 % interval; 0 is chance, 1 always alike"
    )


def _bias(study: Figures) -> str:
    rows = [row for row in study.rows if row.bias is not None and row.kind in {"judge", "panel"}]
    if not rows:
        return ""
    rows.sort(key=lambda row: -(row.bias or 0.0))
    spans = [(min(0.0, row.bias or 0.0), row.bias or 0.0, max(0.0, row.bias or 0.0)) for row in rows]
    return _bars("Which judge is lenient?", rows, spans, "mean of vote − people's label, in labels; above 0 is lenient")


_COLORS = ("#2166ac", "#b2182b", "#1b7837", "#762a83", "#b35806", "#01665e", "#555555", "#c51b7d")


def _lengths(study: Figures) -> str:
    """Bias of each judge by how long the output is, a line a judge, named where it ends."""
    rows = [row for row in study.judges if row.lengths][: len(_COLORS)]
    if not rows:
        return ""
    left, top, width, height = 70.0, 40.0, 420.0, 240.0
    count = len(rows[0].lengths)
    every = [one.bias for row in rows for one in row.lengths]
    low, high = min(0.0, *every), max(0.0, *every)
    room = (high - low) or 1.0

    def at(number: int, bias: float) -> tuple[float, float]:
        return left + number / max(1, count - 1) * width, top + (high - bias) / room * height

    parts: list[str] = []
    for tick in _ticks(low, high):
        _, y = at(0, tick)
        shade = "#555" if not tick else "#ddd"
        parts += [line(left, y, left + width, y, shade), label(left - 6, y + 4, f"{tick:+g}", anchor="end")]
    for number, one in enumerate(rows[0].lengths):
        x, _ = at(number, 0)
        parts.append(label(x, top + height + 18, f"{one.length:g}", anchor="middle"))
    ends = sorted((at(count - 1, row.lengths[-1].bias)[1], place) for place, row in enumerate(rows))
    heights: dict[int, float] = {}
    last = -math.inf
    for y, place in ends:  # names that would lie on each other move down
        last = heights[place] = max(y, last + 14)
    for place, row in enumerate(rows):
        color = _COLORS[place]
        points = [at(number, one.bias) for number, one in enumerate(row.lengths)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in points]
        x, y = points[-1]
        parts += [
            line(x, y, x + 12, heights[place], color),
            label(x + 16, heights[place] + 4, f"{place + 1} {row.name}"),
        ]
    note = "median length of the output (as many items in each group)"
    parts.append(label(left + width / 2, top + height + 36, note, anchor="middle", most=80))
    more = len([row for row in study.judges if row.lengths]) - len(rows)
    if more:
        parts.append(label(left, top + height + 54, f"{more} more judges are in the JSON", most=60))
    bottom = max(top + height, last) + (62 if more else 46)
    title = "Which judge prefers longer outputs? (mean of vote − people's label)"
    return svg(title, left + width + 260, bottom, parts)


def _shade(value: float | None) -> tuple[str, str]:
    """Fill and ink of a cell: white at 0, blue to 1, red below 0."""
    if value is None:
        return "#eee", "#555"
    part = max(-1.0, min(1.0, value))
    other = round(255 * (1 - 0.75 * abs(part)))
    fill = f"rgb({other},{other},255)" if part >= 0 else f"rgb(255,{other},{other})"
    return fill, "#fff" if abs(part) > 0.75 else "#222"  # noqa: PLR2004  white ink on dark cells


def _order(study: Figures) -> list[int]:
    """Raters so that those alike stand together: people first, then each nearest to the one before."""
    people = len(study.raters) - len(study.judges)
    found, left = list(range(people)), list(range(people, len(study.raters)))
    while left:
        last = found[-1] if found else left[0]
        nearest = max(
            left, key=lambda at: (-2.0 if study.matrix[last][at] is None else study.matrix[last][at] or 0.0, -at)
        )
        found.append(nearest)
        left.remove(nearest)
    return found


def _heatmap(study: Figures) -> str:
    order = _order(study)[:_MOST_RATERS]
    if len(order) < 2:  # noqa: PLR2004  one rater has nobody to agree with
        return ""
    size = 34 if len(order) <= 20 else 22  # noqa: PLR2004  numbers still fit
    left, top = 250.0, 60.0
    parts: list[str] = []
    for row, one in enumerate(order):
        y = top + row * size
        parts.append(label(left - 8, y + size / 2 + 4, f"{study.raters[one]}  {row + 1}", anchor="end", most=38))
        parts.append(label(left + row * size + size / 2, top - 6, str(row + 1), anchor="middle"))
        for column, other in enumerate(order):
            value = study.matrix[one][other]
            fill, ink = _shade(value)
            x = left + column * size
            parts.append(
                f'<rect x="{x:.0f}" y="{y:.0f}" width="{size - 1}" height="{size - 1}" fill="{fill}"><title>'
                f"{text_of(study.raters[one], 80)} and {text_of(study.raters[other], 80)}: {_said(value)}"
                "</title></rect>"
            )
            if one != other:
                parts.append(
                    f'<text x="{x + size / 2:.1f}" y="{y + size / 2 + 3:.1f}" text-anchor="middle" font-size="9" '
                    f'fill="{ink}">{_said(value)}</text>'
                )
    more = len(study.raters) - len(order)
    if more:
        parts.append(label(left, top + size * len(order) + 18, f"{more} more raters are in the JSON", most=60))
    return svg(
        "Who agrees with whom?", left + size * len(order) + 20, top + size * len(order) + (30 if more else 12), parts
    )


def _said(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".replace("0.", ".", 1)


def _confusions(study: Figures) -> str:
    rows = [row for row in study.rows if row.confusion][:_MOST_CONFUSIONS]
    size = len(study.labels)
    if not rows or size > 12:  # noqa: PLR2004  more is no picture
        return ""
    cell = max(14.0, min(34.0, 170 / size))
    longest = max(len(one) for one in study.labels)
    if size <= _FEW_LABELS:  # names stand whole beside and below their cells
        cell = max(cell, 6.6 * min(longest, _LONGEST_NAME) + 4)
    most_signs = _LONGEST_NAME if size <= _FEW_LABELS else 5
    side = max(32.0, 6.8 * min(longest, most_signs))
    block, high, across = max(250.0, cell * size + side + 28), cell * size + 60, 3
    parts: list[str] = []
    for at, row in enumerate(rows):
        x0, y0 = 20 + (at % across) * (block + 20), 40 + (at // across) * (high + 14)
        parts.append(label(x0, y0 + 10, row.name, most=38))
        most = max(1, *(count for each in row.confusion for count in each))
        for r, each in enumerate(row.confusion):
            parts.append(
                label(x0 + side, y0 + 24 + r * cell + cell / 2 + 4, study.labels[r], anchor="end", most=most_signs)
            )
            for c, count in enumerate(each):
                x, y = x0 + side + 4 + c * cell, y0 + 24 + r * cell
                fill, ink = _shade(count / most)
                parts.append(
                    f'<rect x="{x:.1f}" y="{y:.1f}" width="{cell - 1:.1f}" height="{cell - 1:.1f}" fill="{fill}"/>'
                )
                if count:
                    parts.append(
                        f'<text x="{x + cell / 2:.1f}" y="{y + cell / 2 + 3:.1f}" text-anchor="middle" '
                        f'font-size="{8 if cell < 24 else 10}" fill="{ink}">{count}</text>'  # noqa: PLR2004
                    )
        for c, said in enumerate(study.labels):
            parts.append(
                label(
                    x0 + side + 4 + c * cell + cell / 2,
                    y0 + 24 + size * cell + 13,
                    said,
                    anchor="middle",
                    most=most_signs,
                )
            )
    lines = -(-len(rows) // across)
    title = "Where do judges differ from people? (rows: people, columns: votes)"
    return svg(title, 40 + min(len(rows), across) * (block + 20), 50 + lines * (high + 14), parts)


def _curve(study: Figures) -> str:
    found = study.reliability
    if found is None or not found.bins:
        return ""
    left, top, side = 60.0, 40.0, 260.0

    def at(x: float, y: float) -> tuple[float, float]:
        return left + x * side, top + (1 - y) * side

    parts = [line(*at(0, 0), *at(1, 1), "#999", dash="4 4")]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = at(tick, tick)
        parts += [line(x, top, x, top + side, "#eee"), line(left, y, left + side, y, "#eee")]
        parts += [
            label(x, top + side + 16, f"{tick:g}", anchor="middle"),
            label(left - 6, y + 4, f"{tick:g}", anchor="end"),
        ]
    points = [at(one.confidence, one.right) for one in found.bins]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    parts.append(f'<polyline points="{path}" fill="none" stroke="#2166ac" stroke-width="2"/>')
    for (x, y), one in zip(points, found.bins, strict=True):
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#2166ac"/>')
        parts.append(label(x + 6, y + (14 if one.right > one.confidence else -6), f"n {one.n}"))
    parts.append(
        label(left + side / 2, top + side + 34, "share of votes for the panel's label", anchor="middle", most=60)
    )
    parts.append(label(left + side + 60, top + 20, f"calibration error {found.error:.3f}", most=60))
    parts.append(label(left + side + 60, top + 38, "up: how often that label is right", most=60))
    parts.append(label(left + side + 60, top + 56, "dashed: share means what it says", most=60))
    return svg("Does a unanimous panel mean a right one?", left + side + 300, top + side + 44, parts)


def _pareto(study: Figures) -> str:
    known = [
        (row.conduct.cost_usd, row.kappa.value, row.name)
        for row in study.judges
        if row.conduct is not None and row.conduct.cost_usd is not None and row.kappa.value is not None
    ]
    if len(known) < 2:  # noqa: PLR2004  one point is no front
        return ""
    left, top, width, height = 60.0, 40.0, 420.0, 240.0
    most, low, high = (
        max(cost for cost, _, _ in known) or 1.0,
        min(0.0, *(k for _, k, _ in known)),
        max(k for _, k, _ in known),
    )

    def at(cost: float, kappa: float) -> tuple[float, float]:
        return left + cost / most * width, top + (1 - (kappa - low) / ((high - low) or 1)) * height

    front: list[tuple[float, float, str]] = []
    best = -math.inf
    for cost, kappa, name in sorted(known, key=lambda one: (one[0], -one[1])):
        if kappa > best:
            front.append((cost, kappa, name))
            best = kappa
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(cost, kappa) for cost, kappa, _ in front))
    parts = [line(left, top + height, left + width, top + height), line(left, top, left, top + height)]
    parts.append(f'<polyline points="{path}" fill="none" stroke="#1b7837" stroke-dasharray="4 3"/>')
    taken: list[tuple[float, float]] = []
    for cost, kappa, name in sorted(known, key=lambda one: -one[1]):
        x, y = at(cost, kappa)
        place = y + 4
        while any(abs(place - other) < _LINE and abs(x - beside) < _REACH for beside, other in taken):
            place += 2.0  # names that would lie on each other move down
        taken.append((x, place))
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#2166ac"/>{label(x + 10, place, name)}')
    parts += [
        label(left - 6, top + 4, f"{high:.2f}", anchor="end"),
        label(left - 6, top + height, f"{low:.2f}", anchor="end"),
    ]
    parts.append(label(left + width, top + height + 16, f"${most:.2f} for 100 votes", anchor="end"))
    return svg(
        "What does agreement cost? (dashed: nothing cheaper is better)", left + width + 180, top + height + 30, parts
    )
