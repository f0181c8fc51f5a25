"""The text forms of a reply: lines ``SCORE: n``, and sections ``SCORES:`` / ``FINDINGS:`` / ``SUGGESTION:``.

Read only where the form asked for them or allows them. A number is taken only if its line says nothing else; what is
said twice must be said alike; a dimension that cannot be read is missing, and the others stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from deliberate.errors import ReplyError
from deliberate.types import Severity, same_name

__all__ = ["Scored", "Sections", "score_lines", "sections", "severity_named"]

_SEVERITY_WORDS: Mapping[str, Severity] = {
    "blocker": "blocker",
    "critical": "blocker",
    "important": "important",
    "major": "important",
    "high": "important",
    "error": "important",
    "medium": "important",
    "suggestion": "suggestion",
    "minor": "suggestion",
    "low": "suggestion",
    "info": "suggestion",
    "nit": "suggestion",
}
_NOTHING = frozenset({"none", "none found", "nothing", "no findings", "no issues", "no issues found", "n/a"})

_MARKUP = " \t*_`#"
_NUMBER = re.compile(
    r"(?P<number>[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?)"
    r"(?:\s*(?:/|out of)\s*(?P<most>\d+(?:\.\d+)?))?(?:\s+\([^()\n]*\))?",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[\w.]+")
_HEADER = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]+\*{0,3}(?P<titled>SCORES|FINDINGS|SUGGESTIONS?)\*{0,3}[ \t]*:?"
    r"|\*{0,3}(?P<named>SCORES|FINDINGS|SUGGESTIONS?)\*{0,3}[ \t]*:)\*{0,3}[ \t]*(?P<rest>.*)",
    re.IGNORECASE,
)
_BULLET = re.compile(r"[ \t]*(?:[-*•]{1,3}|\d{1,3}[.)])[ \t]+")
_MARKED = re.compile(
    r"\*{0,3}\[\*{0,3}(?P<word>[^\]\n]{1,40}?)\*{0,3}\]\*{0,3}:?\s*|\*{0,3}(?P<bare>[A-Za-z]+)\*{0,3}:\*{0,3}\s+"
)
_DIMENSION = re.compile(r"[(\[](?P<named>[^)\]\n]{1,80})[)\]]:?\s*|(?P<lead>[^:\n]{1,80}):\s+")
_LOCATION = re.compile(r"`?(?P<at>[^\s:`]*\w\.\w+:\d+(?:[:-]\d+)?|lines? \d+(?:-\d+)?)`?\s*[:–—-]\s*", re.IGNORECASE)


class Scored(NamedTuple):
    """A number on its own scale, and why."""

    score: float
    reason: str


class Sections(NamedTuple):
    """The three sections as read: score lines in their order, findings by the names of their fields."""

    scores: Sequence[tuple[str, str]] = ()
    findings: Sequence[Mapping[str, str]] = ()
    suggestion: str = ""
    block: str = ""

    def score_of(self, dimension: str) -> tuple[float | None, str]:
        """A dimension's number from 0 to 1; or None, and why there is none."""
        said = [value for name, value in self.scores if same_name(name, dimension)]
        if not said:
            return None, "is not scored"
        numbers = {_number(value, most=1.0) for value in said}
        if len(numbers) > 1:
            return None, f"is scored {len(said)} times, and not alike"
        (number,) = numbers
        if number is None or not 0.0 <= number <= 1.0:
            return None, f"is scored {said[0]!r}, which is no number from 0 to 1"
        return number, ""

    def copied_from(self, output: str) -> bool:
        """Whether the output that is judged holds these very lines, heading and all."""
        return bool(self.block) and _words(self.block) in _words(output)


def severity_named(word: str) -> Severity | None:
    """The severity a judge's word stands for, in any of the vocabularies; None if it stands for none."""
    return _SEVERITY_WORDS.get(word.strip(f"[]{_MARKUP}").casefold())


def score_lines(body: str, *, most: float) -> Scored:
    """What the lines ``SCORE: n``, ``FEEDBACK: …`` (or ``REASON: …``) and, if there is one, ``MATCH: …`` say.

    Args:
        body: The reply.
        most: The best number of its scale, whose other end is 0; ``7/10`` is 7 only on a scale up to 10.

    Raises:
        ReplyError: There is not one number, or the match contradicts it.
    """
    labeled = [_label(line) for line in body.splitlines()]
    values = [value for label, value in labeled if label == "SCORE"]
    if len(values) != 1:
        msg = f"it has {len(values)} lines 'SCORE: <number>' instead of one"
        raise ReplyError(msg)
    score = _number(values[0], most=most)
    if score is None:
        msg = f"its score {values[0][:80]!r} cannot be taken: it is no plain number up to {most:g}"
        raise ReplyError(msg)
    fits = {"YES": score > most / 2, "NO": score < most / 2, "PARTIAL": 0 < score < most}
    for label, value in labeled:
        if label == "MATCH" and not fits.get(value.upper(), True):
            msg = f"its match {value} contradicts its score {score:g} of {most:g}"
            raise ReplyError(msg)
    return Scored(score, _reason(body.splitlines(), [label for label, _ in labeled]))


