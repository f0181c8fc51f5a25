"""Laws of every tally rule, and of ``decide``, the only place a bracket comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

import msgspec
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from deliberate.plugins import names, part
from deliberate.tallies import BRACKET_SCORES, LevelVote, Rule, decide, needed, numbers
from deliberate.types import (
    BRACKETS,
    Absent,
    AskId,
    Ballot,
    Bracket,
    Close,
    Decided,
    Levels,
    Panel,
    Reply,
    Rules,
    Seat,
    Undecided,
    bracket_of,
    edges,
    midpoint,
)
from tests.laws import _draws as draws

FACTORS = st.floats(1e-250, 1e250) | st.sampled_from((1e308 / 30, 1e-13, 1e-300, 12_345.678, 1 / 3))


class Table(NamedTuple):
    """Levels, and votes on them."""

    levels: Levels
    votes: list[LevelVote]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Two to eleven levels with whole tops, and votes whose scores lie in their levels."""
    tops = sorted(draw(st.sets(st.integers(1, 100), min_size=2, max_size=11)))
    levels = Levels(labels=tuple(map(str, tops)), tops=tuple(map(float, tops)))
    votes = []
    for _ in range(draw(st.integers(1, 7))):
        level = draw(st.integers(0, len(tops) - 1))
        low = tops[level - 1] * draws.MILLION if level else -1
        score = draw(draws.scores_in(low, tops[level] * draws.MILLION))
        votes.append(LevelVote(level, score, float(draw(st.integers(1, 9)))))
    return Table(levels, votes)


@pytest.fixture(params=names("tallies"), scope="module")
def rule(request: pytest.FixtureRequest) -> Rule:
    """Every rule of the room."""
    found: Rule = part("tallies", request.param)
    return found


def weighing(votes: Sequence[LevelVote], factor: float) -> list[LevelVote]:
    """The same votes in another unit of weight."""
    return [vote._replace(weight=vote.weight * factor) for vote in votes]


@given(table=tables())
def test_somebody_wins_lowest_first_within_the_span_of_the_votes(rule: Rule, table: Table) -> None:
    winners = rule(table.votes, table.levels)
    assert winners
    assert list(winners) == sorted(set(winners))
    assert min(vote.level for vote in table.votes) <= winners[0]
    assert winners[-1] <= max(vote.level for vote in table.votes)


@given(table=tables(), chance=st.randoms(use_true_random=False))
def test_the_order_of_votes_does_not_count(rule: Rule, table: Table, chance: Random) -> None:
    shuffled = list(table.votes)
    chance.shuffle(shuffled)
    assert rule(shuffled, table.levels) == rule(table.votes, table.levels)


@given(table=tables(), factor=FACTORS)
def test_the_unit_of_weight_does_not_count(rule: Rule, table: Table, factor: float) -> None:
    assert rule(weighing(table.votes, factor), table.levels) == rule(table.votes, table.levels)


@given(table=tables())
def test_every_vote_cast_twice_changes_nothing(rule: Rule, table: Table) -> None:
    assert rule([*table.votes, *table.votes], table.levels) == rule(table.votes, table.levels)


@given(table=tables())
def test_what_all_vote_for_wins(rule: Rule, table: Table) -> None:
    first = table.votes[0]
    alike = [vote._replace(level=first.level, score=first.score) for vote in table.votes]
    assert rule(alike, table.levels) == (first.level,)


@given(table=tables(), data=st.data())
def test_one_more_vote_for_a_sole_winner_never_unseats_it(rule: Rule, table: Table, data: st.DataObject) -> None:
    winners = rule(table.votes, table.levels)
    assume(len(winners) == 1)
    low = table.levels.tops[winners[0] - 1] if winners[0] else -1e-6
    score = data.draw(draws.scores_in(round(low * draws.MILLION), round(table.levels.tops[winners[0]] * draws.MILLION)))
    assert rule([*table.votes, LevelVote(winners[0], score, 2.0)], table.levels) == winners


@given(table=tables())
def test_it_leaves_what_it_was_given_alone(rule: Rule, table: Table) -> None:
    before = list(table.votes)
    rule(table.votes, table.levels)
    assert table.votes == before


# --- numbers ---------------------------------------------------------------------------------------


@st.composite
def voted(draw: st.DrawFn) -> list[LevelVote]:
    """Votes on the four brackets, each number in its bracket."""
    cast = draw(st.lists(st.tuples(draws.BALLOTS, st.integers(1, 9)), min_size=1, max_size=7))
    return [LevelVote(ballot.bracket, ballot.score, float(weight)) for ballot, weight in cast]


@given(voted(), st.sampled_from(Bracket))
def test_all_bracket_scores_are_always_given_and_stay_in_their_ranges(votes: list[LevelVote], won: Bracket) -> None:
    found = numbers(votes, won)
    assert set(found) == set(BRACKET_SCORES)
    least, most = min(vote.score for vote in votes), max(vote.score for vote in votes)
    low, high = edges(won)
    assert bracket_of(found["nearest"]) is won
    assert least <= found["mean"] <= most
    levels = [Bracket(vote.level) for vote in votes]
    assert midpoint(min(levels)) <= found["expected"] <= midpoint(max(levels))
    assert bracket_of(found["median_in_bracket"]) is won
    assert bracket_of(found["mean_in_bracket"]) is won
    assert (found["lower"], found["midpoint"], found["upper"]) == (low, midpoint(won), high)


