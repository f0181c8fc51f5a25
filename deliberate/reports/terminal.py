"""An evaluation on a terminal: plain lines that wrap and are never cut off.

Rules for whoever edits it: all text from outside passes through ``Screen.shown``; widths are counted in cells, and a
table that is too wide becomes two; every bracket and severity is a word, color comes on top. Where the terminal knows
no more than its own letters, bars and dots are ASCII.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from deliberate.gates import Result
from deliberate.reports._again import again_lines, state_text
from deliberate.reports._facts import Imprint, ReadBack, panel_parts, raised, whole_parts
from deliberate.reports._matrix import Matrix, matrix_of
from deliberate.reports._panel import show_panel
from deliberate.reports._score import show_score
from deliberate.reports._screen import SEVERITY_STYLES, Column, Screen
from deliberate.reports._words import also_put, flag_note, gate_text, read_back_text, said_of, score_text, usage_text
from deliberate.types import Evaluation, Unscored

__all__ = ["agreement_matrix", "show"]


def show(console: Console, evaluation: Evaluation, *, imprint: Imprint | None = None, title: str = "") -> None:
    """Prints an evaluation: seats, verdict, dissent, findings, parts, cost and result.

    Args:
        console: Where to; its width, colors and encoding are respected.
        evaluation: A panel's, a plan's, or that of a single evaluator.
        imprint: Its run, how it ended, and how many votes were read back.
        title: A heading, where several are printed.
    """
    screen = Screen(console)
    if title:
        screen.line(screen.named(title, "bold"))
        screen.blank()
    ids = {finding.key: finding.id for finding in evaluation.findings}
    for panel in panel_parts(evaluation):
        show_panel(screen, panel, ids)
    if evaluation.verdict is None:
        _whole(screen, evaluation)
    else:
        _beside(screen, evaluation)
    _again(screen, evaluation)
    _findings(screen, evaluation)
    _notes(screen, evaluation)
    _foot(screen, evaluation, imprint or Imprint())


def agreement_matrix(console: Console, evaluations: Sequence[Evaluation]) -> None:
    """Prints how far every two judges concur, over one evaluation or several.

    A cell ``3/4 (8.5)`` says: 3 of 4 items in the same bracket, scores 8.5 apart on average.
    """
    screen = Screen(console)
    matrix = matrix_of(evaluations)
    label = f"JUDGE {screen.signs.times} JUDGE"
    if len(matrix.raters) < 2:  # noqa: PLR2004  it takes two to agree
        screen.line(Text.assemble((label, "bold"), "  fewer than two judges voted"))
        return
    cases = f"{matrix.cases} case" + ("s" if matrix.cases > 1 else "")
    told = f"over {cases}: put in the same bracket / judged by both (mean difference of scores)"
    screen.line(Text.assemble((label, "bold"), f"  {told}"))
    names = tuple(_rater(screen, matrix, at) for at in range(len(matrix.raters)))
    screen.table(
        [
            Column("", names),
            *(
                Column(str(at + 1), tuple(_cell(screen, matrix, row, at) for row in range(len(names))), right=True)
                for at in range(len(names))
            ),
        ]
    )
    if matrix.agreement is not None:
        screen.line(Text(f"agreement {matrix.agreement:.2f} (share of pairs of votes in the same bracket)"))
    screen.blank()


def _rater(screen: Screen, matrix: Matrix, at: int) -> Text:
    rater = matrix.raters[at]
    alone = sum(other.seat == rater.seat for other in matrix.raters) == 1
    return Text.assemble(f"{at + 1} ", screen.named(rater.seat if alone else f"{rater.seat} ({rater.model})"))


def _cell(screen: Screen, matrix: Matrix, row: int, at: int) -> Text:
    cell = matrix.cell(row, at)
    if cell is None:
        return Text(screen.signs.none, "dim")
    return Text(
        f"{cell.same}/{cell.items} ({score_text(cell.apart)})", "green" if cell.same == cell.items else "yellow"
    )


def _whole(screen: Screen, evaluation: Evaluation) -> None:
    parts = whole_parts(evaluation)
    if parts:
        none = Text(screen.signs.none, "dim")
        screen.table(
            [
                Column("part", tuple(screen.named(part.path) for part in parts)),
                Column("weight", tuple(Text(f"{part.weight:g}") for part in parts), right=True),
                Column(
                    "share",
                    tuple(none if part.share is None else Text(f"{part.share:.0%}") for part in parts),
                    right=True,
                ),
                Column("score", tuple(_score(part.evaluation, none) for part in parts), right=True),
                Column("bracket", tuple(_bracket_or_why(screen, part.evaluation) for part in parts)),
                Column("by", tuple(screen.named(part.evaluation.evaluator) for part in parts)),
            ]
        )
        screen.blank()
    for part in parts:
        if part.evaluation.verdict is None and part.evaluation.reason:
            text = Text.assemble(screen.shown(part.path, "bold"), screen.shown(f": {part.evaluation.reason}"))
            screen.labeled("PART", text)
    show_score(screen, evaluation)
    for gate in [*evaluation.gates, *(gate for part in parts for gate in part.evaluation.gates)]:
        screen.labeled("GATE", screen.shown(gate_text(gate), "" if gate.held else "bold red"))
    screen.blank()


def _beside(screen: Screen, evaluation: Evaluation) -> None:
    """What was measured beside a panel, and does not count."""
    for part in evaluation.parts:
        found = part.evaluation
        score = "no score" if found.score is None else f"{score_text(found.score)}/100"
        said = screen.shown(f" {score}, not counted{screen.signs.dot}{found.reason}")
        screen.labeled("BESIDE", Text.assemble(screen.shown(part.name, "bold"), said))
    if evaluation.parts:
        screen.blank()


def _score(evaluation: Evaluation, none: Text) -> Text:
    return none if evaluation.score is None else Text(score_text(evaluation.score))


def _bracket_or_why(screen: Screen, evaluation: Evaluation) -> Text:
    bracket = evaluation.bracket
    if bracket is not None:
        return screen.bracket(bracket)
    return Text(evaluation.outcome.why if isinstance(evaluation.outcome, Unscored) else "", "red")


def _again(screen: Screen, evaluation: Evaluation) -> None:
    """Which rubric was chosen, and what became of an earlier evaluation."""
    before = ""
    for label, text in again_lines(evaluation):
        screen.labeled("" if label == before else label.upper(), screen.shown(text))
        before = label
    if before not in {"", "rubric"}:
        screen.blank()


def _findings(screen: Screen, evaluation: Evaluation) -> None:
    findings = raised(evaluation)
    for at, one in enumerate(findings):
        finding = one.finding
        severity = finding.severity.upper() if finding.severity == "blocker" else finding.severity
        places = [text for text in (finding.dimension, finding.location or "") if text]
        head = [
            Text.assemble(screen.shown(f"{finding.id} "), (severity, SEVERITY_STYLES[finding.severity])),
            *(screen.shown(place) for place in places),
        ]
        head += [screen.shown(text) for text in (state_text(evaluation, finding), said_of(one)) if text]
        if one.refuted:
            head.append(Text("refuted: it does not count"))
        screen.labeled("" if at else "FINDINGS", screen.joined(head))
        screen.labeled("", screen.shown(finding.title, "bold"))
        if finding.quote:
            lost = " (these words are not in the output)" if "quote_not_found" in finding.flags else ""
            screen.labeled("", screen.shown(f'"{finding.quote}"{lost}'))
        if finding.description:
            screen.labeled("", screen.shown(finding.description))
        if finding.fix:
            screen.labeled("", screen.shown(f"fix: {finding.fix}"))
        for text in also_put(one):
            screen.labeled("", screen.shown(f"merged with {text}", "dim"))
    if findings:
        screen.blank()


def _notes(screen: Screen, evaluation: Evaluation) -> None:
    models = {seat.judge.model for panel in panel_parts(evaluation) for seat in panel.verdict.panel.voters}
    for flag in evaluation.flags:
        text = flag_note(flag)
        if flag == "one_model" and len(models) == 1:
            text = f"{text} ({models.pop()})"
        screen.labeled("NOTE", screen.shown(text), "bold yellow")


def _foot(screen: Screen, evaluation: Evaluation, imprint: Imprint) -> None:
    cost = [Text(usage_text(evaluation.usage)), *_read_back(screen, imprint.read_back)]
    screen.labeled("COST", screen.joined(cost))
    for gate in () if imprint.result is None else imprint.result.gates:
        held = "held" if gate.held else "lost"
        text = screen.shown(f"{gate.gate} {gate.wanted} (got {gate.got}): {held}", "" if gate.held else "bold red")
        screen.labeled("GATE", text)
    run = f"run {imprint.run}{screen.signs.dot}{imprint.again}" if imprint.run else ""
    found = [*_result(screen, imprint.result), *([screen.shown(run)] if run else [])]
    screen.ending("RESULT", found)


def _read_back(screen: Screen, read_back: ReadBack | None) -> list[Text]:
    text = read_back_text(read_back)
    return [screen.shown(text)] if text else []


def _result(screen: Screen, result: Result | None) -> list[Text]:
    if result is None:
        return []
    code = f" (exit {result.exit_code})" if result.exit_code else ""
    return [screen.shown(f"{result.line}{code}", "bold" if result.status == "ok" else "bold red")]
