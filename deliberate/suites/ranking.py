"""The ranking artifact: the candidates that a discriminator scored, and the skill they would replace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from deliberate.errors import ConfigError, UnknownName
from deliberate.types import Record, finite

__all__ = ["Candidate", "read_ranking", "read_skill"]

_TEXTS = ("content", "skill_content", "body")


class Candidate(Record, frozen=True, kw_only=True):
    """One candidate: its skill's text, its score on the discriminator's scale 0..10, and what it would replace."""

    id: str
    skill: str
    score: float | None
    run_id: str = ""
    target: str = ""


class _Target(msgspec.Struct):
    path: str = ""


class _Ranking(msgspec.Struct):
    scored_candidates: list[dict[str, Any]]
    run_id: str = ""
    target: _Target | None = None


def read_ranking(path: Path, candidate_id: str) -> Candidate:
    """That candidate of a ranking.

    Raises:
        ConfigError: The file cannot be read as one, or the candidate has no text.
        UnknownName: There is no such candidate.
    """
    try:
        found = msgspec.json.decode(path.read_bytes(), type=_Ranking)
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", where=str(path), expected="a ranking artifact") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        what = f"is no ranking artifact ({error})"
        raise ConfigError(what, where=str(path), expected="JSON with scored_candidates[{id, score, content}]") from None
    named = {str(one.get("id", "")): one for one in found.scored_candidates}
    if candidate_id not in named:
        raise UnknownName("candidate", candidate_id, named, where=str(path), hint="--candidate-id ID")
    one = named[candidate_id]
    text = next((one[key] for key in _TEXTS if isinstance(one.get(key), str)), None)
    if text is None:
        what = f"candidate {candidate_id!r} has no text"
        raise ConfigError(what, where=str(path), expected=f"one of: {', '.join(_TEXTS)}")
    return Candidate(
        id=candidate_id,
        skill=text,
        score=_score(one.get("score"), candidate_id, path),
        run_id=found.run_id,
        target="" if found.target is None else found.target.path,
    )


def _score(value: Any, candidate_id: str, path: Path) -> float | None:  # noqa: ANN401  JSON
    if value is None:
        return None
    try:
        return finite(value, low=0.0, high=10.0)
    except (TypeError, ValueError) as error:
        what = f"the score of candidate {candidate_id!r}: {error}"
        raise ConfigError(what, where=str(path), expected="a number on the scale 0..10, or none") from None


def read_skill(path: Path, *, where: str) -> str:
    """The text of a SKILL.md, or of the one in a folder.

    Raises:
        ConfigError: There is none, or it is no text.
    """
    file = path / "SKILL.md" if path.is_dir() else path
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        what = f"no skill can be read from {file}: {error.strerror}"
        raise ConfigError(what, where=where, expected="a SKILL.md, or the folder it lies in") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is not UTF-8 text", where=where, expected="a SKILL.md") from None
