"""The plan: named, weighted parts, one aggregate."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import ClassVar, cast

import msgspec

from deliberate import gates as gating
from deliberate import plugins
from deliberate.aggregation import Aggregation, Weighted
from deliberate.errors import ConfigError
from deliberate.evaluators._base import Evaluator, assess, fingerprint_of, unscaled, unscored
from deliberate.evaluators._panel import judged_by
from deliberate.evaluators._revise import basis_of, begun, tokens_of, whole_stands
from deliberate.evaluators._revision import followed
from deliberate.runtime import Runtime, task_group
from deliberate.types import (
    Bracket,
    Carry,
    Case,
    Evaluation,
    Finding,
    Gate,
    Panel,
    Part,
    Record,
    Scored,
    Unscored,
    UnscoredWhy,
    Usage,
    bracket_of,
    check_bounds,
    digest_of,
    finite,
)

__all__ = ["Composite"]

_HALF = 0.5
_DEFAULT = re.compile(r"\Adefault\((\d+(?:\.\d+)?)\)\Z")


class Member(Record, frozen=True, kw_only=True):
    """One part before it ran: its name, its weight (≥ 0; 0 is reported and never counted), its evaluator."""

    name: str
    weight: float
    evaluator: Evaluator


class Composite(Record, frozen=True, kw_only=True):
    """Free parts first, paid ones together, then one rule over all scores, then the gates.

    Args:
        members: The parts, in the order of the result.
        by: The aggregation rule.
        on_missing: What a part that broke does: ``fail`` (no score), ``exclude``, ``zero``, or ``default(v)`` with v
            from 0 to 100. A skipped part leaves the declared weight and is not missing.
        min_coverage: The least share of the declared weight that must be observed; None means more than half with
            ``exclude``, and any otherwise.
        gates: Conditions on parts that cap or veto the whole.
        carry: When what was said of an earlier iteration may stand.
    """

    name: ClassVar[str] = "composite"
    spends_tokens: ClassVar[bool] = True

    members: tuple[Member, ...]
    by: str = "weighted_mean"
    on_missing: str = "fail"
    min_coverage: float | None = None
    gates: tuple[Gate, ...] = ()
    carry: Carry = Carry()

    def __post_init__(self) -> None:
        """Checks names, weights, rule and gates before anything is spent.

        Raises:
            ConfigError: Something does not fit; the message names the part.
        """
        _check(self)

    def made_of(self) -> object:
        """All that tells this plan from another: its parts by name, weight and fingerprint, its rule and its gates."""
        parts = [(one.name, one.weight, fingerprint_of(one.evaluator)) for one in self.members]
        return {
            "parts": parts,
            "by": self.by,
            "on_missing": self.on_missing,
            "min_coverage": self.min_coverage,
            "gates": self.gates,
        }

    async def evaluate(self, case: Case, *, runtime: Runtime, previous: Evaluation | None = None) -> Evaluation:
        """One evaluation of all parts; its bytes do not depend on which part finished first.

        The free parts run in every iteration; where they and the earlier evaluation allow it, that one stands and
        nobody is asked.
        """
        done = await self._run([one for one in self.members if not spends(one.evaluator)], case, runtime, previous)
        paid = [one for one in self.members if spends(one.evaluator)]
        lost = _lost(self.gates, done)
        revision = begun(case, previous, basis=self._basis(case, runtime))
        if previous is not None and lost is None:
            fresh = tuple(Part(name=m.name, weight=m.weight, evaluation=done[m.name]) for m in self._of(done))
            stands = await whole_stands(case, previous, fresh, runtime=runtime, revision=revision, carry=self.carry)
            if stands is not None:
                return stands
        if lost is None:
            done |= await self._run(paid, case, runtime, previous)
        else:
            detail = f"not asked: the gate on {lost!r} is already lost"
            done |= {one.name: unscored(one.evaluator, "skipped", detail) for one in paid}
        parts = tuple(Part(name=m.name, weight=m.weight, evaluation=done[m.name]) for m in self.members)
        whole = self._whole(parts)
        found = tuple(finding for part in parts for finding in _standing(part, previous))
        findings, resolved = followed(found, previous)
        tokens = tokens_of(whole.usage)
        return msgspec.structs.replace(
            whole,
            decision="incremental" if any(_in_part(part.evaluation) for part in parts) else "full",
            findings=findings,
            resolved=resolved,
            revision=msgspec.structs.replace(revision, tokens=tokens, tokens_full=_full_tokens(parts, tokens)),
        )

    def _of(self, done: Mapping[str, Evaluation]) -> tuple[Member, ...]:
        return tuple(member for member in self.members if member.name in done)

    def _basis(self, case: Case, runtime: Runtime) -> str:
        """Digest of how the whole is judged: its parameters, the rubrics as they stand, the session's judge."""
        rubrics: list[str] = []
        for member in self.members:
            panel = getattr(member.evaluator, "panel", None)
            if isinstance(panel, Panel):
                rubrics.append(basis_of(*judged_by(panel, case, runtime=runtime)[:2]))
        asks_the_sessions = any(getattr(member.evaluator, "model", "") is None for member in self.members)
        return digest_of([fingerprint_of(self), rubrics, runtime.judge if asks_the_sessions else ""])

    async def _run(
        self, members: Sequence[Member], case: Case, runtime: Runtime, previous: Evaluation | None
    ) -> dict[str, Evaluation]:
        before = {} if previous is None else {part.name: part.evaluation for part in previous.parts}
        found: dict[str, Evaluation] = {}

        async def one(member: Member) -> None:
            found[member.name] = await assess(member.evaluator, case, runtime=runtime, previous=before.get(member.name))

        async with task_group() as tasks:
            for member in members:
                tasks.start_soon(one, member, name=f"part {member.name}")
        return found

    def _whole(self, parts: tuple[Part, ...]) -> Evaluation:
        counted = [part for part in parts if part.weight > 0 and not _skipped(part.evaluation)]
        missing = tuple(part.name for part in counted if isinstance(part.evaluation.outcome, Unscored))
        most = max((part.weight for part in counted), default=1.0)  # so that huge weights cannot overflow
        declared = math.fsum(part.weight / most for part in counted)
        seen = math.fsum(part.weight / most for part in counted if part.name not in missing)
        coverage = round(seen / declared, 9) if declared else 0.0
        tried, outcome, reason = self._outcome(parts, counted, missing, coverage)
        return Evaluation(
            evaluator=self.name,
            outcome=outcome,
            reason=reason,
            suggestion=next((part.evaluation.suggestion for part in parts if part.evaluation.suggestion), ""),
            coverage=coverage,
            missing=missing,
            flags=tuple(sorted({flag for part in parts for flag in part.evaluation.flags})),
            details={"by": self.by, "on_missing": self.on_missing, "steps": self._steps(parts)},
            parts=parts,
            gates=tried,
            usage=reduce(Usage.__add__, (part.evaluation.usage for part in parts), Usage()),
        )

    def _steps(self, parts: Sequence[Part]) -> tuple[str, ...]:
        """What was done, in order: free parts, then the paid ones, each behind the choice of its rubric; the sum."""
        paid = {member.name for member in self.members if spends(member.evaluator)}
        found = [part.name for part in parts if part.name not in paid and not _skipped(part.evaluation)]
        for part in parts:
            if part.name in paid and not _skipped(part.evaluation):
                found += ["selection", part.name] if "rubric_by" in part.evaluation.details else [part.name]
        return (*found, "aggregation")

    def _outcome(
        self, parts: Sequence[Part], counted: Sequence[Part], missing: Sequence[str], coverage: float
    ) -> tuple[tuple[Gate, ...], Scored | Unscored, str]:
        default = _default_of(self.on_missing)
        scores: list[Weighted] = []
        for part in counted:
            outcome = part.evaluation.outcome
            if isinstance(outcome, Scored):
                scores.append(Weighted(outcome.score, part.weight))
            elif default is not None:
                scores.append(Weighted(default, part.weight))
        thin = missing and not self._covered(coverage)
        if (missing and self.on_missing == "fail") or thin or not scores:
            unseen = _unseen(parts, missing, coverage=coverage)
            return self.gates, unseen, unseen.detail
        rule = cast("Aggregation", plugins.part("aggregation", self.by))
        named = [(part.name, part.evaluation) for part in parts]
        try:
            score, tried = gating.hold(rule(scores), self.gates, named)
        except ValueError as error:
            return self.gates, Unscored(why="failed", detail=str(error)), str(error)
        reason = f"{bracket_of(score).label}: {self.by} of {len(scores)} parts"
        lost = [gate.part for gate in tried if gate.held is False]
        if lost:
            reason += f"; gate lost: {', '.join(lost)}"
        defaulted = (bool(missing) and default is not None) or any(_is_defaulted(part.evaluation) for part in counted)
        return tried, Scored(score=score, raw=score, origin="defaulted" if defaulted else "measured"), reason

    def _covered(self, coverage: float) -> bool:
        if self.min_coverage is not None:
            return coverage >= self.min_coverage
        return self.on_missing != "exclude" or coverage > _HALF


