"""Where documents lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from deliberate.errors import ConfigError
from deliberate.library import SOURCES, bundled, home_folder
from deliberate.library._places import bundled_beside, card_shelves, panel_shelves, rubric_shelves


def test_our_folder_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELIBERATE_HOME", str(tmp_path))
    assert home_folder() == tmp_path


def test_our_folder_may_be_below_the_users_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("DELIBERATE_HOME", "~/judged")
    assert home_folder() == tmp_path / "judged"


@pytest.mark.parametrize("stated", [None, ""])
def test_our_folder_is_the_users_data_folder_otherwise(stated: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if stated is None:
        monkeypatch.delenv("DELIBERATE_HOME", raising=False)
    else:
        monkeypatch.setenv("DELIBERATE_HOME", stated)
    assert home_folder().name == "deliberate"
    assert home_folder().is_absolute()


def test_the_bundled_folders_are_there() -> None:
    assert (bundled("rubrics") / "general" / "SKILL.md").is_file()
    assert (bundled("agents") / "sceptic.md").is_file()


def test_what_is_inside_an_installed_package_comes_before_what_lies_beside_it(tmp_path: Path) -> None:
    package = tmp_path / "deliberate"
    (tmp_path / "agents").mkdir()
    assert bundled_beside(package, "agents") == tmp_path / "agents"
    (package / "_bundled" / "agents").mkdir(parents=True)
    assert bundled_beside(package, "agents") == package / "_bundled" / "agents"


def test_an_installation_that_lacks_them_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the installation lacks its rubrics; install deliberate-eval again"):
        bundled_beside(tmp_path / "deliberate", "rubrics")


def test_shelves_stand_in_the_rank_of_their_sources(tmp_path: Path) -> None:
    shelves = rubric_shelves(home=tmp_path / "h", workspace=tmp_path / "w", extra=(tmp_path / "x",))
    assert [shelf.source for shelf in shelves] == ["extra", *SOURCES]
    assert [shelf.folder for shelf in shelves] == [
        tmp_path / "x",
        tmp_path / "x" / "rubrics",
        tmp_path / "h" / "evaluators" / "user",
        tmp_path / "w" / ".agents" / "evaluators",
        tmp_path / "h" / "evaluators" / "proposed",
        tmp_path / "h" / "evaluators" / "managed",
        bundled("rubrics"),
    ]


def test_cards_and_panels_have_the_same_sources_but_for_an_extra_folder(tmp_path: Path) -> None:
    cards = card_shelves(home=tmp_path / "h", workspace=tmp_path / "w", extra=(tmp_path / "x",))
    assert [shelf.folder for shelf in cards] == [
        tmp_path / "x" / "agents",
        tmp_path / "h" / "agents",
        tmp_path / "w" / ".agents" / "agents",
        bundled("agents"),
    ]
    panels = panel_shelves(home=tmp_path / "h", workspace=tmp_path / "w", extra=iter((tmp_path / "x",)))
    assert [shelf.folder for shelf in panels] == [tmp_path / "x", *(shelf.folder for shelf in cards)]


def test_only_what_came_with_the_package_may_be_links(tmp_path: Path) -> None:
    shelves = rubric_shelves(home=tmp_path, workspace=tmp_path, extra=())
    assert [shelf.source for shelf in shelves if shelf.links] == ["bundled"]
