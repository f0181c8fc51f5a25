"""How often intervals cover can be simulated anew with one command, here in small."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.agreement import main


def test_the_coverage_of_every_interval_is_simulated_without_recorded_votes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DELIBERATE_RECORDED", str(tmp_path))
    assert main("coverage", sets=5) == 0
    table = capsys.readouterr().out
    covers = dict(re.findall(r"^\| (.+?) \| ([01]\.\d{3}) \| ", table, re.MULTILINE))
    assert len(covers) == 8
    assert covers["Clopper-Pearson, 100 items"] == "0.963"
    assert all(float(share) > 0.5 for share in covers.values()), covers
    assert "| 5 data sets, ±0.191 |" in table


def test_speed_beside_others_needs_recorded_votes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DELIBERATE_RECORDED", str(tmp_path))
    assert main("speed") == 2
    assert capsys.readouterr().err.startswith("not in the folder DELIBERATE_RECORDED names: ")
