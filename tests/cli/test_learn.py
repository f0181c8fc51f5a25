"""``learn`` and ``rubric report|reweigh``: from judgments in a ledger to rubrics and weights."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from deliberate import Case, Judge, Panel, Seat, Session
from deliberate.library import Library
from tests.cli.conftest import Here, check_one_line
from tests.library.test_rubrics import FINANCE, one_file

CASES = [Case(output=f"Report {number}: we earned {number} euros.", category="finance") for number in range(6)]


ALIKE = Panel.of("scripted/seeded", "scripted/good:60", rubric="general")
"""One score for all dimensions."""
APART = Panel.of(
    *(
        Seat(name=name, judge=Judge(model=f"scripted/seeded:{at}"), dimensions=(name,))
        for at, name in enumerate(("relevance", "quality", "completeness"))
    ),
    rubric="general",
)
"""A score for each."""


async def judge_all(folder: Path, panel: Panel = ALIKE) -> None:
    library = Library(home=folder / "home", workspace=folder)
    async with Session(ledger=folder / "home" / "ledger.db", library=library, env={}) as session:
        for case in CASES:
            await session.evaluate(case, panel)


@pytest.fixture
def finance(here: Here, folder: Path) -> Here:
    """Six judgments of one category in the ledger, by ``general``."""
    anyio.run(judge_all, folder)
    return here


def test_s0_48_to_50_a_proposal_is_mined_listed_approved_and_used(finance: Here, folder: Path) -> None:
    mined = finance("learn", "mine")
    assert mined.code == 0
    assert mined.out.startswith("finance: 6 judgments of finance, 0.95: ")
    assert "deliberate learn approve finance" in " ".join(mined.out.split())
    assert finance("learn", "ls").out.split()[:2] == ["finance", "proposed"]
    assert "finance" not in [one["name"] for one in finance("rubric", "ls", "--json").json["rubrics"]]
    assert finance("learn", "approve", "finance").code == 0
    listed = finance("rubric", "ls", "--json").json["rubrics"]
    assert [one["source"] for one in listed if one["name"] == "finance"] == ["proposed"]
    assert finance("learn", "mine").out == "nothing to propose from 6 judgments of the last 30 days\n"
    assert finance("learn", "ls", "--json").json == {"proposals": [{"name": "finance", "approved": True}]}
    assert (folder / "home" / "evaluators" / "proposed" / "finance" / "approved").exists()


def test_s0_49_a_dismissed_proposal_is_not_made_again(finance: Here) -> None:
    assert len(finance("learn", "mine", "--json").json["proposals"]) == 1
    assert finance("learn", "dismiss", "finance").code == 0
    assert (
        finance("learn", "mine", "--json").json["proposals"] == ()
        or not finance("learn", "mine", "--json").json["proposals"]
    )
    again = finance("learn", "dismiss", "finance")
    check_one_line(again.err, 2, "usage")


def test_the_thresholds_are_flags(finance: Here) -> None:
    assert finance("learn", "mine", "--min-samples", "7", "--json").json["proposals"] == []
    assert finance("learn", "mine", "--min-confidence", "0.99", "--json").json["proposals"] == []


def test_s0_51_to_53_a_report_tells_spread_stability_drift_and_agreement(finance: Here) -> None:
    done = finance("rubric", "report")
    assert done.code == 0
    assert "general  6 judgments, no case twice" in done.out
    assert "of pairs of votes in one bracket" in " ".join(done.out.split())
    assert "drift: too few judgments to tell" in done.out
    assert "relevance" in done.out
    (one,) = finance("rubric", "report", "general", "--json").json["rubrics"]
    assert one["overall"]["count"] == 6
    assert finance("rubric", "report", "code-review").out == "no judgments by rubrics in this ledger\n"


def labels(folder: Path, *rows: object) -> Path:
    path = folder / "labels.jsonl"
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_s0_54_weights_are_shown_and_applied_only_when_told_to(here: Here, folder: Path) -> None:
    anyio.run(judge_all, folder, APART)
    found = [case.digest for case in CASES]
    path = labels(
        folder,
        *({"item": one, "score": 10.0 * at} for at, one in enumerate(found[:5])),
        {"item": found[5], "vote": "good"},
    )
    shown = here("rubric", "reweigh", "general", "--from", path)
    assert shown.code == 0
    assert "nothing was changed; --apply writes them as a new version" in shown.out
    assert not (folder / "home" / "evaluators" / "user").exists()
    before = here("rubric", "report", "--json").json
    applied = here("rubric", "reweigh", "general", "--from", path, "--apply", "--json").json
    assert applied["fitted"]["labels"] == 6
    listed = here("rubric", "show", "general", "--json").json
    assert {one["name"]: one["weight"] for one in listed["dimensions"]} == applied["fitted"]["after"]
    assert listed["source"] == "user"
    assert here("rubric", "report", "--json").json == before
    again = here("rubric", "reweigh", "general", "--from", path, "--apply")
    assert "scores already given stay as they are" in " ".join(again.out.split())
    assert (folder / "home" / "evaluators" / "user" / ".versions" / "2" / "general" / "SKILL.md").exists()


def test_weights_that_are_right_already_are_not_written_again(finance: Here, folder: Path) -> None:
    own = folder / "home" / "evaluators" / "user"
    path = labels(folder, *({"item": case.digest, "vote": "poor"} for case in CASES))
    for times in range(3):  # every dimension fits them alike
        done = finance("rubric", "reweigh", "general", "--from", path, "--apply")
        assert (done.code, times, own.exists()) == (0, times, False)
        assert "nothing to change: these labels ask for the weights there are" in " ".join(done.out.split())
    told = finance("rubric", "reweigh", "general", "--from", path, "--apply", "--json").json
    assert (told["applied"], told["fitted"]["before"]) == (False, told["fitted"]["after"])


def test_labels_tell_how_well_a_rubric_does_and_the_choice_remembers(finance: Here, folder: Path) -> None:
    found = [case.digest for case in CASES]
    path = labels(folder, *({"item": one, "score": 60.0} for one in found))
    assert finance("rubric", "report", "--labels", path).code == 0
    kept = json.loads((folder / "home" / "evaluators" / "effectiveness.json").read_text(encoding="utf-8"))
    ((agreement, cases),) = kept.values()
    assert 0 < agreement <= 1
    assert cases == 6


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("x", "labels.jsonl:2:1: is no label"),
        ({"score": 5}, "`item`"),
        ({"item": "a", "score": 500}, "500"),
        ({"item": "a", "vote": "fine"}, "fine"),
    ],
)
def test_a_row_that_is_no_label_is_named_with_its_line(finance: Here, folder: Path, row: object, said: str) -> None:
    done = finance("rubric", "reweigh", "general", "--from", labels(folder, "", row))
    check_one_line(done.err, 2, "usage")
    assert said in done.err


def test_without_a_ledger_or_labels_there_is_nothing_to_learn_from(here: Here, folder: Path) -> None:
    check_one_line(here("learn", "mine").err, 2, "usage")
    one_file(folder / ".agents" / "evaluators", FINANCE)
    here("ask", "answer.txt", "--judge", "scripted/good", "--rubric", "my-domain")
    check_one_line(here("rubric", "reweigh", "my-domain", "--from", "none.jsonl").err, 2, "usage")
    few = here("rubric", "reweigh", "my-domain", "--from", labels(folder, {"item": "a", "score": 1}))
    assert "expected at least 5" in few.err