def spends(evaluator: Evaluator) -> bool:
    """Whether an evaluator asks a model; a composite does if any of its parts does."""
    if isinstance(evaluator, Composite):
        return any(spends(member.evaluator) for member in evaluator.members)
    return evaluator.spends_tokens


def _standing(part: Part, previous: Evaluation | None) -> tuple[Finding, ...]:
    """A part's findings; of a part that broke, those it had: nobody has said that they are resolved."""
    if previous is None or not isinstance(part.evaluation.outcome, Unscored):
        return part.evaluation.findings
    earlier = [one.evaluation.findings for one in previous.parts if one.name == part.name]
    kept = earlier[0] if earlier and not _skipped(part.evaluation) else ()
    return (*part.evaluation.findings, *(msgspec.structs.replace(one, flags=("carried",)) for one in kept))


def _in_part(evaluation: Evaluation) -> bool:
    return evaluation.decision != "full"


def _full_tokens(parts: Sequence[Part], tokens: int) -> int:
    """What all parts took when they last were judged as wholes."""
    told = [part.evaluation.revision for part in parts]
    saved = sum(one.tokens_saved for one in told if one is not None)
    return tokens + saved


def _default_of(on_missing: str) -> float | None:
    """The score a missing part gets, if any."""
    if on_missing == "zero":
        return 0.0
    found = _DEFAULT.match(on_missing)
    return float(found.group(1)) if found is not None else None


