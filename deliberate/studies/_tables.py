"""A study as two tables of at most 79 columns, as Markdown, and as CSV.

Names from outside pass through ``visible``, and on their way to Markdown and CSV through the one function that makes
them harmless there.
"""

from __future__ import annotations

import csv
import io
import re
import textwrap
from collections.abc import Sequence

from deliberate.judging import visible
from deliberate.studies._figures import Estimate, Figures, RaterRow
from deliberate.studies._sections import Section, sections

__all__ = ["as_csv", "markdown", "section_text", "tables_of", "text"]

_WIDTH = 79
_MOST_ITEMS = 8
_MOST_RATERS = 10
_GAP = "  "
_RISKY = ("=", "+", "-", "@", "\t", "\r")
_CSV_HEADS = (
    *("rater", "kind", "n", "missing", "kappa", "kappa_low", "kappa_high", "weights", "exact", "within_one", "bias"),
    *("inside", "asked", "unread", "self_flip", "order_flip", "length_bias", "latency_seconds", "cost_usd_per_100"),
)
_MARKS = re.compile(r"([\\`*_{}\[\]<>()#!|~&@])")


def text(study: Figures) -> str:
    """Both tables, the matrix if it fits, certainty, disagreements, and the ANSWER."""
    blocks = [
        _wrapped(f"{study.n} items with labels, {len(study.judges)} judges; held against {study.gold}."),
        _agreement(study),
        _conduct(study),
        _strata(study),
        _matrix(study),
        _panel(study),
        _items(study),
        *(section_text(one) for one in sections(study)),
        _small(study),
        _labeled("ANSWER", study.answer),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def tables_of(study: Figures) -> tuple[tuple[tuple[str, ...], list[tuple[str, ...]]], ...]:
    """Heads and rows of both tables, as text; of conduct, what the votes say."""
    conduct = [(row.name, *_conduct_cells(row)) for row in study.rows if row.conduct is not None]
    known = [0, *(at for at in range(1, len(_CONDUCT) + 1) if any(row[at] != "–" for row in conduct))]
    heads = ("conduct", *_CONDUCT)
    return (
        (("agreement", *_agreement_heads(study)), [(row.name, *_agreement_cells(row)) for row in study.rows]),
        (tuple(heads[at] for at in known), [tuple(row[at] for at in known) for row in conduct]),
    )


def markdown(study: Figures) -> str:
    """The tables as Markdown; names are shown and do nothing."""
    made = [f"**{_escaped(study.answer)}**"]
    made += [_table_markdown(heads, rows) for heads, rows in tables_of(study)]
    made += [part for one in sections(study) for part in _section_markdown(one)]
    made.append("\n".join(f"- {_escaped(note)}" for note in _notes(study)))
    return "\n\n".join(made) + "\n"


def _table_markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + "|".join(["---", *["---:"] * (len(heads) - 1)]) + "|"]
    lines += ["| " + " | ".join((_escaped(row[0]), *row[1:])) + " |" for row in rows]
    return "\n".join(lines)


def _section_markdown(one: Section) -> list[str]:
    made = [f"## {_escaped(one.title)}", *(_escaped(said) for said in one.said)]
    return [*made, _table_markdown(one.heads, one.rows)] if one.rows else made


def section_text(one: Section) -> str:
    """A section of at most 79 columns."""
    made = "\n".join(_wrapped(said) for said in (one.title, *one.said))
    return f"{made}\n\n{_table(one.heads, one.rows)}" if one.rows else made


