"""Verdicts, what they hinge on, and what they would be under other rules, weights or seats."""

from __future__ import annotations

from typing import Literal

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from deliberate.errors import ConfigError
from deliberate.plugins import names
from deliberate.protocols import conclude, redecide
from deliberate.types import (
    Absent,
    Answer,
    Ask,
    AskId,
    Bracket,
    Close,
    Decided,
    Judge,
    Key,
    Panel,
    Rules,
    Seat,
    Undecided,
    UndecidedWhy,
    Verdict,
    digest_of,
)
from tests.protocols._plays import ballot, panel, replies, verdict

GONE = Absent(reason="transport")


def bracket(one: Verdict) -> Bracket:
    """The bracket of a verdict that was decided."""
    assert isinstance(one.decision, Decided)
    return one.decision.bracket


def why(one: Verdict) -> str:
    """Why a verdict was not decided."""
    assert isinstance(one.decision, Undecided)
    return one.decision.why


# --- conclude --------------------------------------------------------------------------------------


def test_a_verdict_names_what_it_was_made_of() -> None:
    one = verdict({"a": "good", "b": "good", "c": "poor"})
    assert dict(one.digests) == {"case": "c", "panel": one.panel.digest, "rules": digest_of(one.panel.rules)}
    assert [ask.seat for ask in one.asks] == ["a", "b", "c"]
    assert bracket(one) is Bracket.GOOD


@pytest.mark.parametrize("stopped", ["waiting", "budget", "deadline", "cancelled"])
def test_what_was_cut_off_is_undecided_whatever_was_heard(stopped: UndecidedWhy) -> None:
    one = verdict(dict.fromkeys("abc", "good"), stopped=stopped, closed=False)
    assert one.decision == Undecided(why=stopped, detail="the deliberation was not finished")
    assert one.sensitivity is None


def test_cut_off_without_a_reason_was_cancelled() -> None:
    assert why(verdict({"a": "good"}, closed=False)) == "cancelled"


@pytest.mark.parametrize("stopped", ["deadline", "cancelled", "budget"])
def test_whatever_stopped_it_is_why_the_quorum_was_missed(stopped: UndecidedWhy) -> None:
    one = verdict({"a": "good", "b": GONE, "c": GONE}, stopped=stopped)
    assert one.decision == Undecided(why=stopped, detail="1 of 3 seats voted, 2 needed")


def test_what_stopped_it_does_not_matter_where_there_is_a_verdict_or_another_reason() -> None:
    assert bracket(verdict(dict.fromkeys("abc", "good"), stopped="deadline")) is Bracket.GOOD
    tied = verdict({"a": "good", "b": "poor"}, rules=Rules(tie=()), stopped="deadline")
    assert why(tied) == "tied"


def test_an_undecided_verdict_has_no_sensitivity() -> None:
    assert verdict({"a": "good", "b": "poor"}, rules=Rules(tie=())).sensitivity is None


@pytest.mark.parametrize(("models", "flagged"), [(["m/x", "m/x"], True), (["m/x", "m/y"], False), (["m/x"], False)])
def test_one_model_behind_several_seats_is_flagged(models: list[str], *, flagged: bool) -> None:
    seats = tuple(Seat(name=f"s{at}", judge=Judge(model=model)) for at, model in enumerate(models))
    one = verdict({seat.name: "good" for seat in seats}, sitting=Panel(seats=seats))
    assert ("one_model" in one.flags) is flagged


def test_a_verifier_of_the_same_model_is_no_second_seat() -> None:
    seats = (Seat(name="a", judge=Judge(model="m/x")), Seat(name="v", judge=Judge(model="m/x"), duty="verify"))
    assert verdict({"a": "good"}, sitting=Panel(seats=seats)).flags == ()


