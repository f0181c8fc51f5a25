"""An evaluation into a file, in the form its ending names; whole or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from deliberate.errors import ConfigError, ReportError
from deliberate.gates import Result
from deliberate.judging import visible
from deliberate.reports._again import again_lines, in_part, state_text
from deliberate.reports._encoded import encode
from deliberate.reports._facts import (
    Cast,
    Imprint,
    PanelPart,
    last_words,
    others,
    panel_parts,
    raised,
    voices,
    whole_parts,
)
from deliberate.reports._words import (
    flag_note,
    hinges,
    missing,
    next_step,
    normalized_text,
    other_text,
    read_back_text,
    reason_text,
    said_of,
    score_text,
    split,
    undecided_text,
    usage_text,
)
from deliberate.reports.html import review_page
from deliberate.reports.junit import junit_xml
from deliberate.reports.result import verdict_object
from deliberate.reports.sarif import sarif_log
from deliberate.types import Case, Evaluation, Note, Undecided, Unscored

__all__ = ["ENDINGS", "checked", "summary", "write"]

_MOST_FINDINGS = 20
_MOST_WORDS = 1000
"""Characters of one judge's reason in a summary: it goes into a pull request, the page and the JSON hold it all."""


def write(
    evaluation: Evaluation, path: str | Path, *, case: Case, imprint: Imprint | None = None, ledger: str | None = None
) -> Path:
    """Writes an evaluation as JSON, as a page, or as a short Markdown summary, by the ending of the path.

    A reader of the path sees the old file or the new one, never half of one.

    Args:
        evaluation: What to write.
        path: Where to; its ending is one of ``ENDINGS``.
        case: What was judged.
        imprint: Its run, how it ended, and how many votes were read back.
        ledger: The ledger's file, as the JSON may name it.

    Raises:
        ConfigError: An unknown ending, or a folder that is not there.
        ReportError: It cannot be written there; the evaluation itself stands.
    """
    at = checked(path)
    told = imprint or Imprint()
    data = _FORMS[_ending(at)](evaluation, case, told, ledger)
    spare = at.with_name(f".{at.name}.{os.getpid()}.part")
    try:
        try:
            with spare.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            spare.replace(at)
        finally:
            spare.unlink(missing_ok=True)
    except OSError as error:
        what = f"cannot write the report: {error.strerror or error}"
        raise ReportError(what, where=str(at), again=told.again) from None
    return at


def checked(path: str | Path) -> Path:
    """The path, if a report can be written there, as far as can be told before anything is asked.

    Raises:
        ConfigError: An unknown ending, or a folder that is not there.
    """
    at = Path(path)
    if _ending(at) not in _FORMS:
        what = f"a report cannot be written as {at.name!r}"
        raise ConfigError(what, where="-o", expected=f"a name that ends in one of: {', '.join(ENDINGS)}")
    if not at.parent.is_dir():
        what = f"there is no folder {str(at.parent)!r}"
        raise ConfigError(what, where="-o", expected="a folder that exists")
    if at.is_dir():
        what = f"{str(at)!r} is a folder"
        raise ConfigError(what, where="-o", expected="a file")
    return at


def _ending(path: Path) -> str:
    name = path.name.lower()
    return next((ending for ending in _FORMS if name.endswith(ending) and name != ending), "")


def _json(evaluation: Evaluation, case: Case, imprint: Imprint, ledger: str | None) -> bytes:  # noqa: ARG001
    return encode(verdict_object(evaluation, run=imprint.run or None, ledger=ledger))


def _html(evaluation: Evaluation, case: Case, imprint: Imprint, ledger: str | None) -> bytes:  # noqa: ARG001
    title = case.id or "Review"
    return review_page([(title, case, evaluation)], title=title, imprints=[imprint]).encode()


def _markdown(evaluation: Evaluation, case: Case, imprint: Imprint, ledger: str | None) -> bytes:  # noqa: ARG001
    return summary(evaluation, title=case.id, imprint=imprint).encode()


def _junit(evaluation: Evaluation, case: Case, imprint: Imprint, ledger: str | None) -> bytes:  # noqa: ARG001
    return junit_xml(evaluation, title=case.id, imprint=imprint)


def _sarif(evaluation: Evaluation, case: Case, imprint: Imprint, ledger: str | None) -> bytes:  # noqa: ARG001
    return sarif_log(evaluation, imprint=imprint)


_FORMS: Mapping[str, Callable[[Evaluation, Case, Imprint, str | None], bytes]] = {
    ".html": _html,
    ".json": _json,
    ".junit.xml": _junit,
    ".md": _markdown,
    ".sarif": _sarif,
}

ENDINGS = tuple(_FORMS)
"""The endings ``write`` knows."""


# --- Markdown --------------------------------------------------------------------------------------


