"""One panel on a terminal: its seats, its rounds, what it decided, and why."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from deliberate.reports._again import in_part
from deliberate.reports._facts import (
    Cast,
    PanelPart,
    by_dimension,
    last_words,
    others,
    quorum,
    rounds,
    severity_counts,
    voices,
)
from deliberate.reports._score import headline, show_score
from deliberate.reports._screen import SEVERITY_STYLES, Column, Screen
from deliberate.reports._words import (
    apart_text,
    hinges,
    missing,
    move_text,
    next_step,
    other_text,
    other_words,
    score_text,
    split,
    tie_text,
    undecided_text,
)
from deliberate.types import Bracket, Decided, Finding, Undecided, Verdict

__all__ = ["show_panel"]


def show_panel(screen: Screen, panel: PanelPart, ids: dict[str, str]) -> None:
    """Prints a panel; ``ids`` are those of findings in the whole, by key."""
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
        show_score(screen, panel.evaluation)
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
        Text(f"{count} {name.upper() if name == 'blocker' else name}", SEVERITY_STYLES[name]) for name, count in counts
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
    head = headline(screen, decision.bracket, decision.score)
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
