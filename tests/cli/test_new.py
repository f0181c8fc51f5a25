"""New cards and panels: found by their names at once, and never over something that is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Here, check_one_line


def test_a_new_card_is_found_by_its_name(here: Here, folder: Path) -> None:
    made = here("judge", "new", "tax-reader", "--model", "scripted/good")
    assert made.code == 0
    assert "deliberate judge ping tax-reader" in made.out
    assert (folder / ".agents/agents/tax-reader.md").exists()
    assert "tax-reader" in here("judge", "ls").out
    assert here("judge", "ping", "tax-reader").code == 0


def test_a_new_panel_judges_as_it_is(here: Here) -> None:
    assert here("panel", "new", "mine", "--judge", "scripted/good", "--judge", "scripted/fair").code == 0
    found = here("ask", "answer.txt", "--panel", "mine", "--json")
    assert [vote["judge"] for vote in found.json["votes"]] == ["scripted/good", "scripted/fair"]
    assert here("panel", "new", "personas").out.endswith("--judge PROVIDER/MODEL\n")
    assert here("ask", "answer.txt", "--panel", "personas", "--judge", "scripted/good").code == 0


@pytest.mark.parametrize("kind", ["judge", "panel"])
@pytest.mark.parametrize("name", ["../evil", "Upper Case", ".hidden", "a/b", ""])
def test_a_bad_name_writes_nothing(here: Here, folder: Path, kind: str, name: str) -> None:
    found = here(kind, "new", name)
    check_one_line(found.err, 2, "usage")
    assert [path for path in folder.rglob("*") if path.suffix in {".md", ".yaml"}] == []


def test_what_is_there_stays_as_it_is(here: Here, folder: Path) -> None:
    here("judge", "new", "mine")
    path = folder / ".agents/agents/mine.md"
    path.write_text("mine alone", encoding="utf-8")
    check_one_line(here("judge", "new", "mine").err, 2, "usage")
    assert path.read_text(encoding="utf-8") == "mine alone"


def test_an_unknown_rubric_leaves_no_panel_behind(here: Here, folder: Path) -> None:
    found = here("panel", "new", "mine", "--rubric", "genral")
    check_one_line(found.err, 2, "usage")
    assert "general" in found.err
    assert not (folder / ".agents/agents/mine.panel.yaml").exists()
