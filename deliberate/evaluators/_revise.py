"""A panel evaluates again: what it said stands where nothing can have moved it, and is asked anew where something can.

``revised`` gives the evaluation in which the earlier one stands, wholly or in part, or says why the whole has to be
judged. The decisions themselves are in ``_revision``; here is what they need from outside: the earlier output, which
is on record, and the votes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import anyio.to_thread
import msgspec

from deliberate.evaluators._deliberate import deliberate
from deliberate.evaluators._revision import (
    Change,
    Standing,
    affected_by,
    carried,
    change_between,
    full_because,
    merged,
    skipped,
    too_many,
)
from deliberate.judging import affecting_form, key_of_case, revision_form
from deliberate.runtime import Runtime
from deliberate.types import (
    Ballot,
    Carry,
    Case,
    Decided,
    Evaluation,
    Key,
    Panel,
    Part,
    Revised,
    Revision,
    Rubric,
    Rules,
    Scored,
    Seat,
    Undecided,
    Usage,
    Verdict,
    bracket_of,
    digest_of,
    laid_out,
    same_name,
)

__all__ = ["Anew", "basis_of", "begun", "earlier_case", "revised", "tokens_of", "whole_stands"]

_WHOLE = 1410
"""Characters of an ask about the whole besides rubric and output: instructions, severities, the form of the reply."""
_AGAIN = 2640
"""Characters of an ask about a change besides the change: as above, with one section of the rubric, its severity guide
and what was said before."""
_AROUND = 485
"""Characters of the ask which dimensions are affected, besides its template."""
_WORTH = 0.8
"""The most that asking about the change may take of what asking about the whole takes, all in characters. The numbers
are those of the bundled rubrics, which are 1,150 to 1,450 characters long, and of the local judge's prompts on the
pairs of ``benchmarks/incremental.py``: 1,405 to 1,413 characters besides rubric and output, 2,642 besides the change,
482 to 499 besides the template. A judge that reads no rubric saves less, so that what saves little for others would
cost it more."""
_LIKELY = 50.0
"""From here on (0–100) a dimension that a judge was asked about counts as affected."""

_EVIDENCE = ("test_runner", "static_analysis")
"""The evaluators whose word, on the current output, can stand in for a judge's."""
_ALL = 100.0


class Anew(NamedTuple):
    """Why the whole has to be judged, and what it took to find that out."""

    why: str
    usage: Usage = Usage()


def basis_of(panel: Panel, rubric: Rubric | None) -> str:
    """Digest of how a panel judges: its seats, protocol and rules, and the rubric as it stands."""
    return _basis(panel.digest, panel.rules, None if rubric is None else rubric.digest)


@lru_cache(maxsize=128)
def _basis(panel: str, rules: Rules, rubric: str | None) -> str:
    return digest_of([panel, rules, rubric])


def tokens_of(usage: Usage) -> int:
    """Tokens in and out together."""
    return usage.tokens_in + usage.tokens_out


def begun(case: Case, previous: Evaluation | None, *, basis: str) -> Revision:
    """Where this evaluation stands in its chain; the session puts every case on record, under this key."""
    key = key_of_case(case)
    before = None if previous is None else previous.revision
    iteration = 1 if previous is None else 1 + (before.iteration if before is not None else 1)
    return Revision(iteration=iteration, case=key, basis=basis, tokens_full=0 if before is None else before.tokens_full)


async def earlier_case(previous: Evaluation, *, runtime: Runtime) -> Case | None:
    """The case an evaluation was about, from the record; None if it is not there."""
    if previous.revision is None or not previous.revision.case:
        return None
    body = await runtime.ledger.read(Key(previous.revision.case))
    return None if body is None else msgspec.json.decode(body, type=Case)


async def whole_stands(
    case: Case,
    previous: Evaluation,
    fresh: Sequence[Part],
    *,
    runtime: Runtime,
    revision: Revision,
    carry: Carry,
) -> Evaluation | None:
    """The previous evaluation of a whole with the fresh free results beside it, if nobody need be asked; else None.

    Args:
        case: What is judged now.
        previous: What was said before.
        fresh: The free parts, run on this case.
        runtime: The doors.
        revision: Where this evaluation stands in its chain.
        carry: The rule.
    """
    earlier = await earlier_case(previous, runtime=runtime)
    if earlier is None or _incomparable(previous, revision):
        return None
    before = {part.name: part.evaluation for part in previous.parts}
    evidence: dict[str, bool | None] = dict.fromkeys(_EVIDENCE)
    for part in fresh:
        if part.evaluation.evaluator in _EVIDENCE:
            evidence[part.evaluation.evaluator] = _passed(part.evaluation)
    changed = [
        part.name for part in fresh if part.name not in before or before[part.name].score != part.evaluation.score
    ]
    decision = skipped(
        Standing(output=earlier.digest, normalized=previous.normalized),
        Standing(output=case.digest, evidence=evidence),
        carry=carry,
    )
    others = [part.name for part in fresh if part.evaluation.evaluator not in _EVIDENCE]
    if not decision or (set(changed) & set(others if decision == "skipped: confident" else changed)):
        return None
    why = {
        "skipped: identical": "the output is the same",
        "skipped: confident": f"{previous.score:g} before, and its own tests and static analysis pass",
    }[decision]
    told = msgspec.structs.replace(revision, why=why)
    found = carried(previous, decision=decision, revision=told, usage=Usage())
    here = {part.name: part for part in fresh}
    parts = tuple(
        here[part.name]
        if part.name in here
        else msgspec.structs.replace(
            part, evaluation=carried(part.evaluation, decision=decision, revision=_next(part, why), usage=Usage())
        )
        for part in previous.parts
    )
    return msgspec.structs.replace(found, parts=parts)


