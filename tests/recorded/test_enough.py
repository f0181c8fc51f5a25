"""Asking no more than needed, replayed on recorded votes: the bracket is always the full panel's."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from benchmarks import _figures, recorded
from benchmarks import _recorded as rec
from benchmarks._figures import FIRST, TEAMS, VANILLA
from deliberate.plugins import names
from deliberate.types import Bracket, Rules, midpoint
from tests.recorded._data import everything, needs

JUDGED = needs(rec.LLMJUDGE, rec.REFERENCE)
PAIRED = needs(rec.LLMBAR, rec.REFERENCE)
ITEMS = 12
ORDERS = 20

SETS = pytest.mark.parametrize(
    "votes_of",
    [
        pytest.param(lambda: _figures.llmjudge(TEAMS), marks=JUDGED, id="four labels, 7 seats"),
        pytest.param(lambda: _figures.llmbar(VANILLA, FIRST), marks=PAIRED, id="two labels, 6 seats"),
    ],
)


def some(votes: rec.Votes, count: int) -> rec.Votes:
    """Some of the items, drawn from a seed."""
    at = sorted(Random(3).sample(range(len(votes.items)), count))
    return votes._replace(items=tuple(votes.items[one] for one in at), votes=tuple(votes.votes[one] for one in at))


@SETS
@pytest.mark.parametrize(("rule", "tie"), [("plurality", "median"), *((rule, "lower") for rule in names("tallies"))])
@pytest.mark.timeout(1800)
def test_every_replay_gives_the_full_panels_bracket(
    request: pytest.FixtureRequest,
    record_property: Callable[[str, object], None],
    votes_of: Callable[[], rec.Votes],
    rule: str,
    tie: str,
) -> None:
    votes = votes_of()
    seats, orders, items = len(votes.judges), ORDERS, votes
    if not everything(request):
        orders, items = 2, some(votes, ITEMS)
        record_property("sampled", f"{ITEMS} of {len(votes.items)} items, {orders} of {ORDERS} orders of seats")
    for order in rec.shuffled(orders, seats=seats, seed=0):
        calls, kept = rec.in_order(items, order, rule=rule, tie=tie)
        assert kept
        assert calls <= seats


@SETS
@pytest.mark.parametrize(("rule", "tie"), [("plurality", "median"), ("plurality", "lower"), ("median", "median")])
def test_every_order_there_is_keeps_the_bracket(votes_of: Callable[[], rec.Votes], rule: str, tie: str) -> None:
    found = recorded.spent("", votes_of(), rule=rule, tie=tie, asked=25)
    assert found.kept
    assert found.agreed, "the counted rule and the library's own say the same"
    assert found.asked == 25


@JUDGED
def test_what_is_saved_with_seven_seats() -> None:
    votes = _figures.llmjudge(TEAMS)
    calls, _ = recorded.enough(votes, "plurality", "median", None)
    assert calls == pytest.approx(5.3157, abs=5e-5)


@PAIRED
def test_what_is_saved_with_six_seats_and_what_waiting_for_a_quorum_costs() -> None:
    votes = _figures.llmbar(VANILLA, FIRST)
    assert recorded.enough(votes, "plurality", "median", None)[0] == pytest.approx(4.4916, abs=5e-5)
    assert recorded.enough(votes, "plurality", "median", 1)[0] == pytest.approx(4.1506, abs=5e-5)


@PAIRED
def test_the_published_calls_are_those_of_a_rule_that_never_looks_into_ties() -> None:
    known = rec.reference()["llmbar_pairwise"]["vanilla6_order12"]["sequential"]["decided"]
    rows = recorded.stop_rows("", _figures.llmbar(VANILLA, FIRST), known, saved=18)
    said = {row.figure: (row.by, row.outcome) for row in rows}
    assert said["stop when ahead: mean calls"] == ("explains", "noise")
    assert said["stop when ahead: percent saved"] == ("explains", "same")
    assert said["spend enough, tie median: mean calls"] == ("library", "differs")
    assert said["spend enough, tie median: keeps the label in every order"] == ("library", "same")
    ours = next(row for row in rows if row.by == "library")
    assert ours.published is not None
    assert ours.ours < ours.published, "and asks more than the library does"


def test_mean_calls_over_all_orders_by_hand() -> None:
    # Two of three alike settle it: a third of the orders begins with both of them, the others need all three.
    assert rec.expected_calls((2, 1, 0), rec.blocs(3, tie="lower"))[0] == pytest.approx(2 / 3 * 3 + 1 / 3 * 2)
    calls, ends = rec.expected_calls((3, 0, 0), rec.ahead(3))
    assert calls == 2
    assert set(ends) == {(2, 0, 0)}


def test_a_seat_that_gives_nothing_is_a_call_and_no_vote() -> None:
    assert rec.expected_calls((2, 0, 1), rec.blocs(3))[0] == pytest.approx(2 / 3 * 3 + 1 / 3 * 2)
    panel = rec.sitting(["a", "b", "c"], rules=Rules(), spend="enough")
    good = rec.reply_of(midpoint(Bracket.GOOD))
    assert rec.replayed(panel, [good, good, rec.reply_of(None)]) == (Bracket.GOOD, 2)
    assert rec.replayed(panel, [good, rec.reply_of(None), good]) == (Bracket.GOOD, 3)
    assert rec.replayed(panel, [rec.reply_of(None)] * 3) == (None, 3)


@pytest.mark.parametrize("rule", ["plurality", "median", "unanimous"])
@pytest.mark.parametrize("tie", ["lower", "upper", "median"])
def test_the_counted_rule_is_the_librarys(request: pytest.FixtureRequest, rule: str, tie: str) -> None:
    panel = rec.sitting("abcde", rules=Rules(rule=rule, tie=(tie,)), spend="enough")
    stops = rec.blocs(5, rule=rule, tie=tie)
    every = list(rec.states((5, 5, 5, 5, 1), seats=5, most_open=2))
    for state in every if everything(request) else rec.drawn(every, 25):
        assert rec.is_settled(panel, state) == stops(state), state
