"""The loop as an embedder sees it: evaluate, change, evaluate with what was said before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import pytest

from deliberate import Case, Evaluation, Panel, Session
from deliberate.errors import RefusedError
from deliberate.evaluators import Deliberation, default_of
from deliberate.evaluators.composite import Composite, Member
from deliberate.library import Library
from deliberate.providers._base import Request
from deliberate.runtime import Runtime
from deliberate.types import Bracket, Carry, Judge, Rules, Scored, Seat, Unscored
from tests.evaluators._again import Check, Lint, Told, ballot
from tests.evaluators.conftest import Open

pytestmark = pytest.mark.anyio

LINES = "\n".join(
    f"In room {at} the floor was laid anew, the walls were painted, and the lamps work." for at in range(60)
)
FIRST = f"{LINES}\nThe hall was cleaned.\nIt took 3 days.\nThanks to all.\n{LINES}\nEnd."
SECOND = FIRST.replace("3 days", "4 days")
TASK = "Report on the hall"
NAMES = ("clarity", "accuracy", "tone", "structure")
FOUND = {"severity": "important", "dimension": "accuracy", "title": "It took 4 days"}
OTHER = {"severity": "suggestion", "dimension": "tone", "title": "Too dry"}


def whole(request: Request, names: Sequence[str]) -> Mapping[str, Any]:  # noqa: ARG001
    return ballot(dict.fromkeys(names, 0.6), findings=[FOUND, OTHER] if "accuracy" in names else [])


def mended(request: Request, names: Sequence[str]) -> Mapping[str, Any]:  # noqa: ARG001
    return ballot(dict.fromkeys(names, 0.9), resolved=["F1"], suggestion="Add a date.")


def told(**kind: Any) -> Told:  # noqa: ANN401
    return Told(whole, **{"change": mended, "affects": ["accuracy"], **kind})


async def twice(
    opened: Open,
    judge: Told,
    *,
    plan: Any = None,  # noqa: ANN401
    first: str = FIRST,
    second: str = SECOND,
) -> tuple[Evaluation, Evaluation]:
    plan = Panel.of("scripted/x", rubric="prose-quality") if plan is None else plan
    async with opened(providers={"*": judge}) as session:
        one = await session.evaluate(Case(output=first, task=TASK), plan)
        return one, await session.evaluate(Case(output=second, task=TASK), plan, previous=one)


async def test_s0_40_to_43_only_what_changed_is_judged_again_and_the_rest_is_carried(opened: Open) -> None:
    judge = told()
    one, two = await twice(opened, judge)
    assert judge.asked == ["whole", "affects", "change"]
    assert (one.decision, two.decision) == ("full", "incremental")
    assert [(each.dimension, each.judged, each.adjusted, each.origin) for each in two.dimensions] == [
        ("clarity", 60.0, 60.0, "carried"),
        ("accuracy", 90.0, 90.0, "measured"),
        ("tone", 60.0, 60.0, "carried"),
        ("structure", 60.0, 60.0, "carried"),
    ]
    assert one.score == pytest.approx(0.7 * 60 + 0.3 * 50)
    assert two.score == pytest.approx(0.7 * 60 + 0.3 * 90)
    assert two.bracket is Bracket.GOOD
    assert [(each.id, each.state, each.flags) for each in two.findings] == [("F2", "persisting", ("carried",))]
    assert [each.id for each in two.resolved] == ["F1"]


async def test_s0_42_the_prompt_holds_the_change_and_the_affected_part_of_the_rubric_only(opened: Open) -> None:
    judge = told()
    await twice(opened, judge)
    prompt = judge.prompts[-1]
    assert "- It took 3 days.\n+ It took 4 days." in prompt
    assert "## Accuracy (30%)" in prompt
    assert "## Severity Guide" in prompt
    for absent in ("## Clarity", "## Tone", "## Structure", "Thanks to all.\nEnd.\n</output"):
        assert absent not in prompt
    assert "accuracy: 0.60" in prompt
    assert "F1 [important] (accuracy) It took 4 days: d" in prompt
    assert "F2" not in prompt
    assert len(prompt) < 0.5 * len(judge.prompts[0])


async def test_s0_44a_the_tokens_saved_are_counted_with_the_ask_what_is_affected(opened: Open) -> None:
    one, two = await twice(opened, told())
    assert one.revision is not None
    assert two.revision is not None
    assert (one.revision.tokens, one.revision.tokens_saved) == (one.usage.tokens_in + one.usage.tokens_out, 0)
    assert two.usage.calls == 2
    assert two.revision.tokens == two.usage.tokens_in + two.usage.tokens_out
    assert two.revision.tokens_saved == one.revision.tokens - two.revision.tokens
    assert two.revision.tokens_saved > 0.4 * one.revision.tokens


async def test_s0_22b_one_object_holds_decision_suggestion_and_feedback(opened: Open) -> None:
    one, two = await twice(opened, told())
    assert one.feedback == "s\n- F1 [important] It took 4 days: d\n- F2 [suggestion] Too dry: d"
    assert two.feedback == "Add a date.\n- F2 [suggestion] Too dry: d"
    assert two.revision is not None
    assert (two.revision.iteration, two.revision.affected) == (2, ("accuracy",))
    assert two.revision.why == "1 of 4 dimensions judged again: accuracy"
    assert "1 of 4 dimensions judged again" in two.reason


async def test_s0_37_and_s0_39_the_same_output_is_not_judged_again(opened: Open) -> None:
    judge = told()
    one, two = await twice(opened, judge, second=FIRST)
    assert judge.asked == ["whole"]
    assert two.decision == "skipped: identical"
    assert two.score == one.score
    assert isinstance(two.outcome, Scored)
    assert two.outcome.origin == "carried"
    assert two.usage.calls == 0
    assert two.verdict is one.verdict or two.verdict == one.verdict


async def test_s0_44_a_large_change_is_judged_as_a_whole_and_findings_know_their_state(opened: Open) -> None:
    judge = told()
    _, two = await twice(opened, judge, second="All is different now.\nTruly.")
    assert judge.asked == ["whole", "whole"]
    assert two.decision == "full"
    assert two.revision is not None
    assert "of the text changed" in two.revision.why
    assert [each.state for each in two.findings] == ["persisting", "persisting"]


async def test_s0_44_many_affected_dimensions_are_judged_as_a_whole(opened: Open) -> None:
    judge = told(affects=["clarity", "accuracy"])
    _, two = await twice(opened, judge)
    assert judge.asked == ["whole", "affects", "whole"]
    assert two.revision is not None
    assert "hold 60% of the weight" in two.revision.why
    assert (two.usage.calls, two.revision.tokens) == (2, two.usage.tokens_in + two.usage.tokens_out)
    assert two.revision.tokens_saved < 0  # the ask what is affected came on top


async def test_s0_44_the_fifth_iteration_is_judged_as_a_whole(opened: Open) -> None:
    judge = told()
    decisions: list[str] = []
    previous: Evaluation | None = None
    async with opened(providers={"*": judge}) as session:
        for number in range(1, 7):
            case = Case(output=FIRST.replace("3 days", f"{number} days"), task=TASK)
            previous = await session.evaluate(case, Panel.of("scripted/x", rubric="prose-quality"), previous=previous)
            decisions.append(previous.decision)
    assert decisions == ["full", "incremental", "incremental", "incremental", "full", "incremental"]


async def test_s0_44_a_short_output_is_judged_as_a_whole_since_that_is_no_dearer(opened: Open) -> None:
    judge = told()
    _, two = await twice(opened, judge, first="It took 3 days.\nThanks.", second="It took 4 days.\nThanks.")
    assert judge.asked == ["whole", "whole"]
    assert two.revision is not None
    assert two.revision.why == "judging only the change would save too little"


async def test_a_change_that_moves_no_dimension_leaves_all_as_it_was(opened: Open) -> None:
    judge = told(affects=[])
    one, two = await twice(opened, judge)
    assert judge.asked == ["whole", "affects"]
    assert (two.decision, two.score) == ("incremental", one.score)
    assert two.usage.calls == 1


@pytest.mark.parametrize(
    "failing",
    [lambda *_: RefusedError("no"), lambda *_: "I would rather not", lambda *_: ballot({"clarity": 0.1})],
    ids=["refused", "unreadable", "of another dimension"],
)
async def test_a_failed_partial_ask_leaves_the_previous_evaluation_standing_carried_and_stale(
    opened: Open,
    failing: Any,  # noqa: ANN401
) -> None:
    one, two = await twice(opened, told(change=failing))
    assert two.score == one.score
    assert isinstance(two.outcome, Scored)
    assert two.outcome.origin == "carried"
    assert "stale" in two.flags
    assert "judging the change failed" in two.reason


async def test_after_a_failed_partial_ask_the_next_is_on_all_that_changed_since_somebody_judged(opened: Open) -> None:
    judge = told(
        change=lambda request, names: (
            RefusedError("no") if "5 days" not in request.messages[1].content else mended(request, names)
        )
    )
    panel = Panel.of("scripted/x", rubric="prose-quality")
    async with opened(providers={"*": judge}) as session:
        one = await session.evaluate(Case(output=FIRST, task=TASK), panel)
        two = await session.evaluate(Case(output=SECOND, task=TASK), panel, previous=one)
        third = await session.evaluate(Case(output=FIRST.replace("3 days", "5 days"), task=TASK), panel, previous=two)
    assert "- It took 3 days.\n+ It took 5 days." in judge.prompts[-1]
    assert (third.decision, "stale" in two.flags, "stale" in third.flags) == ("incremental", True, False)


@pytest.mark.parametrize("quorum", [1, "majority"])
async def test_a_partial_ask_counts_only_with_a_quorum_and_every_affected_dimension(opened: Open, quorum: Any) -> None:  # noqa: ANN401
    def change(request: Request, names: Sequence[str]) -> Any:  # noqa: ANN401
        return RefusedError("no") if names == ["tone"] else mended(request, names)

    seats = tuple(Seat(name=name, judge=Judge(model="scripted/x"), dimensions=(name,)) for name in NAMES)
    panel = Panel(seats=seats, rubric="prose-quality", rules=Rules(quorum=quorum))
    one, two = await twice(opened, told(change=change, affects=["accuracy", "tone"]), plan=panel)
    assert ("stale" in two.flags, two.score) == (True, one.score)
    three = Panel.of("scripted/x", "scripted/y", "scripted/z", rubric="prose-quality")
    judge = told(
        change=lambda request, names: mended(request, names) if request.model == "scripted/x" else RefusedError("no")
    )
    one, two = await twice(opened, judge, plan=three)
    assert ("stale" in two.flags, two.score) == (True, one.score)


async def test_where_nobody_can_say_what_is_affected_the_whole_is_judged(opened: Open) -> None:
    class Silent(Told):
        async def complete(self, request: Request) -> Any:  # noqa: ANN401
            if "how likely it is" in request.messages[1].content:
                raise RefusedError("no")
            return await super().complete(request)

    judge = Silent(whole, change=mended)
    _, two = await twice(opened, judge)
    assert judge.asked == ["whole", "whole"]
    assert two.revision is not None
    assert two.revision.why == "nobody could say which dimensions the change affects"


async def test_another_panel_task_or_rubric_voids_what_was_said(opened: Open) -> None:
    judge = told()
    async with opened(providers={"*": judge}) as session:
        case = Case(output=FIRST, task=TASK)
        one = await session.evaluate(case, Panel.of("scripted/x", rubric="prose-quality"))
        for plan, again in (
            (Panel.of("scripted/y", rubric="prose-quality"), case),
            (Panel.of("scripted/x", rubric="general"), case),
            (Panel.of("scripted/x", rubric="prose-quality"), Case(output=SECOND, task="Another")),
        ):
            two = await session.evaluate(again, plan, previous=one)
            assert two.decision == "full"
    assert set(judge.asked) == {"whole"}


async def test_an_earlier_output_that_is_not_on_record_is_no_ground(opened: Open) -> None:
    async with opened(providers={"*": told()}) as session:
        one = await session.evaluate(Case(output=FIRST, task=TASK), Panel.of("scripted/x", rubric="prose-quality"))
    async with opened(providers={"*": told()}) as session:
        two = await session.evaluate(
            Case(output=SECOND, task=TASK), Panel.of("scripted/x", rubric="prose-quality"), previous=one
        )
    assert two.revision is not None
    assert (two.decision, two.revision.why) == ("full", "the earlier output is not on this record")


async def test_a_panel_of_three_with_a_seat_a_dimension_asks_only_the_seats_concerned(opened: Open) -> None:
    judge = told()
    seats = Panel(seats=(Seat(name="each", judge=Judge(model="scripted/x"), each="dimension"),), rubric="prose-quality")
    _, two = await twice(opened, judge, plan=seats)
    assert judge.asked == ["whole"] * 4 + ["affects", "change"]
    assert [each.origin for each in two.dimensions] == ["carried", "measured", "carried", "carried"]
    _, two = await twice(opened, told(), plan=Panel.of(*["scripted/x"] * 3, rubric="prose-quality"))
    assert two.decision == "incremental"
    assert two.verdict is not None
    assert len(two.verdict.votes) == 3


async def test_a_text_reply_is_read_where_no_object_comes(opened: Open) -> None:
    said = (
        "SCORES:\naccuracy: 0.9\nRESOLVED:\nF1\nNEW_FINDINGS:\n- [MINOR] (accuracy) Round it: 400\nSUGGESTION: Go on."
    )
    _, two = await twice(opened, told(change=lambda *_: said))
    assert [(each.id, each.severity) for each in two.findings] == [("F2", "suggestion"), ("F3", "suggestion")]
    assert two.suggestion == "Go on."


# --- the default evaluation ------------------------------------------------------------------------


def default(*free: Member, panel: Panel | None = None, carry: Carry | None = None) -> Composite:
    judged = default_of(panel or Panel.of("scripted/x")).members[-1]
    return Composite(members=(*free, judged), carry=carry or Carry())


TESTS, LINT = (
    Member(name="tests", weight=0.3, evaluator=Check()),
    Member(name="static_analysis", weight=0.2, evaluator=Lint()),
)


async def test_s0_7_and_s0_14_the_default_is_tests_static_analysis_and_the_chosen_rubric(opened: Open) -> None:
    text = "A summary.\ntest_runner=50 \nstatic_analysis=100"
    async with opened(providers={"*": told()}) as session:
        found = await session.evaluate(Case(output=text, task="Write a summary"), default(TESTS, LINT))
    assert found.score == pytest.approx((0.3 * 50 + 0.2 * 100 + 1.0 * (0.7 * 60 + 0.3 * 50)) / 1.5)
    assert dict(found["judge"].details) | {"rubric_refused": ()} == {
        "rubric": "prose-quality",
        "rubric_source": "bundled",
        "rubric_by": "keyword",
        "rubric_why": "words of the task: summary (bundled)",
        "rubric_refused": (),
    }


async def test_s0_10_the_steps_are_traced_in_order_with_their_tokens(opened: Open) -> None:
    text = "A text.\ntest_runner=50 \nstatic_analysis=100"
    async with opened(providers={"*": told()}) as session:
        found = await session.evaluate(Case(output=text), default(TESTS, LINT))
    assert [step for step, _ in found.trace] == ["tests", "static_analysis", "selection", "judge", "aggregation"]
    tokens = dict(found.trace)
    assert tokens["judge"] == found.usage.tokens_in + found.usage.tokens_out > 0
    assert {tokens[step] for step in ("tests", "static_analysis", "selection", "aggregation")} == {0}


async def test_s0_10_the_judge_is_asked_by_the_chosen_rubric_after_the_free_checks_are_done(opened: Open) -> None:
    done: list[str] = []

    class Noted(Check, frozen=True, kw_only=True):
        async def evaluate(self, case: Case, *, runtime: Runtime, previous: Evaluation | None = None) -> Evaluation:
            await anyio.sleep(0.2)  # a judge asked meanwhile would have answered
            done.append("check")
            return await super().evaluate(case, runtime=runtime, previous=previous)

    def asked(request: Request, names: Sequence[str]) -> Mapping[str, Any]:
        done.extend(names)
        return whole(request, names)

    checks = [Member(name=name, weight=0.2, evaluator=Noted()) for name in ("tests", "static_analysis")]
    async with opened(providers={"*": Told(asked)}) as session:
        await session.evaluate(Case(output="A text.\ntest_runner=50 "), default(*checks))
    assert done == ["check", "check", "relevance", "quality", "completeness"]


async def test_s0_11_and_s0_12_what_does_not_apply_is_absent_from_the_sum(opened: Open) -> None:
    async with opened(providers={"*": told()}) as session:
        found = await session.evaluate(Case(output="A text."), default(TESTS, LINT))
    assert found.score == found["judge"].score
    assert (found.coverage, found.missing) == (1.0, ())
    assert [step for step, _ in found.trace] == ["selection", "judge", "aggregation"]


async def test_s0_13_without_a_plan_the_rubric_that_fits_the_category_judges(opened: Open) -> None:
    async with opened(providers={"*": told()}, judge="scripted/x") as session:
        found = await session.evaluate(Case(output="select 1", category="database"))
        own = await session.evaluate(Case(output="select 1", category="database"), session.panel_by("general"))
    assert found["judge"].details["rubric"] == "sql-safety"
    assert [one.dimension for one in own.dimensions] == ["relevance", "quality", "completeness"]


def test_a_panel_with_a_rubric_of_its_own_keeps_it() -> None:
    for panel in (Panel.of("scripted/x", rubric="code-review"), Panel.of("scripted/x", criteria="C")):
        judged = default_of(panel).members[-1].evaluator
        assert isinstance(judged, Deliberation)
        assert judged.panel is panel


def sure(request: Request, names: Sequence[str]) -> Mapping[str, Any]:  # noqa: ARG001
    return ballot(dict.fromkeys(names, 0.97))


async def in_turn(opened: Open, judge: Told, *outputs: str, carry: Carry | None = None) -> list[Evaluation]:
    found: list[Evaluation] = []
    async with opened(providers={"*": judge}) as session:
        for output in outputs:
            case = Case(output=output, task=TASK)
            found.append(
                await session.evaluate(case, default(TESTS, LINT, carry=carry), previous=found[-1] if found else None)
            )
    return found


CLEAN = "test_runner=100\nstatic_analysis=100\n"


async def test_s0_38_and_s0_39_a_confident_score_skips_the_judge_while_its_own_checks_pass(opened: Open) -> None:
    judge = Told(sure)
    one, two, three = await in_turn(
        opened, judge, f"a\n{CLEAN}", f"b\n{CLEAN}", f"c\n{CLEAN}".replace("r=100", "r=90 ")
    )
    assert (two.decision, two.score) == ("skipped: confident", one.score)
    assert isinstance(two.outcome, Scored)
    assert two.outcome.origin == "carried"
    assert two.usage.calls == 0
    assert [(part.name, part.evaluation.decision) for part in two.parts] == [
        ("tests", "full"),
        ("static_analysis", "full"),
        ("judge", "skipped: confident"),
    ]
    assert three.decision != "skipped: confident"
    assert three["tests"].score == 90.0
    assert judge.asked[0] == "whole"
    assert len(judge.asked) > 1


async def test_s0_38_without_evidence_a_confident_score_is_no_ground_unless_asked_for(opened: Open) -> None:
    _, two = await in_turn(opened, Told(sure), "a long text", "another long text")
    assert two.decision != "skipped: confident"
    _, two = await in_turn(opened, Told(sure), "a long text", "another long text", carry=Carry(require_evidence=False))
    assert two.decision == "skipped: confident"


async def test_s0_37_an_identical_output_carries_the_whole_with_fresh_free_results_beside_it(opened: Open) -> None:
    judge = Told(whole)
    one, two = await in_turn(opened, judge, f"a\n{CLEAN}", f"a\n{CLEAN}")
    assert (two.decision, two.score) == ("skipped: identical", one.score)
    assert judge.asked == ["whole"]
    assert [part.evaluation.decision for part in two.parts] == ["full", "full", "skipped: identical"]
    assert [(each.id, each.state) for each in two.findings] == [(each.id, "persisting") for each in one.findings]


async def test_in_a_whole_only_the_judges_part_is_judged_in_part(opened: Open) -> None:
    judge = told(affects=["quality"])
    first = f"{FIRST}\n{CLEAN}"
    one, two = await in_turn(opened, judge, first, first.replace("3 days", "4 days"))
    assert (two.decision, two["judge"].decision, two["tests"].decision) == ("incremental", "incremental", "full")
    assert two.revision is not None
    assert one.revision is not None
    assert two.revision.tokens_full == one.revision.tokens
    assert two.revision.tokens_saved == one.revision.tokens - two.revision.tokens


async def test_findings_of_a_part_that_broke_are_not_resolved_by_that(opened: Open) -> None:
    answers = iter(
        [ballot({"relevance": 0.6, "quality": 0.6, "completeness": 0.6}, findings=[OTHER | {"dimension": "quality"}])]
    )
    judge = Told(lambda *_: next(answers, RefusedError("no")), change=lambda *_: RefusedError("no"))
    one, two = await in_turn(opened, judge, "one thing", "quite another thing, and longer")
    assert isinstance(two.outcome, Unscored)
    assert [each.id for each in two.findings] == [each.id for each in one.findings] == ["F1"]
    assert two.resolved == ()


async def test_a_changed_rubric_voids_what_was_skipped(tmp_path: Any) -> None:  # noqa: ANN401
    folder = tmp_path / "evaluators" / "user" / "mine"
    folder.mkdir(parents=True)
    text = "---\nname: mine\nkind: evaluator\ndescription: d\nmetadata:\n  categories: [x]\n  dimensions:\n"
    text += "  - {name: quality, weight: 1.0, description: d}\n---\nBody\n"
    decisions: list[str] = []
    judge = Told(whole)
    previous: Evaluation | None = None
    for body in (text, text, text.replace("Body", "Another body")):
        (folder / "SKILL.md").write_text(body, encoding="utf-8")
        library = Library(home=tmp_path, workspace=tmp_path)
        async with Session(
            ledger=tmp_path / "l.db", env={}, library=library, judge="scripted/x", providers={"*": judge}
        ) as session:
            previous = await session.evaluate(Case(output="o", category="x"), previous=previous)
            decisions.append(previous.decision)
    assert decisions == ["full", "skipped: identical", "full"]
