"""What became of an earlier evaluation, and which rubric was chosen: said in the same words by every rendering."""

from __future__ import annotations

from collections.abc import Iterator

from deliberate.reports._facts import panel_parts
from deliberate.reports._words import score_text
from deliberate.types import Evaluation, Finding, Revision

__all__ = ["again_lines", "in_part", "state_text"]


def again_lines(evaluation: Evaluation) -> tuple[tuple[str, str], ...]:
    """What is to be said, each with its label, of the whole and of every panel within it.

    The rubric that was chosen and why; and of a further iteration the decision, the tokens saved, the scores carried
    over, the findings resolved and the feedback, line by line.
    """
    return tuple(_lines(evaluation))


def _lines(evaluation: Evaluation) -> Iterator[tuple[str, str]]:
    for path, one in [
        ("", evaluation),
        *((part.path, part.evaluation) for part in panel_parts(evaluation) if part.path),
    ]:
        told = {"rubric": _rubric(one)}
        if _is_again(one):
            told |= {"decision": _decision(one), "saved": _saved(one), "carried": _carried(one)}
        yield from ((label, f"{path}: {text}" if path else text) for label, text in told.items() if text)
    if _is_again(evaluation):
        yield from (("resolved", _resolved(one)) for one in evaluation.resolved)
        yield from (("feedback", line.removeprefix("- ")) for line in evaluation.feedback.splitlines())


def _is_again(evaluation: Evaluation) -> bool:
    """Whether there was an earlier iteration."""
    return evaluation.revision is not None and evaluation.revision.iteration > 1


def in_part(evaluation: Evaluation) -> bool:
    """Whether the votes of its panel are on some dimensions alone, so that the score is not theirs."""
    return evaluation.revision is not None and bool(evaluation.revision.affected)


def _decision(evaluation: Evaluation) -> str:
    """What was decided and why: ``"full (iteration 5): every 5. iteration …"``."""
    told = evaluation.revision or Revision()
    why = f": {told.why}" if told.why else ""
    changed = (
        f"; {told.changed:.1%} of the text changed" if told.changed and evaluation.decision == "incremental" else ""
    )
    return f"{evaluation.decision} (iteration {told.iteration}){why}{changed}"


def _saved(evaluation: Evaluation) -> str:
    """Tokens beside those of the last full evaluation: ``"704 of 1,530 tokens saved (46%)"``; empty if it was full."""
    told = evaluation.revision
    if told is None or evaluation.decision == "full" or not told.tokens_full:
        return ""
    saved = told.tokens_saved
    if saved < 0:
        return f"{told.tokens:,} tokens, {-saved:,} more than the last full evaluation"
    return f"{saved:,} of {told.tokens_full:,} tokens saved ({saved / told.tokens_full:.0%})"


def _carried(evaluation: Evaluation) -> str:
    """The scores that stand from before: ``"safety 70, style 88"``."""
    return ", ".join(
        f"{one.dimension} {score_text(one.adjusted)}" for one in evaluation.dimensions if one.origin == "carried"
    )


def _rubric(evaluation: Evaluation) -> str:
    """The rubric that was chosen for the case, and why; empty if it was named."""
    name, why = (str(evaluation.details.get(key, "")) for key in ("rubric", "rubric_why"))
    return f"{name}: {why}" if name and why else ""


def state_text(evaluation: Evaluation, finding: Finding) -> str:
    """What became of a finding since the last iteration, and whether it was taken over unjudged; empty in a first."""
    if not _is_again(evaluation):
        return ""
    return f"{finding.state}, carried" if "carried" in finding.flags else finding.state


def _resolved(finding: Finding) -> str:
    """A finding that no longer holds: ``"F1 (important, style): Long lines"``."""
    about = f"{finding.severity}, {finding.dimension}" if finding.dimension else finding.severity
    return f"{finding.id} ({about}): {finding.title}"
