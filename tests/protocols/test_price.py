"""How many calls a deliberation may take."""

from __future__ import annotations

import msgspec
import pytest

from deliberate.protocols import price
from deliberate.types import CallRange, Judge, Seat, Spec
from tests.conftest import Install
from tests.protocols._plays import CASE, panel

FOREIGN = '''
from typing import ClassVar
from deliberate.protocols import BALLOT
from deliberate.types import Ask, Ballot, Close, Form, Note, Record, Review, Wave, ask_id

ARGUMENT = Form(name="argument", template="", reply=Note)
REVIEW = Form(name="review", template="", reply=Review)


class Duel(Record, frozen=True, kw_only=True):
    """A ballot, an argument and a review; the others are asked only if the first says excellent."""

    name: ClassVar[str] = "duel"
    version: ClassVar[int] = 1
    forms: ClassVar = (BALLOT, ARGUMENT, REVIEW)

    def move(self, case, panel, heard):
        first = panel.voters[0].name
        asks = [Ask(seat=first, form=form) for form in ("ballot", "argument", "review")]
        kinds = {"0.ballot.." + first: Ballot, "0.argument.." + first: Note, "0.review.." + first: Review}
        for at, reply in heard.items():
            if at in kinds:
                assert isinstance(reply, kinds[at]), (at, reply)
        for ask in asks:
            if ask_id(ask) not in heard:
                return Wave(asks=(ask,))
        if heard["0.ballot.." + first].bracket == 3 and "1.ballot.." + first not in heard:
            return Wave(asks=(Ask(seat=first, form="ballot", round=1),))
        return Close(counting=("0.ballot.." + first,), because="done")

    def most_asks(self, panel):
        return 4
'''


@pytest.mark.parametrize("seats", [1, 2, 5])
def test_a_sealed_round_without_a_chair_takes_a_call_a_seat(seats: int) -> None:
    sitting = panel(*"abcde"[:seats])
    assert price(CASE, sitting) == CallRange(least=seats, expected=seats, most=seats)


def test_a_chair_is_one_call_more_where_the_votes_tie() -> None:
    chair = Seat(name="x", judge=Judge(model="local/x"), duty="chair")
    sitting = msgspec.structs.replace(panel("a", "b"), seats=(*panel("a", "b").seats, chair))
    found = price(CASE, sitting)
    assert (found.least, found.most) == (2, 3)
    assert 2 < found.expected < 3
    assert price(CASE, sitting, agreement=1.0).expected == 2


def test_to_spend_just_enough_may_take_less_than_all() -> None:
    sitting = msgspec.structs.replace(panel(*"abcde"), spend="enough")
    found = price(CASE, sitting, agreement=1.0, plays=20)
    assert (found.least, found.expected, found.most) == (3, 3, 5)


def test_every_form_is_answered_in_its_kind(install: Install) -> None:
    install("theirs", modules={"their_duel": FOREIGN}, parts={"protocols": {"duel": "their_duel:Duel"}})
    sitting = msgspec.structs.replace(panel("a"), protocol=Spec(type="duel"))
    found = price(CASE, sitting, plays=40)
    assert (found.least, found.most) == (3, 4)
    assert 3 < found.expected < 4


def test_the_same_seed_gives_the_same_range(install: Install) -> None:
    install("theirs", modules={"their_duel": FOREIGN}, parts={"protocols": {"duel": "their_duel:Duel"}})
    sitting = msgspec.structs.replace(panel("a"), protocol=Spec(type="duel"))
    found = [price(CASE, sitting, plays=40, seed=seed) for seed in (0, 0, 1, 2, 3)]
    assert found[0] == found[1]
    assert len({one.expected for one in found}) > 1
    assert price(CASE, sitting, plays=40) == found[0]


def test_agreement_is_how_likely_a_seat_gives_the_bracket_that_was_drawn(install: Install) -> None:
    source = FOREIGN.replace(".bracket == 3", '.bracket != heard["1.ballot.." + first].bracket').replace(
        'and "1.ballot.." + first not in heard', 'and "2.ballot.." + first not in heard'
    )
    source = source.replace("round=1)", "round=2)").replace(
        '("ballot", "argument", "review")]',
        '("ballot", "argument", "review")] + [Ask(seat=first, form="ballot", round=1)]',
    )
    source = source.replace("return 4", "return 5")
    install("theirs", modules={"their_second": source}, parts={"protocols": {"duel": "their_second:Duel"}})
    sitting = msgspec.structs.replace(panel("a"), protocol=Spec(type="duel"))
    alike, apart = (price(CASE, sitting, agreement=agreement, plays=200) for agreement in (1.0, 0.0))
    assert alike == CallRange(least=4, expected=4, most=5)
    assert apart.expected == pytest.approx(4.75, abs=0.1), "two draws of four brackets differ three times in four"
