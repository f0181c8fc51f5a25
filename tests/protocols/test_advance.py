"""``advance`` replays a protocol over whatever answers there are, and stops one that does not keep its word."""

from __future__ import annotations

from itertools import permutations

import pytest

from deliberate.errors import ConfigError, UnknownName
from deliberate.plugins import names
from deliberate.protocols import advance, protocol_of
from deliberate.protocols.independent import Independent
from deliberate.types import AskId, Closed, Judge, Panel, Pending, Seat, Spec
from tests.protocols._plays import CASE, Again, Wrong, panel, replies

THREE = panel("a", "b", "c")


def test_with_nothing_heard_the_first_wave_is_open() -> None:
    step = advance(Again(), CASE, THREE, {})
    assert isinstance(step, Pending)
    assert (step.open, step.heard) == (("0.ballot..a", "0.ballot..b", "0.ballot..c"), {})
    assert [ask.round for ask in step.wave.asks] == [0, 0, 0]


def test_only_what_has_no_answer_is_open() -> None:
    step = advance(Again(), CASE, THREE, replies({"b": "good"}))
    assert isinstance(step, Pending)
    assert step.open == ("0.ballot..a", "0.ballot..c")
    assert step.heard == {}, "an unfinished wave is not heard yet"
    assert len(step.wave.asks) == 3


def test_a_finished_wave_is_heard_in_seat_order() -> None:
    step = advance(Again(), CASE, THREE, replies({"c": "good", "a": "poor", "b": "fair"}))
    assert isinstance(step, Pending)
    assert list(step.heard) == ["0.ballot..a", "0.ballot..b", "0.ballot..c"]
    assert step.wave.asks[0].shows == tuple(step.heard)
    assert step.open == ("1.ballot..a", "1.ballot..b", "1.ballot..c")


def test_it_closes_with_all_that_was_heard() -> None:
    both = {**replies(dict.fromkeys("abc", "good"), turn=1), **replies(dict.fromkeys("abc", "poor"))}
    step = advance(Again(), CASE, THREE, both)
    assert isinstance(step, Closed)
    assert step.close.because == "2 rounds"
    assert list(step.heard) == [f"{turn}.ballot..{seat}" for turn in (0, 1) for seat in "abc"]


@pytest.mark.parametrize("order", [*permutations("abc")])
def test_the_order_of_answers_does_not_count(order: tuple[str, ...]) -> None:
    words = {"a": "poor", "b": "fair", "c": "good"}
    step = advance(Again(rounds=1), CASE, THREE, replies({seat: words[seat] for seat in order}))
    assert isinstance(step, Closed)
    assert list(step.heard.items()) == list(replies(words).items())


def test_answers_nobody_asked_for_are_ignored() -> None:
    more = {**replies(dict.fromkeys("abc", "good")), **replies({"z": "poor"}), **replies({"a": "poor"}, turn=7)}
    step = advance(Again(rounds=1), CASE, THREE, more)
    assert isinstance(step, Closed)
    assert list(step.heard) == ["0.ballot..a", "0.ballot..b", "0.ballot..c"]


def test_answers_of_a_later_round_do_not_let_a_round_be_skipped() -> None:
    step = advance(Again(), CASE, THREE, replies(dict.fromkeys("abc", "good"), turn=1))
    assert isinstance(step, Pending)
    assert step.wave.asks[0].round == 0


def test_what_was_given_is_left_alone() -> None:
    given = replies({"c": "good", "a": "poor", "b": "fair"})
    before = dict(given)
    advance(Again(), CASE, THREE, given)
    assert list(given.items()) == list(before.items())


@pytest.mark.parametrize("way", ["asks nobody", "repeats", "never ends"])
def test_a_protocol_that_does_not_keep_to_its_asks_is_stopped(way: str) -> None:
    answers = {AskId(f"{turn}.ballot..a"): reply for turn in range(9) for reply in replies({"a": "good"}).values()}
    with pytest.raises(RuntimeError, match="protocol 'wrong' does not keep to the 3 asks it declared"):
        advance(Wrong(way=way), CASE, panel("a"), answers)


def test_a_wave_that_asks_one_seat_twice_in_one_breath_is_stopped() -> None:
    with pytest.raises(RuntimeError, match="does not keep to"):
        advance(Wrong(way="twice"), CASE, panel("a"), {})


def test_as_many_asks_as_were_declared_are_no_breach() -> None:
    step = advance(
        Wrong(way="never ends"), CASE, panel("a"), {AskId("0.ballot..a"): replies({"a": "good"})[AskId("0.ballot..a")]}
    )
    assert isinstance(step, Pending)
    assert step.open == ("1.ballot..a",)


def test_two_seats_of_one_name_are_never_counted_as_two_votes() -> None:
    twins = Panel(seats=tuple(Seat(name="a", judge=Judge(model=f"local/{model}")) for model in "xy"))
    with pytest.raises((ConfigError, RuntimeError, ValueError)):
        advance(Independent(), CASE, twins, replies({"a": "good"}))


@pytest.mark.parametrize("name", names("protocols"))
def test_a_protocol_is_known_by_its_name(name: str) -> None:
    protocol = protocol_of(Spec(type=name))
    assert protocol.name == name
    assert protocol.version >= 1
    assert protocol.forms


def test_an_unknown_protocol_lists_all_there_are() -> None:
    with pytest.raises(UnknownName, match="unknown protocol 'independant'") as caught:
        protocol_of(Spec(type="independant"), where="board.panel.yaml:7:3")
    assert caught.value.where == "board.panel.yaml:7:3"
    assert caught.value.known == names("protocols")


@pytest.mark.parametrize("name", names("protocols"))
def test_an_unknown_parameter_is_an_error_and_not_passed_over(name: str) -> None:
    with pytest.raises(ConfigError, match="no_such_parameter") as caught:
        protocol_of(Spec(type=name, params={"no_such_parameter": 3}), where="protocol")
    assert caught.value.where == f"protocol {name}"
