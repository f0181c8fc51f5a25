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
from deliberate.reports._again import again_lines, in_part, state_text
from deliberate.reports._facts import (
    Cast,
    Imprint,
    PanelPart,
    ReadBack,
    by_dimension,
    last_words,
    others,
    panel_parts,
    quorum,
    raised,
    rounds,
    severity_counts,
    voices,
    whole_parts,
)
from deliberate.reports._matrix import Matrix, matrix_of
from deliberate.reports._screen import Column, Screen
from deliberate.reports._words import (
    also_put,
    apart_text,
    flag_note,
    gate_text,
    hinges,
    missing,
    move_text,
    next_step,
    normalized_text,
    other_text,
    other_words,
    read_back_text,
    reason_text,
    said_of,
    score_text,
    split,
    tie_text,
    undecided_text,
    usage_text,
)
from deliberate.types import Bracket, Decided, Evaluation, Finding, Undecided, Unscored, Verdict

__all__ = ["agreement_matrix", "show"]

_SEVERITY_STYLES = {"blocker": "bold red", "important": "yellow", "suggestion": "dim"}


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
        _panel(screen, panel, ids)
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


# --- one panel -------------------------------------------------------------------------------------


def _panel(screen: Screen, panel: PanelPart, ids: dict[str, str]) -> None:
    verdict = panel.verdict
    if panel.path:
        screen.labeled("PANEL", screen.shown(panel.path, "bold"))
    _seats(screen, verdict)
    absent = missing(verdict)
    if absent:
        screen.blank()
    for seat, state, why in absent:
        screen.labeled("ABSENT", screen.shown(f"{seat}, {state}: {why}"), "bold red")
    screen.blank()
    _rounds(screen, verdict)
    if isinstance(verdict.decision, Decided):
        _decided(screen, verdict, verdict.decision, ids, label="IN PART" if in_part(panel.evaluation) else "VERDICT")
    else:
        _undecided(screen, verdict, verdict.decision)
    if in_part(panel.evaluation) and not panel.path:
        _scored(screen, panel.evaluation)
    screen.blank()


def _seats(screen: Screen, verdict: Verdict) -> None:
    seats = last_words(verdict)
    none = Text(screen.signs.none, "dim")
    names = Column("seat", tuple(screen.named(cast.seat.name) for cast in seats))
    brackets = Column("bracket", tuple(_bracket_or_state(screen, cast) for cast in seats))
    scores = Column(
        "score",
        tuple(none if cast.ballot is None else Text(score_text(cast.ballot.score)) for cast in seats),
        right=True,
    )
    findings = Column(
        "findings", tuple(none if cast.ballot is None else _counted(screen, cast.ballot.findings) for cast in seats)
    )
    seconds = Column(
        "seconds",
        tuple(
            Text(f"{cast.answer.latency_seconds:.1f}") if cast.answer is not None and cast.answer.attempts else none
            for cast in seats
        ),
        right=True,
    )
    judges = Column("judge", tuple(screen.named(cast.seat.judge.model) for cast in seats))
    models = [] if "one_model" in verdict.flags else [judges]
    dimensions = [
        Column(name, tuple(none if score is None else Text(score_text(score)) for score in scores), right=True)
        for name, scores in by_dimension(seats).items()
    ]
    weights = _weights(seats)
    core = [names, brackets, scores, *weights, findings, seconds]
    if screen.table([names, brackets, scores, *weights, *dimensions, findings, seconds, *models], split=False):
        return
    if not dimensions:
        screen.table([*core, *models])
        return
    fits = screen.table([*core, *models], split=False)
    if not fits:
        screen.table(core)
    screen.blank()
    screen.table([names, *([] if fits else models), *dimensions])


def _weights(seats: Sequence[Cast]) -> list[Column]:
    """What each seat weighs, where it is not the same for all: without it nobody can work the number out again."""
    found = [cast.seat.weight for cast in seats]
    if len(set(found)) < 2:  # noqa: PLR2004  all alike
        return []
    return [Column("weight", tuple(Text(f"{weight:g}") for weight in found), right=True)]


def _bracket_or_state(screen: Screen, cast: Cast) -> Text:
    return Text(cast.state, "red") if cast.ballot is None else screen.bracket(cast.ballot.bracket)


def _counted(screen: Screen, findings: Sequence[Finding]) -> Text:
    counts = severity_counts(findings)
    if not counts:
        return Text(screen.signs.none, "dim")
    return Text(", ").join(
        Text(f"{count} {name.upper() if name == 'blocker' else name}", _SEVERITY_STYLES[name]) for name, count in counts
    )