def as_csv(study: Figures) -> str:
    """One row a rater, numbers unrounded; a name that a spreadsheet would take for a formula is quoted."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(_CSV_HEADS)
    for row in study.rows:
        one = row.conduct
        name = f"'{row.name}" if row.name.startswith(_RISKY) else row.name
        writer.writerow(
            [name, row.kind, row.n, row.missing, row.kappa.value, row.kappa.low, row.kappa.high, study.weights]
            + [row.exact, row.within_one, row.bias, row.inside]
            + ([""] * 7 if one is None else [one.asked, one.unread, one.self_flip, one.order_flip])
            + ([] if one is None else [one.length_bias, one.latency_seconds, one.cost_usd])
        )
    return file.getvalue()


_WEIGHTS = {"none": "kappa", "linear": "k(lin)", "quadratic": "k(quad)"}
_CONDUCT = ("self-flip", "order-flip", "long-bias", "unread", "p50", "$/100")


def _agreement_heads(study: Figures) -> tuple[str, ...]:
    return (_WEIGHTS[study.weights], "95 % CI", "exact", "±1", "bias", "n", "")


def _agreement_cells(row: RaterRow) -> tuple[str, ...]:
    mark = {True: "in range", False: "", None: ""}[row.inside]
    if row.kind == "human":
        mark = "ceiling"
    if row.kind == "floor":
        mark = "floor"
    return (
        _signed(row.kappa.value, plus=False),
        _interval(row.kappa),
        _percent(row.exact),
        _percent(row.within_one),
        _signed(row.bias),
        str(row.n),
        mark,
    )


def _conduct_cells(row: RaterRow) -> tuple[str, ...]:
    one = row.conduct
    if one is None:
        return ("–",) * len(_CONDUCT)
    return (
        _percent(one.self_flip),
        _percent(one.order_flip),
        _signed(one.length_bias),
        f"{one.unread:.1%}",
        "–" if one.latency_seconds is None else f"{one.latency_seconds:.1f}s",
        "–" if one.cost_usd is None else f"{one.cost_usd:.2f}",
    )


def _agreement(study: Figures) -> str:
    return _table(*tables_of(study)[0])


def _conduct(study: Figures) -> str:
    heads, rows = tables_of(study)[1]
    if heads == ("conduct", "unread"):
        return _wrapped(f"{_unread(rows)} The votes say no more of how judges behave.")
    hidden = [head for head in _CONDUCT if head not in heads]
    return _table(heads, rows) + (f"\n{_wrapped('The votes do not say: ' + ', '.join(hidden) + '.')}" if hidden else "")


def _unread(rows: Sequence[tuple[str, ...]]) -> str:
    """The one thing known of conduct, in a line: who was unread how often."""
    some = [f"{name} {share}" for name, share in rows if share != "0.0%"]
    if not some:
        return "No vote was unread."
    return f"Unread votes: {', '.join(some)}{'' if len(some) == len(rows) else '; none of the others'}."


def _strata(study: Figures) -> str:
    judges = [row for row in study.rows if row.strata]
    if not judges:
        return ""
    heads = ("exact, by how sure people are", *(f"{one.certainty} (n {one.n})" for one in judges[0].strata))
    return _table(heads[:6], [(row.name, *(_percent(one.exact) for one in row.strata))[:6] for row in judges])


def _matrix(study: Figures) -> str:
    count = len(study.raters)
    if count > _MOST_RATERS:
        pairs = [
            (value, study.raters[a], study.raters[b])
            for a, row in enumerate(study.matrix)
            for b, value in enumerate(row[:a])
            if value is not None
        ]
        if not pairs:
            return ""
        low, high = min(pairs), max(pairs)
        said = (
            f"Kappa of every two of {count} raters is in the files of -o. Least: {low[1]} and {low[2]} ({low[0]:.2f}); "
            f"most: {high[1]} and {high[2]} ({high[0]:.2f})."
        )
        return _wrapped(said)
    heads = ("judge × judge", *(str(at + 1) for at in range(count)))
    rows = [
        (
            f"{at + 1} {name}",
            *("" if b > at else "·" if b == at else _signed(study.matrix[at][b], plus=False) for b in range(count)),
        )
        for at, name in enumerate(study.raters)
    ]
    return _table(heads, rows)


def _panel(study: Figures) -> str:
    panel = study.together
    best = study.judges[0]
    said: list[str] = []
    if panel is not None and panel.kappa.value is not None and best.kappa.value is not None:
        said.append(f"best single judge on the same labels {best.name}, kappa {best.kappa.value:.2f}")
        said.append(f"the panel of all {len(study.judges)} {panel.kappa.value:.2f}")
    said.append(f"alpha of all judges ({study.alpha_metric}) {_estimate(study.alpha)}")
    if study.effective.value is None:
        said.append("effective number of judges unknown (30 labeled items and errors of two judges are needed)")
    else:
        said.append(f"effective number of judges {_estimate(study.effective, digits=1)} of {len(study.judges)}")
        said.append(f"mean error correlation {study.error_correlation:.2f}")
    if study.vote_correlation is not None:
        said.append(f"mean vote correlation {study.vote_correlation:.2f}")
    text = "; ".join(said)
    return _wrapped(f"{text[0].upper()}{text[1:]}.")


def _items(study: Figures) -> str:
    if not study.disagreements:
        return ""
    rows = [
        (one.item, one.gold, f"{one.wrong} of {len(one.votes)}", _spread([vote for _, vote in one.votes]))
        for one in study.disagreements[:_MOST_ITEMS]
    ]
    return _table(("most disagreed with people", "people", "judges against", "votes"), rows)


def _spread(votes: Sequence[str]) -> str:
    """``2×7 3×1``: the labels most often given, and how often."""
    counts = sorted((-votes.count(vote), vote) for vote in dict.fromkeys(votes))
    said = " ".join(f"{vote}×{-count}" for count, vote in counts[:3])
    return f"{said} …" if len(counts) > 3 else said  # noqa: PLR2004  three fit


def _notes(study: Figures) -> list[str]:
    return [
        f"Kappa weights: {study.weights}, over {_scale(study)}.",
        f"Interval: {study.interval}. Missing votes are left out, never a category. Ties: {study.ties}.",
        *(f"{note[:1].upper()}{note[1:]}." for note in study.notes),
    ]


def _scale(study: Figures) -> str:
    ends = f"the full scale {study.labels[0]} to {study.labels[-1]}"
    return ends if study.ordered else f"all labels: {', '.join(study.labels)}"


def _small(study: Figures) -> str:
    return "\n".join(_wrapped(note) for note in _notes(study))


# --- forms -----------------------------------------------------------------------------------------


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns that fit; a first cell that is too long goes on below, nothing is cut off."""
    clean = [[" ".join(visible(cell).split()) for cell in row] for row in rows]
    wide = [max(len(one) for one in column) for column in zip(heads, *clean, strict=True)]
    room = _WIDTH - sum(wide[1:]) - len(_GAP) * (len(wide) - 1)
    wide[0] = max(8, min(wide[0], room))
    lines: list[str] = []
    for row in (list(heads), *clean):
        first = textwrap.wrap(row[0], wide[0], break_on_hyphens=False) or [""]
        cells = [cell.rjust(size) for cell, size in zip(row[1:], wide[1:], strict=True)]
        lines.append(_GAP.join([first[0].ljust(wide[0]), *cells]).rstrip())
        lines += [f" {line}" for line in first[1:]]
    return "\n".join(lines)


def _wrapped(said: str) -> str:
    return "\n".join(textwrap.wrap(visible(said), _WIDTH, break_on_hyphens=False, break_long_words=True))


def _labeled(label: str, said: str) -> str:
    lines = textwrap.wrap(visible(said), _WIDTH - 8, break_on_hyphens=False)
    return "\n".join(f"{label if not at else '':8}{line}" for at, line in enumerate(lines))


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _signed(value: float | None, *, plus: bool = True) -> str:
    if value is None:
        return "–"
    return f"{value:+.2f}" if plus else f"{value:.2f}"


def _interval(found: Estimate) -> str:
    return "–" if found.low is None or found.high is None else f"{found.low:.2f}–{found.high:.2f}"


def _estimate(found: Estimate, *, digits: int = 2) -> str:
    if found.value is None:
        return "undefined"
    if found.low is None or found.high is None:
        return f"{found.value:.{digits}f}"
    return f"{found.value:.{digits}f} ({found.low:.{digits}f}–{found.high:.{digits}f})"


def _escaped(said: str) -> str:
    return _MARKS.sub(lambda found: f"&#{ord(found[1])};", " ".join(visible(said).split()))
