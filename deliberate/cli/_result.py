"""A result on its way out: terminal, JSON, files, exit code, all from one object."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from deliberate.agreement.percent_agreement import percent_agreement
from deliberate.errors import ConfigError
from deliberate.gates import Required, Result, result_of, verdicts_of
from deliberate.ledger import Reader
from deliberate.reports import export, print_evaluation, verdict_object
from deliberate.types import Case, Evaluation

__all__ = ["baseline_score", "print_result", "result_for"]


def result_for(evaluation: Evaluation, required: Required, *, baseline: float | None = None) -> Result:
    """How an evaluation ended, held against what was asked of it."""
    brackets = [
        [vote.ballot.bracket if vote.ballot is not None else None for vote in verdict.votes]
        for verdict in verdicts_of(evaluation)
    ]
    return result_of(evaluation, required, agreement=percent_agreement(brackets), baseline=baseline)


async def baseline_score(reader: Reader, run: str) -> float:
    """The score of an earlier run with one result.

    Raises:
        ConfigError: It has none, or several.
    """
    found = await reader.run(run)
    results = await reader.results(found.run, most=2)
    scores = [
        score
        for step in results
        if step.body and (score := msgspec.json.decode(step.body, type=Evaluation).score) is not None
    ]
    if len(scores) != 1:
        raise ConfigError(f"run {found.run} has {len(scores)} scores", where="--baseline", expected="a run with one")
    return scores[0]


async def print_result(
    case: Case,
    evaluation: Evaluation,
    result: Result,
    *,
    run: str,
    ledger: str | Path,
    votes: int = 0,
    read_back: int = 0,
    oldest: str = "",
    replayed: str = "",
    out: Sequence[Path] = (),
    as_json: bool = False,
) -> int:
    """Prints a result, writes the files asked for, and gives the exit code."""
    told = verdict_object(evaluation, case=case, result=result, run=run, ledger=str(ledger))
    for path in out:
        export(path, told, case=case, evaluation=evaluation, result=result)
    if as_json:
        sys.stdout.write(msgspec.json.encode(told).decode() + "\n")
    else:
        print_evaluation(
            evaluation,
            case=case,
            result=result,
            run=run,
            votes=votes,
            read_back=read_back,
            oldest=oldest,
            replayed=replayed,
        )
    return result.exit_code
