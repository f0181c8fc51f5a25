"""Running as a step of a GitHub workflow: what is printed commands nothing, and the step's summary is written."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from deliberate.errors import ConfigError
from deliberate.reports import Imprint, cut, fence, summary, workflow_commands
from deliberate.types import Evaluation

__all__ = ["fenced", "tell_workflow"]


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
        ConfigError: The summary cannot be written.
    """
    sys.stderr.write(workflow_commands(evaluation, title=title, imprint=imprint))
    sys.stderr.flush()
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(cut(summary(evaluation, title=title, imprint=imprint), where=where))
    except OSError as error:
        what = f"the summary cannot be written: {error.strerror or error}"
        raise ConfigError(what, where="GITHUB_STEP_SUMMARY") from None
