from __future__ import annotations

import html
import json
import os
import unicodedata
from pathlib import Path

import pytest
from inline_snapshot import external_file

from deliberate.errors import ConfigError, ReportError
from deliberate.gates import Required, result_of
from deliberate.reports import ENDINGS, Imprint, ReadBack, checked, summary, write
from deliberate.reports.export import escaped
from deliberate.types import Evaluation, Gate, Rules, Unscored
from tests.reports.hostile import PAYLOADS, hostile
from tests.reports.scripted import (
    CASE,
    ballot,
    broken,
    evaluated,
    finding,
    planned,
    split_panel,
    undecided_panel,
    verdict,
    with_others,
)
from tests.reports.scripted import checked as scripted_check

HIDDEN = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}


def imprint() -> Imprint:
    result = result_of(split_panel(), Required(min_score=70))
    return Imprint(run="7F3K", result=result, read_back=ReadBack(votes=3, of=3, oldest="2026-11-02T09:30:00.000Z"))


def test_the_ending_says_the_form(tmp_path: Path) -> None:
    assert ENDINGS == (".html", ".json", ".junit.xml", ".md", ".sarif")
    for ending in ENDINGS:
        path = write(split_panel(), tmp_path / f"review{ending}", case=CASE, imprint=imprint(), ledger="reviews.db")
        assert path.read_text(encoding="utf-8")
    found = json.loads((tmp_path / "review.json").read_text(encoding="utf-8"))
    assert (found["run"], found["ledger"], found["bracket"]) == ("7F3K", "reviews.db", "good")
    assert (tmp_path / "review.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (tmp_path / "review.md").read_text(encoding="utf-8").startswith("## refund-rounding\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"review{ending}" for ending in ENDINGS]


def test_without_an_imprint_and_in_capitals(tmp_path: Path) -> None:
    path = write(split_panel(), str(tmp_path / "REVIEW.JSON"), case=CASE)
    assert json.loads(path.read_text(encoding="utf-8"))["run"] is None


def test_an_unknown_ending_lists_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\.html, \.json, \.junit\.xml, \.md, \.sarif"):
        checked(tmp_path / "review.docx")
    with pytest.raises(ConfigError, match="review"):
        write(split_panel(), tmp_path / "review", case=CASE)


def test_a_folder_that_is_not_there_is_found_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no folder"):
        checked(tmp_path / "missing" / "review.md")
    folder = tmp_path / "folder.md"
    folder.mkdir()
    with pytest.raises(ConfigError, match="is a folder"):
        checked(folder)


def test_a_report_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "review.md"
    path.write_text("old", encoding="utf-8")
    spare = tmp_path / f".review.md.{os.getpid()}.part"
    spare.mkdir()
    with pytest.raises(ReportError, match=r"cannot write the report.*deliberate show 7F3K -o FILE"):
        write(split_panel(), path, case=CASE, imprint=imprint())
    assert path.read_text(encoding="utf-8") == "old"
    with pytest.raises(ReportError, match="the same command, with another -o, writes it again"):
        write(split_panel(), path, case=CASE)


def test_a_file_is_readable_by_whom_the_user_lets_read(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        path = write(split_panel(), tmp_path / "review.md", case=CASE)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_summary_of_a_panel() -> None:
    assert summary(split_panel(), title="refund", imprint=imprint()) == external_file("data/split.md", format=".txt")


def test_a_summary_of_a_plan() -> None:
    plan = planned(
        ("tests", 3, scripted_check(100, "all 12 checks hold")),
        ("jury", 2, split_panel()),
        ("lint", 1, broken("no such file")),
        gates=[Gate(part="tests", min_score=100)],
        on_missing="exclude",
    )
    assert summary(plan) == external_file("data/plan.md", format=".txt")


def test_a_summary_without_a_verdict() -> None:
    assert summary(undecided_panel("no_quorum")) == external_file("data/no_quorum.md", format=".txt")
    assert "**No score**: skipped&#58; no such file" in summary(
        Evaluation(evaluator="script", outcome=Unscored(why="skipped", detail="no such file"))
    )


def test_a_summary_stays_short() -> None:
    many = [finding("important", "style", f"Number {at}") for at in range(25)]
    text = summary(
        evaluated(
            verdict(("a", "m/x", ballot(70, "x" * 5000, *many)), ("b", "m/y", ballot(20)), rules=Rules(tie=("upper",)))
        )
    )
    assert "- and 5 more" in text
    assert "(5,000 characters in all)" in text
    assert "- For a, Good 70: xxx" in text
    assert "- **Dissent** b, Poor 20: no reason given" in text


def test_a_summary_tells_what_was_heard_besides_the_votes() -> None:
    text = summary(evaluated(with_others()))
    assert "- Heard: verifier checker&#58; confirms 0 findings, refutes 1 finding" in text
    assert "- Heard: chair head&#58; Good, 70" in text
    assert "The drift is gone" not in text
    assert "Rounds half up, not half to even (raised by b, disputed checker) (refuted)" in text


def test_hostile_text_is_no_markdown() -> None:
    case, evaluation, told = hostile()
    text = summary(evaluation, title=case.id, imprint=told)
    assert {sign for sign in text if unicodedata.category(sign) in HIDDEN} == {"\n"}
    for forbidden in ("<script", "<img", "](", "![", "http://", "www.", "@", "::error", "\x1b"):
        assert forbidden not in text
    assert "#<!-- -->12" in html.unescape(text)
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in table} == {6, 5}


@pytest.mark.parametrize("payload", PAYLOADS)
def test_escaped_text_is_one_line_without_a_sign_of_markdown(payload: str) -> None:
    text = escaped(payload).replace("<!-- -->", "")
    assert "\n" not in text
    assert not set(text) & set("!*<>[\\]_`|~@\"'")
