"""What ``ask`` and ``run`` are asked alike: their flags, whether they go together, what they change."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType
from typing import Any, TypedDict, cast

import msgspec

from deliberate import plugins
from deliberate.cli._gates import required_of as stated_by_flags
from deliberate.cli._given import Given
from deliberate.cli._read import policies_of, quorum_of
from deliberate.engine import Code, Estimate
from deliberate.errors import ConfigError
from deliberate.evaluators import Evaluator
from deliberate.evaluators.composite import Composite
from deliberate.evaluators.deliberation import Deliberation
from deliberate.gates import Required
from deliberate.types import Panel, Param, Plan, Rules, Spec

__all__ = [
    "Asked",
    "Limits",
    "adjusted",
    "as_planned",
    "check",
    "check_spend",
    "code_text",
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


class Asked(Given, frozen=True, kw_only=True):
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
    previous: str | None
    rule: str | None
    tie: str | None
    quorum: str | None
    rounds: int | None
    seed: int | None
    baseline: str | None
    max_drop: float
    modules: list[str] | None
    dry_run: bool
    require_calibration: bool = False


def check(asked: Asked) -> None:
    """Whether the flags go together.

    Raises:
        ConfigError: One would be passed over in silence.
    """
    if asked.plan is not None and (asked.panel or asked.judge):
        flag = "--panel" if asked.panel else "--judge"
        raise ConfigError(f"{asked.plan} names its own judges", where=flag, hint=f"leave out {flag}, or the plan")
    if asked.panel and len(asked.judge or ()) > 1:
        raise ConfigError(
            "a panel takes one model, for its seats that name none",
            where="--judge",
            hint="leave out --panel, or all but one",
        )
    if asked.rubric is not None and asked.criteria:
        raise ConfigError("there is a rubric already", where="--criteria", expected="one of --rubric and --criteria")
    if asked.replay is not None and asked.record is not None:
        raise ConfigError("nothing new can be heard in a replay", where="--record", hint="leave out --replay")
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
    """The gates that were asked for; without a baseline nothing is held against one.

    Raises:
        UnknownName: There is no such bracket.
    """
    required = stated_by_flags(asked)
    return required if asked.baseline is not None else msgspec.structs.replace(required, max_drop=None)


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


def estimate_text(estimate: Estimate) -> str:
    """Calls, tokens and cost in words; an unknown cost is named, never 0."""
    calls = f"{estimate.least_calls} to {estimate.most_calls} calls ({estimate.expected_calls:.1f} expected)"
    tokens = f"about {estimate.tokens_in} tokens in and {estimate.tokens_out} out"
    unknown = f"unknown ({', '.join(estimate.unpriced)})" if estimate.unpriced else ""
    cost = unknown or f"${estimate.expected_usd:.4f} expected, ${estimate.low_usd:.4f} to ${estimate.worst_usd:.4f}"
    return f"{calls}, {tokens}, cost {cost}"


def code_text(code: Sequence[Code]) -> tuple[str, ...]:
    """A line for each part that runs a program: where, and whether it may use the network."""
    return tuple(
        f"{one.part} runs code: {'sandbox ' + one.tier if one.tier else 'NO SANDBOX HERE (only with --trust-code)'}, "
        f"{'with' if one.network else 'no'} network"
        for one in code
    )
