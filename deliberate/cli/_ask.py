"""``ask``: one output before a panel, or through a plan."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType
from typing import Any, TypedDict, cast

import msgspec

from deliberate import plugins
from deliberate.cli._exits import say
from deliberate.cli._live import Progress, following, shows_tables
from deliberate.cli._read import addresses, case_text, policies_of, quorum_of, text_or_file
from deliberate.cli._result import baseline_score, print_result, result_for
from deliberate.cli._table import print_json, print_lines
from deliberate.engine import Estimate, Session
from deliberate.errors import ConfigError, LedgerError, UnknownName
from deliberate.evaluators import Evaluator, own_evaluators, plan_of
from deliberate.evaluators.composite import Composite
from deliberate.evaluators.deliberation import Deliberation
from deliberate.gates import Required
from deliberate.library import Library
from deliberate.library.plans import LoadedPlan
from deliberate.reports import Imprint, ReadBack, checked
from deliberate.types import (
    AUTO,
    BRACKETS,
    Case,
    Evaluation,
    Panel,
    Param,
    Plan,
    Record,
    Rules,
    Spec,
    bracket_named,
)

__all__ = [
    "Asked",
    "Limits",
    "adjusted",
    "as_planned",
    "ask",
    "check",
    "check_spend",
    "estimate_text",
    "import_modules",
    "limits_of",
    "required_of",
]


class Limits(TypedDict, total=False):
    """Arguments of a session that hold it back."""

    requests_per_minute: int
    tokens_per_minute: int
    case_seconds: float
    call_seconds: float


class Asked(Record, frozen=True, kw_only=True):
    """The flags of ``ask``, as they were given."""

    output: str
    task: str
    reference: str | None
    rubric: str | None
    criteria: str
    panel: str | None
    judge: list[str] | None
    plan: Path | None
    category: str | None
    rule: str | None
    tie: str | None
    quorum: str | None
    rounds: int | None
    seed: int | None
    min_score: float | None
    min_bracket: str | None
    max_blockers: int | None
    max_unread: float | None
    min_agreement: float | None
    baseline: str | None
    max_drop: float
    max_cost: float | None
    deadline: float | None
    in_flight: int | None
    replay: Path | None
    record: Path | None
    ledger: Path | None
    fresh: bool
    trust_code: bool
    api_base: list[str] | None
    modules: list[str] | None
    dry_run: bool
    out: list[Path] | None
    github: bool = False
    as_json: bool


async def ask(**flags: Any) -> int:  # noqa: ANN401  as `_app` declares them
    """Judges one output, prints the result, and gives the exit code."""
    asked = Asked(**flags)
    check(asked)
    own = own_evaluators(import_modules(asked.modules or ()))
    library = Library(workspace=Path.cwd())
    loaded = None if asked.plan is None else library.plan(asked.plan, own=tuple(own))
    asked = asked if loaded is None else as_planned(asked, loaded.plan)
    required = required_of(asked)
    for path in asked.out or ():
        checked(path)
    case, plan = _case_and_plan(asked, library, loaded, own=own)
    tables = shows_tables() and not asked.as_json
    heard = Progress(lines=sys.stderr.isatty() and not tables and not asked.as_json)
    session = Session(
        ledger=asked.ledger,
        max_cost_usd=asked.max_cost,
        deadline_seconds=asked.deadline,
        in_flight=asked.in_flight or "auto",
        trust_code=asked.trust_code,
        replay=asked.replay,
        record=asked.record,
        fresh=asked.fresh,
        library=library,
        api_base=addresses(asked.api_base),
        exclusive=True,
        on_event=heard,
        **limits_of({} if loaded is None else loaded.plan.limits),
    )
    try:
        async with session:
            evaluator = adjusted(session.evaluator_of(plan or session.default_panel()), asked)
            check_spend(evaluator, asked)
            if asked.dry_run:
                _print_estimate(await session.estimate(case, evaluator), as_json=asked.as_json)
                return 0
            baseline = None if asked.baseline is None else await baseline_score(session.ledger.reader, asked.baseline)
            async with following(heard, lambda: session.under_way) if tables else nullcontext():
                evaluation = await session.evaluate(case, evaluator)
            cast_at = await session.read_back(evaluation) if heard.read_back else ()
    except LedgerError as error:
        error.spent = bool(heard.run)  # once the run has begun somebody may have been asked
        raise
    _say_rubric(evaluation)
    read_back = ReadBack(votes=heard.read_back, of=heard.votes, oldest=cast_at[0]) if cast_at else None
    if asked.record is not None and heard.read_back:
        say(f"{heard.read_back} of {heard.votes} votes were read back and are not recorded; --fresh asks them anew")
    imprint = Imprint(
        run="" if session.ledger_path == ":memory:" else heard.run,  # a replay leaves nothing that could be shown
        ledger="" if asked.ledger is None else str(asked.ledger),
        result=result_for(evaluation, required, baseline=baseline),
        read_back=read_back,
    )
    return await print_result(
        case,
        evaluation,
        imprint,
        ledger=session.ledger_path,
        out=asked.out or (),
        as_json=asked.as_json,
        github=asked.github,
    )


def _say_rubric(evaluation: Evaluation) -> None:
    """Says which rubric was chosen, and why, where one was for more than any task."""
    details = evaluation.details
    if details.get("rubric_by", "general") != "general":
        say(f"rubric {details['rubric']}: {details['rubric_why']}")


def check(asked: Asked) -> None:
    """Whether the flags go together.

    Raises:
        ConfigError: One would be passed over in silence.
    """
    if asked.plan is not None and (asked.panel or asked.judge):
        raise ConfigError("a plan names its own judges", where="--plan", hint="leave out --panel and --judge")
    if asked.panel and len(asked.judge or ()) > 1:
        raise ConfigError(
            "a panel takes one model, for its seats that name none",
            where="--judge",
            hint="leave out --panel, or all but one",
        )
    if asked.rubric is not None and asked.criteria:
        raise ConfigError("there is a rubric already", where="--criteria", expected="one of --rubric and --criteria")
    if asked.max_drop and asked.baseline is None:
        raise ConfigError("there is nothing to drop below", where="--max-drop", expected="--baseline RUN beside it")


def import_modules(modules: Sequence[str]) -> list[ModuleType]:
    """The modules with parts of the user's own.

    Raises:
        ConfigError: One cannot be imported.
    """
    here = str(Path.cwd())
    sys.path.insert(0, here)
    invalidate_caches()  # a module written a moment ago is found
    found: list[ModuleType] = []
    try:
        for name in modules:
            try:
                found.append(import_module(name))
            except Exception as error:  # noqa: BLE001  all: whatever the user's own module raises is theirs to see
                what = f"{name} cannot be imported: {type(error).__name__}: {error}"
                raise ConfigError(what, where="--import") from None
    finally:
        sys.path.remove(here)
    return found


def required_of(asked: Asked) -> Required:
    """The gates that were asked for.

    Raises:
        UnknownName: There is no such bracket.
    """
    try:
        bracket = None if asked.min_bracket is None else bracket_named(asked.min_bracket)
    except ValueError:
        kind = "bracket"
        raise UnknownName(kind, asked.min_bracket or "", BRACKETS.labels, where="--min-bracket") from None
    return Required(
        min_score=asked.min_score,
        min_bracket=bracket,
        max_blockers=asked.max_blockers,
        max_unread=asked.max_unread,
        min_agreement=asked.min_agreement,
        max_drop=None if asked.baseline is None else asked.max_drop,
    )


def as_planned(asked: Asked, plan: Plan) -> Asked:
    """The flags, with what the plan requires and limits where a flag does not say otherwise."""
    required = {name: plan.require.get(name) for name in _REQUIRED}
    limits = {flag: plan.limits.get(name) for flag, name in _LIMITS.items()}
    stated: dict[str, Param] = {
        name: value
        for name, value in {**required, **limits}.items()
        if value is not None and getattr(asked, name) is None
    }
    if asked.baseline is not None and not asked.max_drop:
        stated["max_drop"] = plan.require.get("max_drop", 0.0)
    return msgspec.structs.replace(asked, **stated)


def limits_of(stated: Mapping[str, Any]) -> Limits:
    """What a plan, or flags, say of paces and times; None says nothing."""
    return cast("Limits", {name: stated[name] for name in Limits.__annotations__ if stated.get(name) is not None})


_REQUIRED = ("min_score", "min_bracket", "max_blockers", "max_unread", "min_agreement")
_LIMITS = {"max_cost": "max_cost_usd", "deadline": "deadline_seconds", "in_flight": "in_flight"}


def _case_and_plan(
    asked: Asked, library: Library, loaded: LoadedPlan | None, *, own: Mapping[str, object]
) -> tuple[Case, Evaluator | Panel | None]:
    workspace = ""
    plan: Evaluator | Panel | None = None
    if loaded is not None:
        workspace = str(loaded.folder)
        plan = plan_of(loaded.plan, panel=loaded.panel(library), where=loaded.where, folder=loaded.folder, own=own)
    elif asked.panel is not None:
        plan = library.panel(asked.panel, model=asked.judge[0] if asked.judge else None)
    elif asked.judge:
        plan = Panel.of(*asked.judge, rubric=AUTO)
    case = Case(
        output=case_text(asked.output),
        task=text_or_file(asked.task, where="--task"),
        reference=None if asked.reference is None else text_or_file(asked.reference, where="--reference"),
        category=asked.category,
        workspace=workspace,
    )
    return case, plan


def adjusted(evaluator: Evaluator, asked: Asked) -> Evaluator:
    """The evaluator with what the flags say about panels put into every panel of it."""
    if isinstance(evaluator, Composite):
        members = tuple(
            msgspec.structs.replace(member, evaluator=adjusted(member.evaluator, asked)) for member in evaluator.members
        )
        return msgspec.structs.replace(evaluator, members=members)
    if isinstance(evaluator, Deliberation):
        name = () if asked.output == "-" else (Path(asked.output).name,)
        return msgspec.structs.replace(evaluator, panel=_panel(evaluator.panel, asked), files=name)
    return evaluator


def _panel(panel: Panel, asked: Asked) -> Panel:
    if asked.criteria:
        panel = msgspec.structs.replace(panel, rubric=None, criteria=asked.criteria)
    elif asked.rubric is not None:
        panel = msgspec.structs.replace(panel, rubric=asked.rubric, criteria="")
    if asked.rounds is not None:
        panel = msgspec.structs.replace(panel, protocol=_protocol(panel.protocol, asked.rounds))
    if asked.seed is not None:
        panel = msgspec.structs.replace(panel, seed=asked.seed)
    return msgspec.structs.replace(panel, rules=_rules(panel.rules, asked))


def _protocol(stated: Spec, rounds: int) -> Spec:
    """The protocol with that many rounds at the most, and whatever else it was told."""
    if rounds == 1:
        return Spec(type="independent")
    params: Mapping[str, Param] = stated.params if stated.type == "rounds" else {}
    return Spec(type="rounds", params={**params, "rounds": rounds})


def _rules(rules: Rules, asked: Asked) -> Rules:
    if asked.rule is not None:
        plugins.part("tallies", asked.rule, where="--rule")
        rules = msgspec.structs.replace(rules, rule=asked.rule)
    if asked.tie is not None:
        rules = msgspec.structs.replace(rules, tie=policies_of(asked.tie))
    if asked.quorum is not None:
        rules = msgspec.structs.replace(rules, quorum=quorum_of(asked.quorum))
    return rules


def check_spend(evaluator: Evaluator, asked: Asked) -> None:
    """Whether every panel vouches for the number that is held against a gate.

    Raises:
        ConfigError: One leaves out votes: it vouches for its bracket, not for its number.
    """
    if isinstance(evaluator, Composite):
        for member in evaluator.members:
            check_spend(member.evaluator, asked)
    elif isinstance(evaluator, Deliberation) and evaluator.panel.spend == "enough":
        gate = "--min-score" if asked.min_score is not None else "--baseline" if asked.baseline is not None else ""
        if not gate:
            return
        raise ConfigError(
            "a panel with spend: enough vouches for its bracket, not for its number",
            where=gate,
            hint="use --min-bracket, or spend: all",
        )


def _print_estimate(estimate: Estimate, *, as_json: bool) -> None:
    if as_json:
        print_json(estimate)
    else:
        print_lines(f"{estimate_text(estimate)}; nothing was asked")


def estimate_text(estimate: Estimate) -> str:
    """Calls, tokens and cost in words; an unknown cost is named, never 0."""
    calls = f"{estimate.least_calls} to {estimate.most_calls} calls ({estimate.expected_calls:.1f} expected)"
    tokens = f"about {estimate.tokens_in} tokens in and {estimate.tokens_out} out"
    unknown = f"unknown ({', '.join(estimate.unpriced)})" if estimate.unpriced else ""
    cost = unknown or f"${estimate.expected_usd:.4f} expected, ${estimate.low_usd:.4f} to ${estimate.worst_usd:.4f}"
    return f"{calls}, {tokens}, cost {cost}"
