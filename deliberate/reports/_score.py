"""A score on a terminal: bracket and number, where it comes from, or why there is none."""

from __future__ import annotations

from rich.text import Text

from deliberate.reports._screen import Screen
from deliberate.reports._words import normalized_text, reason_text, score_text
from deliberate.types import Bracket, Evaluation, Unscored

__all__ = ["headline", "show_score"]


def show_score(screen: Screen, evaluation: Evaluation) -> None:
    """Prints the score, or why there is none, and the parts that are missing from it."""
    outcome = evaluation.outcome
    bracket = evaluation.bracket
    if isinstance(outcome, Unscored) or bracket is None:
        detail = outcome.detail if isinstance(outcome, Unscored) else ""
        why = outcome.why if isinstance(outcome, Unscored) else ""
        screen.labeled("NO SCORE", screen.shown(f"{why}: {detail}" if detail else why, "bold"), "bold red")
    else:
        origin = "" if outcome.origin == "measured" else f"{screen.signs.dot}{outcome.origin}"
        head = headline(screen, bracket, outcome.score)
        screen.labeled("SCORE", Text("  ").join([head, screen.shown(f"{reason_text(evaluation)}{origin}")]))
    if evaluation.missing:
        names = ", ".join(evaluation.missing)
        screen.labeled("MISSING", screen.shown(f"{names} (coverage {evaluation.coverage:.2f})"), "bold red")


def headline(screen: Screen, bracket: Bracket, score: float) -> Text:
    """Bracket and number, out of 100 and normalized."""
    return Text.assemble(
        screen.bracket(bracket, "bold"), (f"  {score_text(score)}/100", "bold"), f" ({normalized_text(score)})"
    )
