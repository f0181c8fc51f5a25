"""Anchors scored again over time, as the ledger has them: every vote of a judge on a case that people have labeled.

A vote that was read back is the same vote: it counts once, when it was cast. ``--fresh`` asks anew, and counts again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from deliberate.gates import verdicts_of
from deliberate.ledger import Reader, Run
from deliberate.library import judge_digest, version_of
from deliberate.studies.drift import Scored
from deliberate.types import Answer, Evaluation, Key

__all__ = ["Judging", "rescored"]


class Judging(NamedTuple):
    """A judge by a rubric: model, digest of the judge, name and digest of the rubric."""

    judge: str
    judge_digest: str
    rubric: str
    rubric_digest: str


async def rescored(reader: Reader, wanted: Mapping[str, int]) -> dict[Judging, tuple[Scored, ...]]:
    """Votes on anchors by judge and rubric, in the order they were cast.

    Args:
        reader: Of a ledger.
        wanted: What people say, 0 Poor to 3 Excellent, by digest of the case, or by the start of one (8 signs or more).

    Raises:
        LedgerError: The ledger cannot be read.
    """
    found: dict[Judging, dict[Key, Scored]] = {}
    for run in reversed(await reader.runs()):
        stored = await _stored(reader, run)
        after = ""
        while steps := await reader.results(run.run, after=after):
            for step in steps:
                said = msgspec.json.decode(step.body or b"", type=Evaluation) if step.kind == "Evaluation" else None
                for of, answer, right in () if said is None else _votes(said, wanted):
                    key = stored.get(answer.key, answer.key)
                    votes = found.setdefault(of, {})
                    if key not in votes:
                        attempts = await reader.attempts(key)
                        at = attempts[-1].at if attempts else run.started_at
                        votes[key] = Scored(at=at, version=version_of(answer), right=right)
            after = steps[-1].path
    return {of: tuple(sorted(votes.values(), key=lambda one: one.at)) for of, votes in found.items()}


def _votes(evaluation: Evaluation, wanted: Mapping[str, int]) -> Iterator[tuple[Judging, Answer, float]]:
    """Votes of judges on anchors, and whether each says what people say."""
    for verdict in verdicts_of(evaluation):
        label = _label(verdict.digests["case"], wanted)
        for vote in verdict.votes if label is not None else ():
            judge = vote.seat.judge
            if vote.ballot is not None and not judge.human:
                rubric = (verdict.panel.rubric or "").partition("@")[0]
                of = Judging(judge.model, judge_digest(judge), rubric, verdict.digests.get("rubric", ""))
                yield of, vote.answer, float(vote.ballot.bracket == label)


def _label(case: str, wanted: Mapping[str, int]) -> int | None:
    return next((label for item, label in wanted.items() if len(item) >= 8 and case.startswith(item)), None)  # noqa: PLR2004  as names are cut


async def _stored(reader: Reader, run: Run) -> dict[Key, Key]:
    """The keys of a run's answers, each under its content key: what was asked anew stands under a key of its own."""
    found: dict[Key, Key] = {}
    after = ""
    while steps := await reader.steps(run.run, kinds=("Answer",), after=after):
        found.update((Key(step.key.partition("@")[0]), step.key) for step in steps)
        after = steps[-1].path
    return found
