from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deliberate.errors import ConfigError
from deliberate.suites.ranking import read_ranking, read_skill


def ranking(folder: Path, **candidate: Any) -> Path:  # noqa: ANN401  JSON
    path = folder / "rank.json"
    path.write_text(json.dumps({"scored_candidates": [{"id": "c", **candidate}]}), encoding="utf-8")
    return path


@pytest.mark.parametrize("key", ["content", "skill_content", "body"])
def test_the_text_of_a_candidate_stands_under_one_of_three_keys(tmp_path: Path, key: str) -> None:
    assert read_ranking(ranking(tmp_path, score=7, **{key: "T"}), "c").skill == "T"


def test_a_candidate_without_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no text"):
        read_ranking(ranking(tmp_path, score=7), "c")


@pytest.mark.parametrize("score", [11, -1, "high", True])
def test_a_score_off_the_discriminators_scale_is_refused(tmp_path: Path, score: object) -> None:
    with pytest.raises(ConfigError, match=r"scale 0\.\.10"):
        read_ranking(ranking(tmp_path, score=score, content="T"), "c")


def test_a_ranking_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.json: cannot be read"):
        read_ranking(tmp_path / "nowhere.json", "c")


def test_a_skill_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_skill(tmp_path, where="--skill-path")
