"""``audit``: who was asked what, what came back, and whether the record is whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from deliberate.cli._show import case_of
from deliberate.cli._table import print_json, print_rows
from deliberate.errors import ConfigError
from deliberate.gates import EXIT, verdicts_of
from deliberate.judging import SLOT, post_of, request_of, visible
from deliberate.ledger import Reader, default_path, read_ledger, verify
from deliberate.library import Library
from deliberate.protocols import protocol_of
from deliberate.types import Absent, Ballot, Case, Evaluation, Rubric, Verdict, ask_id, seat_at

__all__ = ["audit"]


async def audit(*, run: str | None, verify: bool, prompts: bool, ledger: Path | None, as_json: bool) -> int:
    """Prints the asks of a run and, with ``--verify``, walks the chain; exits 3 if the ledger is broken."""
    path = Path(ledger or default_path(os.environ))
    if not path.exists():
        raise ConfigError("there is no ledger yet", where=str(path), hint="deliberate ask makes one")
    report: dict[str, object] = {}
    code = 0
    if verify or run is None:
        code = await _verified(path, report, as_json=as_json)
    if run is not None:
        async with read_ledger(path) as reader:
            report["asks"] = await _asked(reader, run, prompts=prompts, as_json=as_json)
    if as_json:
        print_json(report)
    return code


async def _verified(path: Path, report: dict[str, object], *, as_json: bool) -> int:
    found = await verify(path)
    report["ledger"] = found
    if not as_json:
        state = "chain sound" if found.sound else f"BROKEN: {found.problem}"
        anchored = "no anchor" if found.anchored is None else f"anchor at {found.anchored}"
        print_rows(
            [
                ("ledger", str(path)),
                ("records", f"{found.records}, {anchored}, {state}"),
                ("head", f"sha256:{found.head}"),
                *(("note", note) for note in found.notes),
            ]
        )
    return 0 if found.sound else EXIT["gate"]


async def _asked(reader: Reader, run: str, *, prompts: bool, as_json: bool) -> list[dict[str, object]]:
    found = await reader.run(run)
    rows: list[dict[str, object]] = []
    after = ""
    while page := await reader.results(found.run, after=after):
        after = page[-1].path
        for step in page:
            evaluation = msgspec.json.decode(step.body or b"", type=Evaluation)
            case = await case_of(reader, found.run, step.path)
            for verdict in verdicts_of(evaluation):
                rows += list(_rows(verdict, case, prompts=prompts))
                if not as_json:
                    _print_verdict(verdict)
    if not as_json:
        for row in rows:
            print_rows([(str(name), str(value)) for name, value in row.items() if name != "prompt"])
            if prompts:
                sys.stdout.write(f"{row['prompt']}\n")
            sys.stdout.write("\n")
    return rows


def _print_verdict(verdict: Verdict) -> None:
    print_rows(
        [
            ("decision", verdict.digest),
            *((name, digest) for name, digest in verdict.digests.items() if digest),
        ]
    )
    sys.stdout.write("\n")


def _rows(verdict: Verdict, case: Case, *, prompts: bool) -> Iterator[dict[str, object]]:
    texts = dict(_prompts(verdict, case)) if prompts else {}
    for ask in verdict.asks:
        at = ask_id(ask)
        answer = verdict.answers.get(at)
        if answer is None:
            continue
        seen = [seat_at(one) for one in ask.shows]
        reply = answer.reply
        told = reply.__class__.__name__
        if isinstance(reply, Ballot):
            told = f"{reply.bracket.label} {reply.score:.1f}: {visible(reply.reason)}"
        elif isinstance(reply, Absent):
            told = f"{reply.state} ({reply.reason}): {visible(reply.detail)}"
        row: dict[str, object] = {
            "ask": at,
            "saw": ", ".join(seen) if seen else "no other vote (sealed)",
            "model": f"{verdict.panel.seat(ask.seat).judge.model}, answered by {answer.model or 'nobody'}",
            "asked with": _pairs(answer.requested),
            "in effect": _pairs(answer.effective),
            "prompt sha256": answer.prompt_sha256,
            "said": told,
        }
        yield {**row, "prompt": texts.get(at, "")} if prompts else row


def _prompts(verdict: Verdict, case: Case) -> Iterator[tuple[str, str]]:
    """Every prompt as it was asked, its nonces blank: made again from the record."""
    protocol = protocol_of(verdict.panel.protocol)
    forms = {form.name: form for form in protocol.forms}
    rubric: Rubric | None = None
    if verdict.panel.rubric is not None:
        rubric = Library(workspace=Path.cwd()).rubric(verdict.panel.rubric)
        if rubric.digest != verdict.digests.get("rubric"):
            what = f"rubric {rubric.name} has changed since ({rubric.digest[:12]})"
            raise ConfigError(what, where="--prompts", hint="the digests of the prompts as asked are in the record")
    heard = {at: answer.reply for at, answer in verdict.answers.items()}
    for ask in verdict.asks:
        if ask.form in forms:
            post = post_of(
                ask,
                case=case,
                panel=verdict.panel,
                rubric=rubric,
                protocol=protocol,
                form=forms[ask.form],
                heard=heard,
            )
            messages = request_of(post).messages
            yield ask_id(ask), "\n".join(f"[{one.role}]\n{one.content}" for one in messages).replace(SLOT, "*")


def _pairs(found: object) -> str:
    pairs = msgspec.to_builtins(found)
    return ", ".join(f"{name}={visible(str(value))}" for name, value in pairs.items() if value != "") or "-"
