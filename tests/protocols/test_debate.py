"""Sealed ballots; on disagreement an advocate and a critic argue, and the panel votes again."""

from __future__ import annotations

import pytest

from deliberate.protocols import advance
from deliberate.protocols.debate import Debate
from deliberate.types import Absent, Ask, AskId, Case, Closed, Note, Panel, Pending, Reply, ask_id
from tests.protocols._plays import CASE, panel, replies

THREE = panel("a", "b", "c")
GONE = Absent(reason="transport")
SPLIT: dict[str, Reply | str] = {"a": "good", "b": "poor", "c": "good"}


def going(heard: dict[AskId, Reply], *, turns: int = 1, sitting: Panel = THREE, case: Case = CASE) -> Pending:
    """The wave that is open."""
    step = advance(Debate(turns=turns), case, sitting, heard)
    assert isinstance(step, Pending)
    return step


def argued(heard: dict[AskId, Reply], *, turns: int = 1, says: Reply | None = None) -> dict[AskId, Reply]:
    """The same with every argument given."""
    said = dict(heard)
    while (asks := going(said, turns=turns).wave.asks)[0].form == "argument":
        said |= {ask_id(ask): says or Note(text=f"as {ask.role}") for ask in asks}
    return said


def test_where_all_agree_nobody_argues() -> None:
    step = advance(Debate(), CASE, THREE, replies(dict.fromkeys("abc", "good")))
    assert isinstance(step, Closed)
    assert step.close.because == "all agreed"


def test_on_disagreement_two_seats_argue_one_for_and_one_against() -> None:
    first, second = going(replies(SPLIT)).wave.asks
    assert (first.form, first.round, first.role, first.shows) == ("argument", 1, "advocate", ())
    assert (second.form, second.round, second.role, second.shows) == ("argument", 1, "critic", ())
    assert first.seat != second.seat


def test_who_argues_is_drawn_by_seed_and_case() -> None:
    drawn = {tuple(ask.seat for ask in going(replies(SPLIT), case=Case(output=f"o{at}")).wave.asks) for at in range(30)}
    assert drawn == {(one, other) for one in "abc" for other in "abc" if one != other}
    again = tuple(ask.seat for ask in going(replies(SPLIT)).wave.asks)
    assert tuple(ask.seat for ask in going(replies(SPLIT)).wave.asks) == again


def test_in_a_second_turn_each_sees_what_the_other_said() -> None:
    first = going(replies(SPLIT), turns=2).wave.asks
    heard = {**replies(SPLIT), **{ask_id(ask): Note(text="x") for ask in first}}
    second = going(heard, turns=2).wave.asks
    assert [(ask.seat, ask.role, ask.round) for ask in second] == [(ask.seat, ask.role, 2) for ask in first]
    assert [ask.shows for ask in second] == [(ask_id(first[1]),), (ask_id(first[0]),)]


@pytest.mark.parametrize("turns", [0, 1, 2])
def test_then_every_seat_votes_again_with_its_own_ballot_and_the_arguments(turns: int) -> None:
    heard = argued(replies(SPLIT), turns=turns)
    told = tuple(at for at in heard if ".argument." in at)
    assert len(told) == 2 * turns
    assert going(heard, turns=turns).wave.asks == tuple(
        Ask(seat=name, form="ballot", round=1 + turns, shows=(AskId(f"0.ballot..{name}"), *told)) for name in "abc"
    )


def test_an_argument_that_did_not_come_is_not_shown() -> None:
    last = going(argued(replies(SPLIT), says=GONE)).wave.asks
    assert [ask.shows for ask in last] == [("0.ballot..a",), ("0.ballot..b",), ("0.ballot..c",)]


@pytest.mark.parametrize(("word", "because"), [("good", "all agreed"), ("fair", "the debate was held")])
def test_the_second_ballots_count(word: str, because: str) -> None:
    heard: dict[AskId, Reply] = {
        **argued(replies(SPLIT)),
        **replies({"a": "good", "b": word, "c": GONE}, turn=2),
    }
    step = advance(Debate(), CASE, THREE, heard)
    assert isinstance(step, Closed)
    assert step.close.because == because
    assert step.close.counting == ("2.ballot..a", "2.ballot..b", "0.ballot..c")


def test_two_seats_argue_with_each_other() -> None:
    two = panel("a", "b")
    assert {ask.seat for ask in going(replies({"a": "good", "b": "poor"}), sitting=two).wave.asks} == {"a", "b"}


def test_an_argument_is_no_vote() -> None:
    heard = argued(replies(SPLIT))
    step = advance(Debate(), CASE, THREE, {**heard, **replies(SPLIT, turn=2)})
    assert isinstance(step, Closed)
    assert not any(".argument." in at for at in step.close.counting)


@pytest.mark.parametrize("turns", [0, 1, 3])
def test_it_asks_two_ballots_a_seat_two_arguments_a_turn_and_a_chair(turns: int) -> None:
    assert Debate(turns=turns).most_asks(THREE) == 6 + 2 * turns
