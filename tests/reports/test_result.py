from __future__ import annotations

import json
import unicodedata
from typing import Any

import jsonschema
import pytest

from deliberate.errors import UnknownName
from deliberate.reports import encode, schema, verdict_object
from deliberate.types import Answer, Evaluation, Gate, Scored, UndecidedWhy, Verdict
from tests.reports.hostile import ALL, hostile
from tests.reports.json_page import PAGE, example, page
from tests.reports.scripted import (
    absent,
    ballot,
    broken,
    checked,
    evaluated,
    planned,
    split_panel,
    undecided_panel,
    verdict,
    with_others,
)

FIELDS = {
    "object": "status why flags bracket score normalized numbers rule tie path rounds because quorum votes counts "
    "dissent sensitivity contested tied evaluation usage run ledger digest digests",
    "round": "round agreement entropy spread moves",
    "quorum": "needed valid seats",
    "vote": "seat judge model family round bracket score reason dimensions findings status absent usage requested "
    "effective",
    "counts": "voted abstained unread failed unasked",
    "evaluation": "outcome score normalized parts findings missing coverage suggestion feedback details dimensions "
    "resolved revision",
    "usage": "calls tokens_in tokens_out cost_usd",
}
"""The fields that were promised; none may go."""

UNDECIDED: tuple[UndecidedWhy, ...] = (
    "tied",
    "no_quorum",
    "not_independent",
    "waiting",
    "budget",
    "deadline",
    "cancelled",
)
OF_A_PANEL = {*FIELDS["object"].split()} - {
    *("status", "why", "flags", "score", "normalized", "evaluation", "usage", "run", "ledger")
}


def read(evaluation: Evaluation) -> dict[str, Any]:
    """The object as a reader gets it, valid against its schema."""
    found: dict[str, Any] = json.loads(encode(verdict_object(evaluation, run="7F3K", ledger="reviews.db")))
    jsonschema.Draft202012Validator(schema("verdict")).validate(found)
    return found


def test_the_object_has_the_promised_fields() -> None:
    found = read(split_panel())
    assert set(found) == set(FIELDS["object"].split())
    assert set(found["rounds"][0]) == set(FIELDS["round"].split())
    assert set(found["quorum"]) == set(FIELDS["quorum"].split())
    assert set(found["votes"][0]) == set(FIELDS["vote"].split())
    assert set(found["counts"]) == set(FIELDS["counts"].split())
    assert set(found["evaluation"]) == set(FIELDS["evaluation"].split())
    assert set(found["usage"]) == set(FIELDS["usage"].split())


def test_a_decided_panel() -> None:
    found = read(split_panel())
    assert (found["status"], found["why"], found["bracket"], found["contested"], found["tied"]) == (
        "decided",
        None,
        "good",
        False,
        [],
    )
    assert found["normalized"] == pytest.approx(found["score"] / 100)
    assert found["numbers"]["nearest"] == found["score"]
    assert found["rounds"] == [
        {"round": 0, "agreement": pytest.approx(1 / 3), "entropy": 0.918295834, "spread": 26.0, "moves": []}
    ]
    assert found["quorum"] == {"needed": 2, "valid": 3, "seats": 3}
    assert [(vote["seat"], vote["bracket"], vote["status"]) for vote in found["votes"]] == [
        ("opus-5", "good", "voted"),
        ("gpt-5-5", "good", "voted"),
        ("gemini-3-5", "fair", "voted"),
    ]
    assert [(one["seat"], one["reason"]) for one in found["dissent"]] == [
        ("gemini-3-5", "Negative totals round away from zero; the task asked for half to even.")
    ]
    assert found["sensitivity"]["hinges_on"] == ["opus-5", "gpt-5-5"]
    assert found["sensitivity"]["without"]["opus-5"] == "fair"
    assert found["evaluation"]["findings"][0]["raised_by"] == ["gemini-3-5"]
    assert (found["run"], found["ledger"]) == ("7F3K", "reviews.db")


def test_a_vote_carries_what_was_asked_for_and_what_held() -> None:
    vote = read(split_panel())["votes"][1]
    assert (vote["judge"], vote["model"], vote["family"]) == ("openai/gpt-5.5", "gpt-5.5-2026-04-01", "gpt")
    assert vote["requested"]["temperature"] == "0.1"
    assert len(vote["requested"]["prompt_sha256"]) == 64
    assert (vote["effective"]["latency_seconds"], vote["effective"]["attempts"]) == ("2.3", "1")
    assert vote["usage"] == {"calls": 1, "tokens_in": 3100, "tokens_out": 210, "cost_usd": 0.0161}


@pytest.mark.parametrize("why", UNDECIDED)
def test_an_undecided_panel_has_no_number(why: UndecidedWhy) -> None:
    found = read(undecided_panel(why))
    assert (found["status"], found["why"]) == ("undecided", why)
    for name in ("bracket", "score", "normalized", "numbers", "path", "contested", "sensitivity"):
        assert found[name] is None
    assert found["evaluation"]["outcome"]["type"] == "unscored"
    assert found["because"]
    assert sum(found["counts"].values()) == len({vote["seat"] for vote in found["votes"]})


def test_a_vote_that_did_not_come_is_never_a_number() -> None:
    for why in UNDECIDED:
        for vote in read(undecided_panel(why))["votes"]:
            if vote["status"] != "voted":
                assert (vote["score"], vote["bracket"], vote["reason"]) == (None, None, None)
                assert vote["absent"]["detail"]


def test_a_tie_left_open_names_its_brackets() -> None:
    assert read(undecided_panel("tied"))["tied"] == ["fair", "good"]