def summary(evaluation: Evaluation, *, title: str = "", imprint: Imprint | None = None) -> str:
    """A short Markdown summary: verdict, seats or parts, dissent, findings, cost and result."""
    told = imprint or Imprint()
    record = [usage_text(evaluation.usage), read_back_text(told.read_back), told.run and f"run {told.run}"]
    blocks = [
        [f"## {escaped(title or 'Review')}"],
        [_verdict_line(evaluation)],
        [f"- Note: {escaped(flag_note(flag))}" for flag in evaluation.flags],
        [f"- {label.capitalize()}: {escaped(text)}" for label, text in again_lines(evaluation)],
        _parts(evaluation),
        *(block for panel in panel_parts(evaluation) for block in _panel(panel)),
        *_findings(evaluation),
        [escaped(" · ".join(text for text in record if text))],
        [] if told.result is None else [_result(told.result)],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _result(result: Result) -> str:
    code = f" (exit {result.exit_code})" if result.exit_code else ""
    return f"**RESULT** {escaped(result.line)}{code}"


def _parts(evaluation: Evaluation) -> list[str]:
    rows = [
        (part.path, f"{part.weight:g}", _score(part.evaluation), _bracket(part.evaluation), part.evaluation.reason)
        for part in whole_parts(evaluation)
    ]
    return _table(("part", "weight", "score", "bracket", "reason"), rows) if rows else []


def _findings(evaluation: Evaluation) -> list[list[str]]:
    found = raised(evaluation)
    lines: list[str] = []
    for one in found[:_MOST_FINDINGS]:
        finding = one.finding
        severity = finding.severity.upper() if finding.severity == "blocker" else finding.severity
        place = " · ".join(escaped(text) for text in (finding.dimension, finding.location or "") if text)
        told = ", ".join(text for text in (state_text(evaluation, finding), said_of(one)) if text)
        raisers = f" ({escaped(told)})" if told else ""
        struck = " (refuted)" if one.refuted else ""
        lines.append(f"- **{severity}** {place}{': ' if place else ''}{escaped(finding.title)}{raisers}{struck}")
    if len(found) > _MOST_FINDINGS:
        lines.append(f"- and {len(found) - _MOST_FINDINGS} more")
    return [["**Findings**"], lines] if lines else []


def _verdict_line(evaluation: Evaluation) -> str:
    bracket = evaluation.bracket
    verdict = evaluation.verdict
    if verdict is not None and isinstance(verdict.decision, Undecided) and not in_part(evaluation):
        return f"**No verdict**: {escaped(undecided_text(verdict.decision))}. Next: {escaped(next_step(verdict))}"
    if isinstance(evaluation.outcome, Unscored) or bracket is None:
        why = evaluation.outcome if isinstance(evaluation.outcome, Unscored) else None
        return f"**No score**: {escaped('' if why is None else f'{why.why}: {why.detail}')}"
    score = evaluation.outcome.score
    told = reason_text(evaluation) if verdict is None or in_part(evaluation) else split(verdict)
    return f"**{bracket.label}** {score_text(score)}/100 ({normalized_text(score)}): {escaped(told)}"


def _score(evaluation: Evaluation) -> str:
    return "–" if evaluation.score is None else score_text(evaluation.score)


def _bracket(evaluation: Evaluation) -> str:
    if evaluation.bracket is not None:
        return evaluation.bracket.label
    return evaluation.outcome.why if isinstance(evaluation.outcome, Unscored) else "–"


def _panel(panel: PanelPart) -> list[list[str]]:
    verdict = panel.verdict
    seats = last_words(verdict)
    rows = [
        (cast.seat.name, cast.seat.judge.model, cast.state, "–")
        if cast.ballot is None
        else (cast.seat.name, cast.seat.judge.model, cast.ballot.bracket.label, score_text(cast.ballot.score))
        for cast in seats
    ]
    dissenters = {vote.seat.name for vote in verdict.dissent}
    lead = "Vote" if isinstance(verdict.decision, Undecided) else "For" if dissenters else "Why"
    told = [
        *(f"- Absent: {escaped(f'{seat}, {state}: {why}')}" for seat, state, why in missing(verdict)),
        *(_voice(lead, cast) for cast in voices(verdict)),
        *(_voice("**Dissent**", cast) for cast in seats if cast.seat.name in dissenters),
        *(f"- Heard: {escaped(other_text(other))}" for other in others(verdict) if not isinstance(other.reply, Note)),
        *(f"- Hinges on {escaped(sentence)}" for sentence in hinges(verdict)[:1]),
    ]
    heading = [f"**Panel {escaped(panel.path)}**"] if panel.path else []
    return [heading, _table(("seat", "judge", "bracket", "score"), rows), told]


def _voice(lead: str, cast: Cast) -> str:
    ballot = cast.ballot
    if ballot is None:
        return ""
    said = escaped(_brief(ballot.reason)) or "no reason given"
    return f"- {lead} {escaped(cast.seat.name)}, {ballot.bracket.label} {score_text(ballot.score)}: {said}"


def _brief(text: str) -> str:
    return text if len(text) <= _MOST_WORDS else f"{text[:_MOST_WORDS]} … ({len(text):,} characters in all)"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    return [*lines, *(f"| {' | '.join(escaped(cell) for cell in row)} |" for row in rows)]


def escaped(text: str) -> str:
    """Text from outside as Markdown that shows it and does nothing: no markup, link, image, mention or second line.

    Punctuation becomes character references, which are always text; an empty comment breaks up what a site would link
    on its own (``@name``, ``#12``).
    """
    text = " ".join(visible(text).split())
    return _WWW.sub(r"\1&#46;", "".join(_REFERENCES.get(sign, sign) for sign in text))


_WWW = re.compile(r"(www)\.", re.IGNORECASE)


_REFERENCES: Mapping[str, str] = {
    **{sign: f"&#{ord(sign)};" for sign in "!\"$&'*+:<=>[\\]^_`{|}~"},
    "@": "&#64;<!-- -->",
    "#": "&#35;<!-- -->",
}
