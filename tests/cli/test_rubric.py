"""``rubric new|lint|test|migrate|add``: a rubric from nothing to being chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Here, check_one_line
from tests.library.test_rubrics import FINANCE, one_file


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ((), ".agents/evaluators"),
        (("--user",), "home/evaluators/user"),
        (("--into", "mine"), "mine"),
    ],
)
def test_s0_3_a_new_rubric_is_four_files_and_says_what_to_do_next(
    here: Here, folder: Path, more: tuple[str, ...], place: str
) -> None:
    done = here("rubric", "new", "incident-report", "--dimensions", "accuracy:.5,clarity:.3,actions:.2", *more)
    assert (done.code, done.err) == (0, "")
    files = sorted(path.name for path in (folder / place / "incident-report").rglob("*") if path.is_file())
    assert files == ["SKILL.md", "good-1.md", "poor-1.md", "rubric.yaml"]
    assert "deliberate rubric lint" in done.out


def test_s0_45_a_rubric_for_finance_is_written_linted_and_chosen_for_its_category(here: Here) -> None:
    weights = "accuracy:.5,compliance:.3,formatting:.2"
    text = "Judges financial reports. Use it for quarterly and annual reports."
    here("rubric", "new", "financial-report", "--dimensions", weights, "--category", "finance", "--description", text)
    linted = here("rubric", "lint", "financial-report")
    assert (linted.code, linted.err) == (0, "0 errors, 3 warnings\n")
    assert "its questions are still to be replaced by your own" in " ".join(linted.out.split())
    assert " ".join(linted.out.split()).count("put a real one in") == 2
    listed = here("rubric", "ls", "--json").json["rubrics"]
    assert [one["source"] for one in listed if one["name"] == "financial-report"] == ["workspace"]
    asked = here("ask", "answer.txt", "--judge", "scripted/good:70", "--category", "finance")
    assert asked.code == 0
    assert "accuracy  compliance  formatting" in asked.out
    assert "RUBRIC      financial-report: category finance (workspace)" in asked.out
    by_name = here("ask", "answer.txt", "--judge", "scripted/good:70", "--category", "poetry")
    assert "relevance  quality  completeness" in by_name.out


@pytest.mark.parametrize(
    ("dimensions", "said"),
    [
        ("accuracy:.5", "weights sum to 0.5, must be 1.0"),
        ("accuracy", "'accuracy' is no dimension with its weight"),
        ("accuracy:x,b:1", "'accuracy:x' is no dimension with its weight"),
        (":1", "':1' is no dimension with its weight"),
    ],
)
def test_dimensions_that_cannot_be_are_refused(here: Here, folder: Path, dimensions: str, said: str) -> None:
    done = here("rubric", "new", "x", "--dimensions", dimensions)
    assert done.code == 2
    check_one_line(done.err, 2, "usage")
    assert said in done.err
    assert not (folder / ".agents").exists()


def test_the_lint_of_one_rubric_says_what_where(here: Here, folder: Path) -> None:
    path = one_file(folder / ".agents" / "evaluators", FINANCE.replace("weight: 0.5", "weight: 0.6"))
    done = here("rubric", "lint", str(path))
    assert done.code == 2
    assert "SKILL.md:15:15: error: weights sum to 1.1, must be 1.0" in " ".join(done.out.split()).replace("- ", "-")
    assert done.err == "1 error, 0 warnings\n"
    everything = here("rubric", "lint", "--json")
    assert everything.code == 2
    assert [one["level"] for one in everything.json["remarks"]] == ["error"]


def test_the_bundled_rubrics_are_without_a_remark(here: Here) -> None:
    assert here("rubric", "lint").err == "0 errors, 0 warnings\n"
    assert here("rubric", "lint", "code-review", "general").code == 0


def test_the_examples_of_a_rubric_are_its_tests(here: Here) -> None:
    done = here("rubric", "test", "general", "--judge", "scripted/good:70", "--judge", "scripted/good:60")
    assert done.code == 3
    assert [line.split()[:2] for line in done.out.splitlines()] == [["good-1", "wanted"], ["poor-1", "wanted"]]
    assert "got G G" in done.out
    assert "NOT WANTED" in done.out
    split = here("rubric", "test", "general", "--judge", "scripted/good:70", "--judge", "scripted/poor:10", "--json")
    assert [one["ok"] for one in split.json["examples"]] == [False, True]
    assert "split: judges disagree on" in split.json["examples"][0]["note"]
    dead = here("rubric", "test", "general", "--judge", "scripted/refuse", "--json")
    assert [one["got"] for one in dead.json["examples"]] == [None, None]
    assert dead.code == 3


def test_a_rubric_without_examples_has_no_tests(here: Here, folder: Path) -> None:
    path = one_file(folder / ".agents" / "evaluators", FINANCE)
    done = here("rubric", "test", str(path.parent), "--judge", "scripted/good")
    check_one_line(done.err, 2, "usage")
    assert "has no graded examples" in done.err


def test_a_panel_can_take_the_test(here: Here, folder: Path) -> None:
    (folder / "p.panel.yaml").write_text(
        "deliberate: 1\nseats:\n  - {model: scripted/good, name: a}\n  - {model: scripted/good, name: b}\n",
        encoding="utf-8",
    )
    assert here("rubric", "test", "general", "--panel", "p.panel.yaml").code == 3


def test_one_file_becomes_two_with_the_same_digest(here: Here, folder: Path) -> None:
    path = one_file(folder / "old", FINANCE.replace("  categories:", "  trigger: x\n  categories:"))
    done = here("rubric", "migrate", str(path), "--into", "new")
    assert done.code == 0
    assert "left out, since nothing here reads it: trigger" in done.out
    before = here("rubric", "show", str(path), "--json").json["digest"]
    assert here("rubric", "show", str(folder / "new" / "my-domain"), "--json").json["digest"] == before


def test_an_added_rubric_is_managed_and_chosen(here: Here, folder: Path) -> None:
    path = one_file(folder / "old", FINANCE)
    assert here("rubric", "add", str(path.parent)).code == 0
    listed = here("rubric", "ls", "--json").json["rubrics"]
    assert [one["source"] for one in listed if one["name"] == "my-domain"] == ["managed"]
    assert here("rubric", "add", str(path.parent)).code == 2