def test_rounds_carry_their_moves() -> None:
    found = read(
        evaluated(
            verdict(
                ("a", "m/x", ballot(70)),
                ("b", "m/y", ballot(20)),
                more=[("a", "m/x", ballot(70)), ("b", "m/y", ballot(60))],
            )
        )
    )
    assert [one["agreement"] for one in found["rounds"]] == [0.0, 1.0]
    assert found["rounds"][1]["moves"] == [
        {"seat": "b", "before": "poor", "after": "good", "direction": "up", "to_majority": True, "cited": []}
    ]
    assert [(vote["round"], vote["seat"]) for vote in found["votes"]] == [(0, "a"), (0, "b"), (1, "a"), (1, "b")]


def test_with_a_plan_the_score_is_the_whole_s_and_the_verdict_that_of_its_only_panel() -> None:
    jury = split_panel()
    plan = planned(("tests", 3, checked(100, "all hold")), ("jury", 1, jury), gates=[Gate(part="tests", min_score=50)])
    found = read(plan)
    assert found["score"] == plan.score
    assert found["bracket"] == "good"
    assert found["evaluation"]["outcome"]["bracket"] == "excellent"
    assert found["evaluation"]["outcome"]["gates"][0]["held"] is True
    assert jury.verdict is not None
    assert found["digest"] == jury.verdict.digest
    tests, panel = found["evaluation"]["parts"]
    assert (tests["verdict"], tests["score"], tests["details"]) == (None, 100.0, {"exit_code": 0})
    assert panel["verdict"]["score"] == jury.score
    assert panel["verdict"]["votes"] == found["votes"]


def test_without_a_panel_and_with_several_the_verdict_s_fields_are_null() -> None:
    alone = checked(80, "fine")
    two = planned(("first", 1, split_panel()), ("second", 1, split_panel()))
    for evaluation in (alone, planned(("tests", 1, alone)), two):
        found = read(evaluation)
        assert (found["status"], found["score"]) == ("decided", evaluation.score)
        assert [name for name in OF_A_PANEL if found[name] is not None] == []
    assert all(part["verdict"]["bracket"] == "good" for part in read(two)["evaluation"]["parts"])


def test_why_a_plan_has_no_score() -> None:
    assert read(planned(("jury", 1, undecided_panel("budget"))))["why"] == "budget"
    assert read(planned(("lint", 1, broken("no such file")), ("jury", 1, split_panel())))["why"] == "failed"
    decided = read(planned(("tests", 2, checked(90, "")), ("jury", 1, undecided_panel("tied")), on_missing="exclude"))
    assert (decided["status"], decided["why"], decided["bracket"]) == ("decided", None, None)
    assert decided["evaluation"]["missing"] == ["jury"]


def test_flags_of_output_that_nobody_was_asked_about() -> None:
    found = read(
        Evaluation(
            evaluator="deliberation", outcome=Scored(score=0.0, raw=0.0), reason="no letter", flags=("degenerate",)
        )
    )
    assert (found["score"], found["flags"], found["votes"]) == (0.0, ["degenerate"], None)


def test_a_refuted_finding_is_flagged() -> None:
    first, second = read(evaluated(with_others()))["evaluation"]["findings"]
    assert (first["flags"], second["flags"]) == (["refuted"], [])


def test_a_judge_that_was_never_tried_has_no_attempts() -> None:
    found = verdict(("a", "m/x", ballot(70)), ("b", "m/y", absent("not_needed", "no vote could change it")))
    at = next(at for at in found.answers if at.endswith(".b"))
    bare = Answer(key=found.answers[at].key, reply=found.answers[at].reply)
    fields = {name: getattr(found, name) for name in found.__struct_fields__} | {"answers": {**found.answers, at: bare}}
    vote = read(evaluated(Verdict(**fields)))["votes"][1]
    assert (vote["requested"], vote["effective"], vote["status"]) == ({}, {}, "unasked")


def test_an_unknown_cost_is_null() -> None:
    evaluation = split_panel()
    usage = evaluation.usage.__class__(calls=3, cost_usd=None)
    fields = {name: getattr(evaluation, name) for name in evaluation.__struct_fields__} | {"usage": usage}
    assert read(Evaluation(**fields))["usage"]["cost_usd"] is None


def test_same_evaluation_same_bytes() -> None:
    assert encode(verdict_object(split_panel())) == encode(verdict_object(split_panel()))


def test_hostile_text_is_harmless_when_printed_and_the_same_when_read() -> None:
    _, evaluation, _ = hostile()
    text = encode(verdict_object(evaluation)).decode()
    assert {sign for sign in text if unicodedata.category(sign) in {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}} == {"\n"}
    found = json.loads(text)
    assert found["votes"][0]["reason"] == ALL
    jsonschema.Draft202012Validator(schema("verdict")).validate(found)


def test_the_schema_is_one_and_describes_every_field() -> None:
    whole = schema("verdict")
    jsonschema.Draft202012Validator.check_schema(whole)
    for one in (whole, *whole["$defs"].values()):
        assert one["description"]
        assert set(one["required"]) == set(one["properties"])
        assert all(told.get("description") or "enum" in told for told in one["properties"].values())


def test_the_schema_refuses_what_is_wrong() -> None:
    found = read(split_panel()) | {"status": "maybe"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema("verdict")).validate(found)


def test_an_unknown_schema_lists_those_there_are() -> None:
    with pytest.raises(UnknownName, match="verdict"):
        schema("verdit")


def test_the_page_is_what_the_types_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.reports.json_page"


def test_the_example_on_the_page_is_a_valid_object() -> None:
    text = PAGE.read_text(encoding="utf-8").split("```json\n")[1].split("```")[0]
    found = json.loads(text)
    assert found == read(example())
    assert found["counts"]["unread"] == 1
