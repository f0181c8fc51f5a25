"""What people say: ``labels`` and its flags."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deliberate.cli._flags import JsonFlag, LedgerFlag
from deliberate.cli._verbs._call import call, group

__all__ = ["labels"]


labels = group("labels", "What people say: the votes of human seats.")


@labels.command("queue")
def labels_queue(
    ctx: typer.Context,
    person: Annotated[str | None, typer.Option("--as", help="Who is asked for votes.", metavar="NAME")] = None,
    ledger: LedgerFlag = None,
    as_json: JsonFlag = False,
) -> None:
    """Lists the votes that people owe, or asks you for yours, one by one; no other vote is shown."""
    call(ctx, "_labels", "queue")


@labels.command("import")
def labels_import(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="Labels of people: .jsonl, .csv, .parquet.", metavar="FILE")],
    item: Annotated[str, typer.Option(help="Column of cases: digests, or their start.", metavar="COLUMN")] = "item",
    rater: Annotated[str, typer.Option(help="Column of people.", metavar="COLUMN")] = "rater",
    vote: Annotated[str, typer.Option(help="Column of brackets.", metavar="COLUMN")] = "vote",
    score: Annotated[str, typer.Option(help="Column of scores 0-100.", metavar="COLUMN")] = "score",
    reason: Annotated[str, typer.Option(help="Column of reasons.", metavar="COLUMN")] = "reason",
    ledger: LedgerFlag = None,
) -> None:
    """Puts what people say of judged cases into the ledger, for compare and drift."""
    call(ctx, "_import", "import_labels")


@labels.command("vote")
def labels_vote(
    ctx: typer.Context,
    run: Annotated[str | None, typer.Argument(help="The run that waits.", metavar="[RUN]")] = None,
    person: Annotated[str | None, typer.Option("--as", help="Who votes.", metavar="NAME")] = None,
    bracket: Annotated[str | None, typer.Option(help="poor, fair, good or excellent.")] = None,
    score: Annotated[float | None, typer.Option(help="0-100.", min=0, max=100)] = None,
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    file: Annotated[Path | None, typer.Option("--from", help="Votes as JSON lines.", metavar="FILE")] = None,
    ledger: LedgerFlag = None,
) -> None:
    """Casts a person's vote, once; the run then goes on with the same command that began it."""
    call(ctx, "_labels", "vote")
