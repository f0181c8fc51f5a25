"""Findings as SARIF 2.1.0, for code scanning: the place of each in a file, where it names one inside the workspace."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

import msgspec

from deliberate.gates import Result
from deliberate.judging import visible
from deliberate.reports._facts import Imprint, whole_parts
from deliberate.types import Evaluation, Finding

__all__ = ["place_of", "sarif_log"]

_LEVELS = {"blocker": "error", "important": "warning", "suggestion": "note"}
_PLACE = re.compile(r"(?P<file>[^\s:][^:]*):(?P<first>\d{1,7})(?:[-–](?P<last>\d{1,7}))?(?::\d+)?")


def sarif_log(evaluation: Evaluation, *, imprint: Imprint | None = None) -> bytes:
    """The JSON: one result a finding, one rule a dimension."""
    told = imprint or Imprint()
    result = told.result or Result(status="ok")
    found = {one.key: one for one in (*_findings(evaluation),) if one.state != "resolved"}
    rules = sorted({_rule(one) for one in found.values()})
    driver = {"name": "deliberate", "rules": [{"id": rule} for rule in rules]}
    ended = result.status not in {"no_verdict", "incomplete"}
    invocation = {"executionSuccessful": ended, "exitCode": result.exit_code, "exitCodeDescription": result.line}
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "results": [_result(one, rules) for one in found.values()],
        "columnKind": "unicodeCodePoints",
    }
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return msgspec.json.format(msgspec.json.encode(log), indent=2) + b"\n"


def place_of(finding: Finding) -> tuple[str, int, int] | None:
    """File, first and last line; None where it names none, or one that is not inside the workspace."""
    place = _PLACE.fullmatch(finding.location or "")
    if place is None:
        return None
    path = PurePosixPath(place["file"].replace("\\", "/"))
    first = int(place["first"])
    if path.is_absolute() or ".." in path.parts or first < 1:
        return None
    return path.as_posix(), first, max(first, int(place["last"] or first))


def _findings(evaluation: Evaluation) -> list[Finding]:
    inner = [one for part in whole_parts(evaluation) for one in part.evaluation.findings]
    return [*evaluation.findings, *inner]


def _rule(finding: Finding) -> str:
    return visible(finding.dimension or "general")


def _result(finding: Finding, rules: list[str]) -> dict[str, Any]:
    said = ". ".join(text.rstrip(".") for text in (finding.title, finding.description, finding.fix or "") if text)
    place = place_of(finding)
    known: dict[str, Any] = {
        "ruleId": _rule(finding),
        "ruleIndex": rules.index(_rule(finding)),
        "level": _LEVELS[finding.severity],
        "message": {"text": visible(said) or finding.severity},
        "partialFingerprints": {"deliberate/v1": finding.key or finding.id},
    }
    if place is not None:
        file, first, last = place
        region = {"startLine": first, "endLine": last}
        artifact = {"uri": quote(visible(file)), "uriBaseId": "%SRCROOT%"}
        known["locations"] = [{"physicalLocation": {"artifactLocation": artifact, "region": region}}]
    return known