def test_what_ballots_and_callers_flag_is_told_once_and_sorted() -> None:
    marked = msgspec.structs.replace(ballot("good"), flags=("mended", "injection_suspected"))
    one = verdict({"a": marked, "b": marked, "c": GONE}, flags=("stale", "mended"))
    assert one.flags == ("injection_suspected", "mended", "stale")


def test_a_judge_without_calibration_is_flagged() -> None:
    sitting = panel("a")
    answer = Answer(key=Key("k"), reply=ballot("good"), effective={"calibration": "none"})
    close = Close(counting=(AskId("0.ballot..a"),), because="done")
    asks = [Ask(seat="a", form="ballot")]
    one = conclude(sitting, asks=asks, answers={AskId("0.ballot..a"): answer}, close=close, digests={})
    assert one.flags == ("uncalibrated",)
    sure = msgspec.structs.replace(answer, effective={"calibration": "2026-11"})
    assert conclude(sitting, asks=asks, answers={AskId("0.ballot..a"): sure}, close=close, digests={}).flags == ()


# --- sensitivity -----------------------------------------------------------------------------------


def sensitivity(said: dict[str, str | Absent], rules: Rules | None = None) -> tuple[object, object]:
    """Whom a verdict hinges on, and the bracket without each."""
    found = verdict(said, rules=rules or Rules()).sensitivity
    assert found is not None
    return found.hinges_on, dict(found.without)


def test_a_verdict_that_no_seat_can_change_hinges_on_none() -> None:
    assert sensitivity(dict.fromkeys("abcde", "good")) == ((), dict.fromkeys("abcde", Bracket.GOOD))


def test_a_verdict_hinges_on_whoever_would_change_it_by_leaving() -> None:
    assert sensitivity({"a": "good", "b": "good", "c": "poor"}) == (
        ("a", "b"),
        {"a": Bracket.POOR, "b": Bracket.POOR, "c": Bracket.GOOD},
    )


def test_a_verdict_hinges_on_whoever_makes_the_quorum() -> None:
    hinges, without = sensitivity({"a": "good", "b": "good", "c": GONE})
    assert hinges == ("a", "b")
    assert without == {"a": None, "b": None, "c": Bracket.GOOD}


def test_a_quorum_given_as_a_number_asks_for_no_more_than_are_left() -> None:
    hinges, without = sensitivity({"a": "good", "b": "good", "c": "good"}, Rules(quorum=3))
    assert (hinges, without) == ((), dict.fromkeys("abc", Bracket.GOOD))
    assert sensitivity({"a": "good", "b": "good", "c": GONE}, Rules(quorum=2))[1] == {
        "a": None,
        "b": None,
        "c": Bracket.GOOD,
    }


def test_one_seat_alone_cannot_be_left_out() -> None:
    assert sensitivity({"a": "good"}) == ((), {})


def test_other_rules_are_told_and_its_own_is_not() -> None:
    replied = dict(zip("abcdefg", ["poor", "poor", "poor", "good", "good", "excellent", "excellent"], strict=True))
    found = verdict(replied, rules=Rules(rule="plurality")).sensitivity
    assert found is not None
    assert set(found.rules) == set(names("tallies")) - {"plurality"}
    assert (found.rules["median"], found.rules["mean"], found.rules["unanimous"]) == (
        Bracket.GOOD,
        Bracket.FAIR,
        Bracket.POOR,
    )


def test_a_rule_that_would_decide_nothing_is_none() -> None:
    found = verdict({"a": "good", "b": "good", "c": "poor"}, rules=Rules(tie=())).sensitivity
    assert found is not None
    assert found.rules["unanimous"] is None


def test_who_did_not_count_is_not_left_out() -> None:
    sitting = panel("a", "b", "c")
    heard = {at: Answer(key=Key(at), reply=reply) for at, reply in replies(dict.fromkeys("abc", "good")).items()}
    close = Close(
        counting=(AskId("0.ballot..a"), AskId("0.ballot..b")), quorum_over=tuple(heard), because="two were enough"
    )
    one = conclude(sitting, asks=[], answers=heard, close=close, digests={})
    assert one.sensitivity is not None
    assert list(one.sensitivity.without) == ["a", "b"]


