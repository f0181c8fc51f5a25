"""Results on their way out: gates and exit codes, files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import THREE, Cli, Here, attempts

GATES = (
    ((), 0, "ok (no gate asked)"),
    (("--min-score", "50"), 0, "ok (every gate held)"),
    (("--min-score", "60"), 3, "gate failed: min-score 60 (got 56.67) (exit 3)"),
    (("--min-bracket", "good"), 0, "ok (every gate held)"),
    (("--min-bracket", "EXCELLENT"), 3, "gate failed: min-bracket Excellent (got Good) (exit 3)"),
    (("--max-blockers", "0"), 0, "ok (every gate held)"),
    (("--max-unread", "0"), 0, "ok (every gate held)"),
    (("--min-agreement", "0.5"), 3, "gate failed: min-agreement 0.5 (got 0.33) (exit 3)"),
    (
        ("--min-score", "60", "--min-bracket", "excellent", "--max-blockers", "0"),
        3,
        "gate failed: min-score 60 (got 56.67), min-bracket Excellent (got Good) (exit 3)",
    ),
)


@pytest.mark.parametrize(("flags", "code", "told"), GATES)
def test_a_gate_that_does_not_hold_exits_3_and_names_wanted_and_got(
    here: Here, flags: tuple[str, ...], code: int, told: str
) -> None:
    found = here("ask", "answer.txt", *THREE, *flags)
    assert found.code == code
    assert found.result.startswith(told)


def test_gates_on_unread_votes_and_blockers(here: Here) -> None:
    unread = here("ask", "answer.txt", *THREE, "--judge", "scripted/unreadable", "--max-unread", "0.2")
    assert (unread.code, unread.result[:44]) == (3, "gate failed: max-unread 0.2 (got 0.25) (exit")


def test_a_gate_is_not_asked_where_there_is_no_verdict(here: Here) -> None:
    found = here("ask", "answer.txt", "--judge", "scripted/refuse", "--min-score", "0")
    assert found.code == 4


def test_with_json_the_result_is_told_on_stderr(cli: Cli) -> None:
    found = cli("ask", "answer.txt", *THREE, "--json", "--min-score", "60")
    assert found.code == 3
    assert found.json["bracket"] == "good"
    assert "RESULT      gate failed: min-score 60 (got 56.67) (exit 3)" in found.err


def test_a_baseline_is_an_earlier_run(here: Here, folder: Path) -> None:
    before = here("ask", "answer.txt", "--judge", "scripted/good:70", "--json").json["run"]
    same = here("ask", "answer.txt", "--judge", "scripted/good:70", "--baseline", before)
    assert (same.code, same.result[:20]) == (0, "ok (every gate held)")
    worse = ("ask", "answer.txt", "--judge", "scripted/good:62", "--baseline", before)
    assert here(*worse, "--max-drop", "8").code == 0
    dropped = here(*worse, "--max-drop", "7.5")
    assert dropped.code == 3
    assert dropped.result.startswith("gate failed: max-drop 7.5 (got 8) (exit 3)")
    undecided = here("ask", "answer.txt", "--judge", "scripted/refuse", "--json").json["run"]
    asked = attempts(folder)
    unknown = here("ask", "answer.txt", "--judge", "scripted/fair", "--baseline", undecided)
    assert (unknown.code, unknown.out) == (2, "")
    assert f"--baseline: run {undecided} has 0 scores" in unknown.err
    assert attempts(folder) == asked


def test_files_are_written_in_the_form_their_ending_names(here: Here, folder: Path) -> None:
    found = here("ask", "answer.txt", *THREE, "-o", "r.json", "-o", "r.html", "-o", "r.md", "--json")
    assert found.code == 0
    assert (folder / "r.json").read_text(encoding="utf-8") == found.out
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "Told to vote fair." in page
    summary = (folder / "r.md").read_text(encoding="utf-8")
    assert "**Good** 56.7/100 (0.567)" in summary
    assert not list(folder.glob(".r.*"))


def test_a_file_that_cannot_be_written_is_refused_before_anybody_is_asked(here: Here, folder: Path) -> None:
    for place in ("r.docx", "nowhere/r.json", "home"):
        refused = here("ask", "answer.txt", *THREE, "-o", place)
        assert (refused.code, refused.out) == (2, "")
        assert refused.err.startswith("2 usage: -o: ")
    assert attempts(folder) == 0
