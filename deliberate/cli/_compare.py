"""``compare``: judges held against people, from a file of votes, from a ledger, or asked live."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from deliberate.cli._exits import say
from deliberate.cli._read import addresses
from deliberate.cli._table import print_json, print_lines, print_rows
from deliberate.engine import Session
from deliberate.errors import ConfigError
from deliberate.gates import verdicts_of
from deliberate.ledger import read_ledger
from deliberate.studies._arrays import Choice, chosen
from deliberate.studies._page import page
from deliberate.studies._study import Study, Weights
from deliberate.studies._tables import as_csv, markdown, text
from deliberate.studies.advice import PanelChoice, advise
from deliberate.studies.alt_test import EPSILON, alt_test
from deliberate.studies.compare import compare_votes
from deliberate.studies.live import ask_judges, cases_in
from deliberate.studies.votes import OWN, Columns, Gathered, VoteTable, rows_of, table_of_rows
from deliberate.types import Evaluation, Panel

__all__ = ["compare"]

_FORMS: Mapping[str, Callable[[Study], str]] = {
    ".csv": as_csv,
    ".html": page,
    ".json": lambda study: msgspec.json.format(msgspec.json.encode(study), indent=1).decode() + "\n",
    ".md": markdown,
}


async def compare(
    *,
    votes: Path | None,
    ledger: Path | None,
    run: list[str] | None,
    panels: bool,
    stand_in: str | None,
    scale: str | None,
    human: list[str] | None,
    humans: str,
    weights: str | None,
    rule: str,
    cut: float | None,
    draws: int,
    seed: int,
    out: list[Path] | None,
    as_json: bool,
    **flags: Any,  # noqa: ANN401  columns, and those of asking: as `_app` declares them
) -> int:
    """Reads votes, compares, prints and writes."""
    for path in out or []:
        if path.suffix not in _FORMS:
            raise ConfigError(f"unknown ending {path.suffix!r}", where=f"-o {path}", expected=", ".join(_FORMS))
    if as_json and (panels or stand_in):
        raise ConfigError("--panels and --stand-in print text alone", where="--json", hint="leave out one of them")
    who = _one_of(stand_in, "--stand-in", tuple(EPSILON))
    gathered = Gathered(
        msgspec.convert({"human": humans, **{name: flags.pop(name) for name in _COLUMNS}}, Columns),
        where=str(votes or ledger),
        humans=tuple(human or ()),
    )
    if not await _gather(gathered, votes, ledger=ledger, run=run or (), **flags):
        return 0
    table = table_of_rows(gathered, scale=scale)
    study = compare_votes(
        table,
        weights=cast("Weights | None", _one_of(weights, "--weights", ("none", "linear", "quadratic"))),
        rule=cast("Choice", _one_of(rule, "--rule", ("plurality", "median", "mean"))),
        cut=cut,
        draws=draws,
        seed=seed,
    )
    for path in out or []:
        _write(path, _FORMS[path.suffix](study))
    if as_json:
        print_json(study)
    else:
        sys.stdout.write(text(study))
        if panels:
            _advise(table, study)
        if who is not None:
            _stand_in(table, who)
    return 0


_COLUMNS = tuple(name for name in Columns.__struct_fields__ if name != "human")


async def _gather(
    gathered: Gathered,
    votes: Path | None,
    *,
    ledger: Path | None,
    run: Sequence[str],
    judge: list[str] | None,
    rubric: str,
    repeat: int,
    max_cost: float | None,
    replay: Path | None,
    api_base: list[str] | None,
    dry_run: bool,
) -> bool:
    """All votes there are to be had; whether there is anything to compare."""
    if votes is not None:
        gathered.read(votes)
    if not judge:
        idle = [
            flag for flag, given in (("--repeat", repeat > 1), ("--replay", replay), ("--dry-run", dry_run)) if given
        ]
        if idle or max_cost is not None:
            raise ConfigError("nobody is asked", where=(*idle, "--max-cost")[0], hint="name judges with --judge")
        if run and ledger is None:
            raise ConfigError("no ledger named", where="--run", expected="--ledger FILE")
        if ledger is not None:
            await _heard(gathered, ledger, run)
        elif votes is None:
            raise ConfigError("no votes named", where="VOTES", expected="a file of votes, or --ledger FILE")
        return True
    if votes is None:
        raise ConfigError("no items to ask about", where="VOTES", expected="people's votes with a column 'output'")
    cases = cases_in(votes, columns=gathered.columns)
    panel = Panel.of(*(one for one in judge for _ in range(repeat)), rubric=rubric)
    say(f"{len(cases)} items × {len(judge)} judges × {repeat}: {len(cases) * len(panel.voters)} calls")
    if dry_run:
        return False
    async with Session(ledger=ledger, max_cost_usd=max_cost, replay=replay, api_base=addresses(api_base)) as session:
        await ask_judges(gathered, cases, session=session, panel=panel)
    return True


async def _heard(gathered: Gathered, ledger: Path, runs: Sequence[str]) -> None:
    """The votes of every verdict in a ledger, or in some of its runs."""
    if not ledger.exists():
        raise ConfigError("there is no ledger", where=str(ledger), hint="deliberate ask makes one")
    line = 0
    async with read_ledger(ledger) as reader:
        names = [(await reader.run(name)).run for name in runs] or [one.run for one in await reader.runs()]
        for name in names:
            after = ""
            while found := await reader.results(name, after=after):
                for step in found:
                    for verdict in verdicts_of(msgspec.json.decode(step.body or b"", type=Evaluation)):
                        for row in rows_of(verdict):
                            line += 1
                            gathered.add(row, line, columns=OWN)
                after = found[-1].path


def _advise(table: VoteTable, study: Study) -> None:
    """The panels worth their cost."""
    gold = table.gold if table.gold is not None else chosen(table.people, len(table.scale.labels), rule="plurality")
    use = [at for at, label in enumerate(gold) if label == label]  # noqa: PLR0124  nan is not itself
    costs = {row.name: row.conduct.cost_usd for row in study.judges if row.conduct is not None}
    priced = {name: cost for name, cost in costs.items() if cost is not None}
    found = advise(
        [[None if vote != vote else int(vote) for vote in table.votes[at]] for at in use],  # noqa: PLR0124  same
        [int(gold[at]) for at in use],
        judges=table.judges,
        levels=len(table.scale.labels),
        costs=priced if len(priced) == len(table.judges) else None,
        weights=study.weights,
    )
    unit = "$/100" if len(priced) == len(table.judges) else "calls"
    print_lines(f"\nPanels worth their cost: {found.tried} tried on {found.n} items; kappa on items not chosen on.")
    lines = [("best single judge on the same labels", found.single), *(("panel", one) for one in found.front)]
    print_rows(
        [
            (_kappa(one.kappa), f"{one.cost:.3g} {unit}", f"{kind}: {', '.join(one.judges)}{_by(one)}")
            for kind, one in lines
        ]
    )


def _kappa(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"


def _by(one: PanelChoice) -> str:
    return f" ({one.rule})" if len(one.judges) > 1 else ""


def _stand_in(table: VoteTable, who: str) -> None:
    """Whether each judge may stand in for the people, by the Alternative Annotator Test."""
    score: Literal["accuracy", "rmse"] = "rmse" if table.scale.ordered else "accuracy"
    people = [[None if vote != vote else float(vote) for vote in row] for row in table.people]  # noqa: PLR0124  nan
    print_lines(f"\nAlternative Annotator Test, epsilon {EPSILON[who]} ({who}): may it stand in for a person?")
    rows: list[tuple[str, str, str, str]] = []
    for at, name in enumerate(table.judges):
        votes = [None if vote != vote else float(vote) for vote in table.votes[:, at]]  # noqa: PLR0124  nan
        found = alt_test(votes, people, names=table.humans, epsilon=EPSILON[who], score=score)
        verdict = "yes" if found.passes else "no"
        rows.append((verdict, f"wins {found.winning_rate:.2f}", f"advantage {found.advantage:.2f}", name))
    print_rows(rows)


def _one_of(value: str | None, flag: str, known: tuple[str, ...]) -> str | None:
    if value is not None and value not in known:
        raise ConfigError(f"{value!r}", where=flag, expected=f"one of: {', '.join(known)}")
    return value


def _write(path: Path, made: str) -> None:
    """The old file or the new one, never half of one."""
    spare = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        spare.write_text(made, encoding="utf-8")
        spare.replace(path)
    except OSError as error:
        spare.unlink(missing_ok=True)
        raise ConfigError(f"cannot be written: {error.strerror}", where=f"-o {path}") from None
    say(f"wrote {path}")