def _skipped(evaluation: Evaluation) -> bool:
    return isinstance(evaluation.outcome, Unscored) and evaluation.outcome.why == "skipped"


def _is_defaulted(evaluation: Evaluation) -> bool:
    return isinstance(evaluation.outcome, Scored) and evaluation.outcome.origin == "defaulted"


def _unseen(parts: Sequence[Part], missing: Sequence[str], *, coverage: float) -> Unscored:
    """Why there is no whole: what each missing part said."""
    said = {
        part.name: part.evaluation.outcome
        for part in parts
        if part.name in missing and isinstance(part.evaluation.outcome, Unscored)
    }
    if not said:
        return Unscored(why="skipped", detail="no part applied")
    whys: set[UnscoredWhy] = {one.why for one in said.values()}
    why: UnscoredWhy = next(iter(whys)) if len(whys) == 1 else "failed"
    told = "; ".join(f"{name}: {one.detail}" for name, one in said.items())
    return Unscored(why=why, detail=f"{told} (coverage {coverage:.2f})")


def _lost(gates: Sequence[Gate], done: dict[str, Evaluation]) -> str | None:
    """The part of the first veto that is lost already."""
    for gate in gates:
        evaluation = done.get(gate.part)
        if gate.effect == "veto" and evaluation is not None and isinstance(evaluation.outcome, Scored):
            _, (tried,) = gating.hold(100.0, [gate], [(gate.part, evaluation)])
            if not tried.held:
                return gate.part
    return None


def _check(plan: Composite) -> None:
    names = [member.name for member in plan.members]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"two parts are called {twice[0]!r}", where=f"parts.{twice[0]}")
    gated = {gate.part for gate in plan.gates}
    for member in plan.members:
        _check_member(member, counted=member.name in gated)
    if not any(member.weight > 0 for member in plan.members):
        raise ConfigError("no part has a weight above 0", where="parts", expected="at least one that counts")
    _check_rule(plan)
    for at, gate in enumerate(plan.gates):
        if gate.part not in names:
            known = ", ".join(sorted(names))
            raise ConfigError(
                f"a gate names the part {gate.part!r}", where=f"gates.{at}.part", expected=f"one of: {known}"
            )
        numbers = {"min_score": gate.min_score, "max_blockers": gate.max_blockers, "cap": gate.cap}
        check_bounds(numbers, where=f"gates.{at}.{{}}".format)
        if gate.min_bracket is not None and not isinstance(gate.min_bracket, Bracket):  # pyright: ignore[reportUnnecessaryIsInstance]  records do not check
            raise ConfigError(f"{gate.min_bracket!r}", where=f"gates.{at}.min_bracket", expected="a Bracket")


def _check_member(member: Member, *, counted: bool) -> None:
    where = f"parts.{member.name}"
    try:
        finite(member.weight, low=0.0)
    except ValueError as error:
        raise ConfigError(str(error), where=f"{where}.weight", expected="a finite number of at least 0") from None
    if unscaled(member.evaluator) and (counted or member.weight > 0):
        raise ConfigError(
            f"{member.evaluator.name} reads a number on no declared scale, which cannot be weighed against others",
            where=where,
            expected="scale, as in '0..1' or '0..100'",
            hint="or weight 0, to report it alone",
        )


def _check_rule(plan: Composite) -> None:
    if plan.by not in plugins.names("aggregation"):
        plugins.part("aggregation", plan.by, where="combine.by")
    default = _default_of(plan.on_missing)
    if plan.on_missing not in ("fail", "exclude", "zero") and (default is None or default > 100):  # noqa: PLR2004
        raise ConfigError(
            f"unknown on_missing {plan.on_missing!r}",
            where="combine.on_missing",
            expected="fail, exclude, zero, or default(v) with v from 0 to 100",
        )
    if plan.min_coverage is not None:
        try:
            finite(plan.min_coverage, low=0.0, high=1.0)
        except ValueError as error:
            raise ConfigError(str(error), where="combine.min_coverage", expected="a share from 0 to 1") from None
