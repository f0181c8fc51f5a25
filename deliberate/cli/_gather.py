"""Where the votes of ``compare`` come from: a file, a ledger, or judges asked live."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from deliberate.cli._asked import estimate_text
from deliberate.cli._exits import say
from deliberate.cli._read import addresses
from deliberate.engine import Session
from deliberate.errors import ConfigError
from deliberate.gates import verdicts_of
from deliberate.ledger import read_ledger
from deliberate.studies.live import ask_judges, cases_in
from deliberate.studies.votes import OWN, Gathered, rows_of
from deliberate.types import Bracket, Evaluation, Panel

__all__ = ["gather"]


async def gather(
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
    if judge:
        return await _asked(
            gathered,
            votes,
            panel=Panel.of(*(one for one in judge for _ in range(repeat)), rubric=rubric),
            said=f"{len(judge)} judges × {repeat}",
            dry_run=dry_run,
            session=Session(ledger=ledger, max_cost_usd=max_cost, replay=replay, api_base=addresses(api_base)),
        )
    idle = [flag for flag, given in (("--repeat", repeat > 1), ("--replay", replay), ("--dry-run", dry_run)) if given]
    if idle or max_cost is not None:
        raise ConfigError("nobody is asked", where=(*idle, "--max-cost")[0], hint="name judges with --judge")
    if run and ledger is None:
        raise ConfigError("no ledger named", where="--run", expected="--ledger FILE")
    if ledger is not None:
        await _heard(gathered, ledger, run)
    elif votes is None:
        raise ConfigError("no votes named", where="VOTES", expected="a file of votes, or --ledger FILE")
    return True


async def _asked(
    gathered: Gathered, votes: Path | None, *, panel: Panel, said: str, dry_run: bool, session: Session
) -> bool:
    """Asks judges about every item of the file, once what it may cost has been said."""
    if votes is None:
        raise ConfigError("no items to ask about", where="VOTES", expected="people's votes with a column 'output'")
    cases = cases_in(votes, columns=gathered.columns)
    async with session:
        longest = max(cases.values(), key=lambda case: len(case.output) + len(case.task))
        estimate = await session.estimate(longest, panel)
        say(f"{len(cases)} items × {said}: {len(cases) * len(panel.voters)} calls")
        say(f"at most, as if each item were the longest: {estimate_text(estimate.times(len(cases)))}")
        if dry_run:
            return False
        await ask_judges(gathered, cases, session=session, panel=panel)
    return True


async def _heard(gathered: Gathered, ledger: Path, runs: Sequence[str]) -> None:
    """The votes of every verdict in a ledger, or in some of its runs, and what people say of those cases."""
    if not ledger.exists():
        raise ConfigError("there is no ledger", where=str(ledger), hint="deliberate ask makes one")
    line = 0
    async with read_ledger(ledger) as reader:
        names = [(await reader.run(name)).run for name in runs] or [one.run for one in await reader.runs()]
        for name in names:
            after = ""
            while found := await reader.results(name, after=after):
                for step in found:
                    if step.kind == "Evaluation":
                        for verdict in verdicts_of(msgspec.json.decode(step.body or b"", type=Evaluation)):
                            for row in rows_of(verdict):
                                line += 1
                                gathered.add(row, line, columns=OWN)
                after = found[-1].path
        for label in await reader.labels():
            if label.case_digest in gathered.items:
                line += 1
                vote = Bracket(label.bracket).label.lower()
                row = {"item": label.case_digest, "rater": label.rater, "kind": "human", "vote": vote}
                gathered.add(row, line, columns=OWN)
