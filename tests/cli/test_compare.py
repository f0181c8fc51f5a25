"""``compare``: from a file of votes to tables, files and an answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Here

pytest.importorskip("numpy")

ROWS = "".join(
    f"q{at},{who},{(at + (who == 'm/wild') * at) % 3},{at % 3}\n" for at in range(60) for who in ("m/tame", "m/wild")
)


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text("item,rater,vote,right\n" + ROWS)
    return path


def test_tables_answer_and_files(here: Here, votes: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"study{ending}" for ending in (".html", ".md", ".json", ".csv")]
    found = here("compare", str(votes), "--gold", "right", *(part for file in files for part in ("-o", str(file))))
    assert found.code == 0, found.err
    assert "ANSWER  m/tame agrees best with the column of gold labels" in found.out
    assert max(map(len, found.out.splitlines())) <= 79
    assert all(file.stat().st_size > 300 for file in files)
    assert found.err.count("wrote") == 4


def test_json_is_one_object_on_standard_output(here: Here, votes: Path) -> None:
    found = here("compare", str(votes), "--gold", "right", "--weights", "linear", "--json")
    assert found.json["weights"] == "linear"
    assert found.json["rows"][1]["name"] == "m/tame"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("-o", "study.docx"), "unknown ending '.docx'; expected .csv, .html, .json, .md"),
        (("--weights", "cubic"), "--weights: 'cubic'; expected one of: none, linear, quadratic"),
        (("--rule", "loudest"), "--rule: 'loudest'"),
        (("--item", "id"), "no 'id'; expected one of: item, rater, vote, right; name it with --item"),
        (("-o", "none/study.md"), "cannot be written"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(here: Here, votes: Path, more: tuple[str, ...], message: str) -> None:
    found = here("compare", str(votes), "--gold", "right", *more)
    assert found.code == 2
    assert message in found.err
    assert len(found.err.splitlines()) == 1
