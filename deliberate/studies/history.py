"""What the ledger knows of past judgments: one record a judgment by dimensions, oldest first."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from deliberate.ledger import Reader, Run
from deliberate.types import Case, DimensionScore, Evaluation, Finding, Record

__all__ = ["Judged", "history"]


class Judged(Record, frozen=True, kw_only=True):
    """A case as one rubric judged it; ``score`` is 0–100, ``at`` UTC in ISO 8601, ``votes`` brackets by judge."""

    at: str
    case: str
    name: str = ""
    category: str = ""
    rubric: str = ""
    rubric_digest: str = ""
    score: float = 0.0
    dimensions: tuple[DimensionScore, ...] = ()
    findings: tuple[Finding, ...] = ()
    votes: tuple[tuple[str, int], ...] = ()


async def history(reader: Reader, *, since: str = "") -> tuple[Judged, ...]:
    """All judgments by dimensions that were made since a time; one that was only carried along is none.

    Raises:
        LedgerError: The ledger cannot be read.
    """
    found: list[Judged] = []
    for run in reversed(await reader.runs()):
        if run.started_at >= since:
            found += await _of_run(reader, run)
    return tuple(found)


async def _of_run(reader: Reader, run: Run) -> list[Judged]:
    found: list[Judged] = []
    cases: dict[str, Case] = {}
    after = ""
    while steps := await reader.steps(run.run, kinds=("Case", "Evaluation"), after=after):
        for step in steps:  # a case stands before its result: "…/case" < "…/result"
            name = step.path.rpartition("/")[0]
            body = step.body or b""
            if step.kind == "Case":
                cases[name] = msgspec.json.decode(body, type=Case)
            else:
                case = cases.pop(name, Case(output=""))
                found += _judged(msgspec.json.decode(body, type=Evaluation), case, name=name, at=run.started_at)
        after = steps[-1].path
    return found


def _judged(evaluation: Evaluation, case: Case, *, name: str, at: str) -> Iterator[Judged]:
    for part in evaluation.parts:
        yield from _judged(part.evaluation, case, name=name, at=at)
    verdict = evaluation.verdict
    carried = evaluation.decision.startswith("skipped") or "stale" in evaluation.flags
    if verdict is None or carried or evaluation.score is None or not evaluation.dimensions:
        return
    yield Judged(
        at=at,
        case=case.digest,
        name=name,
        category=(case.category or "").strip(),
        rubric=(verdict.panel.rubric or "").partition("@")[0],
        rubric_digest=verdict.digests.get("rubric", ""),
        score=evaluation.score,
        dimensions=evaluation.dimensions,
        findings=evaluation.findings,
        votes=tuple(
            (vote.seat.name, int(vote.ballot.bracket))
            for vote in verdict.votes
            if vote.ballot is not None and not vote.seat.dimensions
        ),
    )
