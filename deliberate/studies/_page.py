"""A study as one HTML page, and as the part of it a notebook shows: no script, no request to anywhere.

``safe`` marks what is made of escaped parts: the fragment by its own template, pictures by ``_plots._t``.
"""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, StrictUndefined, Template

from deliberate.judging import visible
from deliberate.studies._figures import Figures
from deliberate.studies._plots import plots
from deliberate.studies._sections import sections
from deliberate.studies._tables import tables_of

__all__ = ["fragment", "page"]

_FRAGMENT = """\
<p class="answer"><strong>ANSWER</strong> {{ study.answer }}</p>
<p>{{ study.n }} items with labels, {{ study.judges|length }} judges; held against {{ study.gold }}.
Kappa weights: {{ study.weights }}, over the full scale {{ study.labels[0] }} to {{ study.labels[-1] }}.</p>
{% for heads, rows in tables %}
<table><thead><tr>{% for head in heads %}<th>{{ head }}</th>{% endfor %}</tr></thead><tbody>
{% for row in rows %}<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor %}</tbody></table>
{% endfor %}
"""
_PAGE = """\
<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{{ title }}</title><style>
body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}
td,th{padding:.2rem .6rem;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}
td:first-child,th:first-child{text-align:left;min-width:12rem;white-space:normal;overflow-wrap:anywhere}
.answer{background:#f2f6fb;border-left:4px solid #2166ac;padding:.6rem 1rem}
figure{margin:1.5rem 0;overflow-x:auto}svg{max-width:100%;height:auto}small{color:#555}
</style></head><body><h1>{{ title }}</h1>
{{ fragment|safe }}
{% for plot in plots %}<figure>{{ plot|safe }}</figure>
{% endfor %}
<h2>Of the panel</h2><ul>
<li>alpha of all judges ({{ study.alpha_metric }}): {{ number(study.alpha.value) }}
({{ number(study.alpha.low) }} to {{ number(study.alpha.high) }})</li>
<li>effective number of judges: {{ number(study.effective.value) }}; mean error correlation:
{{ number(study.error_correlation) }}; mean vote correlation: {{ number(study.vote_correlation) }}</li>
{% for one in study.differences %}<li>{{ one.better }} is {{ number(one.apart.value) }} ahead of {{ one.other }}
({{ number(one.apart.low) }} to {{ number(one.apart.high) }}){% if not one.told %}: cannot be told
apart{% if one.needed %}; about {{ one.needed }} items would tell{% endif %}{% endif %}</li>
{% endfor %}</ul>
{% for one in sections %}<h2>{{ one.title }}</h2>
{% for said in one.said %}<p>{{ said }}</p>
{% endfor %}{% if one.rows %}<table><thead><tr>{% for head in one.heads %}<th>{{ head }}</th>{% endfor %}</tr></thead>
<tbody>{% for row in one.rows %}<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor %}</tbody></table>{% endif %}
{% endfor %}
{% if strata %}<h2>When people are sure, and when they are not</h2>
<table><thead><tr><th>exact</th>
{% for one in strata[0].strata %}<th>{{ one.certainty }} (n {{ one.n }})</th>{% endfor %}</tr></thead><tbody>
{% for row in strata %}<tr><td>{{ row.name }}</td>
{% for one in row.strata %}<td>{{ number(one.exact) }}</td>{% endfor %}</tr>
{% endfor %}</tbody></table>{% endif %}
{% if study.disagreements %}<h2 id="items">Where most judges differ from people</h2><ol>
{% for one in study.disagreements %}<li><a href="#item-{{ loop.index }}">{{ one.item }}</a>: people say {{ one.gold }},
{{ one.wrong }} of {{ one.votes|length }} judges do not</li>
{% endfor %}</ol>
{% for one in study.disagreements %}<details id="item-{{ loop.index }}">
<summary>{{ one.item }}: people say {{ one.gold }}</summary>
<table><tbody>{% for name, vote in one.votes %}<tr><td>{{ name }}</td><td>{{ vote }}</td></tr>
{% endfor %}</tbody></table></details>
{% endfor %}{% endif %}
<p><small>Interval: {{ study.interval }}. Missing votes are left out, never a category. Ties: {{ study.ties }}.
{% for note in study.notes %} {{ note }}.{% endfor %}</small></p>
</body></html>
"""


def page(study: Figures, *, title: str = "Which judges to trust") -> str:
    """One self-contained page."""
    return _template(_PAGE).render(
        study=study,
        title=title,
        fragment=fragment(study),
        plots=plots(study),
        sections=sections(study),
        strata=[row for row in study.rows if row.strata],
        number=_number,
    )


def fragment(study: Figures) -> str:
    """The ANSWER and the table, as a notebook shows them."""
    return _template(_FRAGMENT).render(study=study, tables=tables_of(study))


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"


def _harmless(value: object) -> object:
    return visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


@cache
def _template(source: str) -> Template:
    env = Environment(autoescape=True, undefined=StrictUndefined, finalize=_harmless)
    return env.from_string(source)
