"""A panel as an instrument: what evaluators that ask judges are made of.

One prompt path, one reader, one retry path: an evaluator of this kind brings a panel of one or more seats
(``seated``, so that what it will ask can be told before it asks), and a form if the protocol's own will not do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol as Contract

import msgspec

from deliberate.evaluators._base import Evaluator
from deliberate.evaluators._deliberate import deliberate
from deliberate.evaluators._revise import Anew, basis_of, begun, revised, tokens_of
from deliberate.evaluators._revision import followed
from deliberate.library import pinned_name
from deliberate.runtime import Runtime
from deliberate.types import (
    AUTO,
    Absent,
    Ballot,
    Carry,
    Case,
    Decided,
    DimensionScore,
    Evaluation,
    Finding,
    Form,
    Judge,
    Panel,
    Param,
    Rubric,
    Scored,
    Seat,
    Undecided,
    Unscored,
    UnscoredWhy,
    Verdict,
    raw_of,
)

__all__ = ["Judging", "alone", "by_judge", "by_number", "by_panel", "judged_by", "suggestion_of"]


class Judging(Evaluator, Contract):
    """An evaluator that asks judges."""

    def seated(self, runtime: Runtime) -> Panel | None:
        """Who will be asked; None if nobody will be.

        Raises:
            ConfigError: No model is named, here or by the session.
        """
        ...


def alone(judge: Judge, *, form: Form, criteria: str = "", rubric: str | None = None) -> Panel:
    """A panel of one seat."""
    return Panel(seats=(Seat(name="judge", judge=judge),), rubric=rubric, criteria=criteria, form=form.name)


async def by_judge(evaluator: Judging, panel: Panel, form: Form, *, case: Case, runtime: Runtime) -> Evaluation:
    """What a lone judge says; where it says nothing that counts, its own cause stands in place of a missed quorum."""
    found = await by_panel(evaluator, panel, case=case, runtime=runtime, forms=(form,))
    verdict = found.verdict
    if verdict is None or not isinstance(verdict.decision, Undecided) or verdict.decision.why != "no_quorum":
        return found
    (reply,) = (vote.answer.reply for vote in verdict.votes)
    if not isinstance(reply, Absent):
        return found
    why: UnscoredWhy = "abstained" if reply.state == "abstained" else "failed"
    outcome = Unscored(why=why, detail=f"{reply.reason}: {reply.detail}")
    return msgspec.structs.replace(found, outcome=outcome, reason=outcome.detail)


async def by_number(evaluator: Judging, panel: Panel, form: Form, *, case: Case, runtime: Runtime) -> Evaluation:
    """A lone judge's number on the form's scale, with its own reason."""
    found = await by_judge(evaluator, panel, form, case=case, runtime=runtime)
    outcome = found.outcome
    if isinstance(outcome, Scored):
        outcome = msgspec.structs.replace(outcome, raw=raw_of(outcome.score, scale=form.scale), scale=form.scale)
    said = [vote.ballot.reason for vote in found.verdict.votes if vote.ballot] if found.verdict is not None else []
    return msgspec.structs.replace(found, outcome=outcome, reason="".join(said) or found.reason)


async def by_panel(
    evaluator: Evaluator,
    panel: Panel,
    *,
    case: Case,
    runtime: Runtime,
    forms: Sequence[Form] = (),
    previous: Evaluation | None = None,
    carry: Carry | None = None,
    files: Sequence[str] = (),
) -> Evaluation:
    """The panel's verdict as an evaluation.

    Output without a letter or a digit is decided Poor by a free gate, with no call; unless the reference has none
    either. A panel by the rubric ``auto`` judges by the one that fits the case; which, and why, is in ``details``.
    What a panel with a rubric said before may stand, wholly or in part (``_revise``).
    """
    if _says_nothing(case.output) and (case.reference is None or not _says_nothing(case.reference)):
        return _degenerate(evaluator)
    panel, rubric, details = judged_by(panel, case, runtime=runtime, files=files)
    revision = begun(case, previous, basis=basis_of(panel, rubric))
    anew = Anew("" if previous is None else "only panels that judge by dimensions evaluate in part")
    if previous is not None and rubric is not None and rubric.dimensions and not forms:
        found = await revised(
            case,
            panel,
            runtime=runtime,
            rubric=rubric,
            previous=previous,
            revision=revision,
            carry=Carry() if carry is None else carry,
        )
        if isinstance(found, Evaluation):
            return msgspec.structs.replace(found, details={**found.details, **details})
        anew = found
    verdict = await deliberate(case, panel, runtime=runtime, rubric=rubric, forms=forms)
    whole = _evaluation(evaluator, verdict)
    findings, resolved = (whole.findings, ()) if previous is None else followed(whole.findings, previous)
    usage = anew.usage + whole.usage
    return msgspec.structs.replace(
        whole,
        details=details,
        findings=findings,
        resolved=resolved,
        usage=usage,
        revision=msgspec.structs.replace(
            revision, why=anew.why, tokens=tokens_of(usage), tokens_full=tokens_of(whole.usage)
        ),
    )


def judged_by(
    panel: Panel, case: Case, *, runtime: Runtime, files: Sequence[str] = ()
) -> tuple[Panel, Rubric | None, Mapping[str, Param]]:
    """The panel with its rubric, the one that fits the case where it is ``auto``, and how that was chosen."""
    if panel.rubric != AUTO:
        return panel, None if panel.rubric is None else runtime.library.rubric(panel.rubric), {}
    choice = runtime.library.choose(case, files=files)
    found = choice.rubric
    named = runtime.library.rubric(found.name).digest == found.digest
    details = {"rubric": found.name, "rubric_source": found.source, "rubric_by": choice.by, "rubric_why": choice.why}
    chosen = msgspec.structs.replace(panel, rubric=found.name if named else pinned_name(found))
    return chosen, found, {**details, "rubric_refused": choice.refused}


def suggestion_of(findings: Sequence[Finding]) -> str:
    """What to do next, made from findings: each Blocker, then each Important, with its fix; else the Suggestions.

    >>> suggestion_of([Finding(severity="important", dimension="", title="Memory leak", fix="close the file")])
    'Mend: Memory leak (close the file).'
    """
    for word, severities in (("Mend", ("blocker", "important")), ("Consider", ("suggestion",))):
        named = [one for severity in severities for one in findings if one.severity == severity]
        if named:
            return f"{word}: {'; '.join(f'{one.title} ({one.fix})' if one.fix else one.title for one in named)}."
    return ""


def _says_nothing(text: str) -> bool:
    return not any(sign.isalnum() for sign in text)


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
    findings = tuple(
        msgspec.structs.replace(one.finding, id=f"F{at}", state="new")
        for at, one in enumerate(verdict.findings, start=1)
    )
    said = next((ballot.suggestion for ballot in sorted(ballots, key=_by_score) if ballot.suggestion), "")
    return Evaluation(
        evaluator=evaluator.name,
        outcome=outcome,
        reason=reason,
        suggestion=said or suggestion_of(findings),
        flags=verdict.flags,
        dimensions=_dimensions(ballots),
        findings=findings,
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
            judged=round(math.fsum([one.judged for one in scores]) / len(scores), 9),
            adjusted=round(math.fsum([one.adjusted for one in scores]) / len(scores), 9),
        )
        for name, scores in found.items()
    )
