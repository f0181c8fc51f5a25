"""The verbs that say which judges to trust, and their flags."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deliberate.cli._flags import ApiBaseFlag, DryRunFlag, JsonFlag, LedgerFlag, MaxCostFlag, ReplayFlag
from deliberate.cli._verbs._call import call

__all__ = ["compare", "probe"]


def compare(
    ctx: typer.Context,
    votes: Annotated[
        Path | None, typer.Argument(help="One vote a row: .jsonl, .csv (or .gz), .parquet.", metavar="[VOTES]")
    ] = None,
    ledger: LedgerFlag = None,
    run: Annotated[list[str] | None, typer.Option(help="Of the ledger: this run; else all.", metavar="RUN")] = None,
    judge: Annotated[list[str] | None, typer.Option(help="A model to ask about each item.", metavar="MODEL")] = None,
    rubric: Annotated[str, typer.Option(help="How these judge: a rubric's name or folder.")] = "general",
    repeat: Annotated[int, typer.Option(help="How often each is asked about each item.", min=1)] = 1,
    swap: Annotated[
        bool, typer.Option("--swap", help="Which of two outputs is better, output or other: asked in both orders.")
    ] = False,
    max_cost: MaxCostFlag = None,
    replay: ReplayFlag = None,
    api_base: ApiBaseFlag = None,
    dry_run: DryRunFlag = False,
    panels: Annotated[bool, typer.Option("--panels", help="Which panels are worth their cost.")] = False,
    stand_in: Annotated[
        str | None, typer.Option(help="Alternative Annotator Test; people are: expert, skilled, crowd.", metavar="WHO")
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(help="A pass rate put right by people's labels: the least label that passes, or mean."),
    ] = None,
    abstain: Annotated[
        float | None, typer.Option(help="From which share of votes on errors are at most this, 0-1.", min=0, max=1)
    ] = None,
    anchors: Annotated[bool, typer.Option("--anchors", help="What weights from people's labels change.")] = False,
    dawid_skene: Annotated[
        bool, typer.Option("--dawid-skene", help="What votes alone say is right; a report, with its warning.")
    ] = False,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Keep what was found, for --require-calibration.")
    ] = False,
    scale: Annotated[
        str | None, typer.Option(help="brackets, ordinal:0..3, binary or pairwise; else told from the votes.")
    ] = None,
    human: Annotated[list[str] | None, typer.Option(help="A rater who is a person.", metavar="RATER")] = None,
    gold: Annotated[str, typer.Option(help="Column of what is right.", metavar="COLUMN")] = "",
    humans: Annotated[str, typer.Option(help="Column with a list of people's votes.", metavar="COLUMN")] = "",
    item: Annotated[str, typer.Option(help="Column of items.", metavar="COLUMN")] = "item",
    rater: Annotated[str, typer.Option(help="Column of raters.", metavar="COLUMN")] = "rater",
    kind: Annotated[str, typer.Option(help="Column that says model or human.", metavar="COLUMN")] = "kind",
    vote: Annotated[str, typer.Option(help="Column of votes.", metavar="COLUMN")] = "vote",
    score: Annotated[str, typer.Option(help="Column of scores 0-100, where no vote is.", metavar="COLUMN")] = "score",
    rep: Annotated[str, typer.Option(help="Column of repeats.", metavar="COLUMN")] = "rep",
    order: Annotated[str, typer.Option(help="Column of the order of showing.", metavar="COLUMN")] = "order",
    status: Annotated[str, typer.Option(help="Column that says voted, or why not.", metavar="COLUMN")] = "status",
    latency: Annotated[str, typer.Option(help="Column of seconds.", metavar="COLUMN")] = "latency_seconds",
    cost: Annotated[str, typer.Option(help="Column of US dollars.", metavar="COLUMN")] = "cost_usd",
    length: Annotated[str, typer.Option(help="Column of the output, or its length.", metavar="COLUMN")] = "length",
    weights: Annotated[str | None, typer.Option(help="Of kappa: none, linear, quadratic.")] = None,
    rule: Annotated[str, typer.Option(help="How a panel's votes become one: plurality, median, mean.")] = "plurality",
    cut: Annotated[float | None, typer.Option(help="Votes above it are 1, where gold is 0 or 1.")] = None,
    draws: Annotated[int, typer.Option(help="Bootstrap samples of items.", min=100)] = 1000,
    seed: Annotated[int, typer.Option(help="Of their generator.")] = 0,
    out: Annotated[
        list[Path] | None, typer.Option("-o", help="Write the study: .html .md .json .csv.", metavar="FILE")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Says which judges agree with people: from recorded votes, a ledger, or asked live."""
    call(ctx, "_compare", "compare")


def probe(
    ctx: typer.Context,
    items: Annotated[Path, typer.Argument(help="Outputs of your own: item, output, task.", metavar="ITEMS")],
    judge: Annotated[list[str] | None, typer.Option(help="A model to probe.", metavar="MODEL")] = None,
    only: Annotated[list[str] | None, typer.Option(help="This probe alone.", metavar="PROBE")] = None,
    rubric: Annotated[str, typer.Option(help="How to judge: a rubric's name or folder.")] = "general",
    ledger: LedgerFlag = None,
    max_cost: MaxCostFlag = None,
    replay: ReplayFlag = None,
    api_base: ApiBaseFlag = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="How many calls; nothing is asked.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Says what moves a judge that should not: padding, authority, injected instructions."""
    call(ctx, "_probe", "probe_judges")
