"""Delphi: sealed ballots, then anonymous reasons and another vote, on disagreement only."""

from __future__ import annotations

import msgspec
import pytest

from deliberate.errors import ConfigError
from deliberate.protocols import advance, protocol_of
from deliberate.protocols.rounds import Rounds
from deliberate.types import Absent, Ask, AskId, Case, Closed, Judge, Panel, Pending, Reply, Rules, Seat, Spec
from tests.protocols._plays import CASE, panel, replies

THREE = panel("a", "b", "c")
GONE = Absent(reason="transport")


def after(*rounds: dict[str, Reply | str], protocol: Rounds | None = None, sitting: Panel = THREE) -> Pending | Closed:
    """Where it stands after these rounds."""
    heard = {at: reply for turn, said in enumerate(rounds) for at, reply in replies(said, turn=turn).items()}
    return advance(protocol or Rounds(rounds=3), CASE, sitting, heard)


def asked(step: Pending | Closed) -> dict[str, Ask]:
    """Who is asked next."""
    assert isinstance(step, Pending)
    return {ask.seat: ask for ask in step.wave.asks}


def because(step: Pending | Closed) -> str:
    """Why it closed."""
    assert isinstance(step, Closed)
    return step.close.because


SPLIT: dict[str, Reply | str] = {"a": "good", "b": "poor", "c": "good"}


def test_the_first_ballots_are_sealed() -> None:
    first = asked(after())
    assert list(first) == ["a", "b", "c"]
    assert all(ask == Ask(seat=name, form="ballot") for name, ask in first.items())


def test_where_all_agree_nobody_is_asked_again() -> None:
    assert because(after(dict.fromkeys("abc", "good"))) == "all agreed"


def test_one_ballot_or_none_agrees_with_itself() -> None:
    assert because(after({"a": "good", "b": GONE, "c": GONE})) == "all agreed"
    assert because(after(dict.fromkeys("abc", GONE))) == "all agreed"


def test_on_disagreement_each_sees_its_own_ballot_first_and_then_its_peers() -> None:
    second = asked(after(SPLIT))
    for name, ask in second.items():
        assert (ask.round, ask.role, ask.shows[0]) == (1, "", f"0.ballot..{name}")
        assert set(ask.shows) == {"0.ballot..a", "0.ballot..b", "0.ballot..c"}
        assert len(ask.shows) == 3


def test_the_order_of_peers_is_each_seats_own_and_hangs_on_the_seed() -> None:
    six = panel(*"abcdef")
    split: dict[str, Reply | str] = dict(zip("abcdef", ["good", "poor"] * 3, strict=True))
    orders = {
        seed: tuple(ask.shows for ask in asked(after(split, sitting=msgspec.structs.replace(six, seed=seed))).values())
        for seed in range(4)
    }
    assert len(set(orders.values())) > 1
    peers = [[at.rsplit(".", 1)[-1] for at in shows[1:]] for shows in orders[0]]
    assert any(order != sorted(order) for order in peers), "not in seat order"
    step = advance(Rounds(), Case(output="another"), six, replies(split))
    assert isinstance(step, Pending)
    assert tuple(ask.shows for ask in step.wave.asks) != orders[0], "and on the case"


def test_who_did_not_vote_is_neither_shown_nor_asked_again() -> None:
    second = asked(after({"a": "good", "b": "poor", "c": GONE}))
    assert list(second) == ["a", "b"]
    assert second["a"].shows == ("0.ballot..a", "0.ballot..b")


def test_it_stops_when_all_agree() -> None:
    assert because(after(SPLIT, dict.fromkeys("abc", "good"))) == "all agreed"


def test_it_stops_when_nobody_moved() -> None:
    assert because(after(SPLIT, SPLIT)) == "nobody moved"


def test_a_seat_that_falls_silent_has_not_moved() -> None:
    assert because(after(SPLIT, {**SPLIT, "b": GONE})) == "nobody moved"