def test_leaving_a_seat_out_takes_it_from_the_quorum_too() -> None:
    sitting = panel("a", "b", "c")
    heard = {
        at: Answer(key=Key(at), reply=reply) for at, reply in replies({"a": "good", "b": "good", "c": GONE}).items()
    }
    close = Close(counting=(AskId("0.ballot..a"), AskId("0.ballot..b")), quorum_over=tuple(heard), because="done")
    one = conclude(sitting, asks=[], answers=heard, close=close, digests={})
    assert one.sensitivity is not None
    assert one.sensitivity.without == {"a": None, "b": None}, "one of the two that are left"


@given(
    said=st.lists(st.sampled_from(["poor", "fair", "good", "excellent", GONE]), min_size=2, max_size=5),
    weights=st.lists(st.sampled_from([1.0, 1.0, 1.0, 2.0, 0.0]), min_size=5, max_size=5),
    rule=st.sampled_from(names("tallies")),
    quorum=st.sampled_from(["majority", "all"]),
    independence=st.sampled_from([1, 2]),
)
def test_a_verdict_without_a_seat_is_the_verdict_of_the_others(
    said: list[str | Absent], weights: list[float], rule: str, quorum: Literal["majority", "all"], independence: int
) -> None:
    seats = dict(zip("abcde", said, strict=False))
    rules = Rules(rule=rule, quorum=quorum, independence=independence)
    whole = verdict(seats, sitting=panel(*seats, weights=dict(zip("abcde", weights, strict=True)), rules=rules))
    assume(whole.sensitivity is not None)
    assert whole.sensitivity is not None
    for name, found in whole.sensitivity.without.items():
        others = redecide(whole, rules, seats=[*(seats.keys() - {name})]).decision
        assert found == (others.bracket if isinstance(others, Decided) else None)
    for other, found in whole.sensitivity.rules.items():
        under = redecide(whole, msgspec.structs.replace(rules, rule=other)).decision
        assert found == (under.bracket if isinstance(under, Decided) else None)


# --- redecide --------------------------------------------------------------------------------------

SPLIT = {"a": "poor", "b": "poor", "c": "good", "d": "good", "e": "excellent"}


def test_the_same_rules_give_the_same_verdict() -> None:
    one = verdict(SPLIT)
    assert redecide(one, one.panel.rules) == one


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (Rules(), Bracket.POOR),
        (Rules(tie=("upper",)), Bracket.GOOD),
        (Rules(rule="median"), Bracket.GOOD),
        (Rules(rule="mean"), Bracket.FAIR),
        (Rules(rule="unanimous", tie=("upper",)), Bracket.EXCELLENT),
    ],
)
def test_other_rules_are_a_live_run_under_those_rules(rules: Rules, expected: Bracket) -> None:
    again = redecide(verdict(SPLIT), rules)
    assert bracket(again) is expected
    assert again == verdict(SPLIT, rules=rules)


def test_other_weights_count() -> None:
    again = redecide(verdict(SPLIT), Rules(), weights={"e": 9.0})
    assert bracket(again) is Bracket.EXCELLENT
    assert [seat.weight for seat in again.panel.seats] == [1, 1, 1, 1, 9]
    assert again == verdict(SPLIT, sitting=panel(*SPLIT, weights={"e": 9.0}))


def test_fewer_seats_are_a_panel_of_those_seats() -> None:
    again = redecide(verdict(SPLIT), Rules(), seats=["d", "c", "a"])
    assert bracket(again) is Bracket.GOOD
    assert again == verdict({seat: SPLIT[seat] for seat in "acd"})


def test_no_seat_at_all_is_no_quorum() -> None:
    assert why(redecide(verdict(SPLIT), Rules(), seats=[])) == "no_quorum"


