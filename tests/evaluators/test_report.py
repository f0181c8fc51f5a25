"""Readers of test tools' reports: structured ones, and what tools print for people."""

from __future__ import annotations

import json
import os
import tempfile
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.errors import EvaluatorError
from deliberate.evaluators._console import CONSOLES
from deliberate.evaluators._report import (
    Failed,
    Status,
    Tally,
    cargo_json,
    go_json,
    jest_json,
    junit_xml,
    mocha_json,
    status_of,
)
from deliberate.evaluators._tests import _pytest_report, read, relative
from deliberate.types import Finished

JUNIT = """<?xml version="1.0"?><testsuites><testsuite>
<testcase classname="t.test_a" name="good" file="t/test_a.py" line="0"/>
<testcase classname="t.test_a" name="off" file="t/test_a.py" line="4"><failure message="1 == 2">it</failure></testcase>
<testcase classname="t.test_a" name="off" file="t/test_a.py" line="4"><error message="teardown">long</error></testcase>
<testcase classname="t.test_a" name="late"><error message="teardown">long</error></testcase>
<testcase classname="t.test_a" name="slow"><skipped type="pytest.xfail"/></testcase>
</testsuite></testsuites>"""


def test_junit_says_who_passed_and_where_a_failure_is() -> None:
    found = junit_xml(JUNIT)
    assert (found.passed, found.total, found.skipped, found.read_from) == (1, 3, 1, "junit")
    assert [(one.name, one.location) for one in found.failed] == [
        ("t.test_a::off", "t/test_a.py:5"),
        ("t.test_a::late", None),
    ]


def test_a_test_that_passes_and_whose_clean_up_breaks_has_failed() -> None:
    found = junit_xml('<t><testcase name="a"/><testcase name="a"><error message="teardown"/></testcase></t>')
    assert (found.passed, len(found.failed)) == (0, 1)


def test_junit_says_what_could_not_be_collected() -> None:
    error = '<error message="collection failure">E  no module</error>'
    text = f'<t><testcase classname="" name="t.test_a" file="">{error}</testcase></t>'
    assert junit_xml(text).broken == (Failed(name="t.test_a", message="E  no module"),)


@pytest.mark.parametrize(
    "text", ["", "1 passed", "<t>", '<!DOCTYPE t [<!ENTITY a "b">]><t/>', '<t><testcase name="a">&a;</testcase></t>']
)
def test_what_is_no_junit_is_refused(text: str) -> None:
    with pytest.raises(EvaluatorError):
        junit_xml(text)


def lines(*objects: object) -> str:
    return "\n".join(["noise {", *map(json.dumps, objects), "{broken"])


def test_cargo_adds_up_its_binaries() -> None:
    begin, end = {"type": "suite", "event": "started"}, {"type": "suite", "event": "failed"}
    said = "\nthread 'off' (17) panicked at src/lib.rs:4:5:\nassertion failed\n"
    text = lines(
        begin,
        {"type": "test", "event": "ok", "name": "good"},
        {"type": "test", "event": "timeout", "name": "off"},
        {"type": "test", "event": "failed", "name": "off", "stdout": said},
        end,
        begin,
        {"type": "test", "event": "ignored", "name": "slow"},
        end,
        [1],
    )
    found = cargo_json(text)
    assert (found.passed, found.total, found.skipped, found.broken) == (1, 2, 1, ())
    (off,) = found.failed
    assert off.location == "src/lib.rs:4"
    assert "(17)" not in off.message
    assert cargo_json(lines(begin, {"type": "test", "event": "ok", "name": "good"})).broken[0].name == "test binary"


def test_go_names_tests_and_packages_that_could_not_be_built() -> None:
    text = lines(
        {"Action": "output", "Package": "m", "Test": "TestOff", "Output": "a_test.go:4: off\n"},
        {"Action": "fail", "Package": "m", "Test": "TestOff"},
        {"Action": "pass", "Package": "m", "Test": "TestGood"},
        {"Action": "skip", "Package": "m", "Test": "TestSlow"},
        {"Action": "fail", "Package": "m"},
        {"Action": "output", "Package": "n", "Output": "FAIL n [build failed]\n"},
        {"Action": "fail", "Package": "n"},
        {"Action": "pass", "Package": "o"},
    )
    found = go_json(text)
    assert (found.passed, found.total, found.skipped) == (1, 2, 1)
    assert found.failed == (Failed(name="m.TestOff", message="a_test.go:4: off"),)
    assert found.broken == (Failed(name="n", message="FAIL n [build failed]"),)
    assert go_json(lines({"Action": "build-fail", "ImportPath": "p"})).broken == (Failed(name="p"),)