def _label(line: str) -> tuple[str, str]:
    label, colon, value = line.partition(":")
    return (label.strip(f"-{_MARKUP}").upper(), value.strip(_MARKUP)) if colon else ("", "")


def _reason(lines: Sequence[str], labels: Sequence[str]) -> str:
    """What stands behind the first ``FEEDBACK:`` or ``REASON:``, up to the next label."""
    at = next((at for at, label in enumerate(labels) if label in ("FEEDBACK", "REASON")), None)
    if at is None:
        return ""
    ends = next((end for end in range(at + 1, len(lines)) if labels[end] in ("SCORE", "MATCH")), len(lines))
    first = lines[at].partition(":")[2].strip(_MARKUP)
    return "\n".join((first, *lines[at + 1 : ends])).strip()


def sections(body: str, dimensions: Sequence[str]) -> Sections:
    """The sections of a reply; names of dimensions in findings are told apart from titles.

    Raises:
        ReplyError: There is not one section of scores, or a finding has a severity that nobody knows.
    """
    found: dict[str, list[str]] = {"score": [], "finding": [], "suggestion": []}
    headings: list[str] = []
    block: list[str] = []
    for line in body.splitlines():
        header = _HEADER.fullmatch(line)
        if header is not None:
            headings.append((header["titled"] or header["named"]).casefold().removesuffix("s"))
        text = line if header is None else header["rest"]
        if headings and text.strip():
            found[headings[-1]].append(text)
        if headings[-1:] == ["score"]:
            block.append(line)
    if headings.count("score") != 1:
        msg = f"it has {headings.count('score')} sections SCORES instead of one, and is not one JSON object"
        raise ReplyError(msg)
    return Sections(
        scores=tuple(_score_pairs(found["score"])),
        findings=tuple(_finding_fields(found["finding"], dimensions)),
        suggestion=" ".join(line.strip() for line in found["suggestion"]),
        block="\n".join(block),
    )


def _words(text: str) -> str:
    """Letters and digits with single blanks between: the same whatever marks and lists were put around them."""
    return " ".join(_WORDS.findall(text.casefold()))


def _score_pairs(lines: Iterable[str]) -> Iterable[tuple[str, str]]:
    for line in lines:
        name, colon, value = _item(line).partition(":")
        if colon:
            yield name.strip(_MARKUP), value.strip(_MARKUP)


def _item(line: str) -> str:
    """A line without the mark that makes it an item of a list."""
    bullet = _BULLET.match(line)
    return line if bullet is None else line[bullet.end() :]


def _number(said: str, *, most: float) -> float | None:
    """The number of a line that says nothing else: the top of its scale and a remark in parentheses may follow."""
    found = _NUMBER.fullmatch(said.rstrip(" ."))
    if found is None or (found["most"] is not None and float(found["most"]) != most):
        return None
    return float(found["number"])


def _finding_fields(lines: Sequence[str], dimensions: Sequence[str]) -> Iterable[Mapping[str, str]]:
    whole: list[list[str]] = []
    for line in lines:
        if whole and line[:1] in " \t" and _item(line) == line:
            whole[-1].append(line.strip())
        else:
            whole.append([_item(line).strip()])
    texts = [" ".join(each) for each in whole]
    return [_finding(text, dimensions) for text in texts if text.strip(" .()*_").casefold() not in _NOTHING]


def _finding(text: str, dimensions: Sequence[str]) -> Mapping[str, str]:
    """One line ``[SEVERITY] dimension: title: description``; the dimension, and a place before the title, may lack."""
    severity, dimension = "suggestion", ""
    marked = _MARKED.match(text)
    if marked is not None and (marked["word"] or severity_named(marked["bare"])):
        word = marked["word"] or marked["bare"]
        if any(same_name(word, one) for one in dimensions):
            dimension = word
        else:
            severity = word
        text = text[marked.end() :]
    named = _DIMENSION.match(text)
    if named is not None and any(same_name(named["named"] or named["lead"], one) for one in dimensions):
        dimension = (named["named"] or named["lead"]).strip()
        text = text[named.end() :]
    fields = {"severity": severity, "dimension": dimension}
    if (place := _LOCATION.match(text)) is not None:
        fields["location"] = place["at"]
        text = text[place.end() :]
    title, _, description = text.partition(": ")
    return {**fields, "title": title.strip(_MARKUP), "description": description.strip()}
