"""Whether a judge has changed, for people: lines, and a page with a picture over time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from jinja2 import Environment, StrictUndefined, Template

from deliberate.judging import visible
from deliberate.studies._svg import label, line, svg, text_of
from deliberate.studies.drift import Drift, Scored
from deliberate.types import Record

__all__ = ["Drifting", "drift_page", "drift_plot", "drift_text"]

_WINDOW = 20
_MOST_POINTS = 400


class Drifting(Record, frozen=True, kw_only=True):
    """A judge by a rubric over time: the wager, and what was scored."""

    judge: str
    rubric: str
    drift: Drift
    scored: tuple[Scored, ...]


def drift_text(one: Drifting) -> tuple[str, ...]:
    """Who, what was found, and version by version."""
    found = one.drift
    said = [f"{one.judge}, rubric {one.rubric}", *(f"  {text}" for text in found.lines)]
    for each in found.segments:
        alarm = "ALARM" if each.alarm_at else "no alarm"
        said.append(
            f"  {each.version}, since {each.since}: right {each.right:.0%} of {each.n} anchors; wealth at most "
            f"{each.wealth:.2f} of {each.threshold:.0f}: {alarm}"
        )
    return tuple(said)


def drift_plot(one: Drifting) -> str:
    """Share right of the last anchors, over time; versions and alarms are marked."""
    scored, found = one.scored, one.drift
    left, top, width, height = 60.0, 64.0, 620.0, 220.0
    count = len(scored)

    def at(number: float, share: float) -> tuple[float, float]:
        return left + number / max(1, count) * width, top + (1 - share) * height

    parts: list[str] = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        _, y = at(0, tick)
        parts += [line(left, y, left + width, y, "#eee"), label(left - 6, y + 4, f"{tick:g}", anchor="end")]
    for share, said, dash, lower in (
        (found.promised, "promised", "", 0.0),
        (found.promised - found.tolerance, "borne", "4 4", 10.0),
    ):
        _, y = at(0, share)
        parts += [line(left, y, left + width, y, "#1b7837", dash=dash), label(left + width + 6, y + lower, said)]
    seen = 0
    for number, each in enumerate(found.segments):
        x, _ = at(seen, 0)
        parts += [
            line(x, top - 8, x, top + height, "#888"),
            label(x + 4, top - 12 - 14 * (number % 2), f"{each.version} ({each.since[:10]})", most=40),
        ]
        if each.alarm_after is not None:
            x, _ = at(seen + each.alarm_after, 0)
            parts += [
                line(x, top, x, top + height, "#b2182b", dash="2 2"),
                label(x + 4, top + height - 6, f"alarm, {each.alarm_at[:10]}"),
            ]
        seen += each.n
    shares = [
        sum(each.right for each in scored[max(0, end - _WINDOW) : end]) / min(end, _WINDOW)
        for end in range(1, count + 1)
    ]
    step = max(1, count // _MOST_POINTS)
    path = " ".join(
        "{:.1f},{:.1f}".format(*at(end, share)) for end, share in enumerate(shares, start=1) if end % step == 0
    )
    parts.append(f'<polyline points="{path}" fill="none" stroke="#2166ac" stroke-width="2"/>')
    first, last = scored[0].at[:10], scored[-1].at[:10]
    parts += [
        label(left, top + height + 18, first),
        label(left + width, top + height + 18, last, anchor="end"),
        label(
            left + width / 2, top + height + 34, f"share right of the last {_WINDOW} anchors", anchor="middle", most=60
        ),
    ]
    title = f"Has {text_of(one.judge, 40)} changed? (rubric {text_of(one.rubric, 24)})"
    return svg(title, left + width + 80, top + height + 44, parts)


_PAGE = """\
<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Has a judge changed?</title><style>
body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222}
figure{margin:1.5rem 0;overflow-x:auto}svg{max-width:100%;height:auto}
</style></head><body><h1>Has a judge changed?</h1>
{% for one in reports %}<h2>{{ one.lines[0] }}</h2>
<figure>{{ one.plot|safe }}</figure>
<ul>{% for said in one.lines[1:] %}<li>{{ said }}</li>
{% endfor %}</ul>
{% endfor %}</body></html>
"""


def drift_page(found: Sequence[Drifting]) -> str:
    """One self-contained page."""
    reports = [{"lines": drift_text(one), "plot": drift_plot(one)} for one in found]
    return _template().render(reports=reports)


def _harmless(value: object) -> object:
    return visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


@cache
def _template() -> Template:
    return Environment(autoescape=True, undefined=StrictUndefined, finalize=_harmless).from_string(_PAGE)
