"""A captured number: which of several, what is no number, and what a pattern must have."""

from __future__ import annotations

import pytest

from deliberate import Case, combine
from deliberate.errors import ConfigError
from deliberate.evaluators import RegexPattern
from deliberate.evaluators._pattern import number_in
from deliberate.types import Evaluation, Scored, Unscored
from tests.evaluators.conftest import Open

pytestmark = pytest.mark.anyio

MANY = "F1: 0.2 then F1: 0.9 then F1: 0.4"


async def read(opened: Open, evaluator: RegexPattern, output: str) -> Evaluation:
    async with opened() as session:
        return await session.evaluate(Case(output=output), evaluator)


@pytest.mark.parametrize(("which", "raw"), [("first", 0.2), ("last", 0.4), ("max", 0.9), ("min", 0.2), ("mean", 0.5)])
async def test_of_several_matches_the_one_asked_for_counts(opened: Open, which: str, raw: float) -> None:
    evaluator = RegexPattern(pattern=r"F1: ([\d.]+)", which=which, scale="0..1")  # type: ignore[arg-type]
    found = await read(opened, evaluator, MANY)
    assert isinstance(found.outcome, Scored)
    assert found.outcome.raw == pytest.approx(raw)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1.0),
        ("-.5", -0.5),
        (" +2. ", 2.0),
        ("1e-3", 0.001),
        ("1.5E+2", 150.0),
        ("1,234", 1234.0),
        ("-12,345,678.9", -12345678.9),
        ("87%", 0.87),
        ("1,000 %", 10.0),
    ],
)
def test_a_number_has_sign_fraction_exponent_thousands_and_percent(text: str, number: float) -> None:
    assert number_in(text) == pytest.approx(number)


@pytest.mark.parametrize(
    "text", ["", ".", "1.2.3", "0.95.", "1,23", "12,3456", "nan", "inf", "1e999", "0x10", "1_000", "٣", "%", "1" * 500]
)
def test_anything_else_is_no_number(text: str) -> None:
    with pytest.raises(ValueError, match=r"is (no number|not finite)"):
        number_in(text)


@pytest.mark.parametrize(
    ("pattern", "output", "said"),
    [
        (r"A: ([\d.]+)", "nothing", "the pattern does not occur"),
        (r"A: ([\d.]+)", "A: 1.2.3", "'1.2.3' is no number"),
        (r"A: ([\d.]+)?", "A: ", "the group took no part in the match"),
    ],
)
async def test_what_gives_no_number_is_a_failed_reading(opened: Open, pattern: str, output: str, said: str) -> None:
    found = await read(opened, RegexPattern(pattern=pattern), output)
    assert isinstance(found.outcome, Unscored)
    assert (found.outcome.why, found.outcome.detail) == ("failed", said)
    stood_in = await read(opened, RegexPattern(pattern=pattern, default_score=7, scale="0..10"), output)
    assert isinstance(stood_in.outcome, Scored)
    assert (stood_in.outcome.score, stood_in.outcome.origin) == (70.0, "defaulted")
    assert said in stood_in.reason


async def test_one_match_that_is_no_number_spoils_their_mean(opened: Open) -> None:
    evaluator = RegexPattern(pattern=r"A: (\S+)", which="mean", scale="0..1")
    assert (await read(opened, evaluator, "A: 0.5 A: x")).score is None


@pytest.mark.parametrize("output", ["SCORE: 1e-3", "SCORE: 1,234", "SCORE: 87%", "SCORE: 87 %", "SCORE: 0.5.2"])
async def test_a_number_that_goes_on_behind_the_group_is_flagged(opened: Open, output: str) -> None:
    assert (await read(opened, RegexPattern(), output)).flags == ("number_cut",)
    assert (await read(opened, RegexPattern(), "SCORE: 87. And more")).flags == ()


async def test_a_named_group_counts_where_it_is_named(opened: Open) -> None:
    found = await read(opened, RegexPattern(pattern=r"(?P<what>\w+)=(?P<n>\d+)", group="n", scale="0..10"), "x=7")
    assert found.score == 70.0


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"pattern": "A: .*"}, r"regex_pattern\.pattern: .* has no capture group 1"),
        ({"pattern": "(a)(b)", "group": 3}, "has no capture group 3"),
        ({"pattern": "(a)", "group": 0}, "has no capture group 0"),
        ({"pattern": "(?P<n>a)", "group": "m"}, r"has no capture group 'm'; expected .*it has 1: n"),
        ({"pattern": "(a"}, "is no pattern"),
        ({"pattern": "a" * 10_001}, "a pattern of 10001 characters"),
        ({"scale": "0..0"}, r"regex_pattern\.scale: .*the same"),
        ({"scale": "high"}, "is not a scale"),
        ({"default_score": float("nan")}, r"regex_pattern\.default_score"),
        ({"default_score": True}, "True is not a number"),
        ({"default_score": 2, "scale": "0..1"}, "expected a number on its scale, 0..1"),
        ({"timeout_seconds": 0}, "a search needs time"),
        ({"timeout_seconds": float("inf")}, "a search needs time"),
    ],
)
def test_what_does_not_fit_is_refused_when_it_is_built(params: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        RegexPattern(**params)  # type: ignore[arg-type]


async def test_a_number_without_a_scale_is_reported_and_enters_no_aggregate(opened: Open) -> None:
    alone = await read(opened, RegexPattern(), "SCORE: 12")
    assert (alone.score, alone.raw) == (None, 12.0)
    with pytest.raises(ConfigError, match=r"parts\.a: regex_pattern reads a number on no declared scale"):
        combine(a=(RegexPattern(), 1))
    with pytest.raises(ConfigError, match="no declared scale"):
        combine(a=(RegexPattern(scale="0..1"), 1), gates=[RegexPattern()])
    reported = combine(a=(RegexPattern(scale="0..20"), 1), b=(RegexPattern(), 0))
    async with opened() as session:
        found = await session.evaluate(Case(output="SCORE: 12"), reported)
    assert (found.score, found["b"].raw) == (60.0, 12.0)


async def test_matches_may_be_empty_and_many_but_not_without_end(opened: Open) -> None:
    found = await read(opened, RegexPattern(pattern=r"(?:x|)(\d*)", which="last", default_score=0, scale="0..1"), "ab")
    assert "'' is no number" in found.reason
    many = await read(opened, RegexPattern(pattern="(1)", which="mean", timeout_seconds=30), "1" * 100_001)
    assert "matches more than 100000 times" in many.reason
    slow = await read(opened, RegexPattern(pattern="(1)", which="mean", timeout_seconds=0.001), "1" * 90_000)
    assert "took longer than 0.001 s" in slow.reason
