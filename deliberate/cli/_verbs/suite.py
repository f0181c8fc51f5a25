"""``suite`` and its flags."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deliberate.cli._flags import (
    ApiBaseFlag,
    DeadlineFlag,
    FreshFlag,
    GithubFlag,
    JsonFlag,
    LedgerFlag,
    MaxCostFlag,
    MaxUnreadFlag,
    MinAgreementFlag,
    RecordFlag,
    ReplayFlag,
)
from deliberate.cli._verbs._call import call

__all__ = ["suite"]


suite = typer.Typer(name="suite", help="Task suites: does a skill make a subject do better?", rich_markup_mode=None)


@suite.callback(invoke_without_command=True)
def suite_run(
    ctx: typer.Context,
    task_suite: Annotated[Path | None, typer.Option(help="The tasks: a YAML file.", metavar="FILE")] = None,
    state_root: Annotated[Path | None, typer.Option(help="Where state and artifacts go.", metavar="DIR")] = None,
    input: Annotated[Path | None, typer.Option(help="Pipeline: the ranking artifact.", metavar="FILE")] = None,  # noqa: A002  the flag's name
    candidate_id: Annotated[str | None, typer.Option(help="Pipeline: which candidate of it.", metavar="ID")] = None,
    standalone: Annotated[bool, typer.Option("--standalone", help="Try a skill alone, without a baseline.")] = False,
    skill_path: Annotated[
        Path | None, typer.Option(help="Standalone: the SKILL.md or its folder.", metavar="PATH")
    ] = None,
    baseline_skill: Annotated[
        str | None, typer.Option(help="Pipeline: the skill to compare with, instead of the ranking's; none = no skill.")
    ] = None,
    mock: Annotated[bool, typer.Option("--mock", help="No model: fixed passing scores, to try a suite out.")] = False,
    subject: Annotated[str | None, typer.Option(help="Who does the tasks: a model.", metavar="MODEL")] = None,
    command: Annotated[
        str | None, typer.Option(help="Who does the tasks: a command that reads the prompt.", metavar="COMMAND")
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="The model of rubric judges that name none.", metavar="MODEL")
    ] = None,
    temperature: Annotated[float | None, typer.Option(help="The subject's; none = its own default.", min=0)] = None,
    pass_k: Annotated[int, typer.Option(help="Attempts per task; one that passes is enough.", min=1)] = 1,
    samples: Annotated[int | None, typer.Option(help="Attempts that are all made, for the estimates.", min=1)] = None,
    baseline_cache_dir: Annotated[
        Path | None, typer.Option(help="Keep baselines here for seven days.", metavar="DIR")
    ] = None,
    eval_threshold: Annotated[
        float, typer.Option(help="Pipeline: least score of the discriminator, 0-10.", min=0, max=10)
    ] = 6.0,
    weak_baseline: Annotated[str, typer.Option(help="A baseline below 0.2: error or warn.")] = "error",
    min_effect: Annotated[float, typer.Option(help="Least difference of the pass rates.", min=0, max=1)] = 0.0,
    inconclusive: Annotated[
        bool, typer.Option("--inconclusive", help="Neither pass nor fail where chance explains the difference.")
    ] = False,
    require_pass: Annotated[bool, typer.Option("--require-pass", help="Gate: a fail is exit 3.")] = False,
    min_score: Annotated[float | None, typer.Option(help="Gate: least pass rate, 0-100.", min=0, max=100)] = None,
    min_bracket: Annotated[str | None, typer.Option(help="Gate: least bracket of the pass rate.")] = None,
    max_blockers: Annotated[int | None, typer.Option(help="Gate: most blockers.", min=0)] = None,
    max_unread: MaxUnreadFlag = None,
    min_agreement: MinAgreementFlag = None,
    max_drop: Annotated[
        float | None, typer.Option(help="Gate: most points of pass rate below the baseline.", min=0)
    ] = None,
    output: Annotated[Path | None, typer.Option(help="The artifact's file.", metavar="FILE")] = None,
    max_cost: MaxCostFlag = None,
    deadline: DeadlineFlag = None,
    in_flight: Annotated[int | None, typer.Option(help="Tasks at once, and calls at one provider.", min=1)] = None,
    replay: ReplayFlag = None,
    record: RecordFlag = None,
    ledger: LedgerFlag = None,
    fresh: FreshFlag = False,
    trust_code: Annotated[bool, typer.Option("--trust-code", help="Let tests run outside a sandbox.")] = False,
    api_base: ApiBaseFlag = None,
    out: Annotated[
        list[Path] | None, typer.Option("-o", help="Write a report, format by ending.", metavar="FILE")
    ] = None,
    github: GithubFlag = False,
    as_json: Annotated[bool, typer.Option("--json", help="The whole artifact on standard output.")] = False,
) -> None:
    """Tries a skill on its tasks, beside the one it would replace."""
    if ctx.invoked_subcommand is None:
        call(ctx, "_suite", "suite")


@suite.command("lint")
def suite_lint(
    ctx: typer.Context,
    task_suite: Annotated[Path, typer.Argument(help="The tasks: a YAML file.", metavar="FILE")],
    as_json: JsonFlag = False,
) -> None:
    """Says what weakens a suite."""
    call(ctx, "_suite", "suite_lint")
