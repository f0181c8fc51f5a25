"""A panel as an instrument: what evaluators that ask judges are made of.

One prompt path, one reader, one retry path: an evaluator of this kind brings a panel, and a form if the protocol's own
will not do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from deliberate.evaluators._base import Evaluator
from deliberate.evaluators._deliberate import deliberate
from deliberate.runtime import Runtime
from deliberate.types import (
    Ballot,
    Case,
    Decided,
    DimensionScore,
    Evaluation,
    Form,
    Panel,
    Scored,
    Undecided,
    Unscored,
    Verdict,
)

__all__ = ["by_panel"]


async def by_panel(
    evaluator: Evaluator, panel: Panel, *, case: Case, runtime: Runtime, forms: Sequence[Form] = ()
) -> Evaluation:
    """The panel's verdict as an evaluation.

    Output without a letter or a digit is decided Poor by a free gate, with no call.
    """
    if not any(sign.isalnum() for sign in case.output):
        return _degenerate(evaluator)
    rubric = None if panel.rubric is None else runtime.library.rubric(panel.rubric)
    verdict = await deliberate(case, panel, runtime=runtime, rubric=rubric, forms=forms)
    return _evaluation(evaluator, verdict)


def _evaluation(evaluator: Evaluator, verdict: Verdict) -> Evaluation:
    """What a verdict says, as an evaluation."""
    decision = verdict.decision
    ballots = [vote.ballot for vote in verdict.votes if vote.ballot is not None]
    outcome: Scored | Unscored
    if isinstance(decision, Decided):
        outcome = Scored(score=decision.score, raw=decision.score)
        reason = f"{decision.bracket.label}, {_split(verdict)}"
    else:
        outcome = _undecided(decision)
        reason = outcome.detail
    return Evaluation(
        evaluator=evaluator.name,
        outcome=outcome,
        reason=reason,
        suggestion=next((ballot.suggestion for ballot in sorted(ballots, key=_by_score) if ballot.suggestion), ""),
        flags=verdict.flags,
        dimensions=_dimensions(ballots),
        findings=tuple(
            msgspec.structs.replace(one.finding, id=f"F{at}") for at, one in enumerate(verdict.findings, start=1)
        ),
        verdict=verdict,
        usage=verdict.usage,
    )


def _by_score(ballot: Ballot) -> float:
    return ballot.score


def _undecided(decision: Undecided) -> Unscored:
    return Unscored(why="undecided", detail=f"{decision.why}: {decision.detail}")


def _split(verdict: Verdict) -> str:
    votes = [vote for vote in verdict.votes if vote.ballot is not None]
    return f"{len(votes) - len(verdict.dissent)} of {len(votes)} votes"


def _degenerate(evaluator: Evaluator) -> Evaluation:
    return Evaluation(
        evaluator=evaluator.name,
        outcome=Scored(score=0.0, raw=0.0),
        reason="Poor without a call: the output holds no letter and no digit",
        flags=("degenerate",),
    )


def _dimensions(ballots: Sequence[Ballot]) -> tuple[DimensionScore, ...]:
    """The mean over all ballots of each dimension they scored: report only."""
    found: dict[str, list[DimensionScore]] = {}
    for ballot in ballots:
        for one in ballot.dimensions:
            found.setdefault(one.dimension, []).append(one)
    return tuple(
        DimensionScore(
            dimension=name,
            weight=scores[0].weight,
            judged=round(math.fsum(one.judged for one in scores) / len(scores), 9),
            adjusted=round(math.fsum(one.adjusted for one in scores) / len(scores), 9),
        )
        for name, scores in found.items()
    )
