"""The flags that ``ask``, ``run`` and ``suite`` have in common, as they were given."""

from __future__ import annotations

from pathlib import Path

from deliberate.types import Record

__all__ = ["Given"]


class Given(Record, frozen=True, kw_only=True):
    """What is required of a result, what it may take, and where it goes."""

    min_score: float | None
    min_bracket: str | None
    max_blockers: int | None
    max_unread: float | None
    min_agreement: float | None
    max_cost: float | None
    deadline: float | None
    in_flight: int | None
    replay: Path | None
    record: Path | None
    ledger: Path | None
    fresh: bool
    trust_code: bool
    api_base: list[str] | None
    out: list[Path] | None
    github: bool = False
    as_json: bool
