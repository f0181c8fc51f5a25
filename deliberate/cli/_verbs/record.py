"""The verbs that read the record, and those that say how things stand here."""

from __future__ import annotations

from typing import Annotated

import typer

from deliberate.cli._flags import JsonFlag, LedgerFlag, OutFlag, QuorumFlag, TieFlag
from deliberate.cli._verbs._call import call

__all__ = ["audit", "doctor", "redecide", "schema", "show"]


def show(
    ctx: typer.Context,
    run: Annotated[str | None, typer.Argument(help="A run; none lists all.", metavar="[RUN]")] = None,
    ledger: LedgerFlag = None,
    out: OutFlag = None,
    as_json: JsonFlag = False,
) -> None:
    """Lists runs, or shows one."""
    call(ctx, "_show", "show")


def redecide(
    ctx: typer.Context,
    run: Annotated[str, typer.Argument(help="A run.", metavar="RUN")],
    rule: Annotated[str | None, typer.Option(help="Which bracket wins.")] = None,
    tie: TieFlag = None,
    bracket_score: Annotated[str | None, typer.Option(help="Which number the bracket gives.")] = None,
    quorum: QuorumFlag = None,
    independence: Annotated[int | None, typer.Option(help="Model families that must have voted.", min=1)] = None,
    weight: Annotated[list[str] | None, typer.Option(help="A seat's weight.", metavar="SEAT=NUMBER")] = None,
    seats: Annotated[str | None, typer.Option(help="The seats that count, as in a,b,c.")] = None,
    ledger: LedgerFlag = None,
    as_json: JsonFlag = False,
) -> None:
    """Decides a run again under other rules."""
    call(ctx, "_redecide", "redecide_run")


def audit(
    ctx: typer.Context,
    run: Annotated[str | None, typer.Argument(help="A run.", metavar="[RUN]")] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Walk the whole chain of the ledger.")] = False,
    prompts: Annotated[bool, typer.Option("--prompts", help="Print every prompt as it was asked.")] = False,
    ledger: LedgerFlag = None,
    as_json: JsonFlag = False,
) -> None:
    """Says who was asked what, and whether the record is whole."""
    call(ctx, "_audit", "audit")


def doctor(ctx: typer.Context, ledger: LedgerFlag = None, as_json: JsonFlag = False) -> None:
    """Looks at this installation, and says what to do next."""
    call(ctx, "_doctor", "doctor")


def schema(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="verdict, case, launch, done, dry-run or plan.")] = "verdict",
) -> None:
    """Prints a JSON Schema."""
    call(ctx, "_schema", "schema")
