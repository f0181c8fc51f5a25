"""What other panels were measured to do when judges tie or fail, and what this one does instead.

Each test is named for one system's behavior and says in its first line what that system does.
"""

from __future__ import annotations

from itertools import permutations

import pytest

from deliberate.plugins import names
from deliberate.tallies import TIE_POLICIES
from deliberate.types import Absent, AbsentReason, Bracket, Decided, Reply, Rules, Undecided
from tests.tallies._votes import absent, seats, verdict_of, won

GONE = absent()
SCORES = {1: "poor", 5: "excellent"}
Replies = dict[str, Reply | str | float]


@pytest.mark.parametrize("rule", names("tallies"))
@pytest.mark.parametrize("tie", TIE_POLICIES)
def test_judges_a_tie_of_two_judges_never_lets_the_first_listed_win(rule: str, tie: str) -> None:
    """There [1, 5] gives 1 and [5, 1] gives 5."""
    rules = Rules(rule=rule, tie=(tie,))
    assert won({"a": SCORES[1], "b": SCORES[5]}, rules) == won({"a": SCORES[5], "b": SCORES[1]}, rules)


@pytest.mark.parametrize("reason", ["transport", "crashed", "deadline", "unreadable", "refused"])
def test_judges_one_judge_that_breaks_does_not_end_the_jury(reason: AbsentReason) -> None:
    """There an exception of one judge kills the whole jury."""
    assert won({"a": "good", "b": absent(reason), "c": "good"}) is Bracket.GOOD


@pytest.mark.parametrize("order", [*permutations(("fair", "good", "excellent"))])
def test_verdict_a_pool_of_three_that_all_differ_is_not_decided_by_who_was_listed_first(order: tuple[str, ...]) -> None:
    """There the first of the most frequent values wins."""
    decision = verdict_of(dict(zip("abc", order, strict=True)))
    assert isinstance(decision, Decided)
    assert decision.bracket is Bracket.FAIR
    assert decision.tied == (Bracket.FAIR, Bracket.GOOD, Bracket.EXCELLENT)


def test_verdict_one_unit_that_fails_does_not_fail_the_rest() -> None:
    """There one failing unit sets the whole executor to failure."""
    assert isinstance(verdict_of({"a": "fair", "b": "fair", "c": "fair", "d": absent("crashed")}), Decided)


@pytest.mark.parametrize("order", [*permutations(("poor", "good", None))])
def test_inspect_mode_a_failed_grader_does_not_shrink_an_odd_panel_to_a_silent_tie(
    order: tuple[str | None, ...],
) -> None:
    """There the panel of three became one of two, and the first listed won."""
    replies: Replies = {seat: GONE if word is None else word for seat, word in zip("abc", order, strict=True)}
    decision = verdict_of(replies)
    assert isinstance(decision, Decided)
    assert (decision.bracket, decision.tied, decision.contested) == (
        Bracket.POOR,
        (Bracket.POOR, Bracket.GOOD),
        True,
    )


def test_inspect_majority_a_failed_grader_stays_in_the_denominator() -> None:
    """There too, since its fix; a tie without a policy is no score, and says between what."""
    assert verdict_of({"a": "good", "b": GONE, "c": GONE, "d": GONE}) == Undecided(
        why="no_quorum", detail="1 of 4 seats voted, 3 needed"
    )
    tie = verdict_of({"a": "poor", "b": "good"}, Rules(tie=("unresolved",)))
    assert isinstance(tie, Undecided)
    assert (tie.why, tie.tied) == ("tied", (Bracket.POOR, Bracket.GOOD))


def test_evaluatorq_one_of_three_alive_is_no_quorum() -> None:
    """There one of three alive is a confident verdict with an agreement of 1.0."""
    assert won({"a": "excellent", "b": GONE, "c": GONE}) == "no_quorum"


