"""The verbs that put outputs before judges, and their flags."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deliberate.cli._flags import (
    ApiBaseFlag,
    BaselineFlag,
    CriteriaFlag,
    DeadlineFlag,
    DryRunFlag,
    FreshFlag,
    GithubFlag,
    InFlightFlag,
    JsonFlag,
    JudgeFlag,
    LedgerFlag,
    MaxBlockersFlag,
    MaxCostFlag,
    MaxDropFlag,
    MaxUnreadFlag,
    MinAgreementFlag,
    MinBracketFlag,
    MinScoreFlag,
    ModulesFlag,
    OutFlag,
    PanelFlag,
    ProfileFlag,
    QuorumFlag,
    RecordFlag,
    ReplayFlag,
    RequireCalibrationFlag,
    RoundsFlag,
    RubricFlag,
    RuleFlag,
    SeedFlag,
    TieFlag,
    TrustCodeFlag,
)
from deliberate.cli._verbs._call import call

__all__ = ["ask", "run"]


def ask(
    ctx: typer.Context,
    output: Annotated[str, typer.Argument(help="The file to judge, or - for standard input.", metavar="OUTPUT|-")],
    task: Annotated[str, typer.Option(help="What was asked for; @FILE reads it from a file.")] = "",
    reference: Annotated[
        str | None, typer.Option(help="What was expected; @FILE reads it from a file.", metavar="TEXT|@FILE")
    ] = None,
    rubric: RubricFlag = None,
    criteria: CriteriaFlag = "",
    panel: PanelFlag = None,
    judge: JudgeFlag = None,
    plan: Annotated[Path | None, typer.Option(help="Parts, weights and gates: a plan file.", metavar="FILE")] = None,
    category: Annotated[str | None, typer.Option(help="What kind of task it was.")] = None,
    previous: Annotated[
        str | None,
        typer.Option(help="The run of an earlier version: what no change can have moved stands.", metavar="RUN"),
    ] = None,
    rule: RuleFlag = None,
    tie: TieFlag = None,
    quorum: QuorumFlag = None,
    rounds: RoundsFlag = None,
    seed: SeedFlag = None,
    min_score: MinScoreFlag = None,
    min_bracket: MinBracketFlag = None,
    max_blockers: MaxBlockersFlag = None,
    max_unread: MaxUnreadFlag = None,
    min_agreement: MinAgreementFlag = None,
    baseline: BaselineFlag = None,
    max_drop: MaxDropFlag = 0.0,
    require_calibration: RequireCalibrationFlag = False,
    max_cost: MaxCostFlag = None,
    deadline: DeadlineFlag = None,
    in_flight: InFlightFlag = None,
    replay: ReplayFlag = None,
    record: RecordFlag = None,
    ledger: LedgerFlag = None,
    fresh: FreshFlag = False,
    trust_code: TrustCodeFlag = False,
    api_base: ApiBaseFlag = None,
    modules: ModulesFlag = None,
    dry_run: DryRunFlag = False,
    out: OutFlag = None,
    github: GithubFlag = False,
    profile: ProfileFlag = None,
    as_json: JsonFlag = False,
) -> None:
    """Puts one output before a panel or a plan."""
    call(ctx, "_ask", "ask")


def run(
    ctx: typer.Context,
    plan: Annotated[
        Path | None, typer.Argument(help="Cases, parts, weights, gates: a plan file.", metavar="[PLAN]")
    ] = None,
    cases: Annotated[
        list[Path] | None,
        typer.Option(help="Cases: .jsonl, .csv, .parquet, a folder, or - for JSON lines.", metavar="FILE|FOLDER|-"),
    ] = None,
    task: Annotated[str, typer.Option(help="What was asked for, where the cases do not say; @FILE reads it.")] = "",
    rubric: RubricFlag = None,
    criteria: CriteriaFlag = "",
    panel: PanelFlag = None,
    judge: JudgeFlag = None,
    rule: RuleFlag = None,
    tie: TieFlag = None,
    quorum: QuorumFlag = None,
    rounds: RoundsFlag = None,
    seed: SeedFlag = None,
    min_score: MinScoreFlag = None,
    min_bracket: MinBracketFlag = None,
    max_blockers: MaxBlockersFlag = None,
    max_unread: MaxUnreadFlag = None,
    min_agreement: Annotated[float | None, typer.Option(help="Gate: least ordinal alpha.", min=-1, max=1)] = None,
    baseline: BaselineFlag = None,
    max_drop: MaxDropFlag = 0.0,
    require_calibration: RequireCalibrationFlag = False,
    max_cost: MaxCostFlag = None,
    deadline: DeadlineFlag = None,
    case_seconds: Annotated[float | None, typer.Option(help="Most seconds one case may take.", min=0)] = None,
    call_seconds: Annotated[float | None, typer.Option(help="Most seconds one call may take.", min=0)] = None,
    in_flight: InFlightFlag = None,
    requests_per_minute: Annotated[int | None, typer.Option(help="Most requests in any minute there.", min=1)] = None,
    tokens_per_minute: Annotated[int | None, typer.Option(help="Most tokens in any minute there.", min=1)] = None,
    replay: ReplayFlag = None,
    record: RecordFlag = None,
    ledger: LedgerFlag = None,
    fresh: FreshFlag = False,
    trust_code: TrustCodeFlag = False,
    api_base: ApiBaseFlag = None,
    modules: ModulesFlag = None,
    dry_run: DryRunFlag = False,
    out: Annotated[
        list[Path] | None,
        typer.Option("-o", help="Write results: .jsonl .csv .parquet .md .html .junit.xml.", metavar="FILE"),
    ] = None,
    github: GithubFlag = False,
    profile: ProfileFlag = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="A launch and a done record on standard output, a line each.")
    ] = False,
) -> None:
    """Judges many cases; run again, it goes on where it stopped."""
    call(ctx, "_run", "run")
