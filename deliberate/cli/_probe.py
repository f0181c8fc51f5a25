"""``probe``: what moves a judge that should not, on the user's own outputs."""

from __future__ import annotations

from pathlib import Path

from deliberate.cli._exits import say
from deliberate.cli._read import addresses
from deliberate.cli._table import print_json, print_lines, print_rows
from deliberate.engine import Session
from deliberate.errors import ConfigError, UnknownName
from deliberate.studies.live import cases_in
from deliberate.studies.probe import PROBES, Probed, Robustness, calls_of, probe

__all__ = ["probe_judges"]


async def probe_judges(
    *,
    items: Path,
    judge: list[str] | None,
    only: list[str] | None,
    rubric: str,
    ledger: Path | None,
    max_cost: float | None,
    replay: Path | None,
    api_base: list[str] | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Probes every judge, and prints what moved it."""
    if not judge:
        raise ConfigError("nobody to probe", where="--judge", expected="a model")
    names = tuple(only or PROBES)
    for name in names:
        if name not in PROBES:
            raise UnknownName("probe", name, PROBES, where="--only")
    cases = cases_in(items)
    calls = len(judge) * calls_of(len(cases), names)
    say(f"{len(cases)} outputs × {len(names)} probes × {len(judge)} judges: {calls} calls")
    if dry_run:
        return 0
    found: list[Robustness] = []
    async with Session(ledger=ledger, max_cost_usd=max_cost, replay=replay, api_base=addresses(api_base)) as session:
        for one in judge:
            found.append(await probe(one, cases.values(), session=session, rubric=rubric, probes=names))
            if not as_json:
                _print(found[-1])
    if as_json:
        print_json({"judges": found})
    return 0


def _print(found: Robustness) -> None:
    whole = "unknown" if found.unmoved is None else f"{found.unmoved:.0%}"
    print_lines(f"{found.judge}: {whole} of verdicts stayed where they should (intervals: {found.interval})")
    print_rows([("probe", "moved", "interval", "shift", "n"), *(_row(one) for one in found.probes)])


def _row(one: Probed) -> tuple[str, str, str, str, str]:
    unread = f", {one.unread} unread" if one.unread else ""
    if one.moved is None or one.low is None or one.high is None or one.shift is None:
        return one.probe, "-", "-", "-", f"0{unread}"
    return one.probe, f"{one.moved:.0%}", f"{one.low:.0%}-{one.high:.0%}", f"{one.shift:+.1f}", f"{one.n}{unread}"
