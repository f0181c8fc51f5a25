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
from deliberate.studies._pair import pair_of
from deliberate.studies.live import ask_judges, cases_in, paired, scale_asked, sealed
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
    swap: bool,
    scale: str | None,
    max_cost: float | None,
    replay: Path | None,
    api_base: list[str] | None,
    dry_run: bool,
) -> bool:
    """All votes there are to be had; whether there is anything to compare."""
    if votes is not None:
        gathered.read(votes)
    if judge:
        if swap and rubric != "general":
            raise ConfigError(
                "two outputs are compared by the task alone", where="--rubric", hint="or leave out --swap"
            )
        return await _asked(
            gathered,
            votes,
            panel=sealed(judge, repeat=repeat, rubric=rubric, swap=swap),
            said=f"{len(judge)} judges × {repeat}{' × 2 orders' if swap else ''}",
            swap=swap,
            scale=scale,
            dry_run=dry_run,
            session=Session(ledger=ledger, max_cost_usd=max_cost, replay=replay, api_base=addresses(api_base)),
        )
    flags = (("--repeat", repeat > 1), ("--swap", swap), ("--replay", replay), ("--dry-run", dry_run))
    idle = [flag for flag, given in flags if given]
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
    gathered: Gathered,
    votes: Path | None,
    *,
    panel: Panel,
    said: str,
    swap: bool,
    scale: str | None,
    dry_run: bool,
    session: Session,
) -> bool:
    """Asks judges about every item of the file, once what it may cost has been said."""
    if votes is None:
        raise ConfigError("no items to ask about", where="VOTES", expected="people's votes with a column 'output'")
    cases = cases_in(votes, columns=gathered.columns)
    scale_asked(gathered, scale, swap=swap, where="--scale")
    shown = [pair_of(case, swap=False) for case in paired(cases, where=str(votes)).values()] if swap else cases.values()
    times = len(cases) * (2 if swap else 1)
    async with session:
        longest = max(shown, key=lambda case: len(case.output) + len(case.task))
        estimate = await session.estimate(longest, panel)
        say(f"{len(cases)} items × {said}: {times * len(panel.voters)} calls")
        say(f"at most, as if each item were the longest: {estimate_text(estimate.times(times))}")
        if dry_run:
            return False
        await ask_judges(gathered, cases, session=session, panel=panel, swap=swap)
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
