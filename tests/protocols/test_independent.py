"""Sealed first ballots, one round."""

from __future__ import annotations

import msgspec
import pytest

from deliberate.protocols.independent import Independent
from deliberate.types import Absent, Ask, Close, Judge, Seat, Wave
from tests.protocols._plays import CASE, panel, replies

THREE = panel("a", "b", "c")
MORE = msgspec.structs.replace(
    THREE,
    seats=(
        Seat(name="v", judge=Judge(model="local/v"), duty="verify"),
        *THREE.seats,
        Seat(name="x", judge=Judge(model="local/x"), duty="chair"),
    ),
)


def test_every_seat_that_votes_is_asked_once_at_once_and_shown_nothing() -> None:
    assert Independent().move(CASE, MORE, {}) == Wave(asks=tuple(Ask(seat=name, form="ballot") for name in "abc"))


def test_the_panels_form_and_each_seats_dimensions_are_asked_for() -> None:
    seats = (msgspec.structs.replace(THREE.seats[0], dimensions=("safety",)), THREE.seats[1])
    wave = Independent().move(CASE, msgspec.structs.replace(THREE, seats=seats, form="score"), {})
    assert wave == Wave(asks=(Ask(seat="a", form="score", dimensions=("safety",)), Ask(seat="b", form="score")))


@pytest.mark.parametrize("spend", ["all", "enough"])
def test_spending_is_the_panels(spend: str) -> None:
    wave = Independent().move(CASE, msgspec.structs.replace(THREE, spend=spend), {})
    assert isinstance(wave, Wave)
    assert wave.spend == spend


def test_it_closes_when_every_seat_was_heard_absent_or_not() -> None:
    heard = replies({"a": "good", "b": Absent(reason="transport"), "c": "good"})
    assert Independent().move(CASE, MORE, heard) == Close(counting=tuple(heard), because="every seat was asked once")


def test_it_asks_no_more_than_the_seats_that_vote_and_a_chair() -> None:
    assert Independent().most_asks(MORE) == 4
