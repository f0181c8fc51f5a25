"""An evaluation on a terminal: plain lines that wrap and are never cut off.

Rules for whoever edits it: all text from outside passes through ``_Screen.shown``; widths are counted in cells, and a
table that is too wide becomes two; every bracket and severity is a word, colour comes on top. Where the terminal knows
no more than its own letters, bars and dots are ASCII.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from deliberate.gates import Result
from deliberate.judging._fence import visible
from deliberate.reports._facts import (
    Cast,
    Imprint,
    Matrix,
    PanelPart,
    Raised,
    ReadBack,
    by_dimension,
    flag_note,
    gate_text,
    hinges,
    last_words,
    matrix_of,
    missing,
    next_step,
    normalized_text,
    other_text,
    other_words,
    others,
    panel_parts,
    quorum,
    raised,
    read_back_text,
    reason_text,
    rounds,
    score_text,
    severity_counts,
    split,
    tie_text,
    undecided_text,
    usage_text,
    voices,
    whole_parts,
)
from deliberate.types import Bracket, Decided, Evaluation, Finding, Undecided, Unscored, Verdict

__all__ = ["agreement_matrix", "show"]

_INDENT = 12
"""Where text begins beside a label, in cells."""

_GAP = 2
_NARROWEST = 8
_STYLES = {Bracket.POOR: "red", Bracket.FAIR: "yellow", Bracket.GOOD: "green", Bracket.EXCELLENT: "bold green"}
_SEVERITY_STYLES = {"blocker": "bold red", "important": "yellow", "suggestion": "dim"}

_ORDERS = (
    (re.compile(r"\A\s*(::)(?=\S+.*::)"), "∷ ", ".:"),
    (re.compile(r"(##)(?=\[)"), "♯#", ".#"),
)
"""What the log of a CI service takes for an order to itself, and what is shown instead, in as many cells."""


class _Signs(NamedTuple):
    """Signs beyond letters, and what stands for them in plain ASCII."""

    full: str
    empty: str
    dot: str
    arrow: str
    none: str
    times: str


_FINE = _Signs("■", "□", " · ", "→", "–", "×")
_PLAIN = _Signs("#", ".", " | ", "->", "-", "x")


def show(console: Console, evaluation: Evaluation, *, imprint: Imprint | None = None, title: str = "") -> None:
    """Prints an evaluation: seats, verdict, dissent, findings, parts, cost and result.

    Args:
        console: Where to; its width, colors and encoding are respected.
        evaluation: A panel's, a plan's, or that of a single evaluator.
        imprint: Its run, how it ended, and how many votes were read back.
        title: A heading, where several are printed.
    """
    screen = _Screen(console)
    if title:
        screen.line(screen.named(title, "bold"))
        screen.blank()
    ids = {finding.key: finding.id for finding in evaluation.findings}
    for panel in panel_parts(evaluation):
        _panel(screen, panel, ids)
    if evaluation.verdict is None:
        _whole(screen, evaluation)
    _findings(screen, raised(evaluation))
    _notes(screen, evaluation)
    _foot(screen, evaluation, imprint or Imprint())


def agreement_matrix(console: Console, evaluations: Sequence[Evaluation]) -> None:
    """Prints how far every two judges concur, over one evaluation or several.

    A cell ``3/4 (8.5)`` says: 3 of 4 items in the same bracket, scores 8.5 apart on average.
    """
    screen = _Screen(console)
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
            _Column("", names),
            *(
                _Column(str(at + 1), tuple(_cell(screen, matrix, row, at) for row in range(len(names))), right=True)
                for at in range(len(names))
            ),
        ]
    )
    if matrix.agreement is not None:
        screen.line(Text(f"agreement {matrix.agreement:.2f} (share of pairs of votes in the same bracket)"))
    screen.blank()


def _rater(screen: _Screen, matrix: Matrix, at: int) -> Text:
    rater = matrix.raters[at]
    alone = sum(other.seat == rater.seat for other in matrix.raters) == 1
    return Text.assemble(f"{at + 1} ", screen.named(rater.seat if alone else f"{rater.seat} ({rater.model})"))


def _cell(screen: _Screen, matrix: Matrix, row: int, at: int) -> Text:
    cell = matrix.cell(row, at)
    if cell is None:
        return Text(screen.signs.none, "dim")
    return Text(
        f"{cell.same}/{cell.items} ({score_text(cell.apart)})", "green" if cell.same == cell.items else "yellow"
    )


# --- one panel -------------------------------------------------------------------------------------


def _panel(screen: _Screen, panel: PanelPart, ids: dict[str, str]) -> None:
    verdict = panel.verdict
    if panel.path:
        screen.labelled("PANEL", screen.shown(panel.path, "bold"))
    _seats(screen, verdict)
    absent = missing(verdict)
    if absent:
        screen.blank()
    for seat, state, why in absent:
        screen.labelled("ABSENT", screen.shown(f"{seat}, {state}: {why}"), "bold red")
    screen.blank()
    _rounds(screen, verdict)
    if isinstance(verdict.decision, Decided):
        _decided(screen, verdict, verdict.decision, ids)
    else:
        _undecided(screen, verdict, verdict.decision)
    screen.blank()


def _seats(screen: _Screen, verdict: Verdict) -> None:
    seats = last_words(verdict)
    none = Text(screen.signs.none, "dim")
    names = _Column("seat", tuple(screen.named(cast.seat.name) for cast in seats))
    brackets = _Column("bracket", tuple(_bracket_or_state(screen, cast) for cast in seats))
    scores = _Column(
        "score",
        tuple(none if cast.ballot is None else Text(score_text(cast.ballot.score)) for cast in seats),
        right=True,
    )
    findings = _Column(
        "findings", tuple(none if cast.ballot is None else _counted(screen, cast.ballot.findings) for cast in seats)
    )
    seconds = _Column(
        "seconds",
        tuple(
            Text(f"{cast.answer.latency_seconds:.1f}") if cast.answer is not None and cast.answer.attempts else none
            for cast in seats
        ),
        right=True,
    )
    judges = _Column("judge", tuple(screen.named(cast.seat.judge.model) for cast in seats))
    models = [] if "one_model" in verdict.flags else [judges]
    dimensions = [
        _Column(name, tuple(none if score is None else Text(score_text(score)) for score in scores), right=True)
        for name, scores in by_dimension(seats).items()
    ]
    core = [names, brackets, scores, findings, seconds]
    if screen.table([names, brackets, scores, *dimensions, findings, seconds, *models], split=False):
        return
    if not dimensions:
        screen.table([*core, *models])
        return
    fits = screen.table([*core, *models], split=False)
    if not fits:
        screen.table(core)
    screen.blank()
    screen.table([names, *([] if fits else models), *dimensions])


def _bracket_or_state(screen: _Screen, cast: Cast) -> Text:
    return Text(cast.state, "red") if cast.ballot is None else screen.bracket(cast.ballot.bracket)


def _counted(screen: _Screen, findings: Sequence[Finding]) -> Text:
    counts = severity_counts(findings)
    if not counts:
        return Text(screen.signs.none, "dim")
    return Text(", ").join(
        Text(f"{count} {name.upper() if name == 'blocker' else name}", _SEVERITY_STYLES[name]) for name, count in counts
    )


def _rounds(screen: _Screen, verdict: Verdict) -> None:
    found = rounds(verdict)
    for one in found if len(found) > 1 else ():
        counts = [(bracket, one.brackets.count(bracket)) for bracket in reversed(Bracket) if bracket in one.brackets]
        votes = [
            Text.assemble(screen.bracket(bracket), f" {screen.signs.times}{count}") for bracket, count in counts
        ] or [Text("no votes")]
        agreement = [] if one.agreement is None else [Text(f"agreement {one.agreement:.2f}")]
        moves = [
            screen.shown(f"{move.seat}: {move.before.label} {screen.signs.arrow} {move.after.label}")
            for move in one.moves
        ]
        screen.labelled(f"ROUND {one.number + 1}", screen.joined([*votes, *agreement, *moves]))
    spoken = [other for other in others(verdict) if other.seat not in {seat.name for seat in verdict.panel.voters}]
    for other in spoken:
        words = f': "{other_words(other)}"' if other_words(other) else ""
        screen.labelled("HEARD", Text.assemble(screen.shown(other_text(other), "bold"), screen.shown(words)))
    if verdict.close is not None and (len(found) > 1 or spoken):
        screen.labelled("STOPPED", screen.shown(verdict.close.because))


def _decided(screen: _Screen, verdict: Verdict, decision: Decided, ids: dict[str, str]) -> None:
    brackets = {vote.ballot.bracket for vote in verdict.votes if vote.ballot is not None}
    facts = [split(verdict)]
    if sum(verdict.counts[state] for state in ("voted",)) > 1:
        facts.append("unanimous" if len(brackets) == 1 else "split")
    facts += ["contested"] if decision.contested else []
    facts += [tie_text(decision)] if decision.tied else []
    facts += ["shortened: the rest could not change the bracket"] if decision.path == "shortened" else []
    head = _headline(screen, decision.bracket, decision.score)
    screen.labelled("VERDICT", Text("  ").join([head, screen.joined([Text(fact) for fact in facts])]))
    number = quorum(verdict)
    by = [f"by {verdict.panel.rules.rule}, quorum {number.valid} of {number.seats} ({number.needed} needed)"]
    found = rounds(verdict)
    by += [f"agreement {one.agreement:.2f}" for one in found if len(found) == 1 and one.agreement is not None]
    screen.labelled("", screen.joined([Text(fact) for fact in by]))
    for at, sentence in enumerate(hinges(verdict)):
        screen.labelled("" if at else "HINGES ON", screen.shown(sentence))
    _words(screen, "WHY", voices(verdict))
    dissenters = {vote.seat.name for vote in verdict.dissent}
    _words(screen, "DISSENT", [cast for cast in last_words(verdict) if cast.seat.name in dissenters], ids)


def _undecided(screen: _Screen, verdict: Verdict, decision: Undecided) -> None:
    screen.labelled("NO VERDICT", screen.shown(undecided_text(decision), "bold"), "bold red")
    screen.labelled("", Text(split(verdict)))
    screen.labelled("NEXT", screen.shown(next_step(verdict)))
    _words(screen, "VOTE", voices(verdict))


def _words(screen: _Screen, label: str, seats: Sequence[Cast], ids: dict[str, str] | None = None) -> None:
    """Judges in their own words, and which findings they raise."""
    for cast in seats:
        ballot = cast.ballot
        if ballot is None:
            continue
        said = f': "{ballot.reason}"' if ballot.reason else ""
        who = f"{cast.seat.name} ({ballot.bracket.label}, {score_text(ballot.score)})"
        screen.labelled(label, Text.assemble(screen.shown(who, "bold"), screen.shown(said)))
        raises = [ids[finding.key] for finding in ballot.findings if ids is not None and finding.key in ids]
        if raises:
            screen.labelled("", screen.shown(f"raises {', '.join(raises)}"))


# --- the whole -------------------------------------------------------------------------------------


def _whole(screen: _Screen, evaluation: Evaluation) -> None:
    parts = whole_parts(evaluation)
    if parts:
        none = Text(screen.signs.none, "dim")
        screen.table(
            [
                _Column("part", tuple(screen.named(part.path) for part in parts)),
                _Column("weight", tuple(Text(f"{part.weight:g}") for part in parts), right=True),
                _Column(
                    "share",
                    tuple(none if part.share is None else Text(f"{part.share:.0%}") for part in parts),
                    right=True,
                ),
                _Column("score", tuple(_score(part.evaluation, none) for part in parts), right=True),
                _Column("bracket", tuple(_bracket_or_why(screen, part.evaluation) for part in parts)),
                _Column("by", tuple(screen.named(part.evaluation.evaluator) for part in parts)),
            ]
        )
        screen.blank()
    for part in parts:
        if part.evaluation.verdict is None and part.evaluation.reason:
            text = Text.assemble(screen.shown(part.path, "bold"), screen.shown(f": {part.evaluation.reason}"))
            screen.labelled("PART", text)
    _scored(screen, evaluation)
    for gate in [*evaluation.gates, *(gate for part in parts for gate in part.evaluation.gates)]:
        screen.labelled("GATE", screen.shown(gate_text(gate), "" if gate.held else "bold red"))
    screen.blank()


def _scored(screen: _Screen, evaluation: Evaluation) -> None:
    outcome = evaluation.outcome
    bracket = evaluation.bracket
    if isinstance(outcome, Unscored) or bracket is None:
        detail = outcome.detail if isinstance(outcome, Unscored) else ""
        why = outcome.why if isinstance(outcome, Unscored) else ""
        screen.labelled("NO SCORE", screen.shown(f"{why}: {detail}" if detail else why, "bold"), "bold red")
    else:
        origin = "" if outcome.origin == "measured" else f"{screen.signs.dot}{outcome.origin}"
        head = _headline(screen, bracket, outcome.score)
        screen.labelled("SCORE", Text("  ").join([head, screen.shown(f"{reason_text(evaluation)}{origin}")]))
    if evaluation.missing:
        names = ", ".join(evaluation.missing)
        screen.labelled("MISSING", screen.shown(f"{names} (coverage {evaluation.coverage:.2f})"), "bold red")


def _score(evaluation: Evaluation, none: Text) -> Text:
    return none if evaluation.score is None else Text(score_text(evaluation.score))


def _bracket_or_why(screen: _Screen, evaluation: Evaluation) -> Text:
    bracket = evaluation.bracket
    if bracket is not None:
        return screen.bracket(bracket)
    return Text(evaluation.outcome.why if isinstance(evaluation.outcome, Unscored) else "", "red")


def _headline(screen: _Screen, bracket: Bracket, score: float) -> Text:
    return Text.assemble(
        screen.bracket(bracket, "bold"), (f"  {score_text(score)}/100", "bold"), f" ({normalized_text(score)})"
    )


def _findings(screen: _Screen, findings: Sequence[Raised]) -> None:
    for at, (finding, by, refuted) in enumerate(findings):
        severity = finding.severity.upper() if finding.severity == "blocker" else finding.severity
        places = [text for text in (finding.dimension, finding.location or "") if text]
        head = [
            Text.assemble(screen.shown(f"{finding.id} "), (severity, _SEVERITY_STYLES[finding.severity])),
            *(screen.shown(place) for place in places),
        ]
        if by:
            head.append(screen.shown(f"raised by {', '.join(by)}"))
        if refuted:
            head.append(Text("refuted: it does not count"))
        screen.labelled("" if at else "FINDINGS", screen.joined(head))
        screen.labelled("", screen.shown(finding.title, "bold"))
        if finding.quote:
            lost = " (these words are not in the output)" if "quote_not_found" in finding.flags else ""
            screen.labelled("", screen.shown(f'"{finding.quote}"{lost}'))
        if finding.description:
            screen.labelled("", screen.shown(finding.description))
        if finding.fix:
            screen.labelled("", screen.shown(f"fix: {finding.fix}"))
    if findings:
        screen.blank()


def _notes(screen: _Screen, evaluation: Evaluation) -> None:
    models = {seat.judge.model for panel in panel_parts(evaluation) for seat in panel.verdict.panel.voters}
    for flag in evaluation.flags:
        text = flag_note(flag)
        if flag == "one_model" and len(models) == 1:
            text = f"{text} ({models.pop()})"
        screen.labelled("NOTE", screen.shown(text), "bold yellow")


def _foot(screen: _Screen, evaluation: Evaluation, imprint: Imprint) -> None:
    cost = [Text(usage_text(evaluation.usage)), *_read_back(screen, imprint.read_back)]
    screen.labelled("COST", screen.joined(cost))
    for gate in () if imprint.result is None else imprint.result.gates:
        held = "held" if gate.held else "lost"
        text = screen.shown(f"{gate.gate} {gate.wanted} (got {gate.got}): {held}", "" if gate.held else "bold red")
        screen.labelled("GATE", text)
    run = f"run {imprint.run}{screen.signs.dot}deliberate show {imprint.run}" if imprint.run else ""
    found = [*_result(screen, imprint.result), *([screen.shown(run)] if run else [])]
    screen.ending("RESULT", found)


def _read_back(screen: _Screen, read_back: ReadBack | None) -> list[Text]:
    text = read_back_text(read_back)
    return [screen.shown(text)] if text else []


def _result(screen: _Screen, result: Result | None) -> list[Text]:
    if result is None:
        return []
    code = f" (exit {result.exit_code})" if result.exit_code else ""
    return [screen.shown(f"{result.line}{code}", "bold" if result.status == "ok" else "bold red")]


# --- the screen ------------------------------------------------------------------------------------


class _Column(NamedTuple):
    """One column of a table, with a cell for each row."""

    head: str
    cells: tuple[Text, ...]
    right: bool = False


class _Screen:
    """A console, the signs it can show, and the ways we write on it."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._encoding = console.encoding if console.options.ascii_only else None
        self.signs = _PLAIN if self._encoding or console.is_dumb_terminal else _FINE

    def shown(self, text: str, style: str = "") -> Text:
        """Text from outside, harmless: no markup, no control characters.

        On a terminal that cannot show a letter, its escape is shown.
        """
        text = visible(text).expandtabs(4)
        if self._encoding:
            text = text.encode(self._encoding, "backslashreplace").decode(self._encoding)
        return Text(text, style)

    def named(self, text: str, style: str = "") -> Text:
        """A name from outside, on one line: it stands at the left edge, where a second line could pass for ours."""
        return self.shown(" ".join(text.split()), style)

    def bracket(self, bracket: Bracket, style: str = "") -> Text:
        """A bracket as a bar and a word."""
        bar = self.signs.full * (bracket + 1) + self.signs.empty * (Bracket.EXCELLENT - bracket)
        return Text(f"{bar} {bracket.label}", f"{style} {_STYLES[bracket]}".strip())

    def joined(self, texts: Sequence[Text]) -> Text:
        """Texts in one line, with dots between."""
        return Text(self.signs.dot).join(texts)

    def blank(self) -> None:
        """An empty line."""
        self._console.print()

    def line(self, text: Text) -> None:
        """A paragraph from the left edge, wrapped."""
        self._write(self._wrapped(text, self._console.width))

    def labelled(self, label: str, text: Text, style: str = "bold") -> None:
        """A paragraph beside its label, wrapped, each line indented."""
        lines = self._wrapped(text, max(_NARROWEST, self._console.width - _INDENT))
        heads = [Text(label.ljust(_INDENT), style), *(Text(" " * _INDENT) for _ in lines[1:])]
        self._write([Text.assemble(head, line) for head, line in zip(heads, lines, strict=True)])

    def ending(self, label: str, texts: Sequence[Text]) -> None:
        """Texts beside a label: on one line if they fit, else below each other."""
        line = Text("   ").join(texts)
        if cell_len(line.plain) <= self._console.width - _INDENT:
            texts = [line] if texts else []
        for at, text in enumerate(texts):
            self.labelled("" if at else label, text)

    def table(self, columns: Sequence[_Column], *, split: bool = True) -> bool:
        """A table, or several side by side in turn if it is too wide, each beginning with the first column.

        Returns:
            Whether it was printed: one that is too wide is not, where ``split`` is False.
        """
        key, *rest = columns
        chunks: list[list[_Column]] = [[]]
        for column in rest:
            if chunks[-1] and self._total([key, *chunks[-1], column]) > self._console.width:
                chunks.append([])
            chunks[-1].append(column)
        if len(chunks) > 1 and not split:
            return False
        for at, chunk in enumerate(chunks):
            if at:
                self.blank()
            self._rows([key, *chunk])
        return True

    def _total(self, columns: Sequence[_Column]) -> int:
        return sum(_width(column) for column in columns) + _GAP * (len(columns) - 1)

    def _rows(self, columns: Sequence[_Column]) -> None:
        widths = [_width(column) for column in columns]
        for at in (-1, 0):
            over = sum(widths) + _GAP * (len(widths) - 1) - self._console.width
            if over > 0:
                widths[at] = max(_NARROWEST, widths[at] - over)
        if any(column.head for column in columns):
            self._row([self.named(column.head, "dim") for column in columns], columns, widths)
        for cells in zip(*(column.cells for column in columns), strict=True):
            self._row(cells, columns, widths)

    def _row(self, cells: Sequence[Text], columns: Sequence[_Column], widths: Sequence[int]) -> None:
        wrapped = [self._wrapped(cell, width) for cell, width in zip(cells, widths, strict=True)]
        lines: list[Text] = []
        for at in range(max(len(one) for one in wrapped)):
            line = Text()
            for cell, column, width in zip(wrapped, columns, widths, strict=True):
                text = cell[at].copy() if at < len(cell) else Text()
                space = " " * (width - cell_len(text.plain))
                line.append_text(Text(space).append_text(text) if column.right else text.append(space))
                line.append(" " * _GAP)
            lines.append(line)
        self._write(lines)

    def _wrapped(self, text: Text, width: int) -> list[Text]:
        return list(text.wrap(self._console, width, overflow="fold")) or [Text()]

    def _write(self, lines: Sequence[Text]) -> None:
        for line in lines:
            line.rstrip()
            for order, fine, plain in _ORDERS:
                for found in order.finditer(line.plain):
                    start, end = found.span(1)
                    line.plain = line.plain[:start] + (fine if self.signs is _FINE else plain) + line.plain[end:]
            self._console.print(line, soft_wrap=True)


def _width(column: _Column) -> int:
    lines = [line for cell in column.cells for line in cell.plain.split("\n")]
    return max(cell_len(line) for line in (visible(column.head), *lines))
