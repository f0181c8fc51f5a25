"""Evaluations as one page to send to somebody: no script, no request to anywhere, readable on a phone and on paper.

Rules for whoever edits it: every value passes through ``_harmless`` and then through autoescape; text from outside
becomes text nodes, never markup, an address, an ``id`` or an unquoted attribute; nothing is said by color alone. The
template is ``_page.html.j2``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from jinja2 import Environment, StrictUndefined, Template

from deliberate.judging import visible
from deliberate.reports._again import again_lines, in_part, state_text
from deliberate.reports._facts import (
    Imprint,
    PanelPart,
    Raised,
    Whole,
    by_dimension,
    casts,
    last_words,
    others,
    panel_parts,
    quorum,
    raised,
    rounds,
    severity_counts,
    voices,
    whole_parts,
)
from deliberate.reports._matrix import Matrix, matrix_of
from deliberate.reports._words import (
    also_put,
    apart_text,
    flag_note,
    gate_text,
    hinges,
    move_text,
    next_step,
    normalized_text,
    other_text,
    other_words,
    read_back_text,
    reason_text,
    said_of,
    score_text,
    split,
    tie_text,
    undecided_text,
    usage_text,
)
from deliberate.types import Bracket, Case, Decided, Evaluation, Scored, bracket_of

__all__ = ["review_page"]

_MOST_SHOWN = 200_000
"""Characters of one text on a page; of a longer one the beginning is shown, and the page says so."""


class _Review(NamedTuple):
    """One evaluation with all that its part of the page shows."""

    label: str
    case: Case
    evaluation: Evaluation
    imprint: Imprint
    panels: tuple[PanelPart, ...]
    parts: tuple[Whole, ...]
    findings: tuple[Raised, ...]


class _Shown(NamedTuple):
    """A long text, or its beginning."""

    text: str
    note: str


def review_page(
    evaluations: Sequence[tuple[str, Case, Evaluation]], *, title: str = "Review", imprints: Sequence[Imprint] = ()
) -> str:
    """One self-contained HTML page.

    Args:
        evaluations: A heading, what was judged, and the evaluation of it, for each.
        title: The title of the page.
        imprints: For each evaluation its run, how it ended, and how many votes were read back; none, or one for each.

    Raises:
        ValueError: There are imprints, but not one for each evaluation.
    """
    if imprints and len(imprints) != len(evaluations):
        msg = f"{len(imprints)} imprints for {len(evaluations)} evaluations"
        raise ValueError(msg)
    told = imprints or [Imprint()] * len(evaluations)
    reviews = [
        _Review(label, case, one, imprint, panel_parts(one), whole_parts(one), raised(one))
        for (label, case, one), imprint in zip(evaluations, told, strict=True)
    ]
    matrix: Matrix = matrix_of([one for _, _, one in evaluations])
    return _template().render(title=title, reviews=reviews, matrix=matrix)


def _harmless(value: object) -> object:
    """What every value of the template passes through: signs nobody can see are shown."""
    return visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _shown(text: str) -> _Shown:
    if len(text) <= _MOST_SHOWN:
        return _Shown(text, "")
    return _Shown(text[:_MOST_SHOWN], f"The first {_MOST_SHOWN:,} of {len(text):,} characters are shown.")


def _is_decided(decision: object) -> bool:
    return isinstance(decision, Decided)


def _is_scored(outcome: object) -> bool:
    return isinstance(outcome, Scored)


@cache
def _template() -> Template:
    env = Environment(
        autoescape=True, undefined=StrictUndefined, finalize=_harmless, trim_blocks=True, lstrip_blocks=True
    )
    names: dict[str, Any] = {
        "Bracket": Bracket,
        "again_lines": again_lines,
        "also_put": also_put,
        "apart_text": apart_text,
        "bracket_of": bracket_of,
        "by_dimension": by_dimension,
        "casts": casts,
        "flag_note": flag_note,
        "gate_text": gate_text,
        "hinges": hinges,
        "in_part": in_part,
        "is_decided": _is_decided,
        "is_scored": _is_scored,
        "last_words": last_words,
        "move_text": move_text,
        "next_step": next_step,
        "normalized_text": normalized_text,
        "other_text": other_text,
        "other_words": other_words,
        "others": others,
        "quorum": quorum,
        "read_back_text": read_back_text,
        "reason_text": reason_text,
        "rounds": rounds,
        "said_of": said_of,
        "score_text": score_text,
        "severity_counts": severity_counts,
        "shown": _shown,
        "split": split,
        "state_text": state_text,
        "tie_text": tie_text,
        "undecided_text": undecided_text,
        "usage_text": usage_text,
        "voices": voices,
    }
    env.globals.update(names)
    return env.from_string(files("deliberate.reports").joinpath("_page.html.j2").read_text(encoding="utf-8"))
