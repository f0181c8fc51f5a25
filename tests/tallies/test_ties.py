"""Named tie policies, tried in order."""

from __future__ import annotations

import pytest

from deliberate.errors import UnknownName
from deliberate.tallies import TIE_POLICIES
from deliberate.tallies._ties import settle
from deliberate.types import Bracket

POOR, FAIR, GOOD, EXCELLENT = Bracket


@pytest.mark.parametrize(
    ("policy", "chair", "human", "expected"),
    [
        ("round", GOOD, GOOD, "tied"),
        ("chair", GOOD, None, GOOD),
        ("chair", POOR, GOOD, "tied"),
        ("chair", EXCELLENT, None, "tied"),
        ("chair", None, GOOD, "tied"),
        ("human", None, GOOD, GOOD),
        ("human", GOOD, None, "waiting"),
        ("human", None, POOR, "tied"),
        ("lower", None, None, FAIR),
        ("upper", None, None, GOOD),
        ("median", None, None, FAIR),
        ("unresolved", GOOD, GOOD, "tied"),
    ],
)
def test_what_each_policy_makes_of_fair_against_good(
    policy: str, chair: Bracket | None, human: Bracket | None, expected: object
) -> None:
    assert settle((FAIR, GOOD), (policy,), middle=FAIR, chair=chair, human=human) == expected


def test_every_policy_is_tried_here() -> None:
    assert set(TIE_POLICIES) == {"round", "chair", "human", "lower", "upper", "median", "unresolved"}


@pytest.mark.parametrize(
    ("tied", "middle", "expected"),
    [
        ((POOR, EXCELLENT), FAIR, POOR),
        ((POOR, EXCELLENT), GOOD, EXCELLENT),
        ((POOR, GOOD), FAIR, POOR),
        ((FAIR, EXCELLENT), GOOD, FAIR),
        ((POOR, FAIR, GOOD), FAIR, FAIR),
    ],
)
def test_the_median_policy_takes_the_nearest_and_the_lower_on_a_draw(
    tied: tuple[Bracket, ...], middle: Bracket, expected: Bracket
) -> None:
    for order in (tied, tied[::-1]):
        assert settle(order, ("median",), middle=middle, chair=None, human=None) is expected


def test_policies_are_tried_in_order_until_one_settles() -> None:
    assert settle((FAIR, GOOD), ("round", "chair", "upper", "lower"), middle=FAIR, chair=None, human=None) is GOOD
    assert settle((FAIR, GOOD), ("chair", "lower"), middle=FAIR, chair=GOOD, human=None) is GOOD


def test_a_chair_that_says_poor_is_heard_too() -> None:
    assert settle((POOR, GOOD), ("chair", "upper"), middle=FAIR, chair=POOR, human=None) is POOR
    assert settle((POOR, GOOD), ("human",), middle=FAIR, chair=None, human=POOR) is POOR


def test_an_unknown_policy_is_named_and_all_are_listed() -> None:
    with pytest.raises(UnknownName, match="unknown tie policy 'lowr'") as caught:
        settle((FAIR, GOOD), ("lowr",), middle=FAIR, chair=None, human=None)
    assert caught.value.known == tuple(sorted(TIE_POLICIES))
