"""``settled`` against every future there is: nothing changes what it calls settled, and it misses nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations_with_replacement, product

import msgspec
import pytest

from deliberate.plugins import names
from deliberate.protocols import advance, settled
from deliberate.protocols.independent import Independent
from deliberate.tallies import TIE_POLICIES, decide
from deliberate.types import (
    Absent,
    AskId,
    Ballot,
    Bracket,
    Closed,
    Decided,
    Judge,
    Panel,
    Pending,
    Reply,
    Rules,
    Seat,
)
from tests.protocols._plays import CASE, Again, panel, replies

SEALED = Independent()
SAID: tuple[str | Absent, ...] = ("poor", "fair", "good", "excellent", Absent(reason="transport"))
FUTURES: tuple[Reply, ...] = (
    *(
        Ballot(bracket=bracket, score=score)
        for bracket, scores in zip(Bracket, ((0.0, 25.0), (25.1, 50.0), (50.1, 75.0), (75.1, 100.0)), strict=True)
        for score in scores
    ),
    Absent(reason="transport"),
    Absent(reason="not_needed"),
)


def pending(sitting: Panel, heard: Mapping[AskId, Reply]) -> Pending:
    """Where a sealed round stands."""
    step = advance(SEALED, CASE, sitting, heard)
    assert isinstance(step, Pending)
    return step


def is_settled(sitting: Panel, heard: Mapping[AskId, Reply]) -> bool:
    """Whether what is open can no longer change the bracket."""
    return settled(SEALED, CASE, sitting, pending(sitting, heard), heard)


def ends(sitting: Panel, heard: Mapping[AskId, Reply]) -> Iterator[Bracket | None]:
    """The bracket of every future, one by one."""
    left = pending(sitting, heard).open
    for way in product(FUTURES, repeat=len(left)):
        step = advance(SEALED, CASE, sitting, {**heard, **dict(zip(left, way, strict=True))})
        assert isinstance(step, Closed)
        decision = decide(sitting, step.heard, step.close, sitting.rules)
        yield decision.bracket if isinstance(decision, Decided) else None


def agrees(sitting: Panel, heard: Mapping[AskId, Reply]) -> None:
    """Holds one answer against all futures; two that differ are enough to know that it is open."""
    found: set[Bracket | None] = set()
    for end in ends(sitting, heard):
        found.add(end)
        if len(found) > 1:
            break
    assert is_settled(sitting, heard) == (len(found) == 1 and found != {None})


@pytest.mark.parametrize("tie", TIE_POLICIES)
@pytest.mark.parametrize("rule", names("tallies"))
def test_it_never_lies_and_misses_nothing(rule: str, tie: str) -> None:
    for seats, heard in ((1, 0), (2, 1), (3, 1), (3, 2)):
        sitting = panel(*"abc"[:seats], rules=Rules(rule=rule, tie=(tie,)))
        for said in combinations_with_replacement(SAID, heard):
            agrees(sitting, replies(dict(zip("abc", said, strict=False))))


@pytest.mark.parametrize("quorum", [1, 2, "all"])
@pytest.mark.parametrize("rule", names("tallies"))
def test_it_never_lies_about_a_quorum(rule: str, quorum: int) -> None:
    sitting = panel(*"abc", rules=Rules(rule=rule, quorum=quorum))
    for said in combinations_with_replacement(SAID, 2):
        agrees(sitting, replies(dict(zip("ab", said, strict=True))))


@pytest.mark.parametrize("rule", names("tallies"))
@pytest.mark.parametrize("said", [("good", "good", "good"), ("good", "good", "poor"), ("good", "fair", "poor")])
def test_five_seats_of_which_three_were_heard(rule: str, said: tuple[str, ...]) -> None:
    agrees(panel(*"abcde", rules=Rules(rule=rule)), replies(dict(zip("abc", said, strict=True))))


@pytest.mark.parametrize("rule", names("tallies"))
@pytest.mark.parametrize("heavy", ["a", "c"])
def test_seats_of_different_weight_are_told_apart(rule: str, heavy: str) -> None:
    for said in (("good", "good"), ("poor", "good"), ("good", "excellent"), ("excellent", "poor")):
        for weight in (0.5, 3.5):
            sitting = panel(*"abcd", weights={heavy: weight}, rules=Rules(rule=rule))
            agrees(sitting, replies(dict(zip("ab", said, strict=True))))


@pytest.mark.parametrize("families", ["xxy", "xyy", "xyz", "xxx"])
def test_seats_of_different_families_are_told_apart(families: str) -> None:
    seats = tuple(
        Seat(name=name, judge=Judge(model=f"local/{name}", family=family))
        for name, family in zip("abc", families, strict=True)
    )
    sitting = Panel(seats=seats, rules=Rules(independence=2))
    for said in product(SAID, repeat=2):
        agrees(sitting, replies(dict(zip("ab", said, strict=True))))


def test_a_majority_that_agrees_settles_a_sealed_round_of_five() -> None:
    assert is_settled(panel(*"abcde"), replies(dict.fromkeys("abc", "good")))
    assert not is_settled(panel(*"abcde"), replies(dict.fromkeys("ab", "good")))
    assert not is_settled(panel(*"abcde"), replies({"a": "good", "b": "good", "c": "poor"}))


def test_what_would_be_undecided_is_not_settled() -> None:
    sitting = panel(*"abc", rules=Rules(quorum="all"))
    assert not is_settled(sitting, replies({"a": Absent(reason="transport"), "b": "good"}))


def test_a_wave_that_leads_to_another_is_not_settled() -> None:
    sitting, heard = panel(*"abc"), replies(dict.fromkeys("ab", "good"))
    step = advance(Again(), CASE, sitting, heard)
    assert isinstance(step, Pending)
    assert not settled(Again(), CASE, sitting, step, heard)


def test_more_futures_than_can_be_tried_are_not_called_settled() -> None:
    thirteen = [f"s{at}" for at in range(13)]
    heard = replies(dict.fromkeys(thirteen[:7], "good"))
    assert not is_settled(panel(*thirteen, weights={"s12": 0.001}), heard)
    assert is_settled(panel(*thirteen), heard), "equal seats need only be counted"


def test_what_was_given_is_left_alone() -> None:
    sitting, heard = panel(*"abc"), replies(dict.fromkeys("ab", "good"))
    before = dict(heard)
    assert is_settled(sitting, heard)
    assert heard == before


def test_the_chairs_tie_is_settled_only_where_no_tie_can_come() -> None:
    chair = Seat(name="x", judge=Judge(model="local/x"), duty="chair")
    sitting = msgspec.structs.replace(panel(*"abc"), seats=(*panel(*"abc").seats, chair), rules=Rules(tie=("chair",)))
    assert is_settled(sitting, replies(dict.fromkeys("ab", "good")))
    assert not is_settled(sitting, replies({"a": "good", "b": "poor"}))
