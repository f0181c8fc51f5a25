"""Which judge was measured against people, by which rubric and at which version of its model: kept in our own folder.

A measurement holds for a judge × rubric × model version. It goes stale when any of the three changes: the judge (model,
persona, settings) and the rubric are known by digest before anything is asked, the version when the model answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from deliberate.errors import ConfigError
from deliberate.library._files import read_text
from deliberate.types import Answer, Judge, Record, digest_of

__all__ = [
    "Calibrated",
    "calibrations_file",
    "judge_digest",
    "read_calibrations",
    "version_of",
    "why_not",
    "write_calibrations",
]


class Calibrated(Record, frozen=True, kw_only=True):
    """What is known of a judge by a rubric at a version of its model.

    Attributes:
        judge: Its model; ``judge_digest``: of model, persona and settings.
        rubric: Its name; ``rubric_digest``: of what it says.
        version: The model that answered, in the provider's words.
        n: Items with its vote and a label of people.
        kappa: Against people, with its 95 % interval; None: undefined.
        weights: Of kappa. ``exact``: share of items with the same label as people, 0–1.
        base_rates: Share of each label among people's, 0–1.
        at: When it was measured: UTC, ISO 8601.
    """

    judge: str
    judge_digest: str
    rubric: str
    rubric_digest: str
    version: str
    n: int
    kappa: float | None
    low: float | None
    high: float | None
    weights: str
    exact: float | None
    base_rates: Mapping[str, float]
    at: str


def judge_digest(judge: Judge) -> str:
    """What a judge is, whatever seat it takes: its model, persona and settings."""
    return digest_of([judge.model, judge.persona, judge.temperature, judge.max_tokens])


def calibrations_file(home: Path) -> Path:
    """Where they are kept."""
    return home / "calibrations.json"


def version_of(answer: Answer) -> str:
    """Which version of a model answered: its provider's words, and of a local model the digest of its weights."""
    weights = answer.effective.get("weights", "")
    return f"{answer.model}@{weights[:12]}" if weights else answer.model


def read_calibrations(home: Path) -> tuple[Calibrated, ...]:
    """All that is known, in the order of judges and rubrics.

    Raises:
        ConfigError: The file is not what we wrote.
    """
    path = calibrations_file(home)
    if not path.exists():
        return ()
    try:
        return msgspec.json.decode(read_text(path), type=tuple[Calibrated, ...])
    except msgspec.DecodeError as error:
        raise ConfigError(f"cannot be read: {error}", where=str(path), hint="delete it, and measure anew") from None


def write_calibrations(home: Path, found: Iterable[Calibrated]) -> Path:
    """Keeps what was measured, in place of what was known of the same judge, rubric and version."""
    known = {_key(one): one for one in (*read_calibrations(home), *found)}
    path = calibrations_file(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    body = msgspec.json.format(msgspec.json.encode([known[key] for key in sorted(known)]), indent=1)
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(body + b"\n")
    new.replace(path)
    return path


def why_not(
    known: Sequence[Calibrated], judge: Judge, *, rubric: str, rubric_digest: str, version: str | None = None
) -> str:
    """Why a judge may not count by a rubric: "" if it may.

    Args:
        known: From ``read_calibrations``.
        judge: Who is to vote.
        rubric: By which rubric: its name.
        rubric_digest: And what it says now.
        version: The model that answered; None: nobody was asked yet.
    """
    own = judge_digest(judge)
    of_model = [one for one in known if one.judge == judge.model and one.rubric == rubric]
    if not of_model:
        return f"{judge.model} was never calibrated by rubric {rubric!r}"
    of_judge = [one for one in of_model if one.judge_digest == own]
    if not of_judge:
        return f"{judge.model}: stale, persona or settings changed since {_last(of_model)}"
    fresh = [one for one in of_judge if one.rubric_digest == rubric_digest]
    if not fresh:
        return f"{judge.model}: stale, rubric {rubric!r} changed since {_last(of_judge)}"
    if version is None or any(one.version == version for one in fresh):
        return ""
    versions = ", ".join(sorted({one.version for one in fresh}))
    return f"{judge.model}: stale, calibrated as {versions}, answered as {version}"


def _last(found: Sequence[Calibrated]) -> str:
    return max(one.at for one in found)[:10]


def _key(one: Calibrated) -> tuple[str, str, str, str]:
    return one.judge, one.rubric, one.version, f"{one.judge_digest} {one.rubric_digest}"