def _rounds(screen: Screen, verdict: Verdict) -> None:
    found = rounds(verdict)
    for one in found if len(found) > 1 else ():
        counts = [(bracket, one.brackets.count(bracket)) for bracket in reversed(Bracket) if bracket in one.brackets]
        votes = [
            Text.assemble(screen.bracket(bracket), f" {screen.signs.times}{count}") for bracket, count in counts
        ] or [Text("no votes")]
        agreement = [] if one.agreement is None else [Text(apart_text(one))]
        moves = [screen.shown(move_text(move, arrow=screen.signs.arrow)) for move in one.moves]
        screen.labeled(f"ROUND {one.number + 1}", screen.joined([*votes, *agreement, *moves]))
    spoken = [other for other in others(verdict) if other.seat not in {seat.name for seat in verdict.panel.voters}]
    for other in spoken:
        words = f': "{other_words(other)}"' if other_words(other) else ""
        screen.labeled("HEARD", Text.assemble(screen.shown(other_text(other), "bold"), screen.shown(words)))
    if verdict.close is not None and (len(found) > 1 or spoken):
        screen.labeled("STOPPED", screen.shown(verdict.close.because))


def _decided(screen: Screen, verdict: Verdict, decision: Decided, ids: dict[str, str], *, label: str) -> None:
    brackets = {vote.ballot.bracket for vote in verdict.votes if vote.ballot is not None}
    facts = [split(verdict)]
    if sum(verdict.counts[state] for state in ("voted",)) > 1:
        facts.append("unanimous" if len(brackets) == 1 else "split")
    facts += ["contested"] if decision.contested else []
    facts += [tie_text(decision)] if decision.tied else []
    facts += ["shortened: the rest could not change the bracket"] if decision.path == "shortened" else []
    head = _headline(screen, decision.bracket, decision.score)
    screen.labeled(label, Text("  ").join([head, screen.joined([Text(fact) for fact in facts])]))
    number = quorum(verdict)
    by = [f"by {verdict.panel.rules.rule}, quorum {number.valid} of {number.seats} ({number.needed} needed)"]
    found = rounds(verdict)
    by += [apart_text(one) for one in found if len(found) == 1 and one.agreement is not None]
    screen.labeled("", screen.joined([Text(fact) for fact in by]))
    for at, sentence in enumerate(hinges(verdict)):
        screen.labeled("" if at else "HINGES ON", screen.shown(sentence))
    _words(screen, "WHY", voices(verdict))
    dissenters = {vote.seat.name for vote in verdict.dissent}
    _words(screen, "DISSENT", [cast for cast in last_words(verdict) if cast.seat.name in dissenters], ids)


def _undecided(screen: Screen, verdict: Verdict, decision: Undecided) -> None:
    screen.labeled("NO VERDICT", screen.shown(undecided_text(decision), "bold"), "bold red")
    screen.labeled("", Text(split(verdict)))
    screen.labeled("NEXT", screen.shown(next_step(verdict)))
    _words(screen, "VOTE", voices(verdict))


def _words(screen: Screen, label: str, seats: Sequence[Cast], ids: dict[str, str] | None = None) -> None:
    """Judges in their own words, and which findings they raise."""
    for cast in seats:
        ballot = cast.ballot
        if ballot is None:
            continue
        said = f': "{ballot.reason}"' if ballot.reason else ""
        who = f"{cast.seat.name} ({ballot.bracket.label}, {score_text(ballot.score)})"
        screen.labeled(label, Text.assemble(screen.shown(who, "bold"), screen.shown(said)))
        raises = [ids[finding.key] for finding in ballot.findings if ids is not None and finding.key in ids]
        if raises:
            screen.labeled("", screen.shown(f"raises {', '.join(raises)}"))


# --- the whole -------------------------------------------------------------------------------------


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
    _scored(screen, evaluation)
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


def _scored(screen: Screen, evaluation: Evaluation) -> None:
    outcome = evaluation.outcome
    bracket = evaluation.bracket
    if isinstance(outcome, Unscored) or bracket is None:
        detail = outcome.detail if isinstance(outcome, Unscored) else ""
        why = outcome.why if isinstance(outcome, Unscored) else ""
        screen.labeled("NO SCORE", screen.shown(f"{why}: {detail}" if detail else why, "bold"), "bold red")
    else:
        origin = "" if outcome.origin == "measured" else f"{screen.signs.dot}{outcome.origin}"
        head = _headline(screen, bracket, outcome.score)
        screen.labeled("SCORE", Text("  ").join([head, screen.shown(f"{reason_text(evaluation)}{origin}")]))
    if evaluation.missing:
        names = ", ".join(evaluation.missing)
        screen.labeled("MISSING", screen.shown(f"{names} (coverage {evaluation.coverage:.2f})"), "bold red")


def _score(evaluation: Evaluation, none: Text) -> Text:
    return none if evaluation.score is None else Text(score_text(evaluation.score))


def _bracket_or_why(screen: Screen, evaluation: Evaluation) -> Text:
    bracket = evaluation.bracket
    if bracket is not None:
        return screen.bracket(bracket)
    return Text(evaluation.outcome.why if isinstance(evaluation.outcome, Unscored) else "", "red")


def _headline(screen: Screen, bracket: Bracket, score: float) -> Text:
    return Text.assemble(
        screen.bracket(bracket, "bold"), (f"  {score_text(score)}/100", "bold"), f" ({normalized_text(score)})"
    )


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
            Text.assemble(screen.shown(f"{finding.id} "), (severity, _SEVERITY_STYLES[finding.severity])),
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