def _next(part: Part, why: str) -> Revision:
    """A part's place in its chain, one iteration on; the case it was really about stays the one to compare with."""
    before = part.evaluation.revision or Revision()
    return msgspec.structs.replace(before, iteration=before.iteration + 1, why=why, changed=None, tokens=0)


def _passed(evaluation: Evaluation) -> bool | None:
    """Whether a check passed wholly; None if it did not apply."""
    if isinstance(evaluation.outcome, Scored):
        return evaluation.outcome.score == _ALL
    return None if evaluation.outcome.why == "skipped" else False


async def revised(
    case: Case,
    panel: Panel,
    *,
    runtime: Runtime,
    rubric: Rubric,
    previous: Evaluation,
    revision: Revision,
    carry: Carry,
) -> Evaluation | Anew:
    """The evaluation in which the earlier one stands, wholly or in part; or why the whole has to be judged.

    A partial judgment that fails leaves the earlier evaluation standing, marked as carried and ``stale``.
    """
    earlier = await earlier_case(previous, runtime=runtime)
    why = _incomparable(previous, revision)
    if earlier is None or why:
        return Anew(why if earlier is not None else "the earlier output is not on this record")
    before = Standing(output=earlier.digest, normalized=previous.normalized)
    if decision := skipped(before, Standing(output=case.digest), carry=carry):
        told = msgspec.structs.replace(revision, why="the output is the same", changed=0.0)
        return carried(previous, decision=decision, revision=told, usage=Usage())
    change = await anyio.to_thread.run_sync(change_between, earlier.output, case.output)
    revision = msgspec.structs.replace(revision, changed=change.share)
    only_output = msgspec.structs.replace(earlier, output=case.output).digest == case.digest
    why = full_because(revision.iteration, change, carry=carry) if only_output else "more than the output changed"
    if why:
        return Anew(why)
    moved = await _moved(case, panel, change, runtime=runtime, rubric=rubric, previous=previous, carry=carry)
    if isinstance(moved, Anew):
        return moved
    affected, asked = moved
    if not affected:
        told = msgspec.structs.replace(revision, why="the change moves no dimension", tokens=tokens_of(asked))
        return carried(previous, decision="incremental", revision=told, usage=asked)
    return await _in_part(
        case, panel, change, affected, runtime=runtime, rubric=rubric, previous=previous, revision=revision, asked=asked
    )


def _incomparable(previous: Evaluation, revision: Revision) -> str:
    """Why nothing of an earlier evaluation can stand; "" if something can."""
    if not isinstance(previous.outcome, Scored):
        return "there is no earlier score"
    basis = "" if previous.revision is None else previous.revision.basis
    return "" if basis == revision.basis else "panel, rules or rubric changed"


async def _moved(
    case: Case,
    panel: Panel,
    change: Change,
    *,
    runtime: Runtime,
    rubric: Rubric,
    previous: Evaluation,
    carry: Carry,
) -> tuple[tuple[str, ...], Usage] | Anew:
    """The dimensions a change can have moved, and what asking for them took; or why the whole has to be judged."""
    found = await anyio.to_thread.run_sync(affected_by, change, rubric.dimensions)
    least = _AGAIN + len(change.text)
    if found is None:
        least += _AROUND + len(affecting_form(dimensions=rubric.dimensions, change=change.text).template)
    if least > _WORTH * (_WHOLE + len(rubric.body) + len(case.output)):
        return Anew("judging only the change would save too little")
    usage = Usage()
    if found is None:
        found, usage = await _asked_affected(case, panel, change, runtime, rubric)
    if found is None:
        return Anew("nobody could say which dimensions the change affects", usage)
    why = too_many(found, rubric.dimensions, previous.findings, carry=carry)
    return Anew(why, usage) if why else (found, usage)


