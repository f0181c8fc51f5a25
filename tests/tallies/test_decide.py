"""``decide``: quorum, independence, rule, tie policy, number, in this order; the only place a bracket comes from."""

from __future__ import annotations

from itertools import permutations

import msgspec
import pytest

from deliberate.errors import ConfigError, UnknownName
from deliberate.tallies import BRACKET_SCORES, TIE_POLICIES, needed
from deliberate.types import (
    AbsentReason,
    Ballot,
    Bracket,
    Close,
    Decided,
    DimensionScore,
    Finding,
    Judge,
    Note,
    Panel,
    Rules,
    Seat,
    Undecided,
    adjusted_ballot,
)
from tests.tallies._votes import absent, at, ballot, chaired, seats, verdict_of, won

GONE = absent()


@pytest.mark.parametrize(
    ("quorum", "of", "asked"),
    [
        ("majority", 1, 1),
        ("majority", 2, 2),
        ("majority", 3, 2),
        ("majority", 4, 3),
        ("majority", 5, 3),
        ("all", 5, 5),
        (1, 5, 1),
        (5, 5, 5),
    ],
)
def test_a_quorum_is_a_strict_majority_all_or_a_number(quorum: int, of: int, asked: int) -> None:
    assert needed(Rules(quorum=quorum), of) == asked


@pytest.mark.parametrize("quorum", [0, -1, 4])
def test_a_quorum_that_cannot_be_met_is_an_error_of_whoever_wrote_it(quorum: int) -> None:
    with pytest.raises(ConfigError, match=f"a quorum of {quorum} cannot be met") as caught:
        needed(Rules(quorum=quorum), 3)
    assert (caught.value.where, caught.value.expected) == ("quorum", "majority, all, or a number from 1 to 3")


def test_the_winning_bracket_and_its_number() -> None:
    decision = verdict_of({"a": 70, "b": 60, "c": 10})
    assert isinstance(decision, Decided)
    assert (decision.bracket, decision.tied, decision.contested, decision.path) == (Bracket.GOOD, (), False, "full")
    assert decision.score == decision.numbers["nearest"] == 51
    assert decision.numbers["mean"] == 46.666666667


def test_too_few_votes_are_no_quorum_and_the_count_is_told() -> None:
    decision = verdict_of({"a": 70, "b": GONE, "c": GONE})
    assert decision == Undecided(why="no_quorum", detail="1 of 3 seats voted, 2 needed")


@pytest.mark.parametrize(("present", "why"), [(1, "no_quorum"), (2, Bracket.GOOD), (3, Bracket.GOOD)])
def test_a_quorum_is_met_by_just_as_many_as_are_needed(present: int, why: object) -> None:
    assert won({seat: "good" if at < present else GONE for at, seat in enumerate("abc")}) == why


def test_a_seat_never_heard_of_is_absent_too() -> None:
    assert verdict_of({"a": 70}, panel=seats("a", "b", "c")) == Undecided(
        why="no_quorum", detail="1 of 3 seats voted, 2 needed"
    )


@pytest.mark.parametrize(
    ("reasons", "why"),
    [
        (("budget", "budget"), "budget"),
        (("budget", "transport"), "budget"),
        (("transport", "transport"), "no_quorum"),
        (("deadline", "deadline"), "no_quorum"),
        (("not_needed", "not_needed"), "no_quorum"),
    ],
)
def test_the_budget_is_to_blame_only_where_its_seats_would_have_made_the_quorum(
    reasons: tuple[AbsentReason, AbsentReason], why: str
) -> None:
    assert won({"a": 70, "b": absent(reasons[0]), "c": absent(reasons[1])}) == why


def test_the_budget_is_not_to_blame_where_even_its_seats_would_not_have_been_enough() -> None:
    rules = Rules(quorum="all")
    assert won({"a": 70, "b": absent("budget"), "c": GONE}, rules) == "no_quorum"
    assert won({"a": 70, "b": absent("budget"), "c": absent("budget")}, rules) == "budget"


def test_the_quorum_may_be_over_others_than_those_that_count() -> None:
    close = Close(counting=(at("a"),), quorum_over=(at("a"), at("b"), at("c")), because="the last to speak")
    assert verdict_of({"a": 70, "b": GONE, "c": GONE}, panel=seats("a", "b", "c"), close=close) == Undecided(
        why="no_quorum", detail="1 of 3 seats voted, 2 needed"
    )
    decision = verdict_of({"a": 70, "b": 10, "c": GONE}, panel=seats("a", "b", "c"), close=close)
    assert isinstance(decision, Decided)
    assert (decision.bracket, decision.numbers["mean"]) == (Bracket.GOOD, 70)


