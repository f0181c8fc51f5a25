"""Who is asked when votes tie: the chair that the policies name, and only if it can settle it."""

from __future__ import annotations

import msgspec
import pytest

from deliberate.protocols import advance
from deliberate.protocols._votes import standing
from deliberate.protocols.independent import Independent
from deliberate.tallies import decide
from deliberate.types import Absent, Ask, AskId, Bracket, Closed, Decided, Judge, Panel, Pending, Reply, Rules, Seat
from tests.protocols._plays import CASE, ballot, panel, replies

MODEL = Seat(name="m", judge=Judge(model="local/m"), duty="chair")
PERSON = Seat(name="p", judge=Judge(model="maria", human=True), duty="chair")
TIE: dict[str, Reply | str] = {"a": "good", "b": "fair"}


def sitting(*chairs: Seat, tie: tuple[str, ...]) -> Panel:
    """Two voters and these chairs."""
    return msgspec.structs.replace(panel("a", "b"), seats=(*panel("a", "b").seats, *chairs), rules=Rules(tie=tie))


def asked(at: Panel, heard: dict[AskId, Reply]) -> list[str]:
    """Who is asked next; nobody once it closed."""
    step = advance(Independent(), CASE, at, heard)
    return [ask.seat for ask in step.wave.asks] if isinstance(step, Pending) else []


@pytest.mark.parametrize(
    ("chairs", "tie", "expected"),
    [
        ((MODEL,), ("chair", "lower"), ["m"]),
        ((MODEL,), ("round", "chair"), ["m"]),
        ((MODEL,), ("lower",), []),
        ((MODEL,), (), []),
        ((MODEL,), ("human",), []),
        ((PERSON,), ("human",), ["p"]),
        ((PERSON,), ("chair", "lower"), []),
        ((), ("chair", "human"), []),
        ((MODEL, PERSON), ("human",), ["p"]),
    ],
)
def test_a_chair_is_asked_in_a_tie_if_a_policy_names_it(
    chairs: tuple[Seat, ...], tie: tuple[str, ...], expected: list[str]
) -> None:
    assert asked(sitting(*chairs, tie=tie), replies(TIE)) == expected


@pytest.mark.parametrize("tie", [("lower", "chair"), ("upper", "chair"), ("median", "chair"), ("unresolved", "chair")])
def test_a_chair_is_not_asked_where_an_earlier_policy_settles(tie: tuple[str, ...]) -> None:
    assert asked(sitting(MODEL, tie=tie), replies(TIE)) == []


def test_a_chair_is_not_asked_where_nothing_ties() -> None:
    assert asked(sitting(MODEL, tie=("chair",)), replies({"a": "good", "b": "good"})) == []


def test_a_chair_is_not_asked_where_there_is_no_quorum() -> None:
    assert asked(sitting(MODEL, tie=("chair",)), replies({"a": "good", "b": Absent(reason="transport")})) == []


def test_a_chair_sees_the_ballots_and_comes_after_all_of_them() -> None:
    three = msgspec.structs.replace(panel("a", "b", "c"), seats=(*panel("a", "b", "c").seats, MODEL))
    step = advance(Independent(), CASE, three, replies({**TIE, "c": Absent(reason="transport")}))
    assert isinstance(step, Pending)
    assert step.wave.asks == (
        Ask(seat="m", form="ballot", round=1, role="chair", shows=(AskId("0.ballot..a"), AskId("0.ballot..b"))),
    )


@pytest.mark.parametrize("said", ["good", "poor", None])
def test_a_chair_is_asked_once(said: str | None) -> None:
    word = Absent(reason="transport") if said is None else ballot(said)
    heard: dict[AskId, Reply] = {**replies(TIE), AskId("1.ballot.chair.m"): word}
    step = advance(Independent(), CASE, sitting(MODEL, tie=("chair", "lower")), heard)
    assert isinstance(step, Closed)
    decision = decide(sitting(MODEL, tie=("chair", "lower")), step.heard, step.close, Rules(tie=("chair", "lower")))
    assert isinstance(decision, Decided)
    assert decision.bracket is (Bracket.GOOD if said == "good" else Bracket.FAIR)


def test_the_person_named_first_is_asked_first_wherever_it_sits() -> None:
    for chairs in ((MODEL, PERSON), (PERSON, MODEL)):
        assert asked(sitting(*chairs, tie=("human", "chair")), replies(TIE)) == ["p"]
        assert asked(sitting(*chairs, tie=("chair", "human")), replies(TIE)) == ["m"]


@pytest.mark.parametrize("said", ["poor", None])
def test_a_person_is_asked_where_the_model_before_it_settled_nothing(said: str | None) -> None:
    """Otherwise the verdict is "waiting" for a person nobody asked, and running again never ends it."""
    word = Absent(reason="transport") if said is None else ballot(said)
    at = sitting(MODEL, PERSON, tie=("chair", "human"))
    heard: dict[AskId, Reply] = {**replies(TIE), AskId("1.ballot.chair.m"): word}
    assert asked(at, heard) == ["p"]


def test_each_seats_last_ballot_stands() -> None:
    heard: dict[AskId, Reply] = {
        **replies({"a": "good", "b": "fair", "c": Absent(reason="transport")}),
        **replies({"a": "poor", "b": Absent(reason="transport")}, turn=1),
    }
    assert standing(panel("c", "b", "a", "z"), heard) == {
        "c": "0.ballot..c",
        "b": "0.ballot..b",
        "a": "1.ballot..a",
    }


def test_a_seat_that_never_voted_stands_with_its_last_ask() -> None:
    heard: dict[AskId, Reply] = {AskId(f"{turn}.ballot..a"): Absent(reason="transport") for turn in range(2)}
    assert standing(panel("a"), heard) == {"a": "1.ballot..a"}


def test_rounds_are_compared_as_numbers() -> None:
    heard: dict[AskId, Reply] = {AskId(f"{turn}.ballot..a"): ballot("good") for turn in (2, 10, 9)}
    assert standing(panel("a"), heard) == {"a": "10.ballot..a"}
