"""``show``: the runs of a ledger, or one of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec

from deliberate.cli._result import print_result
from deliberate.cli._results import Results, checked_results, placed
from deliberate.cli._table import print_json, print_rows
from deliberate.errors import ConfigError
from deliberate.gates import Required, result_of, result_of_run
from deliberate.ledger import Reader, default_path, read_ledger
from deliberate.reports import Imprint, Totals, case_line, encode_line, score_text
from deliberate.reports.runs import done_object
from deliberate.types import Case, Evaluation

__all__ = ["case_of", "show"]


async def show(*, run: str | None, ledger: Path | None, out: Sequence[Path] | None, as_json: bool) -> int:
    """Lists runs, the last first, or shows the results of one."""
    path = Path(ledger or default_path(os.environ))
    if not path.exists():
        raise ConfigError("there is no ledger yet", where=str(path), hint="deliberate ask makes one")
    async with read_ledger(path) as reader:
        if run is None:
            return await _list(reader, as_json=as_json)
        return await _one(reader, run, path=path, out=out or (), as_json=as_json)


async def _list(reader: Reader, *, as_json: bool) -> int:
    runs = await reader.runs()
    if as_json:
        print_json({"runs": runs})
    else:
        print_rows([(one.run, one.started_at, one.status) for one in runs])
    return 0


async def _one(reader: Reader, run: str, *, path: Path, out: Sequence[Path], as_json: bool) -> int:
    found = await reader.run(run)
    results = await reader.results(found.run, most=2)
    if not results:
        raise ConfigError(f"run {found.run} has no result", where=str(path), hint="run the same command again to go on")
    if len(results) > 1:
        return await _many(reader, found.run, out=out, as_json=as_json)
    code = 0
    for step in results:
        evaluation = msgspec.json.decode(step.body or b"", type=Evaluation)
        case = await case_of(reader, found.run, step.path)
        imprint = Imprint(run=found.run, ledger=_stated(path), result=result_of(evaluation, Required()))
        code = code or await print_result(case, evaluation, imprint, ledger=path, out=out, as_json=as_json)
    return code


def _stated(path: Path) -> str:
    """The ledger, where it has to be named to be found again."""
    return "" if path == Path(default_path(os.environ)) else str(path)


async def _many(reader: Reader, run: str, *, out: Sequence[Path], as_json: bool) -> int:
    """A line a case, page by page; with ``out`` the files a run writes."""
    for path in out:
        checked_results(path)
    with ExitStack() as files:
        results = [Results(path) for path in out]
        for one in results:
            files.callback(one.close)
        rows = [("case", "bracket", "score", "votes", "why")]
        totals = Totals()
        number, after = 0, ""
        while page := await reader.results(run, after=after):
            after = page[-1].path
            for step in page:
                evaluation = msgspec.json.decode(step.body or b"", type=Evaluation)
                case = await case_of(reader, run, step.path)
                number += 1
                totals.add(evaluation)
                for one in results:
                    one.add(number, case, evaluation, run=run)
                line = case_line(case, evaluation)
                if as_json:
                    sys.stdout.write(encode_line(line).decode())
                else:
                    score = "" if line.score is None else score_text(line.score)
                    rows.append((line.case, line.bracket, score, f"{line.voted}/{line.seats}", line.why))
            if not as_json:
                print_rows(rows)
                rows = []
        if results:
            ended = result_of_run(totals.facts(number), Required())
            done = done_object(totals, number, ended, run=run, usage=await reader.spent(run))
            if (error := placed(results, done)) is not None:
                raise error
    return 0


async def case_of(reader: Reader, run: str, result: str) -> Case:
    """The case a result is of: it stands beside it."""
    name = result.rpartition("/")[0]
    steps = await reader.steps(run, kinds=("Case",), after=f"{name}/cas", most=1)
    body = steps[0].body if steps else None
    return Case(output="") if body is None else msgspec.json.decode(body, type=Case)
