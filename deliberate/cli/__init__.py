"""The command line: ``deliberate`` and ``deliberate-eval`` are the same program.

``_app`` lists the verbs, ``_verbs`` declares them and their flags; what a verb does lies in a module of its own,
imported when it is called, so that ``--help`` costs next to nothing. ``_exits`` turns whatever happens into one message
and one exit code.
"""

from __future__ import annotations

import io
import sys

__all__ = ["TOO_EARLY", "main"]

TOO_EARLY = "130 interrupted: nothing was asked\n"
"""What Ctrl-C before the verb itself began is told."""


def main() -> None:
    """Runs the command line and exits."""
    try:
        _run()
    except KeyboardInterrupt:
        sys.stderr.write(TOO_EARLY)
        sys.exit(130)


def _run() -> None:
    from deliberate.cli._app import app  # noqa: PLC0415  importing the package must not build the command line
    from deliberate.cli._log import tell_warnings  # noqa: PLC0415  same

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a sign the terminal does not know must not end us
    tell_warnings()
    app()
