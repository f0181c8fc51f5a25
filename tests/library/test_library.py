"""Documents by name, from all sources in their rank."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from deliberate.errors import AgentCardError, ConfigError, RubricError, UnknownName
from deliberate.library import Library, pinned_name
from deliberate.runtime import Library as Contract
from deliberate.types import Case

Write = Callable[[str, str], Path]

BUNDLED = ["api-design", "code-review", "general", "prose-quality", "sql-safety", "test-quality"]


def rubric(name: str, *, body: str = "body", kind: str = "evaluator") -> str:
    return (
        f"---\nname: {name}\nkind: {kind}\ndescription: d\nmetadata:\n  categories: []\n"
        f"  dimensions: [{{name: a, weight: 1.0, description: d}}]\n---\n{body}\n"
    )


def card(name: str, *, body: str = "persona") -> str:
    return f"---\nname: {name}\ndescription: d\n---\n{body}\n"


def found(library: Library) -> list[tuple[str, str]]:
    return [(one.source, one.name) for one in library.rubrics() if one.source != "bundled"]


def test_it_is_the_library_the_runtime_asks_for(library: Library) -> None:
    contract: Contract = library
    assert contract.rubric("general").name == "general"


def test_with_nothing_on_disk_there_are_the_bundled_ones(library: Library) -> None:
    assert [one.name for one in library.rubrics()] == BUNDLED
    assert {one.source for one in library.rubrics()} == {"bundled"}
    assert len(library.cards()) >= 6
    assert library.panels() == ("board", "local")
    assert library.problems() == ()


def test_the_default_places_are_our_folder_and_the_current_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Write
) -> None:
    monkeypatch.setenv("DELIBERATE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    write(".agents/evaluators/mine/SKILL.md", rubric("mine"))
    library = Library()
    assert (library.home, library.workspace) == (tmp_path / "home", tmp_path)
    assert library.rubric("mine").source == "workspace"


def test_rubrics_come_in_the_rank_of_their_sources_and_by_name_in_each(write: Write, tmp_path: Path) -> None:
    for place in (
        *("x/b", "x/rubrics/c", "home/evaluators/user/z", "home/evaluators/user/a", "home/evaluators/managed/m"),
        *("work/.agents/evaluators/w", "home/evaluators/proposed/p"),
    ):
        write(f"{place}/SKILL.md", rubric(place.rsplit("/", 1)[-1]))
    write("work/.agents/evaluators/v.SKILL.md", rubric("v"))
    library = Library(tmp_path / "home", tmp_path / "work", [tmp_path / "x"])
    assert found(library) == [
        *(("extra", "b"), ("extra", "c"), ("user", "a"), ("user", "z"), ("workspace", "v"), ("workspace", "w")),
        ("managed", "m"),
    ]


def test_of_several_rubrics_of_one_name_the_highest_source_is_asked(write: Write, tmp_path: Path) -> None:
    ranked = (
        ("managed", "home/evaluators/managed"),
        ("workspace", "work/.agents/evaluators"),
        ("user", "home/evaluators/user"),
    )
    for source, place in ranked:
        write(f"{place}/general/SKILL.md", rubric("general", body=source))
        found = Library(tmp_path / "home", tmp_path / "work").rubric("general")
        assert (found.source, found.body) == (source, source)
    library = Library(tmp_path / "home", tmp_path / "work")
    assert [one.source for one in library.rubrics() if one.name == "general"] == [
        *("user", "workspace", "managed", "bundled"),
    ]


def test_a_rubric_once_asked_for_is_the_same_ever_after(write: Write, library: Library) -> None:
    general = library.rubric("general")
    write("home/evaluators/user/general/SKILL.md", rubric("general"))
    assert library.rubric("general") is general


def test_a_rubric_goes_by_the_name_it_gives_itself(write: Write, library: Library) -> None:
    write("home/evaluators/user/folder/SKILL.md", rubric("general", body="user"))
    assert library.rubric("general").source == "user"
    with pytest.raises(UnknownName):
        library.rubric("folder")


@pytest.mark.parametrize("other", ["a", "z"])
def test_of_two_of_one_name_in_one_source_the_one_that_lies_under_it_counts(
    write: Write, library: Library, other: str
) -> None:
    write(f"home/evaluators/user/{other}/SKILL.md", rubric("mine", body="elsewhere"))
    write("home/evaluators/user/mine/SKILL.md", rubric("mine", body="here"))
    assert library.rubric("mine").body == "here"
    assert [one.body for one in library.rubrics() if one.name == "mine"] == ["here"]


def test_a_proposed_rubric_is_used_only_as_it_was_approved(write: Write, tmp_path: Path) -> None:
    def library() -> Library:
        return Library(tmp_path / "home", tmp_path / "work")

    path = write("home/evaluators/proposed/p/SKILL.md", rubric("p"))
    with pytest.raises(UnknownName):
        library().rubric("p")
    write("home/evaluators/proposed/p/approved", library().rubric(str(path)).digest)
    assert library().rubric("p").source == "proposed"
    assert ("proposed", "p") in found(library())
    write("home/evaluators/proposed/p/SKILL.md", rubric("p", body="changed"))
    assert found(library()) == []


def test_a_name_that_is_unknown_lists_all_and_the_nearest(library: Library) -> None:
    with pytest.raises(
        UnknownName, match=re.escape("unknown rubric 'code-reviews' (did you mean 'code-review'?)")
    ) as no:
        library.rubric("code-reviews", where="--rubric")
    assert list(no.value.known) == BUNDLED
    assert no.value.where == "--rubric"
    with pytest.raises(UnknownName, match=re.escape("unknown agent card 'skeptic' (did you mean 'sceptic'?)")):
        library.card("skeptic")
    with pytest.raises(UnknownName, match=re.escape("unknown panel 'boad' (did you mean 'board'?)")):
        library.panel("boad")


@pytest.mark.parametrize("name", ["", "general@0000", "@", "../general/"])
def test_what_names_nothing_is_an_error_of_ours(library: Library, name: str) -> None:
    with pytest.raises(ConfigError):
        library.rubric(name)


def test_a_rubric_may_be_asked_for_by_name_and_content(library: Library) -> None:
    general = library.rubric("general")
    assert library.rubric(pinned_name(general)) == general
    assert library.rubric(f"general@{general.digest}") == general


def test_a_rubric_given_by_path_is_known_by_name_and_content_from_then_on(write: Write, library: Library) -> None:
    path = write("somewhere/mine/SKILL.md", rubric("mine"))
    mine = library.rubric(str(path.parent))
    assert mine.source == "path"
    assert library.rubric(pinned_name(mine)) == mine
    with pytest.raises(UnknownName, match=re.escape(pinned_name(mine))):
        library.rubric("mine")


def test_a_broken_rubric_is_left_out_and_said(write: Write, library: Library, caplog: pytest.LogCaptureFixture) -> None:
    path = write("home/evaluators/user/broken/SKILL.md", "---\nname: broken\n")
    with caplog.at_level(logging.WARNING, logger="deliberate"):
        assert [one.name for one in library.rubrics()] == BUNDLED
        assert library.rubric("code-review").source == "bundled"
    assert [record.message for record in caplog.records] == ["document_left_out"]
    (problem,) = library.problems()
    assert isinstance(problem, RubricError)
    assert problem.where == f"{path}:1:1"


def test_what_was_told_as_an_error_or_a_problem_is_not_told_again(
    write: Write, library: Library, caplog: pytest.LogCaptureFixture
) -> None:
    path = write("home/evaluators/user/broken/SKILL.md", "---\nname: broken\ncategories: x")
    write("home/evaluators/user/other/SKILL.md", "---\nname: other\n")
    with caplog.at_level(logging.WARNING, logger="deliberate"):
        with pytest.raises(RubricError, match="no other rubric is for the category 'x'") as caught:
            library.choose(Case(output="", category="x"))
        assert caught.value.where.startswith(str(path))
        assert [vars(record)["where"] for record in caplog.records] == [f"{path.parents[1]}/other/SKILL.md:1:1"]
        library.rubrics()
        assert len(caplog.records) == 1
        write("home/agents/sceptic.md", "no front matter")
        library.problems()
        library.cards()
    assert len(caplog.records) == 1


def test_a_broken_rubric_is_an_error_where_it_is_asked_for(
    write: Write, library: Library, caplog: pytest.LogCaptureFixture
) -> None:
    write("home/evaluators/user/general/SKILL.md", "---\nname: general\n")
    with (
        caplog.at_level(logging.WARNING, logger="deliberate"),
        pytest.raises(RubricError, match="front matter does not end"),
    ):
        library.rubric("general")
    assert caplog.records == []


def test_a_skill_for_a_task_is_passed_over_without_a_word(write: Write, library: Library) -> None:
    write("home/evaluators/user/general/SKILL.md", rubric("general", kind="task"))
    assert library.rubric("general").source == "bundled"
    assert found(library) == []
    assert library.problems() == ()


def test_a_linked_rubric_is_left_out_and_said(write: Write, library: Library, tmp_path: Path) -> None:
    write("outside/secret/SKILL.md", rubric("secret"))
    shelf = tmp_path / "work" / ".agents" / "evaluators"
    shelf.mkdir(parents=True)
    (shelf / "secret").symlink_to(tmp_path / "outside" / "secret")
    (shelf / "gone.SKILL.md").symlink_to(tmp_path / "nowhere")
    assert found(library) == []
    assert [problem.what for problem in library.problems()] == ["is a symbolic link", "is a symbolic link"]


def test_a_document_stays_as_it_was_first_read(write: Write, library: Library) -> None:
    write("home/evaluators/user/mine/SKILL.md", rubric("mine", body="first"))
    write("home/agents/mine.md", card("mine", body="first"))
    assert (library.rubric("mine").body, library.card("mine").persona) == ("first", "first")
    write("home/evaluators/user/mine/SKILL.md", rubric("mine", body="second"))
    write("home/agents/mine.md", card("mine", body="second"))
    assert (library.rubric("mine").body, library.card("mine").persona) == ("first", "first")


def test_the_highest_source_of_a_card_is_taken(write: Write, tmp_path: Path) -> None:
    write("home/agents/sceptic.md", card("sceptic", body="user"))
    write("work/.agents/agents/sceptic.md", card("sceptic", body="workspace"))
    assert Library(tmp_path / "home", tmp_path / "work").card("sceptic").persona == "user"
    write("x/agents/sceptic.md", card("sceptic", body="extra"))
    library = Library(tmp_path / "home", tmp_path / "work", [tmp_path / "x"])
    assert library.card("sceptic").persona == "extra"
    assert [one.source for one in library.cards() if one.name == "sceptic"] == ["extra"]
    assert [one.name for one in library.cards()] == sorted(one.name for one in library.cards())


def test_a_broken_card_is_left_out_said_and_an_error_where_it_is_asked_for(write: Write, library: Library) -> None:
    write("home/agents/sceptic.md", "no front matter")
    assert "sceptic" not in [one.name for one in library.cards()]
    assert [problem.what for problem in library.problems()] == ["has no front matter"]
    with pytest.raises(AgentCardError, match="has no front matter"):
        library.card("sceptic")


def test_a_card_may_be_given_by_path(write: Write, library: Library) -> None:
    assert library.card(str(write("c/mine.md", card("mine")))).source == "path"


def test_a_card_makes_a_judge_of_its_own_model_else_of_the_one_given(write: Write, library: Library) -> None:
    write("home/agents/free.md", card("free"))
    write("home/agents/bound.md", card("bound").replace("description: d", "description: d\nmodel: a/b"))
    assert (library.judge("bound", model="c/d").model, library.judge("free", model="c/d").model) == ("a/b", "c/d")
    write("home/agents/free.md", card("free", body="another"))
    assert library.judge("free", model="c/d").persona == "persona"  # as it was when it was first asked for
    with pytest.raises(ConfigError, match="here: no model for the agent 'free'"):
        library.judge("free", model="", where="here")
    with pytest.raises(UnknownName, match="here: unknown agent card 'fre'"):
        library.judge("fre", model="c/d", where="here")


def test_the_highest_source_of_a_panel_is_taken(write: Write, tmp_path: Path) -> None:
    text = "deliberate: 1\nseats: [{{model: a/b}}]\nseed: {}\n"
    write("work/.agents/agents/board.panel.yaml", text.format(1))
    write("x/board.panel.yaml", text.format(2))
    write("x/agents/other.panel.yaml", text.format(3))
    assert Library(tmp_path / "home", tmp_path / "work").panel("board").seed == 1
    library = Library(tmp_path / "home", tmp_path / "work", [tmp_path / "x"])
    assert (library.panel("board").seed, library.panel("other").seed) == (2, 3)
    assert library.panels() == ("board", "local", "other")
    assert library.panel(str(tmp_path / "work/.agents/agents/board.panel.yaml")).seed == 1


def test_a_linked_panel_in_a_workspace_is_refused(write: Write, library: Library, tmp_path: Path) -> None:
    shelf = write("work/.agents/agents/README.md", "").parent
    (shelf / "x.panel.yaml").symlink_to(write("x.panel.yaml", "deliberate: 1\nseats: [{model: a/b}]\n"))
    with pytest.raises(ConfigError, match="is a symbolic link"):
        library.panel("x")
    assert library.panel(str(tmp_path / "x.panel.yaml")).name == "x"


def test_a_plan_is_read_from_its_path(write: Write, library: Library) -> None:
    path = write("x.plan.yaml", "deliberate: 1\nparts: {a: {type: exact}}\n")
    assert library.plan(path).plan == library.plan(str(path)).plan
