"""Which rubric judges a case: category, files, words, else general; who is eligible; whose source comes first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.errors import RubricError
from deliberate.library import Effect, Library, Surroundings, select
from deliberate.library._effects import effects_file, read_effects, write_effects
from deliberate.library._select import surroundings
from deliberate.types import Case, Choice, FileRef, Rubric
from tests.library.test_rubrics import FINANCE, one_file

HERE = Surroundings(os="linux")
RANKS = ("user", "workspace", "proposed", "managed", "bundled")


def rubric(name: str, *categories: str, source: str = "bundled", **eligible: tuple[str, ...]) -> Rubric:
    return Rubric(name=name, body=f"by {source}", categories=categories, source=source, eligibility=eligible)


GENERAL = rubric("general")
CODE = rubric("code-review", "code", "refactor", "bugfix")


def chosen(*more: Rubric, category: str | None = "code", around: Surroundings = HERE) -> Choice:
    return select([GENERAL, CODE, *more], category=category, around=around)


def test_s0_32_the_category_chooses_and_the_reason_is_told() -> None:
    found = chosen()
    assert (found.rubric.name, found.by, found.why) == ("code-review", "category", "category code (bundled)")
    assert chosen(category=" Bugfix ").rubric.name == "code-review"


@pytest.mark.parametrize("category", [None, "", "poetry"])
def test_s0_32_without_a_match_general_judges(category: str | None) -> None:
    found = chosen(category=category)
    assert (found.rubric.name, found.by) == ("general", "general")
    assert ("poetry" in found.why) is (category == "poetry")


def test_s0_32_of_several_the_more_effective_wins_once_it_rests_on_enough_cases() -> None:
    one, other = rubric("alpha", "code"), rubric("beta", "code")
    assert select([GENERAL, one, other], category="code", around=HERE).rubric.name == "alpha"
    effects = {one.digest: Effect(0.6, 20), other.digest: Effect(0.9, 20)}
    assert select([GENERAL, one, other], category="code", around=HERE, effects=effects).rubric.name == "beta"
    effects[other.digest] = Effect(0.9, 2)
    assert select([GENERAL, one, other], category="code", around=HERE, effects=effects).rubric.name == "alpha"


@pytest.mark.parametrize(
    ("eligible", "around", "reason"),
    [
        ({"os": ("windows",)}, HERE, "mine (user): needs the system windows"),
        ({"os": ("darwin", "win32")}, HERE, "mine (user): needs the system macos or windows"),
        ({"env": ("TOKEN_X",)}, HERE, "mine (user): needs the variable TOKEN_X"),
        ({"bins": ("psql",)}, HERE, "mine (user): needs the program psql"),
        ({"os": ("Linux",)}, HERE, ""),
        ({"os": ("darwin",)}, Surroundings(os="macos"), ""),
        ({"env": ("TOKEN_X",), "bins": ("psql",)}, Surroundings(env=("TOKEN_X",), bins=("psql",)), ""),
    ],
)
def test_s0_33_who_is_not_eligible_is_passed_over_with_the_reason(
    eligible: dict[str, tuple[str, ...]], around: Surroundings, reason: str
) -> None:
    found = chosen(rubric("mine", "code", source="user", **eligible), around=around)
    assert found.rubric.name == ("code-review" if reason else "mine")
    assert found.refused == ((reason,) if reason else ())


def test_s0_33_this_machine_is_looked_at_only_for_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELIBERATE_TEST_SET", "1")
    monkeypatch.setenv("DELIBERATE_TEST_EMPTY", "")
    around = surroundings([rubric("a", bins=("sh", "no-such-program-here"))])
    assert around.bins == ("sh",)
    assert "DELIBERATE_TEST_SET" in around.env
    assert "DELIBERATE_TEST_EMPTY" not in around.env
    assert surroundings([]).bins == ()


@given(st.lists(st.sampled_from(RANKS), max_size=6), st.sampled_from(["code", "x", None]))
def test_s0_34_there_is_always_a_choice(sources: Sequence[str], category: str | None) -> None:
    made = [rubric(f"r{at}", "code", source=one, env=("NOPE",)) for at, one in enumerate(sources)]
    assert select([*made, GENERAL], category=category, around=HERE).rubric.name == "general"


def test_s0_34_an_installation_without_general_says_so() -> None:
    with pytest.raises(RubricError, match="no rubric 'general'"):
        select([CODE], category="x", around=HERE)


def test_s0_46_a_custom_rubric_comes_before_a_bundled_one() -> None:
    assert chosen(rubric("zzz", "code", source="user")).rubric.name == "zzz"
    bundled_is_better = {CODE.digest: Effect(1.0, 100)}
    mine = rubric("zzz", "code", source="managed")
    assert select([GENERAL, CODE, mine], category="code", around=HERE, effects=bundled_is_better).rubric is mine


def test_s0_47_the_five_sources_rank_as_they_are_listed() -> None:
    made = [rubric("x", "code", source=one) for one in RANKS]
    for at, source in enumerate(RANKS):
        assert select([GENERAL, *reversed(made[at:])], category="code", around=HERE).rubric.source == source
    first = select([GENERAL, *made, rubric("x", "code", source="extra")], category="code", around=HERE)
    assert first.rubric.source == "extra"


def test_of_one_name_the_source_decides_even_where_only_the_lower_one_matches() -> None:
    hiding = rubric("code-review", "poetry", source="user")
    assert chosen(hiding).rubric.name == "general"
    unfit = rubric("code-review", "poetry", source="user", env=("NOPE",))
    assert chosen(unfit).rubric is CODE


@pytest.mark.parametrize(
    ("task", "files", "name", "by"),
    [
        ("Fix it", ("src/a.py",), "code-review", "file_type"),
        ("Fix it", ("pr.diff",), "code-review", "file_type"),
        ("Fix it", ("tests/test_a.py",), "test-quality", "file_type"),
        ("Fix it", ("0001_add.sql",), "sql-safety", "file_type"),
        ("Write it", ("docs/guide.md",), "prose-quality", "file_type"),
        ("Write it", ("openapi.yaml",), "api-design", "file_type"),
        ("Write a function that adds", ("out.bin",), "code-review", "keyword"),
        ("Refactor the parser", (), "code-review", "keyword"),
        ("Write a summary of the talk", (), "prose-quality", "keyword"),
        ("Design an endpoint for comments", (), "api-design", "keyword"),
        ("Add a migration", (), "sql-safety", "keyword"),
        ("Explain why the sky is blue", (), "general", "general"),
    ],
)
def test_without_a_category_files_and_then_words_choose(
    tmp_path: Path, task: str, files: tuple[str, ...], name: str, by: str
) -> None:
    refs = tuple(FileRef(path=path, sha256="0", size=1) for path in files)
    found = Library(home=tmp_path, workspace=tmp_path).choose(Case(output="o", task=task, files=refs))
    assert (found.rubric.name, found.by) == (name, by)


def test_s0_46_a_rubric_of_ones_own_named_by_the_task_comes_before_a_bundled_one_for_the_file() -> None:
    bundled = rubric("prose-quality", "docs")
    own = rubric("financial-report", "finance", source="workspace")
    every = [GENERAL, bundled, own]
    found = select(every, task="Write the finance report", files=("q3.md",), around=HERE)
    assert (found.rubric.name, found.why) == ("financial-report", "words of the task: finance (workspace)")
    for task in ("Write the report", "Write the docs"):
        assert select(every, task=task, files=("q3.md",), around=HERE).by == "file_type"


def test_more_matching_words_count_before_the_name(tmp_path: Path) -> None:
    found = Library(home=tmp_path, workspace=tmp_path).choose(
        Case(output="o", task="Add a test to the code, testing it")
    )
    assert found.rubric.name == "test-quality"
    assert found.why == "words of the task: test, testing (bundled, the first of 2 that match)"


def test_s0_45_a_rubric_in_the_users_folder_is_chosen_for_its_category(tmp_path: Path) -> None:
    one_file(tmp_path / "evaluators" / "user", FINANCE)
    found = Library(home=tmp_path, workspace=tmp_path / "w").choose(Case(output="o", category="finance"))
    assert (found.rubric.name, found.rubric.source) == ("my-domain", "user")


def test_s0_47_rubrics_of_the_workspace_and_of_any_folder_are_chosen(tmp_path: Path) -> None:
    (tmp_path / ".agents" / "evaluators").mkdir(parents=True)
    (tmp_path / ".agents" / "evaluators" / "my-domain.SKILL.md").write_text(FINANCE, encoding="utf-8")
    library = Library(home=tmp_path / "home", workspace=tmp_path)
    assert library.choose(Case(output="o", category="finance")).rubric.source == "workspace"
    one_file(tmp_path / "more", FINANCE)
    library = Library(home=tmp_path / "home", workspace=tmp_path, extra=[tmp_path / "more"])
    assert library.choose(Case(output="o", category="finance")).rubric.source == "extra"


def test_s0_49_a_proposed_rubric_is_chosen_only_once_it_is_approved(tmp_path: Path) -> None:
    path = one_file(tmp_path / "evaluators" / "proposed", FINANCE)
    case = Case(output="o", category="finance")
    library = Library(home=tmp_path, workspace=tmp_path / "w")
    assert library.choose(case).rubric.name == "general"
    digest = library.rubric(str(path)).digest
    (path.parent / "approved").write_text(digest, encoding="utf-8")
    assert Library(home=tmp_path, workspace=tmp_path / "w").choose(case).rubric.source == "proposed"


def test_a_broken_rubric_does_not_take_the_choice_down(tmp_path: Path) -> None:
    one_file(tmp_path / "evaluators" / "user", "---\nname: broken\n", name="broken")
    assert Library(home=tmp_path, workspace=tmp_path / "w").choose(Case(output="o", category="code")).rubric == (
        Library(home=tmp_path / "other", workspace=tmp_path / "w").rubric("code-review")
    )


TOO_MUCH = FINANCE.replace("weight: 0.2", "weight: 0.3")
"""Weights that sum to 1.1."""


def test_a_category_that_only_a_broken_rubric_may_be_for_is_the_error_of_that_rubric(tmp_path: Path) -> None:
    path = one_file(tmp_path / "evaluators" / "user", TOO_MUCH)
    library = Library(home=tmp_path, workspace=tmp_path / "w")
    with pytest.raises(
        RubricError, match=r"weights sum to 1\.1.*no other rubric is for the category 'finance'"
    ) as error:
        library.choose(Case(output="o", category="finance"))
    with pytest.raises(RubricError) as named:
        library.rubric("my-domain")
    assert error.value.where == named.value.where == f"{path}:15:15"


def test_a_broken_rubric_is_named_among_the_refused_where_another_is_chosen(tmp_path: Path) -> None:
    one_file(tmp_path / "evaluators" / "user", TOO_MUCH)
    library = Library(home=tmp_path, workspace=tmp_path / "w")
    for case, name in ((Case(output="o", category="code"), "code-review"), (Case(output="o"), "general")):
        found = library.choose(case)
        assert found.rubric.name == name
        (refused,) = found.refused
        assert refused.startswith("my-domain (user): cannot be read: weights sum to 1.1")


def test_a_broken_proposal_that_nobody_approved_is_not_missed(tmp_path: Path) -> None:
    path = one_file(tmp_path / "evaluators" / "proposed", TOO_MUCH)
    case = Case(output="o", category="finance")
    assert Library(home=tmp_path, workspace=tmp_path / "w").choose(case).refused == ()
    (path.parent / "approved").write_text("0" * 64, encoding="utf-8")
    with pytest.raises(RubricError, match=r"weights sum to 1\.1"):
        Library(home=tmp_path, workspace=tmp_path / "w").choose(case)


def test_a_category_nobody_is_for_is_told_with_the_nearest_there_is() -> None:
    finance = rubric("financial-report", "Finance")
    assert chosen(finance, category="financ").why == (
        "no rubric is for the category 'financ' (did you mean 'Finance'?)"
    )
    assert chosen(finance, category="poetry").why == "no rubric is for the category 'poetry'"


def test_effectiveness_is_kept_and_read_back(tmp_path: Path) -> None:
    assert read_effects(tmp_path) == {}
    write_effects(tmp_path, {"a": Effect(0.5, 3)})
    write_effects(tmp_path, {"b": Effect(0.25, 20)})
    assert read_effects(tmp_path) == {"a": Effect(0.5, 3), "b": Effect(0.25, 20)}
    assert Effect(0.5, 3).shrunk == pytest.approx(0.15)
    assert Effect(0.25, 20).shrunk == 0.25
    effects_file(tmp_path).write_text("[]", encoding="utf-8")
    with pytest.raises(Exception, match=r"effectiveness\.json: cannot be read"):
        read_effects(tmp_path)
