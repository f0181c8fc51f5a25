"""The plan: free parts first, missing parts, gates, order, errors before anything is spent."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import anyio
import pytest

from deliberate import Case, Gate, Panel, combine, evaluator
from deliberate.errors import ConfigError, EvaluatorError, UnknownName
from deliberate.evaluators import (
    Composite,
    Contains,
    Evaluator,
    Exact,
    RegexPattern,
    evaluator_of,
    fingerprint_of,
    plan_of,
)
from deliberate.runtime import Runtime
from deliberate.types import Evaluation, Plan, PlanPart, Record, Scored, Spec, Unscored, UnscoredWhy
from tests.evaluators.conftest import Open

pytestmark = pytest.mark.anyio

ran: list[str] = []


class Fixed(Record, frozen=True, kw_only=True):
    """Says a number after a while, or that there is none."""

    name: ClassVar[str] = "fixed"
    spends_tokens: ClassVar[bool] = False

    score: float = 0.0
    why: UnscoredWhy | None = None
    after_seconds: float = 0.0
    label: str = ""
    crash: str = ""

    async def evaluate(
        self,
        case: Case,  # noqa: ARG002  says the same of every case
        *,
        runtime: Runtime,  # noqa: ARG002
        previous: Evaluation | None = None,  # noqa: ARG002
    ) -> Evaluation:
        await anyio.sleep(self.after_seconds)
        ran.append(self.label)
        if self.crash == "evaluator":
            raise EvaluatorError("broken")
        if self.crash:
            raise KeyError(self.crash)
        outcome = (
            Scored(score=self.score, raw=self.score)
            if self.why is None
            else Unscored(why=self.why, detail=f"it was {self.why}")
        )
        return Evaluation(evaluator=self.name, outcome=outcome)


class Paid(Fixed, frozen=True, kw_only=True):
    """The same, and it costs."""

    name: ClassVar[str] = "paid"
    spends_tokens: ClassVar[bool] = True


async def run(opened: Open, plan: Composite) -> Evaluation:
    ran.clear()
    async with opened() as session:
        return await session.evaluate(Case(output="x"), plan)


async def test_parts_are_weighted_by_their_ratios(opened: Open) -> None:
    found = await run(opened, combine(tests=(Fixed(score=100), 3), judge=(Paid(score=60), 1)))
    assert (found.score, found.normalized, found.coverage) == (90.0, 0.9, 1.0)
    assert found["judge"].score == 60.0
    with pytest.raises(KeyError, match="no part 'jury': there are tests, judge"):
        _ = found["jury"]


async def test_free_parts_run_first_and_the_result_keeps_the_order_of_the_plan(opened: Open) -> None:
    plan = combine(
        dear=(Paid(score=1, label="paid"), 1),
        slow=(Fixed(score=2, after_seconds=0.02, label="slow"), 1),
        fast=(Fixed(score=3, label="fast"), 1),
    )
    found = await run(opened, plan)
    assert ran == ["fast", "slow", "paid"]
    assert [part.name for part in found.parts] == ["dear", "slow", "fast"]


async def test_a_part_that_broke_leaves_no_score_unless_told_otherwise(opened: Open) -> None:
    broken = Fixed(why="failed")
    for how, score in (("fail", None), ("exclude", 80.0), ("zero", 60.0), ("default(40)", 70.0)):
        found = await run(opened, combine(a=(Fixed(score=80), 3), b=(broken, 1), on_missing=how))
        assert found.score == score, how
        assert found.missing == ("b",)
        assert found.coverage == 0.75


async def test_a_score_that_rests_on_a_default_says_so(opened: Open) -> None:
    found = await run(opened, combine(a=(Fixed(score=80), 3), b=(Fixed(why="failed"), 1), on_missing="default(40)"))
    assert isinstance(found.outcome, Scored)
    assert found.outcome.origin == "defaulted"


async def test_excluding_needs_more_than_half_unless_told_otherwise(opened: Open) -> None:
    for least, score in ((None, None), (0.5, 80.0)):
        plan = combine(a=(Fixed(score=80), 1), b=(Fixed(why="failed"), 1), on_missing="exclude", min_coverage=least)
        assert (await run(opened, plan)).score == score


async def test_a_skipped_part_leaves_the_declared_weight_and_is_not_missing(opened: Open) -> None:
    found = await run(opened, combine(a=(Fixed(score=80), 1), b=(Fixed(why="skipped"), 9)))
    assert (found.score, found.coverage, found.missing) == (80.0, 1.0, ())
    nothing = await run(opened, combine(b=(Fixed(why="skipped"), 9)))
    assert isinstance(nothing.outcome, Unscored)
    assert nothing.outcome.why == "skipped"


async def test_the_whole_says_why_as_its_parts_say(opened: Open) -> None:
    undecided = await run(opened, combine(a=(Fixed(why="undecided"), 1)))
    assert isinstance(undecided.outcome, Unscored)
    assert undecided.outcome.why == "undecided"
    mixed = await run(opened, combine(a=(Fixed(why="undecided"), 1), b=(Fixed(why="abstained"), 1)))
    assert isinstance(mixed.outcome, Unscored)
    assert (mixed.outcome.why, mixed.outcome.detail) == (
        "failed",
        "a: it was undecided; b: it was abstained (coverage 0.00)",
    )


async def test_a_part_of_weight_zero_is_reported_and_never_counted(opened: Open) -> None:
    found = await run(opened, combine(a=(Fixed(score=80), 1), b=(Fixed(why="failed"), 0)))
    assert (found.score, found.missing) == (80.0, ())


@pytest.mark.parametrize("crash", ["evaluator", "anything"])
async def test_what_a_part_raises_is_a_failed_part(opened: Open, crash: str) -> None:
    found = await run(opened, combine(a=(Fixed(crash=crash), 1)))
    assert isinstance(found["a"].outcome, Unscored)
    assert found["a"].outcome.why == "failed"


async def test_a_part_that_is_set_up_wrongly_stops_everything(opened: Open) -> None:
    with pytest.raises(ConfigError, match="nothing to compare with"):
        await run(opened, combine(a=(Exact(), 1), b=(Exact(), 1)))


async def test_a_lost_veto_makes_the_whole_zero_and_costs_nothing_more(opened: Open) -> None:
    plan = combine(tests=(Fixed(score=50), 1), jury=(Paid(score=90), 1), gates=[Gate(part="tests", min_score=100.0)])
    found = await run(opened, plan)
    assert found.score == 0.0
    assert isinstance(found["jury"].outcome, Unscored)
    assert found["jury"].outcome.why == "skipped"
    assert found.gates[0].held is False
    assert "gate lost: tests" in found.reason


async def test_a_lost_cap_lets_the_paid_parts_run(opened: Open) -> None:
    gate = Gate(part="tests", min_score=100.0, effect="cap", cap=30.0)
    found = await run(opened, combine(tests=(Fixed(score=50), 1), jury=(Paid(score=90), 1), gates=[gate]))
    assert (found.score, found["jury"].score) == (30.0, 90.0)


async def test_an_evaluator_as_a_gate_must_reach_one_hundred(opened: Open) -> None:
    assert (await run(opened, combine(a=(Fixed(score=80), 1), gates=[Fixed(score=100)]))).score == 80.0
    assert (await run(opened, combine(a=(Fixed(score=80), 1), gates=[Fixed(score=99)]))).score == 0.0


async def test_a_gate_on_a_part_without_a_score_leaves_the_whole_without_one(opened: Open) -> None:
    plan = combine(a=(Fixed(score=80), 1), b=(Paid(why="failed"), 0), gates=[Gate(part="b", min_score=1.0)])
    found = await run(opened, plan)
    assert isinstance(found.outcome, Unscored)
    assert "has no score" in found.outcome.detail


async def test_plans_nest(opened: Open) -> None:
    inner = combine(x=(Fixed(score=100), 1), y=(Fixed(score=0), 1))
    assert (await run(opened, combine(a=(inner, 1), b=(Fixed(score=100), 1)))).score == 75.0


async def test_the_bytes_do_not_depend_on_who_finishes_first(opened: Open) -> None:
    def plan(first: float, second: float) -> Composite:
        return combine(
            a=(Fixed(score=10, after_seconds=first, label="a"), 1),
            b=(Fixed(score=90, after_seconds=second, label="b"), 2),
        )

    one, other = await run(opened, plan(0.0, 0.02)), await run(opened, plan(0.02, 0.0))
    assert (one.score, one.reason, one.coverage) == (other.score, other.reason, other.coverage)


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), True])
def test_a_weight_that_is_no_finite_number_of_at_least_zero_is_refused(weight: float) -> None:
    with pytest.raises(ConfigError, match=r"parts\.a\.weight"):
        combine(a=(Fixed(), weight))


def test_a_plan_in_which_nothing_counts_is_refused() -> None:
    with pytest.raises(ConfigError, match="no part has a weight above 0"):
        combine(a=(Fixed(), 0))
    with pytest.raises(ConfigError, match="no part has a weight above 0"):
        combine()


@pytest.mark.parametrize("how", ["drop", "default(101)", "default()", "default(-1)"])
def test_an_unknown_missing_policy_is_refused(how: str) -> None:
    with pytest.raises(ConfigError, match="on_missing"):
        combine(a=(Fixed(), 1), on_missing=how)


def test_an_unknown_rule_lists_those_there_are() -> None:
    with pytest.raises(UnknownName, match="weighted_mean"):
        combine(a=(Fixed(), 1), by="average")


def test_a_gate_on_no_part_is_refused() -> None:
    with pytest.raises(ConfigError, match="a gate names the part 'z'"):
        combine(a=(Fixed(), 1), gates=[Gate(part="z")])


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        (Gate(part="a", min_score=400), "gates.0.min_score: min_score is 400; expected points from 0 to 100"),
        (
            Gate(part="a", max_blockers=-1),
            "gates.0.max_blockers: max_blockers is -1; expected a whole number of at least 0",
        ),
        (Gate(part="a", min_score=1, effect="cap", cap=-5), "gates.0.cap: cap is -5; expected points from 0 to 100"),
        (Gate(part="a", min_bracket="good"), "gates.0.min_bracket: 'good'; expected a Bracket"),  # type: ignore[arg-type]  # wrong on purpose
    ],
)
def test_a_gate_that_could_not_hold_or_could_not_fail_is_refused(gate: Gate, said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)):
        combine(a=(Fixed(), 1), gates=[gate])


def no_panel(name: str) -> Panel:
    raise UnknownName("panel", name, ())


def built(spec: Spec) -> Evaluator:
    return evaluator_of(spec, panel=no_panel, where="plan.yaml:3:5")


def test_a_part_is_built_by_name_and_parameters() -> None:
    assert built(Spec(type="exact", params={"expected": "4", "trim": True})) == Exact(expected="4", trim=True)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (Spec(type="exakt"), "did you mean 'exact'"),
        (Spec(type="exact", params={"expect": "4"}), "unknown parameter 'expect'.*did you mean 'expected'"),
        (Spec(type="exact", params={"trim": "yes"}), "Expected `bool`"),
        (Spec(type="script"), "missing required field `command`"),
        (Spec(type="regex", params={"pattern": "("}), "is no pattern"),
        (Spec(type="deliberation", params={"panel": "board"}), "unknown panel 'board'"),
    ],
)
def test_a_wrong_part_is_a_clear_error(spec: Spec, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        built(spec)


def test_a_panel_named_in_a_plan_is_looked_up() -> None:
    board = Panel.of("scripted/good")
    spec = Spec(type="deliberation", params={"panel": "board"})
    found = evaluator_of(spec, panel=lambda name: board if name == "board" else no_panel(name))
    assert found.panel == board  # type: ignore[attr-defined]


def test_two_parts_of_one_name_are_refused() -> None:
    part = PlanPart(name="a", spec=Spec(type="exact", params={"expected": "4"}))
    with pytest.raises(ConfigError, match="two parts are called 'a'"):
        plan_of(Plan(parts=(part, part)), panel=no_panel)


def test_a_plan_becomes_a_composite() -> None:
    part = PlanPart(name="a", spec=Spec(type="exact", params={"expected": "4"}), weight=2.0)
    combined = Spec(type="min", params={"on_missing": "exclude", "min_coverage": 0.7})
    found = plan_of(Plan(parts=(part,), combine=combined), panel=no_panel)
    assert (found.by, found.on_missing, found.min_coverage) == ("min", "exclude", 0.7)
    with pytest.raises(UnknownName, match="on_mising"):
        plan_of(Plan(parts=(part,), combine=Spec(type="min", params={"on_mising": "zero"})), panel=no_panel)


@pytest.mark.parametrize("how", ["fail", "exclude", "zero", "default(40)"])
async def test_a_least_coverage_that_is_asked_for_must_be_met_whatever_is_done_with_the_missing(
    opened: Open, how: str
) -> None:
    plan = combine(a=(Fixed(score=80), 3), b=(Fixed(why="failed"), 1), on_missing=how, min_coverage=0.8)
    found = await run(opened, plan)
    assert (found.score, found.coverage) == (None, 0.75)


@pytest.mark.parametrize("least", [-0.1, 1.1, float("nan"), True])
def test_a_coverage_that_is_no_share_is_refused(least: float) -> None:
    with pytest.raises(ConfigError, match=r"combine\.min_coverage"):
        combine(a=(Fixed(), 1), min_coverage=least)


async def test_huge_weights_cannot_overflow(opened: Open) -> None:
    plan = combine(a=(Fixed(score=80), 1.7e308), b=(Fixed(score=40), 1.7e308), c=(Fixed(why="failed"), 1e-300))
    found = await run(opened, plan)
    assert (found.score, found.coverage, found.missing) == (None, 1.0, ("c",))
    found = await run(opened, combine(a=(Fixed(score=80), 1.7e308), b=(Fixed(score=40), 1.7e308)))
    assert (found.score, found.coverage) == (60.0, 1.0)


async def test_what_stands_in_for_a_part_is_told_of_the_whole(opened: Open) -> None:
    plan = combine(a=(Exact(expected="x"), 1), b=(RegexPattern(scale="0..1", default_score=0.5), 1))
    found = await run(opened, plan)
    assert isinstance(found.outcome, Scored)
    assert (found.outcome.score, found.outcome.origin, found.flags) == (75.0, "defaulted", ("defaulted",))


async def test_paid_parts_run_together_after_the_free_ones(opened: Open) -> None:
    paid: dict[str, Any] = {f"p{at}": (Paid(score=50, after_seconds=0.2, label="paid"), 1) for at in range(10)}
    plan = combine(**paid, free=(Fixed(score=50, after_seconds=0.05, label="free"), 1))
    found = await run(opened, plan)
    assert ran == ["free", *["paid"] * 10]
    assert found.duration_seconds < 1.5


async def test_whatever_finishes_first_the_result_bytes_are_the_same(opened: Open) -> None:
    found: set[str] = set()
    for slow in range(3):

        @evaluator(name="waits")
        async def waits(case: Case, *, at: int = 0) -> bool:  # noqa: ARG001
            await anyio.sleep(0.03 * ((at + slow) % 3))  # noqa: B023  it runs within this turn
            return at == 1

        parts: dict[str, Any] = {f"p{at}": (waits(at=at), at + 1) for at in range(3)}
        whole = await run(opened, combine(**parts))
        found.add(whole.digest)
    assert len(found) == 1


def test_two_kinds_with_the_same_parameters_are_two_plans() -> None:
    same = {"expected": "a", "ignore_case": True}
    one, other = combine(a=(Exact(**same), 1)), combine(a=(Contains(**same), 1))  # type: ignore[arg-type]
    assert fingerprint_of(one) != fingerprint_of(other)
    assert fingerprint_of(one) != fingerprint_of(combine(a=(Exact(**same), 2)))  # type: ignore[arg-type]
    assert fingerprint_of(one) != fingerprint_of(combine(a=(Exact(**same), 1), by="min"))  # type: ignore[arg-type]
