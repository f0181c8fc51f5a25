"""What became of an earlier evaluation, and which rubric was chosen: said in the same words by every rendering."""

from __future__ import annotations

from deliberate.reports._words import score_text
from deliberate.types import Evaluation, Finding

__all__ = [
    "carried_text",
    "decision_text",
    "in_part",
    "is_again",
    "resolved_text",
    "rubric_text",
    "saved_text",
    "state_text",
]


def is_again(evaluation: Evaluation) -> bool:
    """Whether there was an earlier iteration."""
    return evaluation.revision is not None and evaluation.revision.iteration > 1


def in_part(evaluation: Evaluation) -> bool:
    """Whether the votes of its panel are on some dimensions alone, so that the score is not theirs."""
    return evaluation.revision is not None and bool(evaluation.revision.affected)


def decision_text(evaluation: Evaluation) -> str:
    """What was decided and why: ``"full (iteration 5): every 5. iteration …"``; empty for a first iteration."""
    told = evaluation.revision
    if told is None or told.iteration == 1:
        return ""
    why = f": {told.why}" if told.why else ""
    changed = "" if told.changed is None else f"; {told.changed:.0%} of the text changed"
    return f"{evaluation.decision} (iteration {told.iteration}){why}{changed}"


def saved_text(evaluation: Evaluation) -> str:
    """Tokens beside those of the last full evaluation: ``"704 of 1,530 tokens saved (46%)"``; empty if it was full."""
    told = evaluation.revision
    if told is None or evaluation.decision == "full" or not told.tokens_full:
        return ""
    saved = told.tokens_saved
    if saved < 0:
        return f"{told.tokens:,} tokens, {-saved:,} more than the last full evaluation"
    return f"{saved:,} of {told.tokens_full:,} tokens saved ({saved / told.tokens_full:.0%})"


def carried_text(evaluation: Evaluation) -> str:
    """The scores that stand from before: ``"safety 70, style 88"``."""
    return ", ".join(
        f"{one.dimension} {score_text(one.adjusted)}" for one in evaluation.dimensions if one.origin == "carried"
    )


def rubric_text(evaluation: Evaluation) -> str:
    """The rubric that was chosen for the case, and why; empty if it was named."""
    name, why = (str(evaluation.details.get(key, "")) for key in ("rubric", "rubric_why"))
    return f"{name}: {why}" if name and why else ""


def state_text(evaluation: Evaluation, finding: Finding) -> str:
    """What became of a finding since the last iteration, and whether it was taken over unjudged; empty in a first."""
    if not is_again(evaluation):
        return ""
    return f"{finding.state}, carried" if "carried" in finding.flags else finding.state


def resolved_text(finding: Finding) -> str:
    """A finding that no longer holds: ``"F1 (important, style): Long lines"``."""
    about = f"{finding.severity}, {finding.dimension}" if finding.dimension else finding.severity
    return f"{finding.id} ({about}): {finding.title}"
