"""Findings that mean the same are merged, and it is told who said what of them."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.types import (
    Answer,
    Ask,
    Ballot,
    Bracket,
    Close,
    Decided,
    Finding,
    Judge,
    Key,
    Panel,
    Reply,
    Review,
    Seat,
    Verdict,
    Voiced,
    ask_id,
    merged,
    same_finding,
)


def one(title: str, **fields: object) -> Finding:
    made = Finding(severity="important", dimension="accuracy", title=title, key=title)
    return msgspec.structs.replace(made, **fields)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ({"quote": "built in 1859 by monks"}, {"quote": "was built in 1859 by monks, it says"}, True),
        ({"quote": "Built in 1859, by monks"}, {"quote": "built in 1859, by nuns"}, True),
        ({"quote": "the"}, {"quote": "the lamp was lit"}, False),
        ({"quote": "lamp"}, {"quote": "Lamp"}, True),
        ({"quote": "a keeper lit the lamp at dusk"}, {"quote": "ships passed the reef at noon"}, False),
        ({"location": "app.py:10-14"}, {"location": "app.py:14"}, True),
        ({"location": "app.py:10"}, {"location": "app.py:11"}, False),
        ({"location": "app.py:10"}, {"location": "lib.py:10"}, False),
        ({"location": "second  paragraph"}, {"location": "second paragraph"}, True),
        ({"location": "second paragraph"}, {"location": "app.py:10"}, False),
        ({"quote": "built in 1859 by monks"}, {"quote": "built in 1859 by monks", "dimension": "tone"}, False),
        ({}, {}, False),
    ],
)
def test_the_same_dimension_and_place_mean_the_same(left: dict[str, str], right: dict[str, str], same: bool) -> None:  # noqa: FBT001
    assert same_finding(one("a", **left), one("b", **right)) is same
    assert same_finding(one("b", **right), one("a", **left)) is same


def test_the_same_key_means_the_same_wherever_it_is() -> None:
    assert same_finding(one("a"), one("b", key="a", dimension="tone"))


def test_sameness_is_carried_on() -> None:
    left, right, bridge = (
        one(name, location=f"a.py:{lines}") for name, lines in (("l", "1-3"), ("r", "8"), ("b", "2-9"))
    )
    voiced = [Voiced("x", left), Voiced("y", right), Voiced("z", bridge)]
    assert [[seat for seat, _ in group] for group in merged(voiced)] == [["x", "y", "z"]]


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.integers(1, 12), st.integers(0, 3)), max_size=8))
def test_every_finding_is_in_one_group_and_groups_share_no_place(drawn: list[tuple[str, int, int]]) -> None:
    voiced = [
        Voiced(seat, one(str(at), location=f"a.py:{first}-{first + more}"))
        for at, (seat, first, more) in enumerate(drawn)
    ]
    groups = merged(voiced)
    assert sorted(int(each.finding.title) for group in groups for each in group) == list(range(len(voiced)))
    for at, group in enumerate(groups):
        for other in groups[at + 1 :]:
            assert not any(same_finding(a.finding, b.finding) for a in group for b in other)


# --- of a verdict ----------------------------------------------------------------------------------

PANEL = Panel(
    name="board",
    seats=(
        *(Seat(name=name, judge=Judge(model=f"m/{name}")) for name in "abc"),
        Seat(name="v", judge=Judge(model="m/v"), duty="verify"),
    ),
)


def ballot(*findings: Finding, bracket: Bracket = Bracket.GOOD) -> Ballot:
    return Ballot(bracket=bracket, score=60.0, findings=findings)


def verdict(*said: tuple[Ask, Reply], struck: tuple[str, ...] = ()) -> Verdict:
    answers = {ask_id(ask): Answer(key=Key(""), reply=reply) for ask, reply in said}
    last = {ask.seat: ask_id(ask) for ask, reply in said if isinstance(reply, Ballot)}
    return Verdict(
        panel=PANEL,
        asks=tuple(ask for ask, _ in said),
        answers=answers,
        close=Close(counting=tuple(last.values()), struck=struck, because="done"),
        decision=Decided(bracket=Bracket.GOOD, score=60.0, numbers={}),
        digests={},
    )


YEAR = one("wrong year", quote="it was built in 1859")
DATE = one("date is off", quote="was built in 1859", severity="blocker")


def test_who_raised_and_who_agreed_after_reading_it() -> None:
    first = [
        (Ask(seat=name, form="ballot"), ballot(*found)) for name, found in (("a", [YEAR]), ("b", [DATE]), ("c", []))
    ]
    shown = tuple(ask_id(ask) for ask, _ in first[:2])
    again = (Ask(seat="c", form="ballot", round=1, shows=shown), ballot(YEAR))
    (found,) = verdict(*first, again).findings
    assert (found.finding.title, found.raised, found.agreed, found.disputed) == ("date is off", ("a", "b"), ("c",), ())
    assert [(seat, other.title) for seat, other in found.others] == [("a", "wrong year")]
    assert not found.refuted


def test_who_says_it_again_is_named_once() -> None:
    first = (Ask(seat="a", form="ballot"), ballot(YEAR))
    again = (Ask(seat="a", form="ballot", round=1, shows=(ask_id(first[0]),)), ballot(YEAR))
    (found,) = verdict(first, again).findings
    assert (found.raised, found.agreed, found.others) == (("a",), (), ())


def test_verifiers_agree_or_dispute_and_struck_findings_say_so() -> None:
    cast = (Ask(seat="a", form="ballot"), ballot(YEAR, one("too long")))
    review = (Ask(seat="v", form="review", round=1), Review(confirmed=("too long",), refuted=("wrong year",)))
    wrong, long = verdict(cast, review, struck=("wrong year",)).findings
    assert (wrong.disputed, wrong.refuted, wrong.agreed) == (("v",), True, ())
    assert (long.agreed, long.refuted, long.disputed) == (("v",), False, ())
    silent = (review[0], Review(confirmed=(), refuted=("wrong year",)))
    _, long = verdict(cast, silent).findings
    assert (long.agreed, long.disputed) == ((), ())


def test_what_nobody_says_any_more_is_not_among_the_findings() -> None:
    cast = (Ask(seat="a", form="ballot"), ballot(YEAR))
    again = (Ask(seat="a", form="ballot", round=1), ballot(one("too long")))
    assert [found.finding.title for found in verdict(cast, again).findings] == ["too long"]


def test_a_move_tells_whether_it_cites_evidence() -> None:
    def moved(*found: Finding) -> tuple[str, ...]:
        cast = (Ask(seat="a", form="ballot"), ballot(YEAR, bracket=Bracket.FAIR))
        again = (Ask(seat="a", form="ballot", round=1), ballot(*found))
        (move,) = verdict(cast, again).moves
        assert (move.direction, move.to_majority) == ("up", False)
        return move.cited

    assert moved(YEAR) == ()
    assert moved(one("too long")) == ()
    assert moved(DATE) == ("date is off",)
    assert moved(msgspec.structs.replace(DATE, flags=("quote_not_found",))) == ()


def test_a_move_down_goes_down() -> None:
    cast = (Ask(seat="a", form="ballot"), ballot())
    again = (Ask(seat="a", form="ballot", round=1), ballot(bracket=Bracket.POOR))
    assert [move.direction for move in verdict(cast, again).moves] == ["down"]