def test_jest_and_mocha_are_read_behind_what_npm_says_first() -> None:
    jest = {
        "testResults": [
            {
                "name": "a.js",
                "status": "failed",
                "assertionResults": [
                    {"status": "passed", "fullName": "good"},
                    {"status": "failed", "fullName": "off", "failureMessages": ["1 is not 2"]},
                    {"status": "pending", "title": "slow"},
                ],
            },
            {"name": "b.js", "status": "failed", "assertionResults": [], "message": "no such module"},
            "?",
        ]
    }
    found = jest_json("> jest\n" + json.dumps(jest, indent=1) + "\nnpm error")
    assert (found.passed, found.skipped) == (1, 1)
    assert found.failed == (Failed(name="off", message="1 is not 2", location="a.js"),)
    assert found.broken == (Failed(name="b.js", message="no such module", location="b.js"),)
    mocha = {
        "passes": [{"fullTitle": "good"}],
        "pending": [{"title": "slow"}],
        "failures": [{"fullTitle": "off", "err": {"message": "1 is not 2"}, "file": "a.js"}, {"title": "odd"}],
    }
    read = mocha_json(json.dumps(mocha))
    assert (read.passed, read.skipped, read.total) == (1, 1, 3)
    assert read.failed[0] == Failed(name="off", message="1 is not 2", location="a.js")


@pytest.mark.parametrize("text", ["", "[]", "{}", "[" * 100_000, '{"passes": 1'])
def test_what_is_no_such_object_is_refused(text: str) -> None:
    for reader in (jest_json, mocha_json):
        with pytest.raises(EvaluatorError):
            reader(text)


@pytest.mark.parametrize(
    ("tool", "text", "counts"),
    [
        ("pytest", "F.\nFAILED a.py::test_off - assert 0\n1 failed, 1 passed in 0.1s\nlog: all 7 passed", (1, 1, 0, 0)),
        ("pytest", "==== 3 passed, 2 errors in 0.10s ====", (3, 2, 0, 0)),
        ("pytest", "== 3 passed, 1 skipped, 2 xfailed, 1 xpassed, 4 warnings in 61.10s (0:01:01) ==", (4, 0, 0, 3)),
        (
            "pytest",
            "ERROR collecting a.py\nERROR a.py - no module\n!! Interrupted: 1 error !!\n1 error in 1s",
            (0, 0, 1, 0),
        ),
        ("pytest", "7 passed", (0, 0, 0, 0)),
        ("pytest", "no tests ran in 0.01s", (0, 0, 0, 0)),
        ("cargo", "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured\n", (2, 0, 0, 1)),
        ("cargo", "error[E0308]: mismatched types\nerror: could not compile `a`\n", (0, 0, 2, 0)),
        (
            "go",
            "--- PASS: TestA (0.00s)\n    --- FAIL: TestB/x (0.0s)\n--- SKIP: TestC\nFAIL\tm [build failed]",
            (1, 1, 1, 1),
        ),
        ("npm", "Tests:       1 failed, 1 skipped, 2 passed, 4 total\n", (2, 1, 0, 1)),
        ("npm", "      Tests  1 failed | 2 passed (3)\n", (2, 1, 0, 0)),
        ("npm", "  2 passing (4ms)\n  1 pending\n  1 failing\n", (2, 1, 0, 1)),
        ("npm", "# tests 4\n# pass 2\n# fail 1\n# skipped 1\n# todo 0\n", (2, 1, 0, 1)),
        ("npm", "\N{INFORMATION SOURCE} pass 2\n\N{INFORMATION SOURCE} fail 0\n", (2, 0, 0, 0)),
        ("npm", "it went well", (0, 0, 0, 0)),
    ],
)
def test_a_console_is_read_by_the_tools_own_summary(tool: str, text: str, counts: tuple[int, int, int, int]) -> None:
    found = CONSOLES[tool](text)
    assert (found.passed, len(found.failed), len(found.broken), found.skipped) == counts
    assert found.read_from == "text"


