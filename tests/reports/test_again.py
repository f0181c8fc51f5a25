"""What every rendering says of a further iteration: the decision, what stands, what was resolved, what to do next."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from rich.console import Console

from deliberate import Case, Evaluation, Panel, Session
from deliberate.evaluators import default_of
from deliberate.providers._base import Request
from deliberate.reports import encode, review_page, schema, show, verdict_object, write
from deliberate.types import Revision
from tests.evaluators._again import Told, ballot

FIRST = "\n".join(
    [*(f"In room {at} the floor was laid anew and the lamps work." for at in range(90)), "It took 3 days."]
)
SECOND = FIRST.replace("3 days", "4 days")
FOUND = {"severity": "important", "dimension": "accuracy", "title": "It took 4 days"}
OTHER = {"severity": "suggestion", "dimension": "tone", "title": "Too dry", "fix": "Name who did it."}
CASE = Case(output=SECOND, task="Report")


def whole(request: Request, names: Sequence[str]) -> Mapping[str, Any]:  # noqa: ARG001  as a judge is told
    return ballot(dict.fromkeys(names, 0.6), findings=[FOUND, OTHER])


def change(request: Request, names: Sequence[str]) -> Mapping[str, Any]:  # noqa: ARG001  as a judge is told
    return ballot(dict.fromkeys(names, 0.9), resolved=["F1"], suggestion="Add a date.")


def twice(*, plan: Any = None, second: str = SECOND) -> Evaluation:  # noqa: ANN401  whatever can judge
    judge = Told(whole, change=change, affects=["accuracy"])

    async def both() -> Evaluation:
        named = plan or Panel.of("scripted/x", rubric="prose-quality")
        async with Session(ledger=":memory:", providers={"*": judge}) as session:
            one = await session.evaluate(Case(output=FIRST, task="Report"), named)
            return await session.evaluate(Case(output=second, task="Report"), named, previous=one)

    return anyio.run(both)


@pytest.fixture(scope="module")
def in_part() -> Evaluation:
    return twice()


def printed(evaluation: Evaluation) -> str:
    text = StringIO()
    show(Console(file=text, width=200, no_color=True), evaluation)
    return " ".join(text.getvalue().split())


def object_of(evaluation: Evaluation) -> Any:  # noqa: ANN401  JSON
    found = json.loads(encode(verdict_object(evaluation)))
    jsonschema.Draft202012Validator(schema("verdict")).validate(found)
    return found


def test_s0_44a_a_terminal_shows_what_was_judged_again_and_what_it_saved(in_part: Evaluation) -> None:
    text = printed(in_part)
    assert "IN PART ■■■■ Excellent 90/100" in text
    assert "SCORE ■■■□ Good 69/100" in text
    assert (
        "DECISION incremental (iteration 2): 1 of 4 dimensions judged again: accuracy; 1.1% of the text changed" in text
    )
    assert isinstance(in_part.revision, Revision)
    assert f"{in_part.revision.tokens_saved:,} of {in_part.revision.tokens_full:,} tokens saved (" in text
    assert "CARRIED clarity 60, tone 60, structure 60" in text
    assert "RESOLVED F1 (important, accuracy): It took 4 days" in text
    assert "FEEDBACK Add a date. F2 [suggestion] Too dry: Name who did it." in text
    assert "F2 suggestion · tone · persisting, carried" in text


def test_the_object_holds_the_whole_and_not_the_part(in_part: Evaluation) -> None:
    found = object_of(in_part)
    assert (found["bracket"], found["score"]) == ("good", 69.0)
    told = found["evaluation"]
    assert told["revision"]["decision"] == "incremental"
    assert told["revision"]["affected"] == ["accuracy"]
    assert told["revision"]["tokens_saved"] == told["revision"]["tokens_full"] - told["revision"]["tokens"] > 0
    assert [(one["dimension"], one["origin"]) for one in told["dimensions"]] == [
        ("clarity", "carried"),
        ("accuracy", "measured"),
        ("tone", "carried"),
        ("structure", "carried"),
    ]
    assert [(one["id"], one["state"]) for one in told["resolved"]] == [("F1", "resolved")]
    assert told["suggestion"] == "Add a date."
    assert told["feedback"].startswith("Add a date.\n- F2")


def test_a_page_and_a_summary_say_the_same(in_part: Evaluation, tmp_path: Path) -> None:
    page = " ".join(review_page([("Review", CASE, in_part)]).split())
    write(in_part, tmp_path / "review.md", case=CASE)
    summary = (tmp_path / "review.md").read_text("utf-8")
    for said in (
        "1 of 4 dimensions judged again: accuracy",
        "tokens saved",
        "clarity 60, tone 60, structure 60",
        "It took 4 days",
        "Add a date.",
        "persisting, carried",
    ):
        assert said in page
        assert said in summary.replace("&#58;", ":")
    assert "These votes are on accuracy alone" in page
    assert "**Good** 69/100" in summary


def test_s0_39_a_skip_says_so_and_keeps_the_verdict() -> None:
    skipped = twice(second=FIRST)
    text = printed(skipped)
    assert "DECISION skipped: identical (iteration 2): the output is the same" in text
    assert "tokens saved (100%)" in text
    assert "VERDICT ■■■□ Good 57/100" in text
    assert "COST no calls" in text
    found = object_of(skipped)
    assert (found["bracket"], found["evaluation"]["outcome"]["origin"]) == ("good", "carried")


def test_s0_33_a_chosen_rubric_and_its_reason_stand_in_every_rendering(tmp_path: Path) -> None:
    found = twice(plan=default_of(Panel.of("scripted/x")), second=FIRST)
    why = "general: nothing says what kind of task it was"
    assert f"RUBRIC judge: {why}" in printed(found)
    assert why in " ".join(review_page([("Review", CASE, found)]).split())
    write(found, tmp_path / "review.md", case=CASE)
    assert "- Rubric: judge" in (tmp_path / "review.md").read_text("utf-8")
    part = object_of(found)["evaluation"]["parts"][-1]
    assert part["details"]["rubric_why"] == "nothing says what kind of task it was"


def test_a_first_iteration_says_nothing_of_an_earlier_one() -> None:
    judge = Told(whole)

    async def once() -> Evaluation:
        async with Session(ledger=":memory:", providers={"*": judge}) as session:
            return await session.evaluate(CASE, Panel.of("scripted/x", rubric="prose-quality"))

    text = printed(anyio.run(once))
    for label in ("DECISION", "CARRIED", "RESOLVED", "FEEDBACK", "persisting"):
        assert label not in text
