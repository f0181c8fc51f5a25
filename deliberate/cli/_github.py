"""Running as a step of a GitHub workflow: what is printed commands nothing, and the step's summary is written."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from deliberate.errors import ReportError
from deliberate.reports import Imprint, cut, fence, summary, workflow_commands
from deliberate.reports.github import MOST_SUMMARY_BYTES
from deliberate.types import Evaluation

__all__ = ["fenced", "tell", "tell_workflow"]


@contextmanager
def fenced(stream: TextIO) -> Generator[None]:
    """In a workflow, nothing that is printed on the stream within is a command; anywhere else nothing is done."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        yield
        return
    begin, end = fence(secrets.token_hex(16))
    stream.write(begin)
    try:
        yield
    finally:
        stream.write(end)
        stream.flush()


def tell_workflow(evaluation: Evaluation, *, title: str, imprint: Imprint, where: str) -> None:
    """Shows the result and its findings at their lines, and adds it to the step's summary.

    Raises:
        ReportError: The summary cannot be written.
    """
    commands = workflow_commands(evaluation, title=title, imprint=imprint)
    markdown = summary(evaluation, title=title, imprint=imprint)
    tell(commands, markdown, where=where, again=imprint.again)


def tell(commands: str, markdown: str, *, where: str, again: str = "") -> None:
    """Gives a workflow commands, and adds Markdown to the step's summary, where there is one.

    Args:
        commands: Lines from ``reports.github``.
        markdown: What is added.
        where: Where the rest is, if it is too long.
        again: The command that shows it again.

    Raises:
        ReportError: The summary cannot be written.
    """
    sys.stderr.write(commands)
    sys.stderr.flush()
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8") as file:
            room = MOST_SUMMARY_BYTES - file.tell()  # a step may run several of us, and has one summary
            file.write(cut(markdown, where=where, most_bytes=room))
    except OSError as error:
        what = f"the summary cannot be written: {error.strerror or error}"
        raise ReportError(what, where="GITHUB_STEP_SUMMARY", again=again) from None
