"""What test tools report in their structured formats: JUnit XML, cargo's, go's, jest's and mocha's JSON. Pure.

Every reader takes the text of one report and gives a ``Tally``; what is no such report is an ``EvaluatorError``.
Skipped tests, and those that were expected to fail and did, are neither passed nor failed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, cast
from xml.etree import ElementTree as ET

from deliberate.errors import EvaluatorError
from deliberate.types import Record

__all__ = ["Failed", "Status", "Tally", "cargo_json", "go_json", "jest_json", "junit_xml", "mocha_json", "status_of"]

Status = Literal["passed", "failed", "no_tests", "collection_error", "timeout", "error"]
"""How a run of tests ended. ``error``: the tool broke off, or its report and its exit code do not agree."""


class Failed(Record, frozen=True, kw_only=True):
    """A test that failed, or a thing that kept tests from being run; ``location`` is ``file:line``."""

    name: str
    message: str = ""
    location: str | None = None


class Tally(Record, frozen=True, kw_only=True):
    """How many tests passed, which failed, and what could not be loaded, built or collected."""

    passed: int = 0
    failed: tuple[Failed, ...] = ()
    broken: tuple[Failed, ...] = ()
    skipped: int = 0
    read_from: Literal["junit", "json", "text"]

    @property
    def total(self) -> int:
        """Tests that passed or failed."""
        return self.passed + len(self.failed)


def status_of(tally: Tally, *, exit_code: int | None) -> Status:
    """How a run ended: what the tool's exit code says overrules what its report says.

    >>> status_of(Tally(passed=3, read_from="text"), exit_code=1)
    'error'
    """
    if exit_code is None:
        return "timeout"
    if tally.broken:
        return "collection_error"
    if tally.failed:
        return "failed"
    if not tally.total:
        return "no_tests" if exit_code in {0, _PYTEST_FOUND_NONE} else "error"
    return "passed" if exit_code == 0 else "error"


_PYTEST_FOUND_NONE = 5


def junit_xml(text: str) -> Tally:
    """JUnit XML as pytest, vitest and node write it."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise EvaluatorError("the report declares entities, which no test tool does")
    try:
        root = ET.fromstring(text)  # noqa: S314  a report without entities of its own
    except ET.ParseError as error:
        raise EvaluatorError(f"the report is no JUnit XML: {error}") from None
    tests: dict[str, tuple[str, Failed]] = {}
    for case in root.iter("testcase"):
        told = _junit_case(case)
        # A test that fails, and whose clean-up breaks besides, is listed twice and is one test.
        if told[1].name not in tests or told[0] != "passed":
            tests[told[1].name] = told
    return _tally(tests.values(), read_from="junit")


def _junit_case(case: ET.Element) -> tuple[str, Failed]:
    name = "::".join(part for part in (case.get("classname"), case.get("name")) if part)
    location = None
    if file := case.get("file"):
        line = case.get("line")
        location = f"{file}:{int(line) + 1}" if line is not None and line.isdigit() else file
    for child in case:
        message = (child.get("message") or child.text or "").strip()
        failed = Failed(name=name, message=_cut(message), location=location)
        if child.tag == "skipped":
            return "skipped", failed
        if child.tag == "error" and message.startswith("collection failure"):
            return "broken", Failed(name=name, message=_cut((child.text or message).strip()), location=location)
        if child.tag in {"failure", "error"}:
            return "failed", failed
    return "passed", Failed(name=name, location=location)


def cargo_json(text: str) -> Tally:
    """The lines that ``cargo test -- --format=json`` prints, a suite a test binary; other lines are the tests' own."""
    told: list[tuple[str, Failed]] = []
    begun = ended = 0
    for one in _lines(text):
        event, kind = one.get("event"), one.get("type")
        if kind == "suite":
            begun, ended = begun + (event == "started"), ended + (event in {"ok", "failed"})
        elif kind == "test" and event in {"ok", "failed", "ignored", "timeout"}:
            how = {"ok": "passed", "ignored": "skipped"}.get(str(event), "failed")
            if event != "timeout":  # it says that a test is slow, not that it ended
                said = _THREAD.sub(" panicked", str(one.get("stdout", ""))).strip()
                at = _PANICKED.search(said)
                location = at[1] if at and how == "failed" else None
                told.append((how, Failed(name=str(one.get("name")), message=_cut(said), location=location)))
    if begun != ended:
        told.append(("broken", Failed(name="test binary", message="it ended before its tests had")))
    return _tally(told, read_from="json")


