"""Several numbers in the output, weighted into one score."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

import msgspec

from deliberate.aggregation import Weighted
from deliberate.aggregation.weighted_mean import weighted_mean
from deliberate.errors import ConfigError, EvaluatorError, UnknownName
from deliberate.evaluators._base import measured
from deliberate.evaluators._pattern import all_matches, check_group, check_time, compiled, number_in
from deliberate.runtime import Runtime
from deliberate.types import Case, Evaluation, Record, finite

if TYPE_CHECKING:
    import regex

__all__ = ["MultiMetric"]

_HALF = 0.5


class MultiMetric(Record, frozen=True, kw_only=True):
    """The weighted mean of several captured numbers, each of which counts from 0 to 1.

    A number is on 0..1 as it stands, or is brought there by ``bounds`` or ``half_life``. One that is missing, is no
    number or is outside of 0..1 is missing, by its name and with its reason; the rest of the weight is the coverage.

    Args:
        patterns: By the name of each metric, a regular expression with a group around its number, and its weight
            (≥ 0; only ratios matter; 0 is reported and never counted).
        invert: Metrics of which less is better: 1 − v with bounds, else 1 − min(v, 1).
        bounds: By metric, the number that counts as 0 and the one that counts as 1, linear between; a number beyond
            counts as the nearer one, and is flagged.
        half_life: By metric of which less is better, the number that counts as 0.5: 0.5^(v / half-life).
        on_missing: What a missing metric does: ``fail`` (no score), ``exclude`` or ``zero``.
        min_coverage: With ``exclude``: the least share of the weight that must be there; None means more than half.
        ignore_case: Whether letter case is ignored.
        timeout_seconds: The total that all searches together may take.
    """

    name: ClassVar[str] = "multi_metric"
    spends_tokens: ClassVar[bool] = False

    patterns: Mapping[str, tuple[str, float]]
    invert: tuple[str, ...] = ()
    bounds: Mapping[str, tuple[float, float]] = {}
    half_life: Mapping[str, float] = {}
    on_missing: Literal["fail", "exclude", "zero"] = "fail"
    min_coverage: float | None = None
    ignore_case: bool = False
    timeout_seconds: float = 1.0

    def __post_init__(self) -> None:
        """Checks patterns, weights, and that every name is a metric's.

        Raises:
            ConfigError: Something does not fit; the message names the metric.
        """
        _check(self)

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,  # noqa: ARG002  a free part opens no door
        previous: Evaluation | None = None,  # noqa: ARG002  as the contract has it
    ) -> Evaluation:
        """Searches for all of them, in a thread and with a time limit.

        Raises:
            EvaluatorError: Too much is missing, or the search took too long.
        """
        found = await all_matches(
            [self._compiled(name) for name in self.patterns],
            case.output,
            timeout_seconds=self.timeout_seconds,
            only_first=True,
        )
        values: dict[str, float] = {}
        lacking: dict[str, str] = {}
        flags: list[str] = []
        for name, matches in zip(self.patterns, found, strict=True):
            try:
                value, flag = self._unit(name, _number(matches))
            except ValueError as error:
                lacking[name] = str(error)
            else:
                values[name] = value
                flags += [flag] if flag else []
        return self._whole(values, lacking, flags)

    def _whole(self, values: Mapping[str, float], lacking: Mapping[str, str], flags: list[str]) -> Evaluation:
        weights = {name: weight for name, (_, weight) in self.patterns.items() if weight > 0}
        missing = tuple(sorted(name for name in lacking if name in weights))
        most = max(weights.values())
        seen = math.fsum(weights[name] / most for name in weights if name in values)
        coverage = round(seen / math.fsum(weight / most for weight in weights.values()), 9)
        scores = [Weighted(values.get(name, 0.0) * 100, weight) for name, weight in weights.items()]
        if missing and self.on_missing != "zero":
            told = "; ".join(f"{name}: {lacking[name]}" for name in missing)
            enough = coverage > _HALF if self.min_coverage is None else coverage >= self.min_coverage
            if self.on_missing == "fail" or not enough or not seen:
                msg = f"missing {told} (coverage {coverage:.2f})"
                raise EvaluatorError(msg)
            scores = [Weighted(values[name] * 100, weight) for name, weight in weights.items() if name in values]
        raw = weighted_mean(scores) / 100
        reason = f"{len(weights) - len(missing)} of {len(weights)} metrics"
        reason += f"; missing {', '.join(f'{name}: {lacking[name]}' for name in missing)}" if missing else ""
        whole = measured(
            self, raw, scale="0..1", reason=reason, metrics={name: values[name] for name in sorted(values)}
        )
        return msgspec.structs.replace(whole, missing=missing, coverage=coverage, flags=tuple(sorted(flags)))

    def _unit(self, name: str, value: float) -> tuple[float, str]:
        """A metric's number as 0–1, and a flag if it lay beyond its bounds."""
        if name in self.half_life:
            return _HALF ** (finite(value, low=0.0) / self.half_life[name]), ""
        flag = ""
        if name in self.bounds:
            low, high = self.bounds[name]
            share = (value - low) / (high - low)
            value = min(1.0, max(0.0, share))
            flag = "" if value == share else f"beyond_bounds:{name}"
        elif name in self.invert:
            value = min(finite(value, low=0.0), 1.0)
        else:
            value = finite(value, low=0.0, high=1.0)
        return (1.0 - value if name in self.invert else value), flag

    def _compiled(self, name: str) -> regex.Pattern[str]:
        return compiled(self.patterns[name][0], ignore_case=self.ignore_case, where=f"multi_metric.patterns.{name}")


