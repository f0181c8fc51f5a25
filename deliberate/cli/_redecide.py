"""``redecide``: what another rule, tie policy, quorum, weight or choice of judges would have decided."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from deliberate import plugins
from deliberate.cli._read import quorum_of
from deliberate.cli._show import case_of
from deliberate.cli._table import print_json, print_rows
from deliberate.errors import ConfigError
from deliberate.gates import EXIT, verdicts_of
from deliberate.ledger import default_path, read_ledger
from deliberate.protocols import live, redecide
from deliberate.tallies import BRACKET_SCORES, TIE_POLICIES
from deliberate.types import Decided, Evaluation, Rules, Verdict

__all__ = ["redecide_run"]


async def redecide_run(
    *,
    run: str,
    rule: str | None,
    tie: str | None,
    bracket_score: str | None,
    quorum: str | None,
    independence: int | None,
    weight: Sequence[str] | None,
    seats: str | None,
    ledger: Path | None,
    as_json: bool,
) -> int:
    """Decides every verdict of a run again, with no call, and prints both."""
    path = Path(ledger or default_path(os.environ))
    if not path.exists():
        raise ConfigError("there is no ledger yet", where=str(path), hint="deliberate ask makes one")
    rows: list[dict[str, object]] = []
    undecided = False
    async with read_ledger(path) as reader:
        found = await reader.run(run)
        for step in await reader.results(found.run):
            evaluation = msgspec.json.decode(step.body or b"", type=Evaluation)
            case = await case_of(reader, found.run, step.path)
            for verdict in verdicts_of(evaluation):
                rules = _rules(
                    verdict.panel.rules,
                    rule=rule,
                    tie=tie,
                    bracket_score=bracket_score,
                    quorum=quorum,
                    independence=independence,
                )
                try:
                    other = redecide(
                        verdict,
                        rules,
                        weights=_weights(weight or ()),
                        seats=None if seats is None else [name.strip() for name in seats.split(",")],
                    )
                except ValueError as error:
                    raise ConfigError(str(error), where="--seats or --weight") from None
                undecided |= not isinstance(other.decision, Decided)
                rows.append(
                    {
                        "case": step.path.rpartition("/")[0],
                        "was": _told(verdict),
                        "is": _told(other),
                        "live": live(other, case),
                        "digest": other.digest,
                    }
                )
    if as_json:
        print_json({"run": found.run, "verdicts": rows})
    else:
        cells = [tuple(str(row[name]) for name in ("case", "was", "is", "live")) for row in rows]
        print_rows([("case", "was", "is", "live (asks of a run under these rules)"), *cells])
        sys.stdout.write("nothing was asked\n")
    return EXIT["no_verdict"] if undecided else 0


def _rules(
    rules: Rules,
    *,
    rule: str | None,
    tie: str | None,
    bracket_score: str | None,
    quorum: str | None,
    independence: int | None,
) -> Rules:
    if rule is not None:
        plugins.part("tallies", rule, where="--rule")
    policies = rules.tie if tie is None else tuple(part.strip() for part in tie.split(","))
    for policy in policies:
        _known(policy, TIE_POLICIES, where="--tie")
    if bracket_score is not None:
        _known(bracket_score, BRACKET_SCORES, where="--bracket-score")
    return Rules(
        rule=rule or rules.rule,
        tie=policies,
        bracket_score=bracket_score or rules.bracket_score,
        quorum=rules.quorum if quorum is None else quorum_of(quorum),
        independence=rules.independence if independence is None else independence,
    )


def _known(name: str, names: Sequence[str], *, where: str) -> None:
    if name not in names:
        raise ConfigError(f"unknown {name!r}", where=where, expected=f"one of: {', '.join(names)}")


def _weights(given: Sequence[str]) -> Mapping[str, float]:
    found: dict[str, float] = {}
    for pair in given:
        name, sign, number = pair.partition("=")
        try:
            found[name] = float(number)
        except ValueError:
            sign = ""
        if not sign or not 0 <= found.get(name, -1) < float("inf"):
            raise ConfigError(f"{pair!r} is no weight", where="--weight", expected="SEAT=NUMBER, at least 0")
    return found


def _told(verdict: Verdict) -> str:
    decision = verdict.decision
    if isinstance(decision, Decided):
        return f"{decision.bracket.label} {decision.score:.1f}"
    return f"no verdict ({decision.why})"