async def _asked_affected(
    case: Case, panel: Panel, change: Change, runtime: Runtime, rubric: Rubric
) -> tuple[tuple[str, ...] | None, Usage]:
    """The dimensions a change can have moved, by one cheap ask of the panel's first model; and what that took."""
    asked = next((seat for seat in panel.voters if not seat.judge.human), None)
    if asked is None:
        return None, Usage()
    form = affecting_form(dimensions=rubric.dimensions, change=change.text)
    one = Panel(seats=(Seat(name="affecting", judge=asked.judge),), rubric=panel.rubric, form=form.name)
    verdict = await deliberate(case, one, runtime=runtime, rubric=_about_change(rubric), forms=(form,))
    ballots = [vote.ballot for vote in verdict.votes if vote.ballot is not None]
    if not ballots:
        return None, verdict.usage
    names = tuple(one.dimension for one in ballots[0].dimensions if one.judged >= _LIKELY)
    return names, verdict.usage


def _about_change(rubric: Rubric) -> Rubric:
    """The rubric with a question about the change, for judges that answer questions."""
    asked = tuple(
        msgspec.structs.replace(one, question=f"Does this change bear on the question: {_question(one.description)}")
        for one in rubric.dimensions
    )
    return msgspec.structs.replace(rubric, dimensions=asked, severity="advisory")


def _question(text: str) -> str:
    return text if text.endswith("?") else f"{text.rstrip('.')}?"


async def _in_part(
    case: Case,
    panel: Panel,
    change: Change,
    affected: tuple[str, ...],
    *,
    runtime: Runtime,
    rubric: Rubric,
    previous: Evaluation,
    revision: Revision,
    asked: Usage,
) -> Evaluation:
    wanted = tuple(one for one in rubric.dimensions if one.name in affected)
    form = revision_form(
        rubric=rubric,
        dimensions=wanted,
        change=change.text,
        before=[one for one in previous.dimensions if one.dimension in affected],
        findings=[one for one in previous.findings if any(same_name(one.dimension, each.name) for each in wanted)],
    )
    verdict = await deliberate(
        case, _only(panel, rubric, affected, form.name), runtime=runtime, rubric=rubric, forms=(form,)
    )
    usage = asked + verdict.usage
    revision = msgspec.structs.replace(revision, tokens=tokens_of(usage))
    ballots = [vote.ballot for vote in verdict.votes if vote.ballot is not None]
    if not isinstance(verdict.decision, Decided) or not _covered(ballots, affected):
        judged = "" if previous.revision is None else previous.revision.case  # nobody has judged what came after it
        told = msgspec.structs.replace(revision, case=judged, why=f"judging the change failed ({_why(verdict)})")
        return carried(previous, decision="incremental", revision=told, usage=usage, flags=("stale",))
    votes = [(one.dimensions, one.findings, one.resolved if isinstance(one, Revised) else ()) for one in ballots]
    found = merged(previous, votes, mode=rubric.severity)
    why = f"{len(affected)} of {len(rubric.dimensions)} dimensions judged again: {', '.join(affected)}"
    return Evaluation(
        evaluator=previous.evaluator,
        outcome=Scored(score=found.score, raw=found.score),
        reason=f"{bracket_of(found.score).label}: {why}",
        suggestion=next((one.suggestion for one in sorted(ballots, key=_by_score) if one.suggestion), ""),
        flags=verdict.flags,
        details=previous.details,
        decision="incremental",
        dimensions=found.dimensions,
        findings=found.findings,
        verdict=verdict,
        usage=usage,
        resolved=found.resolved,
        revision=msgspec.structs.replace(revision, why=why, affected=affected),
    )


def _only(panel: Panel, rubric: Rubric, affected: tuple[str, ...], form: str) -> Panel:
    """The panel, asked about these dimensions only; a seat that judges none of them stays away."""
    seats: list[Seat] = []
    for seat in laid_out(panel, rubric).seats:
        own = seat.dimensions or tuple(one.name for one in rubric.dimensions)
        left = tuple(name for name in affected if any(same_name(name, one) for one in own))
        if left:
            seats.append(msgspec.structs.replace(seat, dimensions=left))
    rules = panel.rules
    if isinstance(rules.quorum, int):
        voters = sum(seat.duty == "vote" for seat in seats)
        rules = msgspec.structs.replace(rules, quorum=max(1, min(rules.quorum, voters)))
    return msgspec.structs.replace(panel, seats=tuple(seats), rules=rules, form=form)


def _covered(ballots: list[Ballot], affected: tuple[str, ...]) -> bool:
    scored = [one.dimension for ballot in ballots for one in ballot.dimensions]
    return all(any(same_name(name, one) for one in scored) for name in affected)


def _why(verdict: Verdict) -> str:
    decision = verdict.decision
    return f"{decision.why}: {decision.detail}" if isinstance(decision, Undecided) else "a dimension is without a vote"


def _by_score(ballot: Ballot) -> float:
    return ballot.score
