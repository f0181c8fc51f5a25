"""Who and what judges: ``judge``, ``panel``, ``evaluator`` and ``models``, and their flags."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deliberate.cli._flags import ApiBaseFlag, JsonFlag, LedgerFlag, NameArgument, PathArgument
from deliberate.cli._verbs._call import call, group

__all__ = ["evaluator", "judge", "models", "panel"]


judge = group("judge", "Who judges: agent cards and models.")
panel = group("panel", "Who judges together: panels.")
evaluator = group("evaluator", "What scores a case: evaluators.")
models = group("models", "Local models: weights, checks, calibration.")


@judge.command("ls")
def judge_ls(ctx: typer.Context, as_json: JsonFlag = False) -> None:
    """Lists all agent cards."""
    call(ctx, "_catalog", "list_judges")


@judge.command("show")
def judge_show(ctx: typer.Context, name: NameArgument, as_json: JsonFlag = False) -> None:
    """Shows an agent card."""
    call(ctx, "_catalog", "show_judge")


@judge.command("ping")
def judge_ping(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="An agent card's name, or a model.", metavar="NAME|MODEL")],
    model: Annotated[str | None, typer.Option(help="The model, where the card names none.")] = None,
    api_base: ApiBaseFlag = None,
    as_json: JsonFlag = False,
) -> None:
    """Asks a judge one easy question, and shows its reply, raw and read."""
    call(ctx, "_ping", "ping")


@judge.command("drift")
def judge_drift(
    ctx: typer.Context,
    labels: Annotated[
        Path | None, typer.Argument(help="What people said, JSONL: item (a case's digest), vote.", metavar="[LABELS]")
    ] = None,
    name: Annotated[str | None, typer.Option("--judge", help="Of this model alone.", metavar="MODEL")] = None,
    promised: Annotated[
        float | None, typer.Option(help="Share right when it was accepted, 0-1; else its calibration's.", min=0, max=1)
    ] = None,
    tolerance: Annotated[float, typer.Option(help="How much below is borne.", min=0, max=1)] = 0.05,
    false_alarms: Annotated[float, typer.Option(help="Chance of any false alarm.", min=0, max=1)] = 0.05,
    ledger: LedgerFlag = None,
    out: Annotated[list[Path] | None, typer.Option("-o", help="Write the report: .html .json.", metavar="FILE")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Says whether a judge has changed, from anchors scored again over time."""
    call(ctx, "_drift", "drift_of_judges")


@judge.command("new")
def judge_new(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Its name.", metavar="NAME")],
    model: Annotated[str | None, typer.Option(help="The model it always uses; without, the panel's.")] = None,
) -> None:
    """Writes an agent card to fill in, into .agents/agents."""
    call(ctx, "_new", "new_judge")


@panel.command("ls")
def panel_ls(ctx: typer.Context, as_json: JsonFlag = False) -> None:
    """Lists all panels."""
    call(ctx, "_catalog", "list_panels")


@panel.command("show")
def panel_show(ctx: typer.Context, name: NameArgument, as_json: JsonFlag = False) -> None:
    """Shows a panel: seats, protocol, rules."""
    call(ctx, "_catalog", "show_panel")


@panel.command("new")
def panel_new(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Its name.", metavar="NAME")],
    judge: Annotated[list[str] | None, typer.Option(help="A model; one seat each.", metavar="MODEL")] = None,
    rubric: Annotated[str, typer.Option(help="How it judges.")] = "general",
) -> None:
    """Writes a panel to change, into .agents/agents."""
    call(ctx, "_new", "new_panel")


@evaluator.command("ls")
def evaluator_ls(ctx: typer.Context, as_json: JsonFlag = False) -> None:
    """Lists all evaluators, and whether they ask a model."""
    call(ctx, "_catalog", "list_evaluators")


@evaluator.command("show")
def evaluator_show(ctx: typer.Context, name: NameArgument, as_json: JsonFlag = False) -> None:
    """Shows an evaluator: what it does, its parameters and their defaults."""
    call(ctx, "_catalog", "show_evaluator")


@models.command("fetch")
def models_fetch(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Which one.", metavar="[NAME]")] = "qwen2.5-coder-1.5b",
) -> None:
    """Fetches the pinned weights of a local model (about 1 GB), and verifies them."""
    call(ctx, "_models", "fetch")


@models.command("add")
def models_add(
    ctx: typer.Context,
    path: PathArgument,
    name: Annotated[str | None, typer.Option(help="What to call it.")] = None,
) -> None:
    """Adds a GGUF file of your own."""
    call(ctx, "_models", "add")


@models.command("ls")
def models_ls(ctx: typer.Context, as_json: JsonFlag = False) -> None:
    """Lists local models."""
    call(ctx, "_models", "ls")


@models.command("rm")
def models_rm(ctx: typer.Context, name: NameArgument) -> None:
    """Removes a local model."""
    call(ctx, "_models", "rm")


@models.command("check")
def models_check(ctx: typer.Context, name: NameArgument, as_json: JsonFlag = False) -> None:
    """Tries whether a model can judge: refuses one whose answer is constant or follows the order of labels."""
    call(ctx, "_models", "check")


@models.command("calibrate")
def models_calibrate(
    ctx: typer.Context,
    name: NameArgument,
    anchors: Annotated[Path, typer.Option("--from", help="4 to 8 labeled outputs, JSONL.", metavar="FILE")],
    rubric: Annotated[str, typer.Option(help="Whose questions to calibrate.")] = "general",
) -> None:
    """Fits a local model's offsets to labeled outputs."""
    call(ctx, "_models", "calibrate")
