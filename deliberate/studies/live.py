"""Judges and panels asked live on items that people have labeled, then compared.

All judges of one item sit on one sealed panel, so that nobody sees another's vote; a panel deliberates as it is. Every
vote is in the ledger before it counts, and going on after a break asks only what is missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing, nullcontext
from functools import partial
from itertools import chain, count
from pathlib import Path

import msgspec

from deliberate.engine import Session
from deliberate.errors import ConfigError
from deliberate.gates import verdicts_of
from deliberate.studies._arrays import Choice, need_stats
from deliberate.studies._pair import OTHER, PAIR, better, pair_of
from deliberate.studies._scale import scale_of
from deliberate.studies._study import Study
from deliberate.studies._weights import Weights
from deliberate.studies.compare import compare_votes
from deliberate.studies.votes import OWN, Columns, Gathered, rows_in, rows_of, table_of_rows
from deliberate.types import Bracket, Case, Decided, Judge, Panel, Verdict, Vote

__all__ = ["ask_judges", "ask_panel", "cases_in", "compare", "paired", "scale_asked", "sealed"]


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
                    context={OTHER: str(row[OTHER])} if row.get(OTHER) else {},
                )
    lacking = next((item for item in seen if item not in found), None)
    if lacking is not None or not found:
        where = f"{path}:{seen.get(lacking or '', 1)}"
        expected = "a column 'output' with what is judged (and 'task', 'reference')"
        raise ConfigError(f"no output of item {lacking!r}", where=where, expected=expected)
    return found


async def ask_judges(
    gathered: Gathered, cases: Mapping[str, Case], *, session: Session, panel: Panel, swap: bool = False
) -> None:
    """Asks every judge of a panel about every case, and adds their votes.

    Args:
        gathered: Where the votes go.
        cases: By item.
        session: An open one.
        panel: Of the judges; equal ones are one judge asked several times.
        swap: Whether a case holds two outputs (``paired``): each judge says in both orders which is the better.

    Raises:
        ConfigError: The panel cannot be run as it is; nothing was spent.
        LedgerError: A vote cannot be written down.
    """
    lines = count(1)

    def take(verdict: Verdict, item: Mapping[str, object], shown: _Shown) -> None:
        seats = {seat.name: seat for seat in verdict.panel.voters}
        for row, vote in zip(rows_of(verdict), verdict.votes, strict=True):
            seat = seats[vote.seat.name]
            said = {"rater": seat.judge.model, "rep": seat.sample, **shown(_voted(vote))}
            gathered.add({**row, **item, **said}, next(lines), columns=OWN)

    await _hear(cases, take, session=session, panel=panel, swap=swap)


async def ask_panel(
    gathered: Gathered,
    cases: Mapping[str, Case],
    *,
    session: Session,
    panel: Panel,
    name: str,
    seats: str | None = None,
    repeat: int = 1,
    swap: bool = False,
) -> None:
    """Asks a panel about every case, and adds its verdicts.

    Args:
        gathered: Where the verdicts go.
        cases: By item.
        session: An open one.
        panel: Who deliberates, by which protocol and rules.
        name: What it is called.
        seats: What is added to the name of each seat, whose votes then are those of a judge; None: they are not.
        repeat: How often it is asked about each item.
        swap: As of ``ask_judges``.

    Raises:
        ConfigError: The panel cannot be run as it is; nothing was spent.
        LedgerError: A vote cannot be written down.
    """
    lines = count(1)

    def take(verdict: Verdict, item: Mapping[str, object], shown: _Shown, *, rep: int) -> None:
        costs = [answer.usage.cost_usd for answer in verdict.answers.values()]
        paid = [cost for cost in costs if cost is not None]
        decided = verdict.decision.bracket if isinstance(verdict.decision, Decided) else None
        said = {**item, "rep": rep, "rater": name, "kind": "panel", **shown(decided)}
        cost = math.fsum(paid) if len(paid) == len(costs) else None
        gathered.add({**said, "cost_usd": cost}, next(lines), columns=OWN)
        if seats is not None:
            for row, vote in zip(rows_of(verdict), verdict.votes, strict=True):
                own = {"rep": rep, "rater": f"{row['rater']}{seats}", **shown(_voted(vote))}
                gathered.add({**row, **item, **own}, next(lines), columns=OWN)

    for rep in range(repeat):
        await _hear(cases, partial(take, rep=rep), session=session, panel=_again(panel, rep), swap=swap)


_Shown = Callable[[Bracket | None], Mapping[str, object]]
_Take = Callable[[Verdict, Mapping[str, object], _Shown], None]


async def _hear(cases: Mapping[str, Case], take: _Take, *, session: Session, panel: Panel, swap: bool) -> None:
    """Hands over each verdict, with what is known of its item, and how brackets are said there."""
    for order in (False, True) if swap else (None,):
        asked = cases if order is None else {item: pair_of(case, swap=order) for item, case in cases.items()}
        shown = _label if order is None else partial(_side, swap=order)
        async with session.stream(asked.values(), panel) as reviews:
            async for case, evaluation in reviews:
                length = {} if swap else {"length": len(case.output)}
                for verdict in verdicts_of(evaluation):
                    take(verdict, {"item": case.id, **length}, shown)


def _label(bracket: Bracket | None) -> Mapping[str, object]:
    return {"vote": None if bracket is None else bracket.label.lower()}


def _side(bracket: Bracket | None, *, swap: bool) -> Mapping[str, object]:
    return {"vote": None if bracket is None else better(bracket, swap=swap), "order": "21" if swap else "12"}


def _voted(vote: Vote) -> Bracket | None:
    return None if vote.ballot is None else vote.ballot.bracket


def _again(panel: Panel, rep: int) -> Panel:
    """The same panel, as judges who have not been asked before."""
    if not rep:
        return panel
    count = len(panel.seats)
    seats = tuple(msgspec.structs.replace(seat, sample=rep * count + at) for at, seat in enumerate(panel.seats))
    return msgspec.structs.replace(panel, seats=seats)


def paired(cases: Mapping[str, Case], *, where: str) -> Mapping[str, Case]:
    """The cases, if each has a second output, the column ``other``.

    Raises:
        ConfigError: One has none.
    """
    lacking = next((item for item, case in cases.items() if not case.context.get(OTHER)), None)
    if lacking is not None:
        expected = "a column 'other' with the second output, beside 'output'"
        raise ConfigError(f"item {lacking!r} has one output", where=where, expected=expected)
    return cases


def scale_asked(gathered: Gathered, scale: str | None, *, swap: bool, where: str = "scale") -> str:
    """The scale on which judges vote when they are asked; so far nobody was.

    Raises:
        ConfigError: Another was named, or people voted on another.
    """
    own = "pairwise" if swap else "brackets"
    if scale not in (own, None):
        raise ConfigError(f"{scale!r}", where=where, expected=f"{own}, as judges are asked for these")
    scale_of(dict(zip(gathered.labels.codes, gathered.labels.lines, strict=True)), own, where=gathered.where)
    return own


async def compare(
    judges: str | Judge | Panel | Sequence[str | Judge | Panel],
    *,
    items: str | Path,
    gold: str = "",
    humans: Sequence[str] = (),
    rubric: str | None = "general",
    repeat: int = 1,
    swap: bool = False,
    scale: str | None = None,
    weights: Weights | None = None,
    rule: Choice = "plurality",
    seed: int = 0,
    session: Session | None = None,
) -> Study:
    """Asks judges and panels about items that people have labeled, and says which of them to trust.

    Args:
        judges: Models by name, judges, panels; one, or several. A panel is held against people by its verdict, in a row
            of its own; where panels alone are named, their seats are the judges.
        items: A file of votes of people, one a row, with the ``output`` (and ``task``, ``reference``) of each item.
        gold: Its column of what is right; "" where rows of people say it.
        humans: Raters of the file who are people, besides those whose ``kind`` says so.
        rubric: How judges judge; a panel has its own.
        repeat: How often each is asked about each item.
        swap: Whether an item holds two outputs, ``output`` and ``other``, of which the better is named: shown in both
            orders, by the task and not by a rubric. People then say 1, 2 or tie.
        scale: Of the file's votes: ``brackets``, in which judges vote, or ``pairwise`` with ``swap``; None is that.
        weights: Of kappa.
        rule: How votes of all judges, and of people, become one.
        seed: Of the bootstrap.
        session: An open one; None opens one with the defaults.

    Raises:
        ConfigError: The file, a judge or a panel cannot be used; nothing was spent.
        MissingExtra: numpy and scipy are not installed.
        LedgerError: A vote cannot be written down.
    """
    need_stats("compare")
    named = [judges] if isinstance(judges, (str, Judge, Panel)) else list(judges)
    if not named or repeat < 1:
        raise ConfigError("nobody to ask", where="judges", expected="at least one model, asked at least once")
    if swap and rubric not in ("general", None):
        raise ConfigError(
            "two outputs are compared by the task alone", where="rubric", hint="leave out rubric, or swap"
        )
    path, columns = Path(items), Columns(gold=gold)
    gathered = Gathered(columns, where=str(path), humans=humans)
    gathered.read(path)
    cases = cases_in(path, columns=columns)
    scale = scale_asked(gathered, scale, swap=swap)
    if swap:
        paired(cases, where=str(path))
    singles = [one for one in named if not isinstance(one, Panel)]
    panels = _named([one for one in named if isinstance(one, Panel)], taken=gathered.raters)
    asked = sealed(singles, repeat=repeat, rubric=rubric, swap=swap) if singles else None
    async with Session() if session is None else nullcontext(session) as opened:
        if asked is not None:
            await ask_judges(gathered, cases, session=opened, panel=asked, swap=swap)
        for name, panel in panels.items():
            seats = None if singles else f" in {name}" if len(panels) > 1 else ""
            made = msgspec.structs.replace(panel, rubric=None, criteria=PAIR) if swap else panel
            await ask_panel(
                gathered, cases, session=opened, panel=made, name=name, seats=seats, repeat=repeat, swap=swap
            )
    return compare_votes(table_of_rows(gathered, scale=scale), weights=weights, rule=rule, seed=seed)


def sealed(judges: Sequence[str | Judge], *, repeat: int, rubric: str | None, swap: bool) -> Panel:
    """All judges on one panel on which nobody sees another's vote, each as often as it is asked."""
    every = [judge for judge in judges for _ in range(repeat)]
    return Panel.of(*every, criteria=PAIR) if swap else Panel.of(*every, rubric=rubric)


def _named(panels: Sequence[Panel], *, taken: Collection[str]) -> Mapping[str, Panel]:
    """The panels by the names they have, else by their place."""
    found: dict[str, Panel] = {}
    for at, panel in enumerate(panels, start=1):
        name = panel.name or f"panel {at}"
        names = chain([name], (f"{name} ({number})" for number in count(2)))
        found[next(one for one in names if one not in found and one not in taken)] = panel
    return found