@given(voted(), st.sampled_from(Bracket))
def test_nearest_moves_the_mean_no_further_than_into_the_printed_edges(votes: list[LevelVote], won: Bracket) -> None:
    found = numbers(votes, won)
    low, high = edges(won)
    if all(vote.level == won for vote in votes):
        assert found["nearest"] == found["mean"], "there is nothing to move"
    else:
        assert found["nearest"] == min(max(found["mean"], low), high)


@given(voted(), st.sampled_from(Bracket), st.randoms(use_true_random=False))
def test_the_order_of_votes_changes_no_number(votes: list[LevelVote], won: Bracket, chance: Random) -> None:
    shuffled = list(votes)
    chance.shuffle(shuffled)
    assert msgspec.json.encode(numbers(shuffled, won)) == msgspec.json.encode(numbers(votes, won))


@given(voted(), st.sampled_from(Bracket), FACTORS)
def test_the_unit_of_weight_changes_no_number(votes: list[LevelVote], won: Bracket, factor: float) -> None:
    plain, other = numbers(votes, won), numbers(weighing(votes, factor), won)
    assert all(abs(other[name] - plain[name]) < 2e-9 for name in BRACKET_SCORES)


# --- decide ----------------------------------------------------------------------------------------


def position(seat: Seat) -> AskId:
    """Where a seat's ballot stands."""
    return AskId(f"0.ballot..{seat.name}")


class Sitting(NamedTuple):
    """A panel and what each voter handed in."""

    panel: Panel
    heard: Mapping[AskId, Reply]
    close: Close

    def decided(self, heard: Mapping[AskId, Reply] | None = None) -> Decided | Undecided:
        """Under the panel's own rules."""
        return decide(self.panel, self.heard if heard is None else heard, self.close, self.panel.rules)

    @property
    def ballots(self) -> dict[str, Ballot]:
        """Who voted, by seat."""
        said = {seat.name: self.heard[position(seat)] for seat in self.panel.voters}
        return {name: reply for name, reply in said.items() if isinstance(reply, Ballot)}


@st.composite
def sat(draw: st.DrawFn) -> Sitting:
    """Any panel, any replies, any rules."""
    panel = draw(draws.panels())
    heard = {position(seat): draw(draws.VOTES) for seat in panel.voters}
    struck = draw(st.sampled_from(((), ("k0",), ("k0", "k1"))))
    return Sitting(panel, heard, Close(counting=tuple(heard), struck=struck, because="done"))


@given(sat(), st.randoms(use_true_random=False))
def test_nothing_depends_on_the_order_of_seats_or_of_arrival(sitting: Sitting, chance: Random) -> None:
    seats, arrived, counting = list(sitting.panel.seats), list(sitting.heard.items()), list(sitting.close.counting)
    for order in (seats, arrived, counting):
        chance.shuffle(order)
    other = Sitting(
        msgspec.structs.replace(sitting.panel, seats=tuple(seats)),
        dict(arrived),
        msgspec.structs.replace(sitting.close, counting=tuple(counting)),
    )
    assert msgspec.json.encode(other.decided()) == msgspec.json.encode(sitting.decided())


@given(sat(), st.data())
def test_why_a_ballot_did_not_come_never_counts(sitting: Sitting, data: st.DataObject) -> None:
    lost = {
        at: reply for at, reply in sitting.heard.items() if isinstance(reply, Absent) and reply.reason in draws.LOST
    }
    other = {at: data.draw(draws.LOSSES) for at in lost}
    assert sitting.decided({**sitting.heard, **other}) == sitting.decided()
    gone = {at: reply for at, reply in sitting.heard.items() if at not in lost}
    assert sitting.decided(gone) == sitting.decided()


@given(sat())
def test_an_absent_ballot_is_never_a_number(sitting: Sitting) -> None:
    decision = sitting.decided()
    assume(isinstance(decision, Decided))
    there = set(sitting.ballots)
    fewer = sitting._replace(
        panel=msgspec.structs.replace(
            sitting.panel,
            seats=tuple(seat for seat in sitting.panel.seats if seat.name in there),
            rules=msgspec.structs.replace(sitting.panel.rules, quorum=1),
        ),
        close=msgspec.structs.replace(
            sitting.close, counting=tuple(position(seat) for seat in sitting.panel.voters if seat.name in there)
        ),
    )
    without = fewer.decided()
    assert isinstance(without, Decided)
    assert isinstance(decision, Decided)
    assert msgspec.structs.replace(without, path=decision.path) == decision


