"""A run of many cases as files: a line a case as they come, and what stands before and behind them at the end.

Nothing here keeps a case: memory does not grow with their number. Text from outside passes the one escaping function
of its form, as in the reports of one case.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import msgspec

from deliberate.gates import EXIT, Result, blockers_in, verdicts_of
from deliberate.judging import visible
from deliberate.reports._encoded import encode_line
from deliberate.reports._objects import UsageObject
from deliberate.reports._totals import Line, Totals, case_line
from deliberate.reports._words import score_text
from deliberate.reports.export import escaped
from deliberate.reports.junit import xml_text
from deliberate.reports.result import verdict_object
from deliberate.reports.run_objects import DoneObject, EstimateObject, HeldObject, JudgeObject
from deliberate.types import Case, Evaluation, Unscored, Usage

__all__ = ["RUN_FORMS", "RunForm", "done_line", "done_object", "run_rows", "usage_object"]

_MOST_WORDS = 300


class RunForm(NamedTuple):
    """One form of file.

    ``line`` is what stands there of a case (``b""``: nothing); ``around`` what stands before and behind all lines, told
    how the run ended and how many lines there are.
    """

    line: Callable[[Case, Evaluation, str], bytes]
    around: Callable[[DoneObject, int], tuple[bytes, bytes]]


def done_object(
    totals: Totals,
    cases: int,
    result: Result,
    *,
    run: str,
    usage: Usage,
    read_back: int = 0,
    estimate: EstimateObject | None = None,
    interrupted: bool = False,
) -> DoneObject:
    """How a run of so many cases ended: the one object behind ``--json``, text and files.

    Args:
        totals: The numbers of the cases that were judged.
        cases: How many there are.
        result: How it ended, held against its gates.
        run: The run.
        usage: What it took in all.
        read_back: Votes that were in the ledger already.
        estimate: What it was estimated to take.
        interrupted: Whether it was stopped by hand.
    """
    brackets = {bracket.label.lower(): number for bracket, number in sorted(totals.brackets.items())}
    return DoneObject(
        event="done",
        run=run,
        status="interrupted" if interrupted else result.status,
        why=f"stopped; {result.why}" if interrupted else result.why,
        exit_code=EXIT["interrupted"] if interrupted else result.exit_code,
        gates=tuple(HeldObject(gate=one.gate, wanted=one.wanted, got=one.got, held=one.held) for one in result.gates),
        **msgspec.structs.asdict(totals.facts(cases)),
        brackets=brackets,
        votes=dict(sorted(totals.states.items())),
        read_back=read_back,
        judges={
            name: JudgeObject(
                votes=dict(sorted(seat.states.items())), agreement=seat.agreement, usage=usage_object(seat.usage)
            )
            for name, seat in sorted(totals.seats.items())
        },
        usage=usage_object(usage),
        estimate=estimate,
    )


def usage_object(usage: Usage) -> UsageObject:
    """What something took, as it is printed."""
    return UsageObject(**msgspec.structs.asdict(usage))


def done_line(done: DoneObject) -> str:
    """The RESULT line of a run, without its word."""
    if done.status == "ok":
        return "ok (every gate held)" if done.gates else "ok (no gate asked)"
    failed = [f"{one.gate} {one.wanted} (got {one.got})" for one in done.gates if one.held is not True]
    return (
        f"gate failed: {', '.join(failed)}" if done.status == "gate" else f"{done.status.replace('_', ' ')}: {done.why}"
    )


def run_rows(done: DoneObject) -> list[tuple[str, str]]:
    """How a run ended, as names and texts: on the screen, and on top of every report."""
    told = ", ".join(f"{name} {number}" for name, number in {**done.brackets, **done.without}.items())
    return [
        ("run", done.run),
        ("cases", f"{done.judged} of {done.cases} judged: {told or 'none'}"),
        ("score", f"{'none' if done.mean is None else f'{score_text(done.mean)}/100'}, the mean of {done.scored}"),
        ("agreement", "undefined" if done.agreement is None else f"{done.agreement:.2f} (ordinal alpha)"),
        ("votes", _votes(done)),
        ("took", _took(done)),
        ("RESULT", f"{done_line(done)}{f' (exit {done.exit_code})' if done.exit_code else ''}"),
    ]


def _votes(done: DoneObject) -> str:
    states = ", ".join(f"{number} {name}" for name, number in done.votes.items() if number)
    lost = [f"{name} {failed}" for name, judge in done.judges.items() if (failed := judge.votes.get("failed", 0))]
    back = f"; {done.read_back} read back" if done.read_back else ""
    whose = f" ({', '.join(lost)})" if lost else ""
    return f"{states or 'none'}{whose}{back}"


def _took(done: DoneObject) -> str:
    """What was spent, and beside it what was expected."""
    spent, expected = done.usage, done.estimate
    calls, tokens_in, tokens_out, cost = (
        f"{spent.calls}",
        f"{spent.tokens_in}",
        f"{spent.tokens_out}",
        _usd(spent.cost_usd),
    )
    if expected is None:
        return f"{calls} calls, {tokens_in} tokens in, {tokens_out} out, cost {cost}"
    tokens = f"{tokens_in} tokens in, {tokens_out} out (estimated {expected.tokens_in}, {expected.tokens_out})"
    estimated = _usd(expected.expected_usd)
    return f"{calls} calls (estimated {expected.expected_calls:.0f}), {tokens}, cost {cost} (estimated {estimated})"


def _usd(cost: float | None) -> str:
    return "unknown" if cost is None else f"${cost:.4f}"


def _why(evaluation: Evaluation) -> str:
    outcome = evaluation.outcome
    text = f"{outcome.why}: {outcome.detail}" if isinstance(outcome, Unscored) else evaluation.reason
    return text if len(text) <= _MOST_WORDS else f"{text[:_MOST_WORDS]} …"


def _plain(done: DoneObject, lines: int) -> tuple[bytes, bytes]:  # noqa: ARG001  one form of several
    return b"", b""


# --- JSON lines, CSV -------------------------------------------------------------------------------


def _json(case: Case, evaluation: Evaluation, run: str) -> bytes:
    found = msgspec.structs.asdict(verdict_object(evaluation, run=run or None))
    return encode_line({"case": case.id, "category": case.category, **found})


def _row_json(case: Case, evaluation: Evaluation, run: str) -> bytes:  # noqa: ARG001  one form of several
    return msgspec.json.encode(case_line(case, evaluation)) + b"\n"


def _csv(case: Case, evaluation: Evaluation, run: str) -> bytes:  # noqa: ARG001  one form of several
    cells = msgspec.structs.asdict(case_line(case, evaluation)).values()
    return _row(["" if cell is None else _harmless(str(cell)) for cell in cells])


def _head(done: DoneObject, lines: int) -> tuple[bytes, bytes]:  # noqa: ARG001  one form of several
    return _row(list(Line.__struct_fields__)), b""


def _row(cells: list[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(cells)
    return text.getvalue().encode()


def _harmless(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


# --- Markdown --------------------------------------------------------------------------------------


def _markdown(case: Case, evaluation: Evaluation, run: str) -> bytes:  # noqa: ARG001  one form of several
    """Only a case that somebody should look at: without a score, with a blocker, or with dissent."""
    dissent = [vote.seat.name for verdict in verdicts_of(evaluation) for vote in verdict.dissent]
    blockers = blockers_in(evaluation)
    if evaluation.score is not None and not blockers and not dissent:
        return b""
    line = case_line(case, evaluation)
    score = "no score" if line.score is None else f"{line.bracket} {score_text(line.score)}"
    more = [f"{blockers} blocker{'s' if blockers > 1 else ''}" if blockers else "", _why(evaluation)]
    more += [f"dissent: {', '.join(dissent)}"] if dissent else []
    return f"- **{escaped(line.case)}** {escaped(score)}: {escaped(' · '.join(one for one in more if one))}\n".encode()


def _markdown_around(done: DoneObject, lines: int) -> tuple[bytes, bytes]:
    rows = ["| | |", "| --- | --- |", *(f"| {name} | {escaped(text)} |" for name, text in run_rows(done))]
    blocks = [[f"## Run {done.run}"], rows]
    if done.gates:
        held = {True: "held", False: "**failed**", None: "not tried"}
        cells = [(escaped(one.gate), escaped(one.wanted), escaped(one.got), held[one.held]) for one in done.gates]
        lead = ["| gate | wanted | got | |", "| --- | --- | --- | --- |"]
        blocks.append([*lead, *(f"| {' | '.join(each)} |" for each in cells)])
    blocks.append(["| judge | votes | agreement |", "| --- | --- | --- |", *map(_judge_row, done.judges.items())])
    if lines:
        blocks.append([f"**To look at** ({lines}: no score, a blocker, or dissent)", ""])
    return ("\n\n".join("\n".join(block) for block in blocks) + "\n").encode(), b""


def _judge_row(item: tuple[str, Any]) -> str:
    name, judge = item
    states = ", ".join(f"{number} {state}" for state, number in judge.votes.items() if number)
    return f"| {escaped(name)} | {states} | {'–' if judge.agreement is None else f'{judge.agreement:.2f}'} |"


# --- JUnit -----------------------------------------------------------------------------------------


def _junit(case: Case, evaluation: Evaluation, run: str) -> bytes:
    """A test for each case: one without a score is an error, never a failure."""
    line = case_line(case, evaluation)
    named = {"classname": xml_text(run), "name": xml_text(line.case), "time": f"{evaluation.duration_seconds:.3f}"}
    test = ET.Element("testcase", named)
    if line.score is None:
        ET.SubElement(test, "error", {"type": line.why, "message": xml_text(_why(evaluation))})
    else:
        told = f"{line.bracket} {score_text(line.score)}: {evaluation.reason}"
        ET.SubElement(test, "system-out").text = xml_text(told)
    return ET.tostring(test, encoding="unicode").encode("utf-8", "replace") + b"\n"


def _junit_around(done: DoneObject, lines: int) -> tuple[bytes, bytes]:
    """A test for each gate behind the cases, and one that fails to come to an end where the run did not."""
    stopped = done.status in {"incomplete", "interrupted"}
    numbers = {
        "tests": str(lines + len(done.gates) + stopped),
        "failures": str(sum(one.held is not True for one in done.gates)),
        "errors": str(done.judged - done.scored + stopped),
        "skipped": "0",
    }
    suite = ET.Element("testsuite", {"name": xml_text(f"run {done.run}"), **numbers})
    opening = ET.tostring(suite, encoding="unicode").replace(" />", ">")
    tail: list[str] = []
    for one in done.gates:
        test = ET.Element("testcase", {"classname": xml_text(done.run), "name": one.gate, "time": "0"})
        if one.held is not True:
            message = f"{one.gate}: wanted {one.wanted}, got {one.got}"
            ET.SubElement(test, "failure", {"type": "gate", "message": xml_text(message)})
        tail.append(ET.tostring(test, encoding="unicode"))
    if stopped:
        test = ET.Element("testcase", {"classname": xml_text(done.run), "name": "run", "time": "0"})
        ET.SubElement(test, "error", {"type": done.status, "message": xml_text(done.why)})
        tail.append(ET.tostring(test, encoding="unicode"))
    head = f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites>\n{opening}\n'
    return head.encode(), "".join(f"{one}\n" for one in [*tail, "</testsuite>", "</testsuites>"]).encode()


# --- HTML ------------------------------------------------------------------------------------------


def _html(case: Case, evaluation: Evaluation, run: str) -> bytes:  # noqa: ARG001  one form of several
    line = case_line(case, evaluation)
    score = "" if line.score is None else score_text(line.score)
    told = {"line": line, "score": score, "blockers": blockers_in(evaluation), "why": _why(evaluation)}
    return str(_page().module.row(**told)).encode()


def _html_around(done: DoneObject, lines: int) -> tuple[bytes, bytes]:  # noqa: ARG001  one form of several
    head = _page().module.top(done=done, facts=run_rows(done))
    return str(head).encode(), str(_page().module.bottom()).encode()


@cache
def _page() -> Any:  # noqa: ANN401  a template of jinja2, which is imported only here
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415  only this form needs it

    def shown(value: object) -> object:
        return visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value

    env = Environment(autoescape=True, undefined=StrictUndefined, finalize=shown, trim_blocks=True, lstrip_blocks=True)
    return env.from_string(files("deliberate.reports").joinpath("_run.html.j2").read_text(encoding="utf-8"))


RUN_FORMS: Mapping[str, RunForm] = {
    ".jsonl": RunForm(_json, _plain),
    ".csv": RunForm(_csv, _head),
    ".parquet": RunForm(_row_json, _plain),
    ".md": RunForm(_markdown, _markdown_around),
    ".html": RunForm(_html, _html_around),
    ".junit.xml": RunForm(_junit, _junit_around),
}
"""By the endings of files; the lines of ``.parquet`` are JSON until they are put there."""
