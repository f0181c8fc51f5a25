"""How rubrics score over time, and the weights that labels would give them."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.errors import ConfigError
from deliberate.studies.calibration import (
    Labeled,
    drift_of,
    effect_of,
    fit_weights,
    labeled,
    report_of,
)
from deliberate.studies.history import Judged
from deliberate.types import Dimension, DimensionScore, Rubric

RUBRIC = Rubric(
    name="r",
    body="b",
    dimensions=tuple(Dimension(name=name, weight=weight) for name, weight in (("a", 0.5), ("b", 0.3), ("c", 0.2))),
)


def judged(score: float, *, case: str = "0123456789", at: str = "2026-11-01", **more: object) -> Judged:
    return Judged(at=at, case=case, rubric="r", score=score, **more)  # type: ignore[arg-type]


def test_s0_51_distributions_are_told_by_rubric_month_and_dimension() -> None:
    one = DimensionScore(dimension="a", weight=1.0, judged=90.0, adjusted=80.0)
    events = [
        judged(20.0, case="x", at="2026-10-30", dimensions=(one,)),
        judged(60.0, case="y"),
        judged(100.0, case="z"),
    ]
    (found,) = report_of(events)
    assert (found.rubric, found.overall.count, found.overall.mean) == ("r", 3, 60.0)
    assert found.overall.brackets == (1, 0, 1, 1)
    assert (found.overall.deviation, found.overall.least, found.overall.most) == (40.0, 20.0, 100.0)
    assert {month: each.mean for month, each in found.months.items()} == {"2026-10": 20.0, "2026-11": 80.0}
    assert found.dimensions["a"].mean == 80.0
    assert (found.stability, found.drift, found.agreement) == (None, "unknown", None)


def test_s0_51_stability_is_the_spread_on_cases_judged_more_than_once() -> None:
    same = [judged(60.0, case="x"), judged(70.0, case="x"), judged(50.0, case="y"), judged(50.0, case="y"), judged(1.0)]
    (found,) = report_of(same)
    assert found.stability == pytest.approx(50**0.5 / 2)
    assert found.repeated == 2
    other = [judged(60.0, case="x", rubric_digest="1"), judged(70.0, case="x", rubric_digest="2")]
    assert report_of(other)[0].repeated == 0


@pytest.mark.parametrize(
    ("scores", "drift"),
    [
        ([60.0, 62, 58, 61, 59, 60, 61, 59, 60, 60, 85, 86, 84, 87, 85, 86, 85, 84, 86, 85], "more_lenient"),
        ([85.0, 86, 84, 87, 85, 60, 61, 59, 60, 60], "stricter"),
        ([60.0, 62, 58, 61, 59, 61, 63, 60, 62, 61], "none"),
        ([10.0, 90, 20, 80, 50, 30, 95, 40, 85, 50], "none"),
        ([10.0, 90.0], "unknown"),
        ([], "unknown"),
    ],
)
def test_s0_52_drift_is_told_where_it_is_more_than_chance(scores: list[float], drift: str) -> None:
    assert drift_of(scores)[0] == drift


@given(st.lists(st.floats(0, 100), min_size=10, max_size=30))
def test_drift_backwards_is_the_opposite(scores: list[float]) -> None:
    opposite = {"more_lenient": "stricter", "stricter": "more_lenient"}
    there, points = drift_of(scores)
    back, other = drift_of(scores[::-1])
    assert back == opposite.get(there, there)
    assert other == pytest.approx(-points, abs=1e-6)


def test_s0_53_agreement_between_judges_is_told() -> None:
    events = [judged(60.0, votes=(("a", 2), ("b", 2), ("c", 1))), judged(60.0, votes=(("a", 3), ("b", 3)))]
    assert report_of(events)[0].agreement == 0.5


def rows(count: int, weights: tuple[float, ...], *, noise: float = 0.0) -> list[Labeled]:
    chance = Random(7)
    found: list[Labeled] = []
    for _ in range(count):
        scores = [chance.uniform(0, 100) for _ in weights]
        wanted = sum(w * x for w, x in zip(weights, scores, strict=True)) + chance.gauss(0, noise)
        scored = dict(zip("abc", scores, strict=True))
        found.append(Labeled(dimensions=scored, given=50.0, wanted=min(100, max(0, wanted))))
    return found


def test_s0_54_weights_come_near_to_those_that_people_seem_to_use() -> None:
    fitted = fit_weights(RUBRIC, rows(60, (0.2, 0.2, 0.6), noise=3.0))
    assert fitted.after == pytest.approx({"a": 0.2, "b": 0.2, "c": 0.6}, abs=0.05)
    assert fitted.before == {"a": 0.5, "b": 0.3, "c": 0.2}
    assert fitted.error_after < fitted.error_before
    assert sum(fitted.after.values()) == pytest.approx(1.0, abs=1e-9)
    assert fitted.labels == 60


def test_s0_54_a_dimension_nobody_minds_keeps_a_little_weight() -> None:
    fitted = fit_weights(RUBRIC, rows(60, (1.0, 0.0, 0.0)))
    assert min(fitted.after.values()) >= 0.01
    assert fitted.after["a"] >= 0.9


def test_s0_54_few_labels_hardly_move_the_weights() -> None:
    few = fit_weights(RUBRIC, rows(5, (0.0, 0.0, 1.0)))
    many = fit_weights(RUBRIC, rows(80, (0.0, 0.0, 1.0)))
    assert few.after["c"] < many.after["c"]


def test_too_few_labels_are_refused() -> None:
    with pytest.raises(ConfigError, match="4 labels fit judgments by 'r'; expected at least 5"):
        fit_weights(RUBRIC, rows(4, (0.5, 0.3, 0.2)))
    lacking = [Labeled(dimensions={"a": 1.0}, given=1.0, wanted=1.0)] * 9
    with pytest.raises(ConfigError, match="0 labels fit"):
        fit_weights(RUBRIC, lacking)


def test_labels_find_the_last_judgment_of_their_case_by_name_or_digest() -> None:
    events = [judged(10.0, name="q1"), judged(20.0, name="q1"), judged(30.0, case="abcdef0123", name="q2")]
    found = labeled(events, {"q1": 50.0, "abcdef01": 60.0, "nobody": 1.0, "abc": 2.0})
    assert [(one.given, one.wanted) for one in found] == [(20.0, 50.0), (30.0, 60.0)]


def test_effectiveness_is_agreement_with_people_and_not_the_score_given() -> None:
    flattering = [Labeled(dimensions={}, given=100.0, wanted=40.0)] * 4
    honest = [Labeled(dimensions={}, given=45.0, wanted=40.0)] * 4
    assert effect_of(flattering) == (0.4, 4)
    assert effect_of(honest) == (0.95, 4)
    assert effect_of([]) == (0.0, 0)
