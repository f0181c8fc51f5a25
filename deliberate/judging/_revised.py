"""Judging only what changed: the forms such asks are put in, and the text form of their replies.

A form is made for one change: the change, the sections of the rubric it concerns and what was said before stand in its
template, and so in the key of the ask. What others wrote stands between fences there too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deliberate.judging._fence import fenced, visible
from deliberate.types import Ballot, Dimension, DimensionScore, Finding, Form, Revised, Rubric, same_name

__all__ = ["affecting_form", "ids_in", "revision_form", "said_in_text"]

_REVISION = """\
You are an evaluator. An output that was judged before has been changed. Use the following part of the rubric to \
evaluate it again, in the dimensions named at the end only.

## Rubric
{rubric}

## Task
{{task}}

{{reference}}{{evidence}}## What changed in the output
Lines that begin with - were there before, lines that begin with + are there now, the others are as they were. In a \
text of one line, [-words-] were there before and {{{{+words+}}}} are there now. What is not shown is as it was.
{change}

## What was said before the change
{before}

{{shown}}{{instructions}}
Put the ids of those earlier findings that the change resolved into resolved; the others stand. Put only what is new \
into findings."""

_AFFECTING = """\
You look at a change to an output, not at its worth. For each dimension say how likely it is (0.0-1.0) that a judge of \
that dimension would now say something else.

## Dimensions
{dimensions}

## Task
{{task}}

## What changed in the output
{change}

Reply with one JSON object: {{{{"reasoning": "", "findings": [], "dimensions": {{{{NAME: 0.0-1.0, ...}}}}, \
"suggestion": ""}}}}"""

_SECTION = re.compile(r"^##\s+(?P<name>.+?)\s*(?:\(\d+(?:\.\d+)?\s*%\))?\s*$", re.MULTILINE)


def revision_form(
    *,
    rubric: Rubric,
    dimensions: Sequence[Dimension],
    change: str,
    before: Sequence[DimensionScore],
    findings: Sequence[Finding],
) -> Form:
    """The form of a ballot on what changed.

    Args:
        rubric: How the whole is judged.
        dimensions: What is asked again.
        change: The difference between the two outputs.
        before: What those dimensions were given before.
        findings: The findings in them that stand so far; they go by their ids.
    """
    lines = [f"{one.dimension}: {one.judged / 100:.2f}" for one in before]
    lines += [
        f"{one.id} [{one.severity}] ({one.dimension}) {one.title}: {one.description}".rstrip(": ") for one in findings
    ]
    template = _REVISION.format(
        rubric=_safe(_part(rubric.body, dimensions)),
        change=_safe(fenced("change", change)),
        before=_safe(fenced("before", "\n".join(lines))),
    )
    return Form(name="revision", template=template, reply=Revised, artifact=f"What changed:\n{visible(change)}")


def affecting_form(*, dimensions: Sequence[Dimension], change: str) -> Form:
    """The form of the one cheap ask which dimensions a change can have moved."""
    listed = "\n".join(f"- {one.name}: {one.description}" for one in dimensions)
    template = _AFFECTING.format(dimensions=_safe(listed), change=_safe(fenced("change", change)))
    return Form(name="affecting", template=template, reply=Ballot, artifact=f"What changed:\n{visible(change)}")


def said_in_text(text: str) -> Mapping[str, Any]:
    r"""What a reply in text says, in the words of the JSON form.

    Sections ``SCORES:`` (``name: 0.0-1.0``), ``RESOLVED:`` (ids), ``NEW_FINDINGS:`` (``- [SEVERITY] title: …``) and
    ``SUGGESTION:``, in any order and case, with or without Markdown around them. A score that is no number between 0
    and 1 is left out, and so is missing; one given twice is missing too.

    >>> said = said_in_text("SCORES:\n- **Clarity**: 0.9\nRESOLVED:\nF1, F3\nSUGGESTION: go on")
    >>> said["dimensions"], said["resolved"], said["suggestion"]
    ({'Clarity': 0.9}, ['F1', 'F3'], 'go on')
    """
    sections: dict[str, list[str]] = {}
    at = ""
    for line in text.splitlines():
        head = _HEAD.match(line)
        if head is not None:
            at = _NAMES[re.sub(r"[\s_]+", " ", head["name"].casefold())]
            sections.setdefault(at, [])
            line = head["rest"]  # noqa: PLW2901  what stands behind the colon is the section's first line
        if at and line.strip():
            sections[at].append(line.strip())
    return {
        "reasoning": "",
        "dimensions": _scores(sections.get("scores", ())),
        "resolved": [name for line in sections.get("resolved", ()) for name in ids_in([line])],
        "findings": [found for line in sections.get("findings", ()) if (found := _finding(line))],
        "suggestion": " ".join(sections.get("suggestion", ())),
    }


def ids_in(texts: Iterable[str]) -> tuple[str, ...]:
    """The ids of findings that texts name, once each, in their order."""
    return tuple(dict.fromkeys(found for text in texts for found in re.findall(r"\bF\d{1,6}\b", text)))


_NAMES = {
    "scores": "scores",
    "resolved": "resolved",
    "new findings": "findings",
    "findings": "findings",
    "suggestion": "suggestion",
    "suggestions": "suggestion",
}
_HEAD = re.compile(
    r"^[#*\s]*(?P<name>scores|resolved|new[ _]findings|findings|suggestions?)[*\s]*:[*\s]*(?P<rest>.*)$", re.IGNORECASE
)
_SCORE = re.compile(r"^[-*+\s`]*(?P<name>[^:]+?)[*`\s]*:[*`\s]*(?P<number>[-+.\deE]+)[*`\s]*$")
_FINDING = re.compile(
    r"^[-*+\s]*\**\[(?P<severity>[A-Za-z]+)\]\**\s*(?:\((?P<dimension>[^)]*)\)\s*)?(?P<title>[^:]+)(?::\s*(?P<more>.*))?$"
)


def _scores(lines: Iterable[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    twice: set[str] = set()
    for line in lines:
        match = _SCORE.match(line)
        if match is None:
            continue
        try:
            number = float(match["number"])
        except ValueError:
            continue
        name = match["name"].strip()
        if any(same_name(name, other) for other in found):
            twice |= {other for other in found if same_name(name, other)}
        elif 0.0 <= number <= 1.0:
            found[name] = number
    return {name: number for name, number in found.items() if name not in twice}


def _finding(line: str) -> dict[str, str] | None:
    match = _FINDING.match(line)
    if match is None:
        return None
    return {
        "severity": match["severity"],
        "dimension": match["dimension"] or "",
        "title": match["title"].strip(),
        "description": (match["more"] or "").strip(),
    }


def _part(body: str, dimensions: Sequence[Dimension]) -> str:
    """A body's lead, its sections on these dimensions and on severity; all of it if one of them has no section."""
    heads = list(_SECTION.finditer(body))
    if not all(any(same_name(head["name"], one.name) for head in heads) for one in dimensions):
        return body.strip()
    kept = [body[: heads[0].start()].strip()] if heads else []
    for head, end in zip(heads, [*(one.start() for one in heads[1:]), len(body)], strict=True):
        named = any(same_name(head["name"], one.name) for one in dimensions)
        if named or "severity" in head["name"].casefold():
            kept.append(body[head.start() : end].strip())
    return "\n\n".join(part for part in kept if part)


def _safe(text: str) -> str:
    """The text as a template shows it again."""
    return text.replace("{", "{{").replace("}", "}}")
