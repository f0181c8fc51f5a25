"""Several metrics: weights, inversion, bounds and half-lives, and what is missing."""

from __future__ import annotations

import pytest

from deliberate import Case
from deliberate.errors import ConfigError
from deliberate.evaluators import MultiMetric
from deliberate.types import Evaluation, Scored, Unscored
from tests.evaluators.conftest import Open

pytestmark = pytest.mark.anyio

A, B, T = (rf"{name}: ([\d.eE+-]+)" for name in "ABT")


async def read(opened: Open, metrics: MultiMetric, output: str) -> Evaluation:
    async with opened() as session:
        return await session.evaluate(Case(output=output), metrics)


async def test_metrics_are_weighted_and_told_by_name(opened: Open) -> None:
    found = await read(opened, MultiMetric(patterns={"b": (B, 1), "a": (A, 3)}), "A: 0.9 B: 0.5")
    assert isinstance(found.outcome, Scored)
    assert (found.outcome.score, found.outcome.scale) == (80.0, "0..1")
    assert found.details == {"metrics": {"a": 0.9, "b": 0.5}}
    assert (found.coverage, found.missing) == (1.0, ())


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # counted alike on any loop
@pytest.mark.parametrize(
    ("more", "output", "score", "flags"),
    [
        ({"invert": ("t",)}, "T: 0.25", 75.0, ()),
        ({"invert": ("t",)}, "T: 3", 0.0, ()),
        ({"bounds": {"t": (0, 30)}}, "T: 7.5", 25.0, ()),
        ({"bounds": {"t": (0, 30)}, "invert": ("t",)}, "T: 7.5", 75.0, ()),
        ({"bounds": {"t": (10, 30)}, "invert": ("t",)}, "T: 90", 0.0, ("beyond_bounds:t",)),
        ({"bounds": {"t": (10, 30)}}, "T: -90", 0.0, ("beyond_bounds:t",)),
        ({"half_life": {"t": 10}}, "T: 0", 100.0, ()),
        ({"half_life": {"t": 10}}, "T: 10", 50.0, ()),
        ({"half_life": {"t": 10}, "invert": ("t",)}, "T: 20", 25.0, ()),
    ],
)
async def test_where_less_is_better_or_the_range_is_another(
    opened: Open, more: dict[str, object], output: str, score: float, flags: tuple[str, ...]
) -> None:
    found = await read(opened, MultiMetric(patterns={"t": (T, 1)}, **more), output)  # type: ignore[arg-type]
    assert found.score == pytest.approx(score)
    assert found.flags == flags


@pytest.mark.parametrize("output", ["T: 1.5", "T: -0.1", "T: 1.2.3", "T: 1e999", "nothing"])
async def test_what_is_no_number_from_0_to_1_is_missing(opened: Open, output: str) -> None:
    found = await read(opened, MultiMetric(patterns={"t": (T, 1)}), output)
    assert isinstance(found.outcome, Unscored)
    assert found.outcome.why == "failed"
    assert "missing t: " in found.outcome.detail


async def test_less_than_nothing_is_no_measure_of_what_should_be_little(opened: Open) -> None:
    for more in ({"invert": ("t",)}, {"half_life": {"t": 1}}):
        found = await read(opened, MultiMetric(patterns={"t": (T, 1)}, **more), "T: -1")
        assert found.score is None


async def test_missing_metrics_do_as_they_were_told(opened: Open) -> None:
    patterns = {"a": (A, 3.0), "b": (B, 1.0), "none": (T, 0.0)}
    for how, score in (("fail", None), ("exclude", 80.0), ("zero", 60.0)):
        found = await read(opened, MultiMetric(patterns=patterns, on_missing=how), "A: 0.8")  # type: ignore[arg-type]
        assert found.score == (None if score is None else pytest.approx(score))
        if score is not None:
            assert (found.missing, found.coverage) == (("b",), 0.75)
            assert "missing b: the pattern does not occur" in found.reason
    for least, there in ((0.75, True), (0.76, False)):
        metrics = MultiMetric(patterns=patterns, on_missing="exclude", min_coverage=least)
        assert ((await read(opened, metrics, "A: 0.8")).score is not None) is there
    nothing = MultiMetric(patterns=patterns, on_missing="exclude", min_coverage=0.0)
    assert (await read(opened, nothing, "none")).score is None


async def test_what_is_there_keeps_its_weights_where_another_is_missing(opened: Open) -> None:
    metrics = MultiMetric(patterns={"a": (A, 3), "b": (B, 1), "t": (T, 1)}, on_missing="exclude")
    assert (await read(opened, metrics, "A: 1 B: 0")).score == pytest.approx(75.0)


async def test_an_optional_group_that_took_no_part_is_missing(opened: Open) -> None:
    found = await read(opened, MultiMetric(patterns={"a": (r"A: ([\d.]+)?", 1)}), "A: ")
    assert "the group took no part" in found.reason


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"patterns": {}}, "no metric has a weight above 0"),
        ({"patterns": {"a": (A, 0)}}, "no metric has a weight above 0"),
        ({"patterns": {"a": (A, -1)}}, r"multi_metric\.patterns\.a: -1 is not a finite number"),
        ({"patterns": {"a": (A, float("nan"))}}, "nan is not a finite number"),
        ({"patterns": {"a": (A, float("inf"))}}, "inf is not a finite number"),
        ({"patterns": {"a": (A, True)}}, "True is not a number"),
        ({"patterns": {"a": ("A: .*", 1)}}, "no capture group"),
        ({"patterns": {"a": ("(", 1)}}, "is no pattern"),
        ({"patterns": {"a": (A, 1)}, "invert": ("b",)}, r"multi_metric\.invert: unknown metric 'b'"),
        ({"patterns": {"a": (A, 1)}, "bounds": {"b": (0, 1)}}, r"multi_metric\.bounds: unknown metric 'b'"),
        ({"patterns": {"a": (A, 1)}, "bounds": {"a": (1, 1)}}, "the lower first"),
        ({"patterns": {"a": (A, 1)}, "bounds": {"a": (0, float("inf"))}}, "expected two finite numbers"),
        ({"patterns": {"a": (A, 1)}, "half_life": {"a": 0}}, "a half-life of 0"),
        ({"patterns": {"a": (A, 1)}, "half_life": {"a": 1}, "bounds": {"a": (0, 1)}}, "no half-life beside them"),
        ({"patterns": {"a": (A, 1)}, "min_coverage": 2}, "a share from 0 to 1"),
        ({"patterns": {"a": (A, 1)}, "timeout_seconds": -1}, "a search needs time"),
    ],
)
def test_what_does_not_fit_is_refused_when_it_is_built(params: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        MultiMetric(**params)  # type: ignore[arg-type]
