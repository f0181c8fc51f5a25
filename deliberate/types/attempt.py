"""What was tried and how it ended: one attempt at a judge, one program run."""

from __future__ import annotations

from collections.abc import Mapping

from deliberate.types._record import Record
from deliberate.types.ballot import Key, Usage

__all__ = ["Attempt", "Finished"]


class Attempt(Record, frozen=True, kw_only=True):
    """One attempt as the ledger keeps it: cost is true even when its vote is lost.

    ``at`` is the moment it ended, UTC, ISO 8601 (``"2026-11-02T09:30:00.000Z"``); the ledger fills it in where it is
    empty.
    """

    key: Key
    number: int
    outcome: str
    cause: str = ""
    requested: Mapping[str, str] = {}
    effective: Mapping[str, str] = {}
    usage: Usage = Usage()
    latency_seconds: float = 0.0
    reply: str = ""
    at: str = ""


class Finished(Record, frozen=True, kw_only=True):
    """The result of a program that was run: both streams cut at their caps, ``timed_out`` instead of a code.

    ``exit_code`` is negative where a signal ended it (−9: SIGKILL); ``truncated`` says that a stream was longer than
    what is kept of it, which is its head.
    """

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    timed_out: bool = False
    truncated: bool = False
    seconds: float = 0.0
