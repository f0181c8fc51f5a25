"""Every verb and its flags. Nothing heavy is imported here: a verb's module is, when it is called."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from deliberate.cli import TOO_EARLY
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
    MinBracketFlag,
    MinScoreFlag,
    ModulesFlag,
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

__all__ = ["app"]

app = typer.Typer(
    name="deliberate",
    help="Several judges vote on an output; one defensible verdict comes out.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


_MANY = ("_compare", "_probe", "_run", "_suite")
"""The verbs that may ask thousands of times."""


def _call(ctx: typer.Context, module: str, function: str) -> None:
    """Runs a verb with its flags, as they were declared."""
    try:
        from deliberate.cli._exits import wait_for  # noqa: PLC0415  only a verb that runs needs it

        profile = ctx.params.pop("profile", None)
        wait_for(
            lambda: getattr(import_module(f"deliberate.cli.{module}"), function)(**ctx.params),
            profile=profile,
            many=module in _MANY,
        )
    except KeyboardInterrupt:  # while it was imported
        sys.stderr.write(TOO_EARLY)
        sys.exit(130)


@app.command()
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
    min_agreement: Annotated[
        float | None, typer.Option(help="Gate: least share of pairs of votes in the same bracket, 0-1.", min=0, max=1)
    ] = None,
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
    out: Annotated[
        list[Path] | None, typer.Option("-o", help="Write the result, format by ending.", metavar="FILE")
    ] = None,
    github: GithubFlag = False,
    profile: ProfileFlag = None,
    as_json: JsonFlag = False,
) -> None:
    """Puts one output before a panel or a plan."""
    _call(ctx, "_ask", "ask")


@app.command()
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
    _call(ctx, "_run", "run")


@app.command()
def show(
    ctx: typer.Context,
    run: Annotated[str | None, typer.Argument(help="A run; none lists all.", metavar="[RUN]")] = None,
    ledger: LedgerFlag = None,
    out: Annotated[
        list[Path] | None, typer.Option("-o", help="Write the result, format by ending.", metavar="FILE")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Lists runs, or shows one."""
    _call(ctx, "_show", "show")


@app.command()
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
    _call(ctx, "_redecide", "redecide_run")


@app.command()
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
    _call(ctx, "_compare", "compare")


@app.command()
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
    _call(ctx, "_probe", "probe_judges")


@app.command()
def audit(
    ctx: typer.Context,
    run: Annotated[str | None, typer.Argument(help="A run.", metavar="[RUN]")] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Walk the whole chain of the ledger.")] = False,
    prompts: Annotated[bool, typer.Option("--prompts", help="Print every prompt as it was asked.")] = False,
    ledger: LedgerFlag = None,
    as_json: JsonFlag = False,
) -> None:
    """Says who was asked what, and whether the record is whole."""
    _call(ctx, "_audit", "audit")


@app.command()
def doctor(ctx: typer.Context, ledger: LedgerFlag = None, as_json: JsonFlag = False) -> None:
    """Looks at this installation, and says what to do next."""
    _call(ctx, "_doctor", "doctor")


@app.command()
def schema(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="verdict, case, launch, done, dry-run or plan.")] = "verdict",
) -> None:
    """Prints a JSON Schema."""
    _call(ctx, "_schema", "schema")


suite = typer.Typer(name="suite", help="Task suites: does a skill make a subject do better?", rich_markup_mode=None)
app.add_typer(suite)

SuiteFlag = Annotated[Path | None, typer.Option(help="The tasks: a YAML file.", metavar="FILE")]