def test_a_stricter_quorum_can_undo_a_verdict_and_a_laxer_one_make_it() -> None:
    one = verdict({"a": "good", "b": "good", "c": GONE})
    assert why(redecide(one, Rules(quorum="all"))) == "no_quorum"
    assert bracket(redecide(verdict({"a": "good", "b": GONE, "c": GONE}), Rules(quorum=1))) is Bracket.GOOD


def test_a_quorum_of_more_seats_than_are_kept_is_an_error() -> None:
    with pytest.raises(ConfigError, match="a quorum of 3 cannot be met"):
        redecide(verdict(SPLIT), Rules(quorum=3), seats=["a", "b"])


@pytest.mark.parametrize(
    ("weights", "seats", "unknown"),
    [({"z": 1.0}, None, "z"), (None, ["a", "z"], "z"), ({"y": 1.0}, ["z"], "y, z")],
)
def test_a_seat_that_does_not_exist_is_an_error_that_lists_all(
    weights: dict[str, float] | None, seats: list[str] | None, unknown: str
) -> None:
    with pytest.raises(ValueError, match=f"no seat {unknown}: there are a, b, c, d, e"):
        redecide(verdict(SPLIT), Rules(), weights=weights, seats=seats)


def test_verifiers_and_chairs_stay() -> None:
    chair = Seat(name="x", judge=Judge(model="local/x"), duty="chair")
    sitting = msgspec.structs.replace(panel("a", "b", "c"), seats=(*panel("a", "b", "c").seats, chair))
    one = verdict({"a": "fair", "b": "good", "c": "poor", "x": "good"}, sitting=sitting)
    again = redecide(one, Rules(), seats=["a", "b"])
    assert [seat.name for seat in again.panel.seats] == ["a", "b", "x"]
    assert bracket(again) is Bracket.GOOD, "the chair settles the tie of the two that are left"


def test_a_verdict_that_was_cut_off_stays_so() -> None:
    one = verdict(SPLIT, stopped="waiting", closed=False)
    assert redecide(one, Rules(quorum=1)).decision == one.decision


@pytest.mark.parametrize("stopped", ["deadline", "cancelled"])
def test_a_verdict_whose_quorum_was_missed_for_time_keeps_its_reason(stopped: UndecidedWhy) -> None:
    one = verdict({"a": "good", "b": GONE, "c": GONE}, stopped=stopped)
    assert redecide(one, one.panel.rules) == one


def test_one_model_is_flagged_by_the_seats_that_are_left() -> None:
    def sitting(*models: str) -> Panel:
        return Panel(
            seats=tuple(Seat(name=name, judge=Judge(model=model)) for name, model in zip("abc", models, strict=False))
        )

    mixed = verdict(dict.fromkeys("abc", "good"), sitting=sitting("m/x", "m/x", "m/y"))
    assert redecide(mixed, Rules(), seats=["a", "b"]).flags == ("one_model",)
    alike = verdict(dict.fromkeys("ab", "good"), sitting=sitting("m/x", "m/x"))
    assert redecide(alike, Rules(), seats=["a"]).flags == ()


def test_a_flag_goes_with_the_ballot_that_carried_it() -> None:
    marked = msgspec.structs.replace(ballot("good"), flags=("injection_suspected",))
    one = verdict({"a": "good", "b": "good", "c": marked}, flags=("stale",))
    assert one.flags == ("injection_suspected", "stale")
    assert redecide(one, Rules(), seats=["a", "b"]).flags == ("stale",)


def test_the_digests_name_the_new_rules() -> None:
    one, again = verdict(SPLIT), redecide(verdict(SPLIT), Rules(rule="median"))
    assert again.digests["rules"] == digest_of(Rules(rule="median")) != one.digests["rules"]
    assert again.digests["panel"] == one.digests["panel"]
    assert again.digests["case"] == one.digests["case"]
