"""How a rubric scores over time, and what weights people's labels would give it. Scores given are never rewritten.

Pure: judgments in, a report out. Weights are shown before anybody applies them, and are a new version of the rubric.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, cast

from deliberate import plugins
from deliberate.errors import ConfigError
from deliberate.library import Effect
from deliberate.studies.history import Judged
from deliberate.types import BRACKETS, Record, Rubric, bracket_of, same_name

__all__ = [
    "Drift",
    "Fitted",
    "Labeled",
    "RubricReport",
    "Spread",
    "drift_of",
    "effect_of",
    "fit_weights",
    "labeled",
    "report_of",
]

_FEWEST_PER_HALF = 5
_LEAST_T = 2.0
_LEAST_POINTS = 5.0
_LEAST_WEIGHT = 0.01
_FEWEST_LABELS = 5
_STEPS = 4000

Drift = Literal["more_lenient", "stricter", "none", "unknown"]


class Spread(Record, frozen=True, kw_only=True):
    """A distribution of scores, 0–100; ``brackets`` counts Poor, Fair, Good, Excellent."""

    count: int
    mean: float
    deviation: float
    least: float
    most: float
    brackets: tuple[int, ...]


class RubricReport(Record, frozen=True, kw_only=True):
    """What is known of one rubric.

    ``months`` are distributions by month (``2026-11``). ``stability`` is the mean standard deviation, in points, of
    the scores of cases judged more than once, over ``repeated`` cases; None without any. ``agreement`` is the share of
    pairs of votes in the same bracket; None where nobody had company.
    """

    rubric: str
    overall: Spread
    months: Mapping[str, Spread]
    dimensions: Mapping[str, Spread]
    stability: float | None
    repeated: int
    drift: Drift
    drift_points: float
    agreement: float | None


class Labeled(Record, frozen=True, kw_only=True):
    """A judgment beside what a person said of it: dimensions and score, 0–100."""

    dimensions: Mapping[str, float]
    given: float
    wanted: float


class Fitted(Record, frozen=True, kw_only=True):
    """Weights fitted to labels, before and after, with the root mean square error in points of both."""

    before: Mapping[str, float]
    after: Mapping[str, float]
    error_before: float
    error_after: float
    labels: int

    @property
    def changes(self) -> bool:
        """Whether any weight is another one, to the two places that are fitted."""
        return _rounded(self.before) != self.after


def report_of(judged: Sequence[Judged]) -> tuple[RubricReport, ...]:
    """A report for each rubric that occurs, by name."""
    groups: dict[str, list[Judged]] = {}
    for one in judged:
        groups.setdefault(one.rubric, []).append(one)
    return tuple(_report(name, groups[name]) for name in sorted(groups))


def drift_of(scores: Sequence[float]) -> tuple[Drift, float]:
    """Whether the later half of scores (0–100, oldest first) lies above or below the earlier, and by how many points.

    Told only where it is both at least 5 points and more than chance gives: t = (m₂ − m₁) / √(s₁²/n₁ + s₂²/n₂) of at
    least 2, Welch (1947), The generalization of "Student's" problem, doi:10.1093/biomet/34.1-2.28. Cases may have
    become easier: the report says that scores moved, a person says why.

    >>> drift_of([60.0, 62, 58, 61, 59, 85, 86, 84, 87, 85])
    ('more_lenient', 25.4)
    """
    half = len(scores) // 2
    if half < _FEWEST_PER_HALF:
        return "unknown", 0.0
    early, late = scores[:half], scores[len(scores) - half :]
    points = math.fsum(late) / half - math.fsum(early) / half
    noise = math.sqrt((_variance(early) + _variance(late)) / half)
    if abs(points) < _LEAST_POINTS or abs(points) < _LEAST_T * noise:
        return "none", round(points, 9)
    return ("more_lenient" if points > 0 else "stricter"), round(points, 9)


def labeled(judged: Sequence[Judged], wanted: Mapping[str, float]) -> tuple[Labeled, ...]:
    """The last judgment of each labeled case, found by its name, its digest, or the start of that.

    Args:
        judged: Judgments by one rubric, oldest first.
        wanted: What people said, 0–100, by case.
    """
    found: dict[str, Labeled] = {}
    for one in judged:
        for item, score in wanted.items():
            if item == one.name or (len(item) >= 8 and one.case.startswith(item)):  # noqa: PLR2004  as names are cut
                dimensions = {each.dimension: each.adjusted for each in one.dimensions}
                found[item] = Labeled(dimensions=dimensions, given=one.score, wanted=score)
    return tuple(found[item] for item in wanted if item in found)


def effect_of(labels: Sequence[Labeled]) -> Effect:
    """How well scores agreed with labels: 1 − mean absolute difference over 100, and on how many cases."""
    if not labels:
        return Effect(0.0, 0)
    return Effect(
        round(1.0 - math.fsum(abs(one.given - one.wanted) for one in labels) / 100 / len(labels), 9), len(labels)
    )


def fit_weights(rubric: Rubric, labels: Sequence[Labeled]) -> Fitted:
    """The weights under which the rubric's scores come nearest to the labels.

    Least squares with weights of at least 0.01 that sum to 1, held towards the present ones as strongly as one label
    a dimension would; by projected gradient, the projection after Duchi et al. (2008), Efficient projections onto the
    l1-ball, doi:10.1145/1390156.1390191, fig. 1.

    Raises:
        ConfigError: There are fewer than five labels with a score in every dimension.
    """
    names = [one.name for one in rubric.dimensions]
    rows = [(found, one.wanted) for one in labels if (found := _row(one, names)) is not None]
    if len(rows) < _FEWEST_LABELS:
        what = f"{len(rows)} labels fit judgments by {rubric.name!r}"
        raise ConfigError(what, where="--from", expected=f"at least {_FEWEST_LABELS}", hint="label more of its cases")
    first = [one.weight for one in rubric.dimensions]
    every = range(len(names))
    products = [[math.fsum(row[i] * row[j] for row, _ in rows) for j in every] for i in every]
    targets = [math.fsum(row[i] * wanted for row, wanted in rows) for i in every]
    scale = math.fsum(products[i][i] for i in every) / len(rows)  # what one label weighs
    hold = scale / len(names)
    weights = list(first)
    for _ in range(_STEPS):
        slope = [
            math.fsum(products[i][j] * weights[j] for j in every) - targets[i] + hold * (weights[i] - first[i])
            for i in every
        ]
        weights = _onto_simplex([weights[i] - slope[i] / (scale * len(rows) + hold) for i in every])
    after = _rounded(dict(zip(names, weights, strict=True)))
    before = dict(zip(names, first, strict=True))
    return Fitted(
        before=before,
        after=after,
        error_before=_error(rows, list(before.values())),
        error_after=_error(rows, list(after.values())),
        labels=len(rows),
    )


def _report(name: str, group: Sequence[Judged]) -> RubricReport:
    months: dict[str, list[float]] = {}
    dimensions: dict[str, list[float]] = {}
    cases: dict[tuple[str, str], list[float]] = {}
    for one in group:
        months.setdefault(one.at[:7], []).append(one.score)
        cases.setdefault((one.case, one.rubric_digest), []).append(one.score)
        for each in one.dimensions:
            dimensions.setdefault(each.dimension, []).append(each.adjusted)
    repeated = [math.sqrt(_variance(scores)) for scores in cases.values() if len(scores) > 1]
    drift, points = drift_of([one.score for one in group])
    agree: Callable[[Sequence[Sequence[int]]], float | None] = plugins.part("agreement", "percent_agreement")
    return RubricReport(
        rubric=name,
        overall=_spread([one.score for one in group]),
        months={month: _spread(scores) for month, scores in months.items()},
        dimensions={each: _spread(scores) for each, scores in dimensions.items()},
        stability=round(math.fsum(repeated) / len(repeated), 9) if repeated else None,
        repeated=len(repeated),
        drift=drift,
        drift_points=points,
        agreement=agree([tuple(level for _, level in one.votes) for one in group]),
    )


def _spread(scores: Sequence[float]) -> Spread:
    counts = [0] * len(BRACKETS.labels)
    for score in scores:
        counts[int(bracket_of(score))] += 1
    return Spread(
        count=len(scores),
        mean=round(math.fsum(scores) / len(scores), 9),
        deviation=round(math.sqrt(_variance(scores)), 9),
        least=min(scores),
        most=max(scores),
        brackets=tuple(counts),
    )


def _variance(scores: Sequence[float]) -> float:
    if len(scores) < 2:  # noqa: PLR2004  one score does not vary
        return 0.0
    mean = math.fsum(scores) / len(scores)
    return math.fsum((score - mean) ** 2 for score in scores) / (len(scores) - 1)


def _row(label: Labeled, names: Sequence[str]) -> list[float] | None:
    found = [next((score for each, score in label.dimensions.items() if same_name(each, name)), None) for name in names]
    return None if None in found else cast("list[float]", found)


def _error(rows: Sequence[tuple[Sequence[float], float]], weights: Sequence[float]) -> float:
    squares = [(math.fsum(w * x for w, x in zip(weights, row, strict=True)) - y) ** 2 for row, y in rows]
    return round(math.sqrt(math.fsum(squares) / len(squares)), 9)


def _onto_simplex(values: Sequence[float]) -> list[float]:
    """The nearest point whose coordinates are at least 0.01 and sum to 1."""
    room = 1.0 - _LEAST_WEIGHT * len(values)
    shifted = [value - _LEAST_WEIGHT for value in values]
    total, cut = 0.0, 0.0
    for at, value in enumerate(sorted(shifted, reverse=True), start=1):
        total += value
        if value - (total - room) / at > 0:
            cut = (total - room) / at
    return [max(value - cut, 0.0) + _LEAST_WEIGHT for value in shifted]


def _rounded(weights: Mapping[str, float]) -> dict[str, float]:
    """Weights of two places that still sum to 1; what rounding leaves goes to the heaviest."""
    found = {name: round(weight, 2) for name, weight in weights.items()}
    heaviest = max(found, key=lambda name: (found[name], name))
    found[heaviest] = round(1.0 - math.fsum(weight for name, weight in found.items() if name != heaviest), 2)
    return found
