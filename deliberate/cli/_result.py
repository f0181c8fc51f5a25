"""A result on its way out: terminal, JSON, files, exit code, all from one object."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
from rich.console import Console

from deliberate.cli._github import fenced, tell_workflow
from deliberate.cli._table import print_json
from deliberate.errors import ConfigError, ReportError, UnknownName
from deliberate.ledger import Reader
from deliberate.reports import Imprint, Totals, verdict_object, write
from deliberate.reports import show as print_evaluation
from deliberate.types import Case, Evaluation

__all__ = ["baseline_mean", "baseline_score", "earlier", "print_result"]


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
        what = f"run {found.run} has {len(scores)} scores"
        raise ConfigError(what, where="--baseline", expected="a run with one")
    return scores[0]


async def earlier(reader: Reader, run: str) -> Evaluation:
    """What an earlier run said of its one case.

    Raises:
        UnknownName: There is no such run on this ledger.
        ConfigError: It has no result, or several.
    """
    try:
        found = await reader.run(run)
    except UnknownName as error:
        raise error.at("--previous") from None
    results = [step.body for step in await reader.results(found.run, most=2) if step.body]
    if len(results) != 1:
        what = f"run {found.run} has {'no result' if not results else 'several results'}"
        raise ConfigError(what, where="--previous", expected="a run of `ask`, on the same ledger")
    return msgspec.json.decode(results[0], type=Evaluation)


async def baseline_mean(reader: Reader, run: str) -> float:
    """The mean score of the cases of an earlier run.

    Raises:
        ConfigError: None of them has a score.
    """
    found = await reader.run(run)
    totals = Totals()
    after = ""
    while page := await reader.results(found.run, after=after):
        after = page[-1].path
        for step in page:
            if step.body:
                totals.add(msgspec.json.decode(step.body, type=Evaluation))
    if totals.mean is None:
        raise ConfigError(f"run {found.run} has no score", where="--baseline", expected="a run with one")
    return totals.mean


async def print_result(
    case: Case,
    evaluation: Evaluation,
    imprint: Imprint,
    *,
    ledger: str | Path,
    out: Sequence[Path] = (),
    as_json: bool = False,
    github: bool = False,
) -> int:
    """Prints a result, writes the files asked for, and gives the exit code.

    With ``as_json`` the object goes to standard output, and the text for people to standard error.

    Raises:
        ReportError: A file cannot be written; everything else is told by then.
    """
    if as_json:
        print_json(verdict_object(evaluation, run=imprint.run or None, ledger=str(ledger)))
    plain = bool(os.environ.get("NO_COLOR"))  # no bold and no dim either
    console = Console(highlight=False, stderr=as_json, color_system=None if plain else "auto")
    with fenced(sys.stderr if as_json else sys.stdout):
        print_evaluation(console, evaluation, imprint=imprint)
    unwritten: list[ReportError] = []
    for path in out:
        try:
            write(evaluation, path, case=case, imprint=imprint, ledger=str(ledger))
        except ReportError as error:  # the others are written all the same
            unwritten.append(error)
    if github:
        where = str(out[0]) if out else f"deliberate show {imprint.run}"
        tell_workflow(evaluation, title=case.id or "Review", imprint=imprint, where=where)
    if unwritten:
        raise unwritten[0]
    return 0 if imprint.result is None else imprint.result.exit_code
