"""The library's warnings on the command line: one line each, on standard error."""

from __future__ import annotations

import logging

__all__ = ["tell_warnings"]

_OWN = frozenset((*logging.makeLogRecord({}).__dict__, "message", "asctime"))
"""What every record has; the rest are the fields of the event."""


def tell_warnings() -> None:
    """Has warnings told from here on."""
    handler = _Lines(logging.WARNING)
    logging.getLogger("deliberate").addHandler(handler)


class _Lines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        from deliberate.cli._exits import say  # noqa: PLC0415  only where there is a warning

        fields = ", ".join(f"{name} {value}" for name, value in record.__dict__.items() if name not in _OWN)
        say(f"warning: {record.getMessage().replace('_', ' ')}: {fields}")
