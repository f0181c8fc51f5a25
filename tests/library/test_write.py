"""Rubrics written: drafts, the strict form, copies, other weights, and what the lint says of each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skills_ref import validate  # type: ignore[import-untyped]

from deliberate.errors import ConfigError, RubricError
from deliberate.library import (
    add_rubric,
    bundled,
    draft,
    lint,
    migrate,
    read_examples,
    read_rubric,
    read_source,
    reweighed,
    write_rubric,
)
from deliberate.types import Bracket, Dimension, Rubric
from tests.library.test_rubrics import FINANCE, SHEET, STRICT, one_file, strict

BUNDLED = sorted(path for path in bundled("rubrics").iterdir() if path.is_dir())

SEED: dict[str, tuple[dict[str, float], tuple[str, ...]]] = {
    "general": ({"relevance": 0.4, "quality": 0.35, "completeness": 0.25}, ()),
    "code-review": (
        {"correctness": 0.4, "safety": 0.25, "style": 0.15, "completeness": 0.2},
        ("code", "refactor", "bugfix"),
    ),
    "prose-quality": (
        {"clarity": 0.3, "accuracy": 0.3, "tone": 0.2, "structure": 0.2},
        ("writing", "summary", "docs"),
    ),
    "sql-safety": (
        {"correctness": 0.3, "safety": 0.3, "performance": 0.2, "reversibility": 0.2},
        ("database", "migration"),
    ),
    "api-design": (
        {"restfulness": 0.25, "consistency": 0.25, "error_responses": 0.25, "documentation": 0.25},
        ("api", "endpoint", "schema"),
    ),
    "test-quality": (
        {"coverage": 0.3, "assertions": 0.25, "isolation": 0.25, "readability": 0.2},
        ("test", "testing"),
    ),
}


def made(name: str = "incident-report", **weights: float) -> Rubric:
    shares = weights or {"accuracy": 0.5, "clarity": 0.3, "actions": 0.2}
    return draft(name, list(shares.items()), categories=["incident"], description="")


@pytest.mark.parametrize("name", SEED)
def test_s0_23_to_28_the_six_bundled_rubrics_have_the_seeds_dimensions_weights_and_categories(name: str) -> None:
    rubric = read_rubric(bundled("rubrics") / name)
    weights, categories = SEED[name]
    assert {one.name.replace(" ", "_").casefold(): one.weight for one in rubric.dimensions} == weights
    assert set(categories) <= set(rubric.categories)
    assert [path.name for path in BUNDLED] == sorted(SEED)


@pytest.mark.parametrize("folder", BUNDLED, ids=lambda path: path.name)
def test_s0_31_every_bundled_rubric_is_without_a_remark_and_has_graded_examples(folder: Path) -> None:
    assert lint(folder) == ()
    examples = read_examples(folder)
    assert len(examples) >= 2
    assert {Bracket.GOOD in one.expect for one in examples} == {True, False}
    assert all(one.task and one.output for one in examples)


@pytest.mark.parametrize("folder", BUNDLED, ids=lambda path: path.name)
def test_every_bundled_rubric_is_an_agent_skill_to_others(folder: Path) -> None:
    assert validate(folder) == []


def test_s0_3_a_new_rubric_is_an_agent_skill_and_the_lint_says_what_is_still_to_be_written(tmp_path: Path) -> None:
    rubric = made()
    assert write_rubric(rubric, tmp_path) == rubric
    assert validate(tmp_path / rubric.name) == []
    begun, none = lint(tmp_path / rubric.name)
    assert (begun.level, begun.where) == ("warning", f"{tmp_path}/incident-report/SKILL.md:11:1")
    assert (none.level, none.where) == ("warning", f"{tmp_path}/incident-report/examples:1:1")
    assert not [path for path in tmp_path.iterdir() if path.name != rubric.name]


@pytest.mark.parametrize(
    "weights",
    [[], [("a", 0.5)], [("a", 0.6), ("b", 0.5)], [("a", 1.5), ("b", -0.5)]],
    ids=["none", "half", "more", "below"],
)
def test_a_draft_whose_weights_do_not_sum_to_one_is_refused(weights: list[tuple[str, float]]) -> None:
    with pytest.raises(RubricError, match=r"--dimensions: weights sum to .*, must be 1\.0"):
        draft("x", weights, categories=[], description="")


@pytest.mark.parametrize("name", ["My Rubric", "../x", "a--b", "UP"])
def test_a_name_that_agent_skills_do_not_take_is_refused_and_leaves_nothing(tmp_path: Path, name: str) -> None:
    with pytest.raises(RubricError):
        write_rubric(made(name), tmp_path / "into")
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    write_rubric(made(), tmp_path)
    with pytest.raises(RubricError, match="lies there already"):
        write_rubric(made(), tmp_path)


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30).filter(str.strip)


@given(description=TEXT, body=TEXT, category=TEXT, question=TEXT)
def test_what_is_written_reads_back_as_the_same(
    tmp_path_factory: pytest.TempPathFactory, description: str, body: str, category: str, question: str
) -> None:
    rubric = Rubric(
        name="x",
        description=description.strip(),
        body=f"# B\n{body}".strip(),
        dimensions=(Dimension(name="d", weight=1.0, description="d", question=question.strip(), affects=("*.py",)),),
        categories=(category.strip(),),
        severity="advisory",
        eligibility={"os": ("linux",), "env": ("A_B",)},
        source="path",
    )
    assert write_rubric(rubric, tmp_path_factory.mktemp("r")) == rubric


def test_s0_45_a_rubric_in_one_file_migrates_with_its_digest_and_examples(tmp_path: Path) -> None:
    path = one_file(tmp_path, FINANCE.replace("kind: evaluator", "kind: evaluator\nlicense: MIT"))
    (path.parent / "examples").mkdir()
    (path.parent / "examples" / "good-1.md").write_text("---\ntask: t\nexpect: [good]\n---\no\n", encoding="utf-8")
    source, written = migrate(path, tmp_path / "into")
    assert written.digest == source.rubric.digest == read_rubric(path).digest
    assert read_source(tmp_path / "into" / "my-domain").extra == {"license": "MIT"}
    assert [one.name for one in read_examples(tmp_path / "into" / "my-domain")] == ["good-1"]
    assert validate(tmp_path / "into" / "my-domain") == []
    single = tmp_path / "my-domain.SKILL.md"
    single.write_text(FINANCE, encoding="utf-8")
    assert migrate(single, tmp_path / "again")[1].digest == written.digest


def test_s0_47_an_added_rubric_is_copied_with_its_digest_in_the_form_it_has(tmp_path: Path) -> None:
    managed = tmp_path / "managed"
    path = strict(tmp_path / "from")
    (path.parent / "examples").mkdir()
    (path.parent / "examples" / "poor-1.md").write_text("---\ntask: t\nexpect: [poor]\n---\no\n", encoding="utf-8")
    added = add_rubric(path.parent, managed)
    assert added.source == "managed"
    assert (managed / "my-domain" / "digest").read_text(encoding="utf-8") == f"{added.digest}\n"
    assert (managed / "my-domain" / "SKILL.md").read_text(encoding="utf-8") == STRICT
    assert len(read_examples(managed / "my-domain")) == 1
    with pytest.raises(RubricError, match="lies there already"):
        add_rubric(path.parent, managed)
    sheet = managed / "my-domain" / "rubric.yaml"
    sheet.write_text(SHEET.replace("about accuracy", "about something else"), encoding="utf-8")
    assert "the copy was changed since it was added" in [one.what for one in lint(managed / "my-domain")]
    one_file(tmp_path / "other", FINANCE, name="solo.SKILL.md").rename(tmp_path / "my-domain.SKILL.md")
    assert add_rubric(tmp_path / "my-domain.SKILL.md", tmp_path / "second").name == "my-domain"


def test_s0_54_other_weights_are_a_new_version_and_the_old_one_is_kept(tmp_path: Path) -> None:
    write_rubric(made(), tmp_path)
    written = made()
    for version in (2, 3):
        source = read_source(tmp_path / "incident-report")
        weights = {"accuracy": 0.5 - version / 10, "clarity": 0.3, "actions": 0.2 + version / 10}
        written = reweighed(source, weights, tmp_path)
        assert {one.name: one.weight for one in written.dimensions} == weights
        assert read_source(tmp_path / "incident-report").version == str(version)
        assert read_source(tmp_path / ".versions" / str(version - 1) / "incident-report").version == str(version - 1)
    assert "## Accuracy (20%)" in written.body
    assert not [one for one in lint(tmp_path / "incident-report") if "heading" in one.what]
    with pytest.raises(ConfigError, match="do not name"):
        reweighed(read_source(tmp_path / "incident-report"), {"accuracy": 1.0}, tmp_path)


def test_s0_54_a_bundled_rubric_stays_and_its_successor_is_the_users(tmp_path: Path) -> None:
    source = read_source(bundled("rubrics") / "general")
    written = reweighed(source, {"relevance": 0.2, "quality": 0.4, "completeness": 0.4}, tmp_path)
    assert written.digest != source.rubric.digest
    assert read_source(bundled("rubrics") / "general").rubric.digest == source.rubric.digest
    assert len(read_examples(tmp_path / "general")) == len(read_examples(bundled("rubrics") / "general"))


def test_s0_54_other_weights_that_cannot_be_written_leave_the_rubric_as_it_was(tmp_path: Path) -> None:
    write_rubric(made(), tmp_path)
    source = read_source(tmp_path / "incident-report")
    with pytest.raises(RubricError, match=r"weights sum to 1\.1"):
        reweighed(source, {"accuracy": 0.6, "clarity": 0.3, "actions": 0.2}, tmp_path)
    assert read_source(tmp_path / "incident-report") == source
    (tmp_path / ".versions" / "1" / "incident-report").mkdir(parents=True)
    with pytest.raises(RubricError, match="that version was kept before; raise deliberate-version"):
        reweighed(source, {"accuracy": 0.4, "clarity": 0.3, "actions": 0.3}, tmp_path)
    assert read_source(tmp_path / "incident-report") == source


def test_where_nothing_can_be_written_the_place_is_named(tmp_path: Path) -> None:
    in_the_way = tmp_path / "in-the-way"
    in_the_way.write_text("a file", encoding="utf-8")
    with pytest.raises(RubricError, match="in-the-way/incident-report: cannot be written"):
        write_rubric(made(), in_the_way)
    path = strict(tmp_path / "from")
    with pytest.raises(RubricError, match="in-the-way/my-domain: cannot be written"):
        add_rubric(path.parent, in_the_way)
    assert in_the_way.read_text(encoding="utf-8") == "a file"


def said(path: Path) -> list[str]:
    """The remarks on a rubric, without the folder they lie in."""
    return [f"{one.where.rpartition('/')[2]}: {one.level}: {one.what}" for one in lint(path)]


@pytest.mark.parametrize(
    ("change", "remark"),
    [
        (
            lambda text: text.replace("kind: evaluator", "kind: evaluator\nfoo: 1"),
            "SKILL.md:4:1: error: unknown key 'foo'",
        ),
        (
            lambda text: text.replace("  categories:", "  homepage: x\n  categories:"),
            "SKILL.md:6:3: warning: unknown key 'metadata.homepage' is passed over",
        ),
        (
            lambda text: text.replace('["finance", "reporting"]', '["finance", "Finance"]'),
            "SKILL.md:6:27: warning: category 'finance' stands twice",
        ),
        (lambda text: text, "SKILL.md:4:14: warning: description does not say when to use it"),
        (lambda text: text, "SKILL.md:8:7: warning: dimension 'accuracy' has no question"),
        (lambda text: text, "SKILL.md:8:13: warning: dimension 'accuracy' has no section '## accuracy' in the body"),
        (lambda text: text, "SKILL.md:18:1: warning: the body has no section '## Severity Guide'"),
        (
            lambda text: text.replace("# Rubric", "# Rubric\n\n## Accuracy (40%)"),
            "SKILL.md:20:1: warning: the heading says 40%, the weight of 'accuracy' is 50%",
        ),
        (lambda text: text + "x\n" * 500, "SKILL.md:518:1: warning: the body has 503 lines: 500 do"),
        (
            lambda text: text.replace("name: my-domain", "name: my.domain"),
            "SKILL.md:2:7: warning: Agent Skills clients",
        ),
        (
            lambda text: text.replace("weight: 0.5", 'weight: 0.5\n      affects: ["*.csv", "/a(/"]'),
            "SKILL.md:10:26: error: '/a(/' is no pattern",
        ),
    ],
)
def test_the_lint_tells_each_thing_with_its_place(tmp_path: Path, change: Callable[[str], str], remark: str) -> None:
    found = said(one_file(tmp_path, change(FINANCE)))
    assert [one for one in found if one.startswith(remark)], found


def test_the_lint_reads_examples_and_versions_too(tmp_path: Path) -> None:
    path = strict(tmp_path, STRICT.replace('"1"', '"one"'))
    examples = path.parent / "examples"
    examples.mkdir()
    (examples / "bad.md").write_text("---\ntask: t\nexpect: [fine]\n---\no\n", encoding="utf-8")
    found = said(path)
    assert "bad.md:3:10: error: 'fine' is no bracket; expected poor, fair, good, excellent" in found
    assert any("deliberate-version is 'one'" in one for one in found)
    (examples / "bad.md").write_text("---\ntask: t\nexpect: [good]\n---\n\n", encoding="utf-8")
    assert any("there is no output" in one for one in said(path))
    (examples / "bad.md").write_text("---\ntask: t\nexpect: [good]\n---\no\n", encoding="utf-8")
    assert any("has 1 graded examples" in one for one in said(path))
    assert said(tmp_path / "none") == ["none:1:1: error: there is no such file"]


def test_every_remark_has_file_line_and_column(tmp_path: Path) -> None:
    for at, text in enumerate(["", "x", FINANCE, FINANCE.replace("weight: 0.5", "weight: 0.6")]):
        for one in lint(one_file(tmp_path / str(at), text)):
            assert re.search(r":\d+:\d+\Z", one.where), one


def test_the_sheet_is_yaml_that_json_readers_would_know(tmp_path: Path) -> None:
    rubric = made()
    write_rubric(rubric, tmp_path)
    lines = (tmp_path / "incident-report" / "rubric.yaml").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0].partition(": ")[2]) == ["incident"]
