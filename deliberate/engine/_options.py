"""The arguments of a session, for functions that pass them on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypedDict

from deliberate.library import Library
from deliberate.providers._base import Provider
from deliberate.types import Event, Panel

__all__ = ["SessionOptions"]


class SessionOptions(TypedDict, total=False):
    """The arguments of ``Session``, for functions that pass them on."""

    ledger: str | Path | None
    max_cost_usd: float | None
    deadline_seconds: float | None
    call_seconds: float
    case_seconds: float | None
    in_flight: int | Literal["auto"]
    requests_per_minute: int | None
    tokens_per_minute: int | None
    judge: str | Panel | None
    trust_code: bool
    replay: str | Path | None
    record: str | Path | None
    fresh: bool | str
    providers: Mapping[str, Provider] | None
    library: Library | None
    api_base: Mapping[str, str] | None
    env: Mapping[str, str] | None
    exclusive: bool
    source: str
    require_calibration: bool
    on_event: Callable[[Event], None] | None