@given(sat())
def test_every_seat_stays_in_the_quorums_denominator(sitting: Sitting) -> None:
    decision = sitting.decided()
    missed = len(sitting.ballots) < needed(sitting.panel.rules, len(sitting.panel.voters))
    assert missed == (isinstance(decision, Undecided) and decision.why in ("no_quorum", "budget"))


@given(sat())
def test_votes_of_too_few_families_decide_nothing(sitting: Sitting) -> None:
    judges = {seat.name: seat.judge for seat in sitting.panel.voters}
    families = {judges[name].model if judges[name].human else judges[name].kin for name in sitting.ballots}
    decision = sitting.decided()
    if isinstance(decision, Decided):
        assert len(families) >= sitting.panel.rules.independence
    elif decision.why == "not_independent":
        assert len(families) < sitting.panel.rules.independence


@given(sat())
def test_equal_judges_are_one_voter_however_many_seats_they_fill(sitting: Sitting) -> None:
    seats = tuple(msgspec.structs.replace(seat, judge=draws.JUDGES[0]) for seat in sitting.panel.seats)
    rules = msgspec.structs.replace(sitting.panel.rules, independence=2)
    panel = msgspec.structs.replace(sitting.panel, seats=seats, rules=rules)
    decision = sitting._replace(panel=panel).decided()
    assert isinstance(decision, Undecided)
    assert decision.why in ("no_quorum", "budget", "not_independent")


@given(sat(), st.integers(-40, 40))
def test_doubling_or_halving_all_seat_weights_changes_no_byte(sitting: Sitting, power: int) -> None:
    heavier = msgspec.structs.replace(
        sitting.panel,
        seats=tuple(msgspec.structs.replace(seat, weight=seat.weight * 2.0**power) for seat in sitting.panel.seats),
    )
    assert msgspec.json.encode(sitting._replace(panel=heavier).decided()) == msgspec.json.encode(sitting.decided())


@given(sat())
@example(
    Sitting(
        Panel(seats=(Seat(name="a", judge=draws.JUDGES[0]),), rules=Rules(rule="mean", bracket_score="upper")),
        {AskId("0.ballot..a"): Ballot(bracket=Bracket.FAIR, score=40.0)},
        Close(counting=(AskId("0.ballot..a"),), because="done"),
    )
)
def test_the_headline_is_the_number_that_was_asked_for(sitting: Sitting) -> None:
    decision = sitting.decided()
    assume(isinstance(decision, Decided))
    assert isinstance(decision, Decided)
    rules = sitting.panel.rules
    assert decision.score == decision.numbers["mean" if rules.rule == "mean" else rules.bracket_score]
    assert set(decision.numbers) == set(BRACKET_SCORES)
    if rules.rule == "mean" or rules.bracket_score not in ("mean", "expected"):
        assert bracket_of(decision.score) is decision.bracket, "label and number never contradict"


@given(sat())
def test_a_tie_is_told_and_settled_as_the_policies_say(sitting: Sitting) -> None:
    decision = sitting.decided()
    assume(isinstance(decision, Decided) or decision.why in ("tied", "waiting"))
    rules = sitting.panel.rules
    cast = [
        LevelVote(ballot.bracket, ballot.score, sitting.panel.seat(name).weight)
        for name, ballot in sitting.ballots.items()
    ]
    winners = tuple(Bracket(level) for level in part("tallies", rules.rule)(cast, BRACKETS))
    assert decision.tied == (winners if len(winners) > 1 else ())
    settling = [policy for policy in rules.tie if policy not in ("round", "chair")]
    if len(winners) == 1:
        assert isinstance(decision, Decided)
        assert decision.bracket is winners[0]
    elif not settling or settling[0] == "unresolved":
        assert isinstance(decision, Undecided)
        assert decision.why == "tied"
    elif settling[0] == "human":
        assert isinstance(decision, Undecided)
        assert decision.why == "waiting"
    else:
        assert isinstance(decision, Decided)
        assert decision.bracket in winners
        if settling[0] != "median":
            assert decision.bracket is {"lower": winners[0], "upper": winners[-1]}[settling[0]]


@given(sat())
def test_a_verdict_is_contested_where_winner_and_middle_or_two_tied_lie_far_apart(sitting: Sitting) -> None:
    decision = sitting.decided()
    assume(isinstance(decision, Decided))
    assert isinstance(decision, Decided)
    cast = [
        LevelVote(ballot.bracket, ballot.score, sitting.panel.seat(name).weight)
        for name, ballot in sitting.ballots.items()
    ]
    (middle,) = part("tallies", "median")(cast, BRACKETS)
    tied = decision.tied or (decision.bracket,)
    assert decision.contested == (abs(decision.bracket - middle) >= 2 or max(tied) - min(tied) >= 2)


@given(sat())
def test_a_path_is_shortened_where_a_seat_was_not_needed(sitting: Sitting) -> None:
    decision = sitting.decided()
    assume(isinstance(decision, Decided))
    assert isinstance(decision, Decided)
    spared = any(isinstance(reply, Absent) and reply.reason == "not_needed" for reply in sitting.heard.values())
    assert decision.path == ("shortened" if spared else "full")
