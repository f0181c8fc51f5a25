"""A result as JUnit XML: one test for the verdict, one for each gate. All of it is read off the one ``Result``."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from deliberate.gates import Result
from deliberate.judging import visible
from deliberate.reports._facts import Imprint, whole_parts
from deliberate.reports._words import score_text, usage_text
from deliberate.types import Evaluation

__all__ = ["junit_xml", "xml_text"]

_NO_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(evaluation: Evaluation, *, title: str = "", imprint: Imprint | None = None) -> bytes:
    """The XML: a gate that did not hold is a failure; a result without a verdict is an error, never a failure."""
    told = imprint or Imprint()
    result = told.result or Result(status="ok")
    missing = result.status in {"no_verdict", "incomplete"}
    failed = sum(gate.held is not True for gate in result.gates)
    numbers = {
        "tests": str(1 + len(result.gates)),
        "failures": str(failed),
        "errors": str(int(missing)),
        "skipped": "0",
    }
    root = ET.Element("testsuites", numbers)
    seconds = f"{evaluation.duration_seconds:.3f}"
    suite = ET.SubElement(root, "testsuite", {"name": xml_text(title or "deliberate"), **numbers, "time": seconds})
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(evaluation, told, result):
        ET.SubElement(properties, "property", {"name": name, "value": xml_text(value)})
    verdict = _case(suite, title, "verdict", seconds)
    if missing:
        cause = {"type": result.status, "message": xml_text(result.line)}
        ET.SubElement(verdict, "error", cause).text = xml_text(result.why)
    ET.SubElement(verdict, "system-out").text = xml_text(_told(evaluation))
    for gate in result.gates:
        case = _case(suite, title, gate.gate, "0")
        if gate.held is not True:
            message = f"{gate.gate}: wanted {gate.wanted}, got {gate.got}"
            ET.SubElement(case, "failure", {"type": "gate", "message": xml_text(message)}).text = xml_text(
                evaluation.reason
            )
    ET.indent(root)
    data: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def _case(suite: ET.Element, title: str, name: str, seconds: str) -> ET.Element:
    return ET.SubElement(
        suite, "testcase", {"classname": xml_text(title or "deliberate"), "name": name, "time": seconds}
    )


def _properties(evaluation: Evaluation, told: Imprint, result: Result) -> list[tuple[str, str]]:
    bracket = evaluation.bracket
    known = [
        ("result", result.line),
        ("exit_code", str(result.exit_code)),
        ("score", "" if evaluation.score is None else score_text(evaluation.score)),
        ("bracket", "" if bracket is None else bracket.label),
        ("usage", usage_text(evaluation.usage)),
        ("run", told.run),
    ]
    return [(name, value) for name, value in known if value]


def _told(evaluation: Evaluation) -> str:
    lines = [evaluation.reason]
    for part in whole_parts(evaluation):
        score = "no score" if part.evaluation.score is None else score_text(part.evaluation.score)
        lines.append(f"{part.path}: {score}: {part.evaluation.reason}")
    lines += [f"{one.severity}: {one.location or one.dimension}: {one.title}" for one in evaluation.findings]
    return "\n".join(lines)


def xml_text(text: str) -> str:
    """Text from outside, as XML can hold it."""
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", visible(text))
