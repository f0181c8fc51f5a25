"""The driver of `make test`: green must mean that all was run and all of it passed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests import check

SUITE = """
import pytest

def test_passes(record_property):
    record_property("sampled", "2 of 3 stops")

def test_fails():
    assert False

@pytest.mark.skip(reason="no local model")
def test_skipped():
    pass

@pytest.fixture
def broken():
    raise OSError

def test_breaks(broken):
    pass

@pytest.mark.thorough
def test_takes_minutes():
    pass
"""
FILE: check.FileReport = {
    "summary": {"num_statements": 8, "num_branches": 2, "covered_lines": 7, "covered_branches": 2},
    "missing_lines": [4, 5, 6, 9],
    "missing_branches": [(4, 5), (11, -1), (12, 14)],
}


def section(*paths: Path) -> check.Section:
    return check.Section(name="planted", title="planted", budget=60, run=check.tests, paths=tuple(map(str, paths)))


def run(folder: Path, text: str, *, thorough: bool = False) -> check.Result:
    path = folder / "test_planted.py"
    path.write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = thorough\n", encoding="utf-8")
    return check.tests(section(path), check.Mode(name="test", coverage=False, thorough=thorough, scratch=folder))


@pytest.fixture(autouse=True)
def no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted runs need none, and start in a third of the time."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def test_tests_are_counted_and_what_was_left_out_is_told(tmp_path: Path) -> None:
    result = run(tmp_path, SUITE)
    assert (result.passed, result.failed, result.skipped) == (1, 2, 1)
    assert "test_fails" in result.output
    assert result.lacks == [
        "planted: test_passes: sampled, 2 of 3 stops",
        "planted: no local model (1 skipped)",
        "planted: 1 marked thorough (make test-all)",
    ]


def test_everything_is_run_when_everything_is_asked_for(tmp_path: Path) -> None:
    result = run(tmp_path, SUITE, thorough=True)
    assert (result.passed, result.failed, result.skipped) == (2, 2, 1)


def test_a_file_that_is_skipped_whole_gives_its_reason(tmp_path: Path) -> None:
    result = run(tmp_path, "import pytest\npytest.skip('needs a model', allow_module_level=True)")
    assert (result.passed, result.failed, result.skipped) == (0, 0, 1)
    assert result.lacks == ["planted: needs a model (1 skipped)"]


@pytest.mark.parametrize(
    "text",
    ["import nowhere", "import os\ndef test_dies(): os._exit(0)\n"],
    ids=["cannot be imported", "exits in a test"],
)
def test_a_run_that_breaks_off_is_a_failure(tmp_path: Path, text: str) -> None:
    result = run(tmp_path, text)
    assert result.failed
    assert not result.passed


def test_a_folder_without_tests_is_no_failure(tmp_path: Path) -> None:
    for result in (run(tmp_path, ""), check.tests(section(), check.Mode(name="test", coverage=False, thorough=False))):
        assert not result.failed
        assert result.lacks == ["planted: nothing there yet"]


def test_a_command_that_hangs_is_ended_with_what_it_started() -> None:
    child = "import signal; signal.pause()"
    parent = f"import subprocess, sys; print('started', flush=True); subprocess.run([sys.executable, '-c', {child!r}])"
    code, output = check.run_command([sys.executable, "-c", parent], seconds=2)
    assert code == 124
    assert output.startswith("started\n")


def test_a_room_below_its_mark_is_a_failure_and_shows_what_was_missed() -> None:
    result = check.judge_coverage({"deliberate/tallies/mean.py": FILE, "deliberate/cli/__init__.py": FILE})
    assert result.failed == 1
    assert result.table == [
        " 1-5  tallies         90.00 % of 100 %  MISSED",
        "        deliberate/tallies/mean.py: 4-6, 9, 11->exit, 12->14",
        "9-12  cli             90.00 % of  90 %",
    ]


@pytest.mark.parametrize(
    ("results", "code", "last"),
    [
        ([check.Result(passed=3), check.Result(passed=4)], 0, "7 passed, 0 failed"),
        ([check.Result(passed=3, skipped=2)], 0, "3 passed, 0 failed, 2 skipped"),
        ([check.Result(passed=3), check.Result(failed=1)], 1, "3 passed, 1 failed"),
    ],
)
def test_the_closing_line_sums_every_section(
    capsys: pytest.CaptureFixture[str], results: list[check.Result], code: int, last: str
) -> None:
    assert check.sum_up([(section(), result) for result in results], left_out=["wheel"]) == code
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == last
    assert "  wheel: not asked for" in lines