def test_a_quorum_of_seats_that_do_not_count_decides_nothing() -> None:
    close = Close(counting=(), quorum_over=(at("a"), at("b")), because="nobody's ballot stood")
    assert verdict_of({"a": 70, "b": 70}, close=close) == Undecided(why="no_quorum", detail="no ballot counts")


def test_what_is_no_ballot_never_counts_as_one() -> None:
    assert won({"a": Note(text="good, I think"), "b": Note(text="fine"), "c": GONE}) == "no_quorum"


def test_votes_of_one_family_are_not_independent() -> None:
    panel = seats("a", "b", "c", families={"a": "gpt", "b": "gpt", "c": "gpt"})
    decision = verdict_of(dict.fromkeys("abc", "good"), Rules(independence=2), panel=panel)
    assert decision == Undecided(why="not_independent", detail="votes of 1 model families, 2 asked for")


def test_only_those_who_voted_count_for_independence() -> None:
    panel = seats("a", "b", "c", families={"a": "gpt", "b": "gpt", "c": "claude"})
    rules = Rules(independence=2)
    assert won({"a": "good", "b": "good", "c": GONE}, rules, panel=panel) == "not_independent"
    assert won({"a": "good", "b": GONE, "c": "good"}, rules, panel=panel) is Bracket.GOOD


def test_two_people_are_two_voters_and_one_person_is_one() -> None:
    def people(*models: str) -> Panel:
        return Panel(
            seats=tuple(
                Seat(name=name, judge=Judge(model=model, human=True, family="people"))
                for name, model in zip("ab", models, strict=True)
            )
        )

    rules = Rules(independence=2)
    assert won({"a": "good", "b": "good"}, rules, panel=people("maria", "jan")) is Bracket.GOOD
    assert won({"a": "good", "b": "good"}, rules, panel=people("maria", "maria")) == "not_independent"


def test_the_quorum_is_asked_about_before_independence() -> None:
    assert won({"a": "good", "b": GONE, "c": GONE}, Rules(independence=2)) == "no_quorum"


def test_seat_weights_count() -> None:
    panel = seats("a", "b", "c", weights={"a": 3.0})
    assert won({"a": "poor", "b": "good", "c": "good"}, panel=panel) is Bracket.POOR


def test_a_seat_without_weight_is_heard_and_never_counted() -> None:
    panel = seats("a", "b", "c", weights={"c": 0.0})
    decision = verdict_of({"a": 60, "b": 70, "c": 0}, panel=panel)
    assert isinstance(decision, Decided)
    assert (decision.bracket, decision.numbers["mean"]) == (Bracket.GOOD, 65)


def test_a_seat_without_weight_makes_no_vote_independent() -> None:
    panel = seats("a", "b", "c", families={"a": "gpt", "b": "gpt", "c": "claude"}, weights={"c": 0.0})
    assert won(dict.fromkeys("abc", "good"), Rules(independence=2), panel=panel) == "not_independent"


def test_no_weight_at_all_decides_nothing() -> None:
    decision = verdict_of({"a": 60, "b": 70}, panel=seats("a", "b", weights={"a": 0.0, "b": 0.0}))
    assert decision == Undecided(why="no_quorum", detail="no vote has a weight")


@pytest.mark.parametrize(
    ("tie", "expected"),
    [
        (("lower",), Bracket.POOR),
        (("upper",), Bracket.EXCELLENT),
        (("median",), Bracket.POOR),
        (("round", "lower"), Bracket.POOR),
        (("chair", "upper"), Bracket.EXCELLENT),
        (("unresolved",), "tied"),
        (("unresolved", "lower"), "tied"),
        (("human",), "waiting"),
        (("human", "lower"), "waiting"),
        (("round", "chair"), "tied"),
        ((), "tied"),
        (("round", "chair", "lower"), Bracket.POOR),
    ],
)
def test_each_tie_policy(tie: tuple[str, ...], expected: object) -> None:
    assert won({"a": "poor", "b": "excellent"}, Rules(tie=tie)) == expected


def test_the_median_policy_takes_the_tied_bracket_nearest_the_middle() -> None:
    rules = Rules(tie=("median",))
    five = ["poor", "poor", "good", "excellent", "excellent"]
    for order in {*permutations(five)}:
        assert won(dict(zip("abcde", order, strict=True)), rules) is Bracket.EXCELLENT
    assert won({"a": "poor", "b": "poor", "c": "fair", "d": "good", "e": "good"}, rules) is Bracket.POOR