def test_it_goes_on_while_somebody_moves_and_rounds_remain() -> None:
    moved: dict[str, Reply | str] = {"a": "fair", "b": "poor", "c": "good"}
    third = asked(after(SPLIT, moved))
    assert third["a"].round == 2
    assert third["a"].shows[0] == "1.ballot..a"
    assert because(after(SPLIT, moved, SPLIT)) == "the rounds were used up"


def test_the_last_ballot_of_each_seat_counts() -> None:
    step = after(SPLIT, {"a": "good", "b": "fair", "c": GONE}, protocol=Rounds(rounds=2))
    assert isinstance(step, Closed)
    assert step.close.counting == ("1.ballot..a", "1.ballot..b", "0.ballot..c")


def test_before_a_blind_last_vote_only_reasons_are_shown() -> None:
    blind = Rounds(rounds=3, final="blind")
    assert {ask.role for ask in asked(after(SPLIT, protocol=blind)).values()} == {""}
    moved: dict[str, Reply | str] = {"a": "fair", "b": "poor", "c": "good"}
    last = asked(after(SPLIT, moved, protocol=blind))
    assert {ask.role for ask in last.values()} == {"blind"}
    assert all(len(ask.shows) == 3 for ask in last.values())


def test_one_round_is_a_sealed_round() -> None:
    assert because(after(SPLIT, protocol=Rounds(rounds=1))) == "the rounds were used up"


def test_two_rounds_are_the_default() -> None:
    assert (Rounds().rounds, Rounds().final) == (2, "open")
    assert (
        because(after(SPLIT, {"a": "fair", "b": "poor", "c": "good"}, protocol=Rounds())) == "the rounds were used up"
    )


@pytest.mark.parametrize("rounds", [0, -1])
def test_less_than_one_round_is_an_error(rounds: int) -> None:
    with pytest.raises(ConfigError, match=f"rounds is {rounds}: at least 1 is needed") as caught:
        protocol_of(Spec(type="rounds", params={"rounds": rounds}))
    assert caught.value.where == "protocol rounds"


@pytest.mark.parametrize("params", [{"rounds": "2"}, {"rounds": 2.5}, {"final": "closed"}])
def test_a_parameter_of_the_wrong_kind_is_an_error(params: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        protocol_of(Spec(type="rounds", params=params))


def test_a_chairs_word_is_no_round_of_the_panel() -> None:
    chair = Seat(name="x", judge=Judge(model="local/x"), duty="chair")
    sitting = msgspec.structs.replace(panel("a", "b"), seats=(*panel("a", "b").seats, chair))
    split: dict[str, Reply | str] = {"a": "good", "b": "poor"}
    step = after(split, protocol=Rounds(rounds=1), sitting=sitting)
    assert asked(step)["x"] == Ask(
        seat="x", form="ballot", round=1, role="chair", shows=(AskId("0.ballot..a"), AskId("0.ballot..b"))
    )
    said = {**replies(split), AskId("1.ballot.chair.x"): replies({"x": "good"})[AskId("0.ballot..x")]}
    done = advance(Rounds(rounds=1), CASE, sitting, said)
    assert isinstance(done, Closed)
    assert done.close.counting == ("0.ballot..a", "0.ballot..b")


def test_where_a_round_is_left_a_tie_goes_to_it_before_the_chair() -> None:
    chair = Seat(name="x", judge=Judge(model="local/x"), duty="chair")
    sitting = msgspec.structs.replace(
        panel("a", "b"), seats=(*panel("a", "b").seats, chair), rules=Rules(tie=("round", "chair", "lower"))
    )
    assert set(asked(after({"a": "good", "b": "poor"}, sitting=sitting))) == {"a", "b"}


def test_it_asks_no_more_than_a_vote_a_seat_and_round_and_a_chair() -> None:
    assert Rounds(rounds=3).most_asks(THREE) == 9
