"""A statistic with all that must be said with it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from deliberate.agreement._statistic import Additive, Items, Plan, facts_of, summed, table_of, value_of
from deliberate.plugins import part
from deliberate.types import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["INTERVAL_RULE", "Measured", "draws_of", "measure", "sampled"]

INTERVAL_RULE = "percentile bootstrap over items"
_MOST_CELLS = 4_000_000
_MOST_UNDEFINED = 0.05
"""The share of draws that may be undefined before an interval is."""


class Measured(Record, frozen=True, kw_only=True):
    """One statistic of one table of ratings.

    Attributes:
        value: None: undefined.
        low: Lower end of the interval, ``high`` its upper end; None: not asked for, or undefined.
        n: Items it was computed on: with two votes or more, or complete ones where the statistic asks for that.
        missing: Votes missing in the table; they never count as a category.
        raters: Columns of the table.
        ties: What the statistic does with votes that are alike.
        interval: How the interval was made; "" if there is none.
        confidence: Nominal coverage of the interval, 0–1.
    """

    statistic: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int
    missing: int
    raters: int
    ties: str
    interval: str = ""
    confidence: float = 0.95


def measure(
    name: str,
    items: Items,
    params: Mapping[str, object] | None = None,
    *,
    draws: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Measured:
    """A statistic of the room, by name, with n, missing votes, its tie rule and an interval.

    The interval is the percentile bootstrap over items: items are drawn with replacement, all votes of an item stay
    together. Efron (1979), Bootstrap methods, doi:10.1214/aos/1176344552; Efron and Tibshirani (1993), ch. 13,
    doi:10.1201/9780429246593. Draws in which the statistic is undefined are left out; where they are more than 5 %,
    there is no interval. It is too narrow on fewer than about 30 items.

    Args:
        name: The statistic's name (``"krippendorff_alpha"``).
        items: Items × raters, None where missing.
        params: Parameters of the statistic, by name.
        draws: Bootstrap samples; 0: no interval.
        seed: Of the generator that draws them: the same seed gives the same interval.
        confidence: Nominal coverage, above 0 and below 1.

    Raises:
        UnknownName: There is no such statistic.
        MissingExtra: numpy is not installed.
        ValueError: Ratings the statistic cannot take.

    >>> found = measure("cohen_kappa", [(0, 0), (1, 1), (1, None), (0, 1)] * 20, {"weights": "none"})
    >>> found.value, found.n, found.missing, found.low < 0.4 < found.high
    (0.4, 60, 20, True)
    """
    function = part("agreement", name)
    facts = facts_of(function)
    table = table_of(items, facts=facts, need=name)
    import numpy as np

    plan = facts.plan(table, **(params or {}))
    value = value_of(plan, table)
    heard = (~np.isnan(table)).sum(axis=1)
    voted = (~np.isnan(table)).any(axis=0).sum()
    enough = heard >= (max(2, voted) if facts.complete else 2)
    low, high = _interval(draws_of(plan, table, draws=draws, seed=seed), confidence) if draws else (None, None)
    return Measured(
        statistic=name,
        value=None if math.isnan(value) else value,
        low=None if math.isnan(value) else low,
        high=None if math.isnan(value) else high,
        n=int(enough.sum()),
        missing=int(np.isnan(table).sum()),
        raters=int(table.shape[1]),
        ties=facts.ties,
        interval=f"{INTERVAL_RULE}, {draws} draws, seed {seed}" if draws else "",
        confidence=confidence,
    )


def sampled(name: str, items: Items, params: Mapping[str, object] | None = None, *, draws: int, seed: int) -> Array:
    """A statistic of each bootstrap sample of items; nan where undefined.

    The same seed draws the same items, so that two raters of the same items can be compared sample by sample.

    Args:
        name: The statistic's name.
        items: Items × raters, None or nan where missing.
        params: Parameters of the statistic, by name.
        draws: How many samples.
        seed: Of the generator that draws them.

    Raises:
        UnknownName: There is no such statistic.
        MissingExtra: numpy is not installed.
        ValueError: Ratings the statistic cannot take.
    """
    facts = facts_of(part("agreement", name))
    table = table_of(items, facts=facts, need=name)
    return draws_of(facts.plan(table, **(params or {})), table, draws=draws, seed=seed)


def draws_of(plan: Plan, table: Array, *, draws: int, seed: int) -> Array:
    """The statistic of each bootstrap sample of items; nan where undefined."""
    import numpy as np

    rng = np.random.default_rng(seed)
    count = len(table)
    if not count:
        return np.full(draws, np.nan)
    if not isinstance(plan, Additive):
        return np.array([plan.compute(table[rng.integers(count, size=count)]) for _ in range(draws)])
    found: list[Array] = []
    batch = max(1, min(draws, _MOST_CELLS // max(count, plan.width)))
    for start in range(0, draws, batch):
        size = min(batch, draws - start)
        weights = np.stack([np.bincount(rng.integers(count, size=count), minlength=count) for _ in range(size)])
        found.append(plan.value(summed(plan, table, weights.astype(np.float64))))
    return np.concatenate(found)


def _interval(values: Array, confidence: float) -> tuple[float | None, float | None]:
    import numpy as np

    kept = values[~np.isnan(values)]
    if len(kept) < (1 - _MOST_UNDEFINED) * len(values):
        return None, None
    low, high = np.quantile(kept, ((1 - confidence) / 2, (1 + confidence) / 2))
    return float(low), float(high)