def test_a_tie_that_a_policy_settled_is_told() -> None:
    decision = verdict_of({"a": "fair", "b": "good"})
    assert isinstance(decision, Decided)
    assert (decision.bracket, decision.tied) == (Bracket.FAIR, (Bracket.FAIR, Bracket.GOOD))


def test_a_tie_that_no_policy_settled_is_told_too() -> None:
    decision = verdict_of({"a": "fair", "b": "excellent"}, Rules(tie=("unresolved",)))
    assert decision == Undecided(
        why="tied", detail="tied between Fair, Excellent", tied=(Bracket.FAIR, Bracket.EXCELLENT)
    )


@pytest.mark.parametrize(
    ("said", "expected"),
    [("good", Bracket.GOOD), ("fair", Bracket.FAIR), ("poor", Bracket.FAIR), (None, Bracket.FAIR)],
)
def test_a_chair_settles_a_tie_with_a_bracket_that_is_tied(said: str | None, expected: Bracket) -> None:
    panel = chaired(seats("a", "b"))
    also = {at("chair", turn=1): ballot(said)} if said else {at("chair", turn=1): GONE}
    decision = verdict_of({"a": "fair", "b": "good"}, panel=panel, also=also)
    assert isinstance(decision, Decided)
    assert decision.bracket is expected


def test_a_chair_never_votes() -> None:
    also = {at("chair", turn=1): ballot("poor")}
    decision = verdict_of({"a": "good", "b": "good"}, panel=chaired(seats("a", "b")), also=also)
    assert isinstance(decision, Decided)
    assert (decision.bracket, decision.numbers["mean"]) == (Bracket.GOOD, 63)


@pytest.mark.parametrize(
    ("said", "why"), [("good", Bracket.GOOD), ("fair", Bracket.FAIR), ("excellent", "tied"), (None, "waiting")]
)
def test_a_person_settles_a_tie_or_is_waited_for(said: str | None, why: object) -> None:
    panel = chaired(seats("a", "b"), human=True)
    also = {at("chair", turn=1): ballot(said)} if said else {}
    decision = verdict_of({"a": "fair", "b": "good"}, Rules(tie=("chair", "human")), panel=panel, also=also)
    assert (decision.bracket if isinstance(decision, Decided) else decision.why) == why


@pytest.mark.parametrize("tie", ["chair", "human"])
def test_a_chairs_last_word_counts_in_whatever_order_its_words_arrived(tie: str) -> None:
    panel = chaired(seats("a", "b"), human=tie == "human")
    first, last = (at("chair", turn=1), ballot("fair")), (at("chair", turn=2), ballot("good"))
    found = {
        decision.bracket
        for also in (dict([first, last]), dict([last, first]))
        if isinstance(
            decision := verdict_of({"a": "fair", "b": "good"}, Rules(tie=(tie,)), panel=panel, also=also), Decided
        )
    }
    assert found == {Bracket.GOOD}


def test_two_chairs_give_one_answer_whichever_sits_or_speaks_first() -> None:
    found = set()
    for order in ("xy", "yx"):
        panel = seats("a", "b")
        for name in order:
            panel = chaired(panel, name=name)
        for arrived in ("xy", "yx"):
            also = {at(name, turn=1): ballot({"x": "fair", "y": "good"}[name]) for name in arrived}
            decision = verdict_of({"a": "fair", "b": "good"}, Rules(tie=("chair", "upper")), panel=panel, also=also)
            assert isinstance(decision, Decided)
            found.add(decision.bracket)
    assert len(found) == 1


@pytest.mark.parametrize(
    ("replies", "rule", "contested"),
    [
        (("good", "good", "fair"), "plurality", False),
        (("poor", "excellent", "excellent"), "plurality", False),
        (("poor", "poor", "good", "good", "excellent"), "plurality", True),
        (("fair", "good"), "plurality", False),
        (("fair", "excellent"), "plurality", True),
        (("poor", "fair", "excellent"), "unanimous", True),
        (("poor", "poor", "good", "excellent", "excellent"), "median", False),
        (("poor", "poor", "poor", "excellent", "excellent"), "mean", False),
    ],
)
def test_a_verdict_is_contested_where_brackets_lie_two_apart(
    replies: tuple[str, ...], rule: str, *, contested: bool
) -> None:
    decision = verdict_of(dict(zip("abcde", replies, strict=False)), Rules(rule=rule))
    assert isinstance(decision, Decided)
    assert decision.contested is contested


