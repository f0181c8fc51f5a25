"""``probe``: what moves a judge that should not."""

from __future__ import annotations

from pathlib import Path

import pytest

from deliberate.studies.probe import EDITS, PROBES
from tests.cli.conftest import Here


@pytest.fixture
def items(tmp_path: Path) -> Path:
    path = tmp_path / "items.csv"
    path.write_text("item,output,task\nq1,It is Paris.,Where is the Louvre?\nq2,A cat.,What purrs?\n")
    return path


def test_a_judge_that_says_the_same_of_all_is_moved_by_nothing_and_reads_nothing(here: Here, items: Path) -> None:
    ledger = str(items.parent / "runs.db")
    found = here("probe", str(items), "--judge", "scripted/good:70", "--ledger", ledger)
    assert found.code == 0, found.err
    assert "2 outputs × 11 probes × 1 judges: 26 calls" in found.err
    rows = {line.split()[0]: line.split()[1:] for line in found.out.splitlines()[2:] if "interval" not in line}
    assert set(rows) == set(PROBES)
    assert rows["padding"] == ["0%", "0%-84%", "+0.0", "2"]
    assert rows["order"] == ["100%", "16%-100%", "+40.0", "2"], "it names whatever is shown first"
    again = here("probe", str(items), "--judge", "scripted/good:70", "--ledger", ledger, "--json")
    assert len(again.json["judges"][0]["probes"]) == len(PROBES)


def test_some_probes_a_dry_run_and_what_is_wrong(here: Here, items: Path) -> None:
    one = here("probe", str(items), "--judge", "scripted/good:70", "--only", "injection", "--dry-run")
    assert (one.code, one.out) == (0, "")
    assert "6 calls" in one.err
    assert "did you mean 'padding'" in here("probe", str(items), "--judge", "m/x", "--only", "paddings").err
    assert "nobody to probe" in here("probe", str(items)).err


@pytest.mark.parametrize("name", sorted(set(EDITS) - {"repeat", "empty"}))
def test_every_edit_keeps_the_words_of_the_output(name: str) -> None:
    edited = EDITS[name]("One part.\n\nAnother.")
    assert edited != "One part.\n\nAnother."
    assert "One part." in edited
    assert "Another." in edited
