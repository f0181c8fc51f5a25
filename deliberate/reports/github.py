"""A result in a workflow's log and summary.

Rules for whoever edits this file: a workflow reads commands from whatever is printed, so text from outside stands
between ``fence`` lines, or goes through ``_data`` or ``_property``; a summary above 1 MiB is dropped without a word,
so it is cut before that.
"""

from __future__ import annotations

from deliberate.gates import Result
from deliberate.judging import visible
from deliberate.reports._facts import Imprint
from deliberate.reports.sarif import place_of
from deliberate.types import Evaluation, Finding

__all__ = ["MOST_SUMMARY_BYTES", "cut", "fence", "result_command", "workflow_commands"]

MOST_SUMMARY_BYTES = 900 * 1024

_MOST_ANNOTATIONS = 10
"""A step shows no more of each kind."""

_COMMANDS = {"blocker": "error", "important": "warning", "suggestion": "notice"}


def fence(token: str) -> tuple[str, str]:
    """The lines between which nothing that is printed is a command; ``token`` must be random, and new each time."""
    return f"::stop-commands::{token}\n", f"::{token}::\n"


def workflow_commands(evaluation: Evaluation, *, title: str = "", imprint: Imprint | None = None) -> str:
    """Commands that show the result, and the findings at their lines.

    Without a verdict it is a notice, no error: nobody did anything wrong.
    """
    result = (imprint or Imprint()).result or Result(status="ok")
    lines = [result_command(result.status, result.line, title=title)]
    lines += [_annotation(one) for one in evaluation.findings[:_MOST_ANNOTATIONS]]
    return "\n".join(lines) + "\n"


def result_command(status: str, line: str, *, title: str = "") -> str:
    """The command that shows how it ended: an error only where a gate failed."""
    kind = {"ok": "notice", "gate": "error"}.get(status, "warning")
    return f"::{kind} title={_property(title or 'deliberate')}::{_data(line)}"


def _annotation(finding: Finding) -> str:
    named = {"title": finding.title}
    place = place_of(finding)
    if place is not None:
        named |= {"file": place[0], "line": str(place[1]), "endLine": str(place[2])}
    properties = ",".join(f"{name}={_property(value)}" for name, value in named.items())
    return f"::{_COMMANDS[finding.severity]} {properties}::{_data(finding.description or finding.title)}"


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def cut(markdown: str, *, where: str, most_bytes: int = MOST_SUMMARY_BYTES) -> str:
    """The summary, ended at a line before it gets too long, with where the rest is; "" where not even that fits."""
    data = markdown.encode()
    if len(data) <= most_bytes:
        return markdown
    note = f"\n\n**Cut here**: the rest is in {where}\n"
    room = most_bytes - len(note.encode())
    return "" if room < 0 else data[:room].rpartition(b"\n")[0].decode("utf-8", "ignore") + note
