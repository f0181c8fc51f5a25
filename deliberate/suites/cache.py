"""Results of a baseline that were measured before, by the content of all that they hang on, for seven days."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from deliberate.errors import ConfigError
from deliberate.suites.artifact import write_whole
from deliberate.suites.records import TaskResult
from deliberate.types import Record, digest_of

__all__ = ["LASTS_SECONDS", "cache_key", "is_fresh", "read_cached", "write_cached"]

LASTS_SECONDS = 7 * 24 * 3600


class _Cached(Record, frozen=True, kw_only=True):
    baseline_cache: int
    key: str
    measured_at: float
    results: tuple[TaskResult, ...]


def cache_key(
    *, skill: str, digests: Mapping[str, str], subject: object, judge: str, k: int, samples: int | None, mock: bool
) -> str:
    """Sha-256 of what a baseline's results hang on: skill, suite and fixtures by content, who did it, how often."""
    return digest_of(
        {
            "format": 1,
            "skill": skill,
            "suite": dict(digests),
            "subject": subject,
            "judge": judge,
            "k": k,
            "samples": samples,
            "mock": mock,
        }
    )


def is_fresh(measured_at: float, *, now: float) -> bool:
    """Whether results of that moment may still be used: not older than seven days, and not from the future."""
    return 0.0 <= now - measured_at <= LASTS_SECONDS


def read_cached(folder: Path | None, key: str, *, now: float) -> tuple[TaskResult, ...] | None:
    """The results under a key; None where there are none to be used: none, too old, or not readable."""
    if folder is None:
        return None
    try:
        found = msgspec.json.decode((folder / f"{key}.json").read_bytes(), type=_Cached)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return found.results if found.key == key and is_fresh(found.measured_at, now=now) else None


def write_cached(folder: Path | None, key: str, results: Sequence[TaskResult], *, now: float) -> None:
    """Keeps results that were all measured.

    Raises:
        ConfigError: They cannot be written there; they are in the artifact.
    """
    if folder is None or any(one.passed is None for one in results):
        return
    body = msgspec.json.encode(_Cached(baseline_cache=1, key=key, measured_at=now, results=tuple(results)))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / f"{key}.json", body)
    except OSError as error:
        what = f"the baseline cannot be kept: {error.strerror or error}"
        raise ConfigError(what, where=str(folder), hint="--baseline-cache-dir DIR") from None
