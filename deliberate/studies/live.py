"""Judges asked live on items that people have labeled, then compared.

All judges of one item sit on one sealed panel, so that nobody sees another's vote; every vote is in the ledger before
it counts, and going on after a break asks only what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from deliberate.engine import Session
from deliberate.errors import ConfigError
from deliberate.gates import verdicts_of
from deliberate.studies._arrays import Choice, need_stats
from deliberate.studies._study import Study
from deliberate.studies._weights import Weights
from deliberate.studies.compare import compare_votes
from deliberate.studies.votes import OWN, Columns, Gathered, rows_in, rows_of, table_of_rows
from deliberate.types import Case, Judge, Panel

__all__ = ["ask_judges", "cases_in", "compare"]


def cases_in(path: Path, *, columns: Columns | None = None) -> dict[str, Case]:
    """The outputs of a file, by item: columns ``output``, ``task`` and ``reference`` beside those of votes.

    A column ``other``, a second output of the same task, goes into the context of the case, for ``probe``.

    Args:
        path: JSONL, CSV or Parquet; the first row of an item that has an output counts.
        columns: What the column of items is called.

    Raises:
        ConfigError: It cannot be read, or an item has no output.
    """
    name = (columns or Columns()).item
    found: dict[str, Case] = {}
    seen: dict[str, int] = {}
    with closing(rows_in(path)) as rows:
        for line, row in rows:
            item = str(row.get(name) or "")
            seen.setdefault(item, line)
            output = row.get("output")
            if item not in found and isinstance(output, str) and output:
                reference = row.get("reference")
                found[item] = Case(
                    id=item,
                    output=output,
                    task=str(row.get("task") or ""),
                    reference=None if reference is None else str(reference),
                    context={"other": str(row["other"])} if row.get("other") else {},
                )
    lacking = next((item for item in seen if item not in found), None)
    if lacking is not None or not found:
        where = f"{path}:{seen.get(lacking or '', 1)}"
        expected = "a column 'output' with what is judged (and 'task', 'reference')"
        raise ConfigError(f"no output of item {lacking!r}", where=where, expected=expected)
    return found


async def ask_judges(gathered: Gathered, cases: Mapping[str, Case], *, session: Session, panel: Panel) -> None:
    """Asks every judge of a panel about every case, and adds their votes.

    Args:
        gathered: Where the votes go.
        cases: By item.
        session: An open one.
        panel: Of the judges; equal ones are one judge asked several times.

    Raises:
        ConfigError: The panel cannot be run as it is; nothing was spent.
        LedgerError: A vote cannot be written down.
    """
    line = 0
    async with session.stream(cases.values(), panel) as reviews:
        async for case, evaluation in reviews:
            for verdict in verdicts_of(evaluation):
                seats = {seat.name: seat for seat in verdict.panel.voters}
                for row, vote in zip(rows_of(verdict), verdict.votes, strict=True):
                    line += 1
                    seat = seats[vote.seat.name]
                    said = {"item": case.id, "rater": seat.judge.model, "rep": seat.sample, "length": len(case.output)}
                    gathered.add({**row, **said}, line, columns=OWN)


async def compare(
    judges: Sequence[str | Judge],
    *,
    items: str | Path,
    gold: str = "",
    humans: Sequence[str] = (),
    rubric: str | None = "general",
    repeat: int = 1,
    scale: str | None = "brackets",
    weights: Weights | None = None,
    rule: Choice = "plurality",
    seed: int = 0,
    session: Session | None = None,
) -> Study:
    """Asks judges about items that people have labeled, and says which of them to trust.

    Args:
        judges: Models by name, or judges.
        items: A file of votes of people, one a row, with the ``output`` (and ``task``, ``reference``) of each item.
        gold: Its column of what is right; "" where rows of people say it.
        humans: Raters of the file who are people, besides those whose ``kind`` says so.
        rubric: How to judge.
        repeat: How often each judge is asked about each item.
        scale: Of the file's votes; judges vote in brackets.
        weights: Of kappa.
        rule: How votes of a panel, and of people, become one.
        seed: Of the bootstrap.
        session: An open one; None opens one with the defaults.

    Raises:
        ConfigError: The file or a judge cannot be used; nothing was spent.
        MissingExtra: numpy and scipy are not installed.
        LedgerError: A vote cannot be written down.
    """
    need_stats("compare")
    if not judges or repeat < 1:
        raise ConfigError("nobody to ask", where="judges", expected="at least one model, asked at least once")
    path, columns = Path(items), Columns(gold=gold)
    gathered = Gathered(columns, where=str(path), humans=humans)
    gathered.read(path)
    cases = cases_in(path, columns=columns)
    panel = Panel.of(*(judge for judge in judges for _ in range(repeat)), rubric=rubric)
    if session is not None:
        await ask_judges(gathered, cases, session=session, panel=panel)
    else:
        async with Session() as opened:
            await ask_judges(gathered, cases, session=opened, panel=panel)
    return compare_votes(table_of_rows(gathered, scale=scale), weights=weights, rule=rule, seed=seed)
