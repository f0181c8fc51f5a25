"""What the reading side gives: a run, its steps, an audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from deliberate.types import Absent, Key, Param, Record

__all__ = ["Audit", "Label", "Run", "RunStatus", "Step"]

RunStatus = Literal["running", "ok", "incomplete", "interrupted"]
"""``running`` is what a killed run says too: whoever asks whether it lives tries to begin it."""


class Run(Record, frozen=True, kw_only=True):
    """One execution; times are UTC, ISO 8601."""

    run: str
    plan_digest: str
    config: Mapping[str, Param]
    status: RunStatus
    started_at: str
    ended_at: str | None = None


class Step(Record, frozen=True, kw_only=True):
    """Where in a run a key was used: either what stands under the key, or why there was nothing then.

    ``kind`` and ``body`` are "" and None where ``absent`` is given.
    """

    path: str
    key: Key
    kind: str = ""
    body: bytes | None = None
    absent: Absent | None = None


class Label(Record, frozen=True, kw_only=True):
    """What a person says of a case: a bracket, 0 Poor to 3 Excellent, and a score 0–100 where there is one.

    ``at`` is when, UTC, ISO 8601; "" when it is put: now.
    """

    case_digest: str
    rater: str
    bracket: int
    score: float | None = None
    reason: str = ""
    at: str = ""


class Audit(Record, frozen=True, kw_only=True):
    """What ``verify`` found.

    ``records`` were walked and hold together, up to ``head``, the hash of the last of them; ``anchored`` is the count
    the anchor vouches for, None without one. ``problem`` is "" for a sound ledger, else the first thing wrong, in one
    sentence; ``broken_at`` is the number of the first broken record, ``missing`` how many the anchor knows that are
    not there. ``notes`` are things that are allowed and that an auditor wants to know.
    """

    path: str
    records: int
    head: str
    anchored: int | None = None
    problem: str = ""
    broken_at: int | None = None
    missing: int = 0
    notes: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether nothing is broken or missing."""
        return not self.problem