def _number(matches: list[regex.Match[str]]) -> float:
    if not matches:
        msg = "the pattern does not occur"
        raise ValueError(msg)
    captured = matches[0].group(1)
    if captured is None:
        msg = "the group took no part in the match"
        raise ValueError(msg)
    return number_in(captured)


def _check(metrics: MultiMetric) -> None:
    check_time(metrics.timeout_seconds, part="multi_metric")
    for name, (pattern, weight) in metrics.patterns.items():
        where = f"multi_metric.patterns.{name}"
        check_group(compiled(pattern, ignore_case=metrics.ignore_case, where=where), 1, where=where)
        _checked(weight, where=where, expected="a finite weight of at least 0", low=0.0)
    if not any(weight > 0 for _, weight in metrics.patterns.values()):
        raise ConfigError("no metric has a weight above 0", where="multi_metric.patterns", expected="at least one")
    for field, names in (("invert", metrics.invert), ("bounds", metrics.bounds), ("half_life", metrics.half_life)):
        for name in names:
            if name not in metrics.patterns:
                raise UnknownName("metric", name, metrics.patterns, where=f"multi_metric.{field}")
    _check_bounds(metrics)
    if metrics.min_coverage is not None:
        _checked(
            metrics.min_coverage, where="multi_metric.min_coverage", expected="a share from 0 to 1", low=0.0, high=1.0
        )


def _check_bounds(metrics: MultiMetric) -> None:
    for name, ends in metrics.bounds.items():
        where = f"multi_metric.bounds.{name}"
        low, high = (_checked(end, where=where, expected="two finite numbers") for end in ends)
        if not math.isfinite(high - low) or low >= high or name in metrics.half_life:
            raise ConfigError(
                f"bounds {low:g} and {high:g}", where=where, expected="the lower first, and no half-life beside them"
            )
    for name, half in metrics.half_life.items():
        where = f"multi_metric.half_life.{name}"
        if _checked(half, where=where, expected="a number above 0") <= 0:
            raise ConfigError(f"a half-life of {half:g}", where=where, expected="a number above 0")


def _checked(value: float, *, where: str, expected: str, low: float = -math.inf, high: float = math.inf) -> float:
    try:
        return finite(value, low=low, high=high)
    except ValueError as error:
        raise ConfigError(str(error), where=where, expected=expected) from None
