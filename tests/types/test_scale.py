"""One function places a score in its bracket, on the real line; one file converts."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from deliberate.types import (
    BRACKETS,
    Bracket,
    Levels,
    bracket_named,
    bracket_of,
    edges,
    finite,
    midpoint,
    normalize,
    parse_scale,
    raw_of,
    to_score,
)

SCORES = st.floats(0, 100)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("score", "bracket"),
    [
        (0, Bracket.POOR),
        (25, Bracket.POOR),
        (math.nextafter(25, 100), Bracket.FAIR),
        (25.5, Bracket.FAIR),
        (50, Bracket.FAIR),
        (math.nextafter(50, 100), Bracket.GOOD),
        (50.5, Bracket.GOOD),
        (75, Bracket.GOOD),
        (math.nextafter(75, 100), Bracket.EXCELLENT),
        (75.5, Bracket.EXCELLENT),
        (100, Bracket.EXCELLENT),
    ],
)
def test_brackets_meet_without_a_gap_on_the_unrounded_score(score: float, bracket: Bracket) -> None:
    assert bracket_of(score) is bracket


@given(SCORES, SCORES)
def test_a_greater_score_is_never_in_a_lower_bracket(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert bracket_of(low) <= bracket_of(high)


@pytest.mark.parametrize("score", [-0.001, 100.001, math.nan, math.inf, -math.inf, True, False, "50", None])
def test_what_is_no_score_has_no_bracket(score: float) -> None:
    with pytest.raises(ValueError, match="number"):
        bracket_of(score)


@pytest.mark.parametrize("name", ["poor", "Fair", "GOOD", " excellent\n"])
def test_a_bracket_is_known_by_its_name_whatever_the_case(name: str) -> None:
    assert bracket_named(name).name == name.strip().upper()


@pytest.mark.parametrize("name", ["", "great", "0", "poor fair"])
def test_no_other_name_is_a_bracket(name: str) -> None:
    with pytest.raises(ValueError, match="is not a bracket: expected one of poor, fair, good, excellent") as caught:
        bracket_named(name)
    assert caught.value.__cause__ is None


def test_labels_are_written_as_people_read_them() -> None:
    assert [bracket.label for bracket in Bracket] == ["Poor", "Fair", "Good", "Excellent"]
    assert BRACKETS.labels == ("poor", "fair", "good", "excellent")


@pytest.mark.parametrize("bracket", list(Bracket))
def test_printed_edges_and_midpoint_lie_in_their_bracket(bracket: Bracket) -> None:
    low, high = edges(bracket)
    assert bracket_of(low) is bracket_of(high) is bracket_of(midpoint(bracket)) is bracket


def test_edges_and_midpoints_are_the_published_ones() -> None:
    assert [edges(bracket) for bracket in Bracket] == [(0, 25), (26, 50), (51, 75), (76, 100)]
    assert [midpoint(bracket) for bracket in Bracket] == [12.5, 38, 63, 88]


@given(st.integers(2, 11), st.data())
def test_a_level_holds_all_up_to_its_top(count: int, data: st.DataObject) -> None:
    tops = tuple(float(top) for top in range(1, count + 1))
    levels = Levels(labels=tuple("abcdefghijk"[:count]), tops=tops)
    score = data.draw(st.floats(-5, count + 5))
    level = levels.of(score)
    assert score <= tops[level] or level == count - 1
    assert level == 0 or score > tops[level - 1]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True, False, "1", None, 1j, [1]])
def test_only_finite_numbers_are_numbers(value: float) -> None:
    with pytest.raises(ValueError, match="number"):
        finite(value)


def test_a_number_too_large_for_a_float_is_not_finite() -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        finite(10**400)


def test_bounds_belong_to_what_they_bound() -> None:
    assert finite(0, low=0, high=1) == 0
    assert finite(1, low=0, high=1) == 1
    assert isinstance(finite(1), float)
    for outside in (-1e-9, 1 + 1e-9):
        with pytest.raises(ValueError, match="is not a finite number from 0 to 1"):
            finite(outside, low=0, high=1)


def test_normalized_is_0_to_1() -> None:
    assert [normalize(score) for score in (0.0, 50.0, 100.0)] == [0.0, 0.5, 1.0]


@pytest.mark.parametrize(
    ("scale", "ends"),
    [
        ("0..1", (0, 1)),
        ("0..100", (0, 100)),
        ("-1..1", (-1, 1)),
        ("1..5", (1, 5)),
        ("30..0", (30, 0)),
        (" 0 .. 0.5 ", (0, 0.5)),
        ((0, 1), (0, 1)),
        ([2, 1], (2, 1)),
    ],
)
def test_a_scale_is_two_numbers(scale: str, ends: tuple[float, float]) -> None:
    assert parse_scale(scale) == ends


@pytest.mark.parametrize(
    "scale",
    ["", "0", "0..", "..1", "a..b", "0..1..2", "0..inf", "nan..1", (0,), (0, 1, 2), (0, math.nan), 3, None],
)
def test_anything_else_is_no_scale(scale: str) -> None:
    with pytest.raises(ValueError, match="is not a scale: expected two numbers"):
        parse_scale(scale)


def test_a_scale_has_two_different_ends() -> None:
    with pytest.raises(ValueError, match="its ends are the same"):
        parse_scale("3..3")


def test_booleans_are_no_ends_of_a_scale() -> None:
    with pytest.raises(ValueError, match="is not a scale"):
        parse_scale((False, True))


@given(NUMBERS, NUMBERS)
def test_the_ends_of_a_scale_are_0_and_100(low: float, high: float) -> None:
    assume(low != high and math.isfinite(high - low))
    assert to_score(low, scale=(low, high)) == 0
    assert to_score(high, scale=(low, high)) == 100


@given(NUMBERS, NUMBERS, st.floats(0, 1))
def test_a_number_on_its_scale_is_a_score_or_the_scale_is_refused(low: float, high: float, at: float) -> None:
    assume(low != high)
    raw = min(max(low, high), max(min(low, high), low * (1 - at) + high * at))
    try:
        score = to_score(raw, scale=(low, high))
    except ValueError:
        return
    assert 0 <= score <= 100
    assert score >= 50 or raw != high, "the best end is not below the middle"


@given(st.floats(-1000, 1000), st.floats(0, 100))
def test_turning_a_scale_around_turns_the_score_around(low: float, score: float) -> None:
    high = low + 10
    raw = min(high, max(low, low + score / 10))
    assert to_score(raw, scale=(low, high)) + to_score(raw, scale=(high, low)) == pytest.approx(100)


@pytest.mark.parametrize("raw", [-0.01, 1.01, math.nan, math.inf, True])
def test_a_number_outside_its_scale_is_a_failed_reading_and_never_clamped(raw: float) -> None:
    with pytest.raises(ValueError, match="number"):
        to_score(raw, scale="0..1")
    with pytest.raises(ValueError, match="number"):
        to_score(raw, scale="1..0")


@pytest.mark.parametrize("raw", [0.0, 1e308, -1e308])
def test_a_scale_too_wide_to_compute_on_never_gives_a_silent_zero(raw: float) -> None:
    with pytest.raises(ValueError, match="scale"):
        to_score(raw, scale="-1e308..1e308")


@given(st.floats(0, 100), st.sampled_from(["0..1", "0..10", "-1..1", "30..0"]))
def test_a_raw_number_is_the_score_turned_round(score: float, scale: str) -> None:
    assert to_score(raw_of(score, scale=scale), scale=scale) == pytest.approx(score, abs=1e-6)


def test_what_is_no_score_is_no_raw_number_either() -> None:
    with pytest.raises(ValueError, match="from 0 to 100"):
        raw_of(101, scale="0..1")
