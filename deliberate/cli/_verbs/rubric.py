"""``rubric`` and ``learn``, and their flags."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deliberate.cli._flags import (
    ApiBaseFlag,
    JsonFlag,
    JudgeFlag,
    LedgerFlag,
    NameArgument,
    PanelFlag,
    PathArgument,
    RecordFlag,
    ReplayFlag,
)
from deliberate.cli._verbs._call import call, group

__all__ = ["learn", "rubric"]


rubric = group("rubric", "How to judge: rubrics.")
learn = group("learn", "Rubrics proposed from what was judged.")


@rubric.command("ls")
def rubric_ls(ctx: typer.Context, as_json: JsonFlag = False) -> None:
    """Lists all rubrics that can be chosen."""
    call(ctx, "_catalog", "list_rubrics")


@rubric.command("show")
def rubric_show(ctx: typer.Context, name: NameArgument, as_json: JsonFlag = False) -> None:
    """Shows a rubric: dimensions, weights, text."""
    call(ctx, "_catalog", "show_rubric")


@rubric.command("new")
def rubric_new(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits and hyphens.", metavar="NAME")],
    dimensions: Annotated[
        str, typer.Option(help="What to judge, and how much it counts.", metavar="NAME:WEIGHT,…")
    ] = "correctness:.5,completeness:.3,clarity:.2",
    category: Annotated[list[str] | None, typer.Option(help="A kind of task it is for; several may be given.")] = None,
    description: Annotated[str, typer.Option(help="What it judges, and when to use it.")] = "",
    user: Annotated[bool, typer.Option("--user", help="For all your work, not just this folder's.")] = False,
    into: Annotated[Path | None, typer.Option(help="The folder to write it into.", metavar="FOLDER")] = None,
) -> None:
    """Writes a rubric to begin with, into .agents/evaluators."""
    call(ctx, "_rubric", "new")


@rubric.command("lint")
def rubric_lint(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(help="Names or folders; none means all.", metavar="[NAME]…")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Says what is wrong with rubrics, and what could be better."""
    call(ctx, "_rubric", "lint_rubrics")


@rubric.command("test")
def rubric_test(
    ctx: typer.Context,
    name: NameArgument,
    judge: JudgeFlag = None,
    panel: PanelFlag = None,
    replay: ReplayFlag = None,
    record: RecordFlag = None,
    ledger: LedgerFlag = None,
    api_base: ApiBaseFlag = None,
    as_json: JsonFlag = False,
) -> None:
    """Judges a rubric's graded examples: 3 if one comes out as nobody wanted it."""
    call(ctx, "_rubric", "try_examples")


@rubric.command("migrate")
def rubric_migrate(
    ctx: typer.Context,
    path: PathArgument,
    into: Annotated[Path, typer.Option(help="The folder to write it into.", metavar="FOLDER")],
) -> None:
    """Writes a rubric in one file as SKILL.md and rubric.yaml; its digest stays."""
    call(ctx, "_rubric", "migrate_rubric")


@rubric.command("add")
def rubric_add(ctx: typer.Context, path: PathArgument) -> None:
    """Copies a rubric into your own store, with its digest."""
    call(ctx, "_rubric", "add")


@rubric.command("report")
def rubric_report(
    ctx: typer.Context,
    name: Annotated[str | None, typer.Argument(help="Of one rubric only.", metavar="[NAME]")] = None,
    labels: Annotated[
        Path | None, typer.Option(help="What people said, JSONL: kept as how well the rubric does.", metavar="FILE")
    ] = None,
    ledger: LedgerFlag = None,
    as_json: JsonFlag = False,
) -> None:
    """Says how rubrics scored over time: spread, stability, drift, agreement."""
    call(ctx, "_calibrate", "report")


@rubric.command("reweigh")
def rubric_reweigh(
    ctx: typer.Context,
    name: NameArgument,
    labels: Annotated[Path, typer.Option("--from", help="What people said, JSONL: item, score.", metavar="FILE")],
    apply: Annotated[bool, typer.Option("--apply", help="Write the new weights, as a new version.")] = False,
    ledger: LedgerFlag = None,
    as_json: JsonFlag = False,
) -> None:
    """Fits a rubric's weights to what people said, and shows them; no score changes."""
    call(ctx, "_calibrate", "reweigh")


@learn.command("mine")
def learn_mine(
    ctx: typer.Context,
    days: Annotated[int, typer.Option(help="How far back to look.", min=1)] = 30,
    min_samples: Annotated[int, typer.Option(help="Judgments of a category, at least.", min=1)] = 3,
    min_confidence: Annotated[float, typer.Option(help="Its share of all, 0-1, at least.", min=0, max=1)] = 0.7,
    ledger: LedgerFlag = None,
    as_json: JsonFlag = False,
) -> None:
    """Proposes rubrics for kinds of tasks that come again and again."""
    call(ctx, "_learn", "mine_ledger")


@learn.command("ls")
def learn_ls(ctx: typer.Context, as_json: JsonFlag = False) -> None:
    """Lists proposals, and whether each is approved."""
    call(ctx, "_learn", "list_proposals")


@learn.command("approve")
def learn_approve(ctx: typer.Context, name: NameArgument) -> None:
    """Lets a proposal be used, as it stands."""
    call(ctx, "_learn", "approve_one")


@learn.command("dismiss")
def learn_dismiss(ctx: typer.Context, name: NameArgument) -> None:
    """Removes a proposal, and remembers that."""
    call(ctx, "_learn", "dismiss_one")