@pytest.mark.parametrize(
    ("passed", "failed", "broken", "exit_code", "status"),
    [
        (1, 0, 0, 0, "passed"),
        (1, 0, 0, 1, "error"),
        (1, 0, 0, None, "timeout"),
        (1, 1, 0, 1, "failed"),
        (1, 1, 0, 0, "failed"),
        (1, 0, 1, 2, "collection_error"),
        (0, 0, 1, 0, "collection_error"),
        (0, 0, 0, 5, "no_tests"),
        (0, 0, 0, 0, "no_tests"),
        (0, 0, 0, 1, "error"),
    ],
)
def test_the_exit_code_overrules_the_report(
    passed: int, failed: int, broken: int, exit_code: int | None, status: Status
) -> None:
    tally = Tally(
        passed=passed, failed=(Failed(name="f"),) * failed, broken=(Failed(name="b"),) * broken, read_from="text"
    )
    assert status_of(tally, exit_code=exit_code) == status


@given(st.sampled_from(sorted(CONSOLES)), st.text(), st.integers(-20, 200).filter(bool))
def test_nothing_that_is_printed_is_a_pass_against_the_exit_code(tool: str, text: str, exit_code: int) -> None:
    for said in (
        text,
        f"{text}\n3 passed in 0.1s\ntest result: ok. 3 passed; 0 failed; 0 ignored\n# pass 3\n--- PASS: T",
    ):
        assert status_of(CONSOLES[tool](said), exit_code=exit_code) != "passed"


@given(st.text())
def test_a_report_is_read_or_refused(text: str) -> None:
    for reader in (junit_xml, jest_json, mocha_json, cargo_json, go_json):
        try:
            assert reader(text).passed == 0
        except EvaluatorError:
            continue


def test_the_folder_a_tool_ran_in_is_left_out_of_what_it_says() -> None:
    place = os.path.realpath(tempfile.gettempdir())
    said = f"File '{place}/deliberate-a1b2_3xy/work/src/a.py', {place}/deliberate-abcdefgh/home/x in {place}/other/a"
    assert relative(said.encode()) == f"File 'src/a.py', x in {place}/other/a"


@pytest.mark.parametrize(
    "unit", ["\n", "=", "1 a", "/a", "Tests: 1", "FAILED a - ", "--- ", "{", " ", "\\", "ERROR ", "1"]
)
def test_no_console_takes_long_to_read(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    for reader in CONSOLES.values():
        began = time.process_time()
        reader(text)
        relative(text.encode())
        assert time.process_time() - began < 1.0


@pytest.mark.parametrize(
    ("done", "why"),
    [
        (Finished(exit_code=1, stdout=b"", stderr=b"No module named 'pytest'"), "pip install pytest"),
        (Finished(exit_code=0, stdout=b"1 passed in 1s", stderr=b""), "left no report"),
        (Finished(exit_code=0, stdout=b"N1\n<t/>", stderr=b""), "says that it ended with 1, and its process with 0"),
        (Finished(exit_code=0, stdout=b"N0\n<t", stderr=b""), "no JUnit XML"),
    ],
)
def test_a_report_of_pytest_that_is_none_is_told(done: Finished, why: str) -> None:
    with pytest.raises(EvaluatorError, match=why):
        _pytest_report(done, "N", "python")


def test_a_tool_without_a_report_is_read_by_its_console() -> None:
    printed = Finished(exit_code=0, stdout=b"# pass 2\n# fail 0\n", stderr=b"")
    assert read("npm", printed, junit_xml, CONSOLES["npm"]).tally == Tally(passed=2, read_from="text")
    broken = Finished(exit_code=101, stdout=b"", stderr=b"error: could not compile `a`\n")
    found = read("cargo", broken, cargo_json, CONSOLES["cargo"])
    assert (found.status, found.tally.read_from) == ("collection_error", "text")
    ended = read("npm", Finished(exit_code=None, stdout=b"", stderr=b"", timed_out=True), junit_xml, CONSOLES["npm"])
    assert ended.status == "timeout"