_THREAD = re.compile(r" \(\d+\) panicked")  # the thread's number is another each time
_PANICKED = re.compile(r"panicked at ([^\s:]+:\d+):\d+")


def go_json(text: str) -> Tally:
    """The lines of ``go test -json``."""
    told: list[tuple[str, Failed]] = []
    output: dict[tuple[str, str], str] = {}
    failing: dict[str, list[str]] = {}
    for one in _lines(text):
        action, test = one.get("Action"), str(one.get("Test", ""))
        package = str(one.get("Package") or one.get("ImportPath", ""))
        at = (package, test)
        if action in {"output", "build-output"}:
            output[at] = output.get(at, "") + str(one.get("Output", ""))
        elif test and action in {"pass", "fail", "skip"}:
            how = {"pass": "passed", "skip": "skipped"}.get(str(action), "failed")
            told.append((how, Failed(name=f"{package}.{test}", message=_cut(output.get(at, "").strip()))))
            failing.setdefault(package, []).extend([test] if how == "failed" else [])
        elif action == "build-fail" or (action == "fail" and not failing.get(package)):
            told.append(("broken", Failed(name=package, message=_cut(output.get(at, "").strip()))))
    return _tally(told, read_from="json")


def jest_json(text: str) -> Tally:
    """The one object of ``jest --json``."""
    report = _object(text, "testResults")
    told: list[tuple[str, Failed]] = []
    for suite in _records(report.get("testResults")):
        file, tests = str(suite.get("name", "")), _records(suite.get("assertionResults"))
        if not tests and suite.get("status") == "failed":
            told.append(("broken", Failed(name=file, message=_cut(str(suite.get("message", ""))), location=file)))
        for test in tests:
            state = str(test.get("status"))
            how = state if state in {"passed", "failed"} else "skipped"
            why = "\n".join(str(each) for each in test.get("failureMessages") or ())
            name = str(test.get("fullName") or test.get("title"))
            told.append((how, Failed(name=name, message=_cut(why), location=file or None)))
    return _tally(told, read_from="json")


def mocha_json(text: str) -> Tally:
    """The one object of ``mocha --reporter json``."""
    report = _object(text, "passes")
    told: list[tuple[str, Failed]] = [("passed", Failed(name=_title(one))) for one in _records(report.get("passes"))]
    told += [("skipped", Failed(name=_title(one))) for one in _records(report.get("pending"))]
    for one in _records(report.get("failures")):
        why = one.get("err")
        message = str(cast("Mapping[str, Any]", why).get("message", "")) if isinstance(why, Mapping) else ""
        told.append(("failed", Failed(name=_title(one), message=_cut(message), location=one.get("file"))))
    return _tally(told, read_from="json")


def _title(test: Mapping[str, Any]) -> str:
    return str(test.get("fullTitle") or test.get("title"))


def _tally(told: Iterator[tuple[str, Failed]] | Any, *, read_from: Literal["junit", "json"]) -> Tally:  # noqa: ANN401
    found: Sequence[tuple[str, Failed]] = list(told)
    by = {how: tuple(failed for each, failed in found if each == how) for how in ("failed", "broken")}
    count = {how: sum(each == how for each, _ in found) for how in ("passed", "skipped")}
    return Tally(
        passed=count["passed"], failed=by["failed"], broken=by["broken"], skipped=count["skipped"], read_from=read_from
    )


def _lines(text: str) -> Iterator[Mapping[str, Any]]:
    """The lines of a text that are JSON objects."""
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                one = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(one, dict):
                yield cast("Mapping[str, Any]", one)


def _object(text: str, key: str) -> Mapping[str, Any]:
    """The object a tool printed, from the first line that begins one to the end of it."""
    at = 0 if text.startswith("{") else text.find("\n{") + 1
    try:
        found, _ = json.JSONDecoder().raw_decode(text, at)
    except (ValueError, RecursionError) as error:
        raise EvaluatorError(f"the report is not readable as JSON: {error}") from None
    if not isinstance(found, dict) or key not in found:
        raise EvaluatorError(f"the report has no {key!r}")
    return cast("Mapping[str, Any]", found)


def _records(value: object) -> list[Mapping[str, Any]]:
    if not isinstance(value, list):
        return []
    return [cast("Mapping[str, Any]", one) for one in cast("list[object]", value) if isinstance(one, dict)]


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_SAID else f"{text[:_MOST_SAID]} …"


_MOST_SAID = 2_000