def test_evaluatorq_a_tie_says_that_it_was_one() -> None:
    """There the tie flag is false in a tie."""
    decision = verdict_of({"a": "fair", "b": "good"})
    assert decision.tied == (Bracket.FAIR, Bracket.GOOD)


@pytest.mark.parametrize("rule", names("tallies"))
def test_autorubric_four_of_five_failed_is_no_quorum_even_under_unanimous(rule: str) -> None:
    """There four of five judges failed, one said it was met, and it was met."""
    replies: Replies = {"a": "excellent", "b": GONE, "c": GONE, "d": GONE, "e": GONE}
    assert won(replies, Rules(rule=rule)) == "no_quorum"


def test_autorubric_a_tie_is_not_always_the_worst_case() -> None:
    """There the worst case is taken, silently; here it is a policy with a name."""
    assert won({"a": "poor", "b": "excellent"}, Rules(tie=("upper",))) is Bracket.EXCELLENT


def test_trulens_after_a_tie_number_and_label_do_not_contradict() -> None:
    """There a tie falls back to the median of the raw scores."""
    decision = verdict_of({"a": 10, "b": 90})
    assert isinstance(decision, Decided)
    assert (decision.bracket, decision.score, decision.tied) == (
        Bracket.POOR,
        25,
        (Bracket.POOR, Bracket.EXCELLENT),
    )


def test_trulens_survivors_are_not_aggregated_below_the_quorum() -> None:
    """There whoever is left is aggregated, and only a warning is logged."""
    assert won({"a": "good", "b": "good", "c": GONE, "d": GONE}) == "no_quorum"


@pytest.mark.parametrize("reason", ["unreadable", "refused", "transport", "truncated", "abstained"])
def test_openjury_a_score_that_was_not_given_is_not_zero(reason: AbsentReason) -> None:
    """There a criterion a juror did not score counts 0.0."""
    decision = verdict_of({"a": 80, "b": 90, "c": absent(reason)})
    assert isinstance(decision, Decided)
    assert decision.numbers["mean"] == 85


def test_mlflow_a_tie_is_not_won_by_the_alphabet() -> None:
    """There the lexicographically smallest value wins: excellent before good, fair before poor."""
    assert won({"a": "good", "b": "excellent"}) is Bracket.GOOD
    assert won({"a": "poor", "b": "fair"}) is Bracket.POOR


def test_mlflow_a_missing_value_does_not_void_the_rest() -> None:
    """There any missing value makes the aggregate raise."""
    assert won({"a": "good", "b": "good", "c": Absent(reason="unreadable")}) is Bracket.GOOD


def test_juryrig_a_deadlock_can_be_left_a_deadlock() -> None:
    """There a deadlock has no winner; here that is the policy ``unresolved``."""
    assert won({"a": "poor", "b": "excellent"}, Rules(tie=("unresolved",))) == "tied"


def test_juryrig_one_judge_that_raises_does_not_abort_the_panel() -> None:
    """There it does."""
    assert won({"a": "good", "b": "good", "c": absent("crashed")}) is Bracket.GOOD


def test_agentjury_votes_of_one_provider_are_an_insufficient_jury() -> None:
    """There too: a strict majority, and a floor of providers."""
    panel = seats("a", "b", "c", families={"a": "gpt", "b": "gpt", "c": "claude"})
    replies: Replies = {"a": "good", "b": "good", "c": GONE}
    assert won(replies, Rules(independence=2), panel=panel) == "not_independent"
    assert won({**replies, "c": "good"}, Rules(independence=2), panel=panel) is Bracket.GOOD


@pytest.mark.parametrize("reason", ["unreadable", "truncated"])
def test_inspect_a_reply_that_cannot_be_read_is_not_a_wrong_answer(reason: AbsentReason) -> None:
    """There a parse failure counted as incorrect."""
    assert won({"a": "excellent", "b": "excellent", "c": absent(reason)}) is Bracket.EXCELLENT
    assert won({"a": absent(reason), "b": absent(reason), "c": absent(reason)}) == "no_quorum"