@suite.callback(invoke_without_command=True)
def suite_run(
    ctx: typer.Context,
    task_suite: SuiteFlag = None,
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
    min_agreement: Annotated[
        float | None, typer.Option(help="Gate: least share of pairs of votes in the same bracket, 0-1.", min=0, max=1)
    ] = None,
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
        _call(ctx, "_suite", "suite")


@suite.command("lint")
def suite_lint(
    ctx: typer.Context,
    task_suite: Annotated[Path, typer.Argument(help="The tasks: a YAML file.", metavar="FILE")],
    as_json: JsonFlag = False,
) -> None:
    """Says what weakens a suite."""
    _call(ctx, "_suite", "suite_lint")


def _group(name: str, text: str) -> typer.Typer:
    group = typer.Typer(name=name, help=text, no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group)
    return group


rubric = _group("rubric", "How to judge: rubrics.")
judge = _group("judge", "Who judges: agent cards and models.")
panel = _group("panel", "Who judges together: panels.")
evaluator = _group("evaluator", "What scores a case: evaluators.")
models = _group("models", "Local models: weights, checks, calibration.")

NameArgument = Annotated[str, typer.Argument(help="Its name, or its file.", metavar="NAME")]
PathArgument = Annotated[Path, typer.Argument(help="A file.", metavar="PATH")]


labels = _group("labels", "What people say: the votes of human seats.")


@labels.command("queue")
def labels_queue(
    ctx: typer.Context,
    person: Annotated[str | None, typer.Option("--as", help="Who is asked for votes.", metavar="NAME")] = None,
    ledger: LedgerFlag = None,
    as_json: JsonFlag = False,
) -> None:
    """Lists the votes that people owe, or asks you for yours, one by one; no other vote is shown."""
    _call(ctx, "_labels", "queue")


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
    _call(ctx, "_import", "import_labels")


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
    _call(ctx, "_labels", "vote")


@rubric.command("ls")
def rubric_ls(ctx: typer.Context, as_json: JsonFlag = False) -> None:
    """Lists all rubrics that can be chosen."""
    _call(ctx, "_catalog", "list_rubrics")


@rubric.command("show")
def rubric_show(ctx: typer.Context, name: NameArgument, as_json: JsonFlag = False) -> None:
    """Shows a rubric: dimensions, weights, text."""
    _call(ctx, "_catalog", "show_rubric")


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
    _call(ctx, "_rubric", "new")


@rubric.command("lint")
def rubric_lint(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(help="Names or folders; none means all.", metavar="[NAME]…")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Says what is wrong with rubrics, and what could be better."""
    _call(ctx, "_rubric", "lint_rubrics")


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
    _call(ctx, "_rubric", "try_examples")


@rubric.command("migrate")
def rubric_migrate(
    ctx: typer.Context,
    path: PathArgument,
    into: Annotated[Path, typer.Option(help="The folder to write it into.", metavar="FOLDER")],
) -> None:
    """Writes a rubric in one file as SKILL.md and rubric.yaml; its digest stays."""
    _call(ctx, "_rubric", "migrate_rubric")


@rubric.command("add")
def rubric_add(ctx: typer.Context, path: PathArgument) -> None:
    """Copies a rubric into your own store, with its digest."""
    _call(ctx, "_rubric", "add")


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
    _call(ctx, "_calibrate", "report")


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
    _call(ctx, "_calibrate", "reweigh")


learn = _group("learn", "Rubrics proposed from what was judged.")


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
    _call(ctx, "_learn", "mine_ledger")


@learn.command("ls")
def learn_ls(ctx: typer.Context, as_json: JsonFlag = False) -> None:
    """Lists proposals, and whether each is approved."""
    _call(ctx, "_learn", "list_proposals")


@learn.command("approve")
def learn_approve(ctx: typer.Context, name: NameArgument) -> None:
    """Lets a proposal be used, as it stands."""
    _call(ctx, "_learn", "approve_one")


@learn.command("dismiss")
def learn_dismiss(ctx: typer.Context, name: NameArgument) -> None:
    """Removes a proposal, and remembers that."""
    _call(ctx, "_learn", "dismiss_one")


@judge.command("ls")
def judge_ls(ctx: typer.Context, as_json: JsonFlag = False) -> None:
    """Lists all agent cards."""
    _call(ctx, "_catalog", "list_judges")


@judge.command("show")
def judge_show(ctx: typer.Context, name: NameArgument, as_json: JsonFlag = False) -> None:
    """Shows an agent card."""
    _call(ctx, "_catalog", "show_judge")


@judge.command("ping")
def judge_ping(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="An agent card's name, or a model.", metavar="NAME|MODEL")],
    model: Annotated[str | None, typer.Option(help="The model, where the card names none.")] = None,
    api_base: ApiBaseFlag = None,
    as_json: JsonFlag = False,
) -> None:
    """Asks a judge one easy question, and shows its reply, raw and read."""
    _call(ctx, "_ping", "ping")


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
    _call(ctx, "_drift", "drift_of_judges")


@judge.command("new")
def judge_new(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Its name.", metavar="NAME")],
    model: Annotated[str | None, typer.Option(help="The model it always uses; without, the panel's.")] = None,
) -> None:
    """Writes an agent card to fill in, into .agents/agents."""
    _call(ctx, "_new", "new_judge")


@panel.command("ls")
def panel_ls(ctx: typer.Context, as_json: JsonFlag = False) -> None:
    """Lists all panels."""
    _call(ctx, "_catalog", "list_panels")


@panel.command("show")
def panel_show(ctx: typer.Context, name: NameArgument, as_json: JsonFlag = False) -> None:
    """Shows a panel: seats, protocol, rules."""
    _call(ctx, "_catalog", "show_panel")


@panel.command("new")
def panel_new(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Its name.", metavar="NAME")],
    judge: Annotated[list[str] | None, typer.Option(help="A model; one seat each.", metavar="MODEL")] = None,
    rubric: Annotated[str, typer.Option(help="How it judges.")] = "general",
) -> None:
    """Writes a panel to change, into .agents/agents."""
    _call(ctx, "_new", "new_panel")


@evaluator.command("ls")
def evaluator_ls(ctx: typer.Context, as_json: JsonFlag = False) -> None:
    """Lists all evaluators, and whether they ask a model."""
    _call(ctx, "_catalog", "list_evaluators")


@evaluator.command("show")
def evaluator_show(ctx: typer.Context, name: NameArgument, as_json: JsonFlag = False) -> None:
    """Shows an evaluator: what it does, its parameters and their defaults."""
    _call(ctx, "_catalog", "show_evaluator")


@models.command("fetch")
def models_fetch(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Which one.", metavar="[NAME]")] = "qwen2.5-coder-1.5b",
) -> None:
    """Fetches the pinned weights of a local model (about 1 GB), and verifies them."""
    _call(ctx, "_models", "fetch")


@models.command("add")
def models_add(
    ctx: typer.Context,
    path: PathArgument,
    name: Annotated[str | None, typer.Option(help="What to call it.")] = None,
) -> None:
    """Adds a GGUF file of your own."""
    _call(ctx, "_models", "add")


@models.command("ls")
def models_ls(ctx: typer.Context, as_json: JsonFlag = False) -> None:
    """Lists local models."""
    _call(ctx, "_models", "ls")


@models.command("rm")
def models_rm(ctx: typer.Context, name: NameArgument) -> None:
    """Removes a local model."""
    _call(ctx, "_models", "rm")


@models.command("check")
def models_check(ctx: typer.Context, name: NameArgument, as_json: JsonFlag = False) -> None:
    """Tries whether a model can judge: refuses one whose answer is constant or follows the order of labels."""
    _call(ctx, "_models", "check")


@models.command("calibrate")
def models_calibrate(
    ctx: typer.Context,
    name: NameArgument,
    anchors: Annotated[Path, typer.Option("--from", help="4 to 8 labeled outputs, JSONL.", metavar="FILE")],
    rubric: Annotated[str, typer.Option(help="Whose questions to calibrate.")] = "general",
) -> None:
    """Fits a local model's offsets to labeled outputs."""
    _call(ctx, "_models", "calibrate")