def test_a_winner_far_from_the_middle_is_contested() -> None:
    replies = {"a": "poor", "b": "poor", "c": "poor", "d": "good", "e": "good", "f": "excellent", "g": "excellent"}
    decision = verdict_of(replies)
    assert isinstance(decision, Decided)
    assert (decision.bracket, decision.tied, decision.contested) == (Bracket.POOR, (), True)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("plurality", Bracket.POOR), ("median", Bracket.GOOD), ("mean", Bracket.FAIR), ("unanimous", Bracket.POOR)],
)
def test_each_rule_on_the_same_votes(rule: str, expected: Bracket) -> None:
    replies = {"a": 0, "b": 0, "c": 10, "d": 60, "e": 60, "f": 80, "g": 80}
    assert won(replies, Rules(rule=rule)) is expected


@pytest.mark.parametrize("name", BRACKET_SCORES)
def test_each_bracket_score_can_be_the_headline(name: str) -> None:
    decision = verdict_of({"a": 60, "b": 70, "c": 20}, Rules(bracket_score=name))
    assert isinstance(decision, Decided)
    assert decision.score == decision.numbers[name]


@pytest.mark.parametrize("name", BRACKET_SCORES)
def test_under_the_rule_mean_the_headline_is_the_mean(name: str) -> None:
    decision = verdict_of({"a": 60, "b": 70, "c": 20}, Rules(rule="mean", bracket_score=name))
    assert isinstance(decision, Decided)
    assert (decision.bracket, decision.score) == (Bracket.FAIR, 50)


def test_the_numbers_are_not_of_those_that_were_not_heard() -> None:
    decision = verdict_of({"a": 60, "b": 60, "c": absent("unreadable")})
    assert isinstance(decision, Decided)
    assert set(decision.numbers.values()) == {60, 63, 51, 75}


def test_a_path_is_shortened_where_somebody_was_not_needed() -> None:
    decision = verdict_of({"a": 60, "b": 60, "c": absent("not_needed")})
    assert isinstance(decision, Decided)
    assert decision.path == "shortened"


def test_a_struck_finding_no_longer_weighs_on_a_ballot() -> None:
    held = adjusted_ballot(
        Ballot(
            bracket=Bracket.GOOD,
            score=70.0,
            dimensions=(DimensionScore(dimension="d", weight=1.0, judged=70.0, adjusted=70.0),),
            findings=(Finding(key="k", severity="blocker", dimension="d", title="t"),),
        )
    )
    replies = {"a": held, "b": held, "c": ballot("poor")}
    counting = tuple(at(seat) for seat in "abc")
    assert won(replies) is Bracket.FAIR
    decision = verdict_of(replies, close=Close(counting=counting, struck=("k",), because="refuted"))
    assert isinstance(decision, Decided)
    assert (decision.bracket, decision.numbers["mean_in_bracket"]) == (Bracket.GOOD, 70)


@pytest.mark.parametrize(
    ("rules", "kind", "known"),
    [
        (Rules(rule="plurallity"), "rule", None),
        (Rules(bracket_score="neerest"), "bracket score", BRACKET_SCORES),
        (Rules(tie=("lowest",)), "tie policy", TIE_POLICIES),
    ],
)
def test_a_name_nobody_knows_is_an_error_that_lists_all(rules: Rules, kind: str, known: tuple[str, ...] | None) -> None:
    with pytest.raises(UnknownName) as caught:
        verdict_of({"a": "fair", "b": "good"}, rules)
    assert caught.value.kind == kind
    assert known is None or set(caught.value.known) == set(known)


def test_an_unknown_tie_policy_is_an_error_even_where_nothing_ties() -> None:
    with pytest.raises(UnknownName):
        verdict_of({"a": "good", "b": "good"}, Rules(tie=("lowest",)))


def test_an_unknown_tie_policy_is_an_error_even_behind_one_that_settles() -> None:
    with pytest.raises(UnknownName):
        verdict_of({"a": "fair", "b": "good"}, Rules(tie=("lower", "lowest")))


def test_a_quorum_of_more_seats_than_there_are_is_an_error() -> None:
    with pytest.raises(ConfigError):
        verdict_of({"a": "good"}, Rules(quorum=2))


def test_a_seats_name_may_have_a_dot() -> None:
    panel = seats("gpt-4.1", "gpt-5.1", "claude-4.5")
    assert won({"gpt-4.1": "good", "gpt-5.1": "good", "claude-4.5": "poor"}, panel=panel) is Bracket.GOOD


def test_one_seat_decides_alone() -> None:
    decision = verdict_of({"a": 25.5})
    assert isinstance(decision, Decided)
    assert (decision.bracket, decision.score) == (Bracket.FAIR, 25.5)


def test_a_decision_does_not_hold_on_to_what_it_was_given() -> None:
    one = verdict_of({"a": 60, "b": 70})
    assert isinstance(one, Decided)
    assert msgspec.json.decode(msgspec.json.encode(one), type=Decided) == one
