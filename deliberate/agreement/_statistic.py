"""What a statistic declares about itself, and the table it reads."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from deliberate.errors import MissingExtra
from deliberate.types import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = [
    "Additive",
    "Facts",
    "Items",
    "Plan",
    "Whole",
    "complete_rows",
    "counts_of",
    "facts_of",
    "levels_in",
    "point",
    "ratio",
    "share",
    "shares_of",
    "statistic",
    "summed",
    "table_of",
    "value_of",
]

Items = Iterable[Sequence[float | None]]
"""Items × raters; None (or nan) where a rater gave no vote. A numpy array of floats serves as well."""

_BLOCK = 2_000_000
"""Numbers held at once while sums are made."""


class Additive(NamedTuple):
    """A statistic that is a function of sums over items.

    Attributes:
        features: Rows of a table -> rows × features: what each item adds.
        value: … × features, summed -> the statistic of each; nan where undefined.
        width: How many features there are.
    """

    features: Callable[[Array], Array]
    value: Callable[[Array], Array]
    width: int


class Whole(NamedTuple):
    """A statistic that must see all items at once, as ranks do; nan where undefined."""

    compute: Callable[[Array], float]


Plan = Additive | Whole
Planner = Callable[..., Plan]


class Facts(Record, frozen=True, kw_only=True):
    """What a statistic says of itself.

    Attributes:
        plan: Table and parameters -> how it is computed.
        perfect: Its value where all raters always agree and labels vary; None: it has none.
        chance: Its value for independent votes, in the limit; None: it depends on how many raters and labels there are.
        least: Its lowest value; ``most``: its highest; None: no bound.
        ties: What it does with votes that are alike.
        raters: How many columns it takes; None: two or more.
        gold: The last column is what is right, not a rater; the others may change places, it may not.
        complete: Items with a missing vote are left out.
    """

    plan: Planner
    perfect: float | None = 1.0
    chance: float | None = 0.0
    least: float | None = -1.0
    most: float | None = 1.0
    ties: str
    raters: int | None = None
    gold: bool = False
    complete: bool = False


_F = TypeVar("_F", bound=Callable[..., float | None])


def statistic(facts: Facts) -> Callable[[_F], _F]:
    """Declares a function to be a statistic with these facts."""

    def declared(function: _F) -> _F:
        cast("Any", function).facts = facts
        return function

    return declared


def facts_of(function: Callable[..., float | None]) -> Facts:
    """What a statistic says of itself."""
    return cast("Facts", cast("Any", function).facts)


def table_of(items: Items, *, facts: Facts, need: str) -> Array:
    """The ratings as items × raters, nan where missing.

    Args:
        items: Items × raters, all rows of one length.
        facts: What the statistic takes.
        need: Its name, for messages.

    Raises:
        MissingExtra: numpy is not installed.
        ValueError: Rows of different length, a number of columns the statistic does not take, an infinite rating.
    """
    try:
        import numpy as np
    except ImportError:
        raise MissingExtra("stats", need=need) from None
    if isinstance(items, np.ndarray):
        table = np.asarray(items, dtype=np.float64)
    else:
        rows = [list(row) for row in items]
        widths = {len(row) for row in rows}
        if len(widths) > 1:
            raise ValueError(f"{need}: rows of {sorted(widths)} ratings; expected one for each rater, None if missing")
        table = np.array([[math.nan if one is None else one for one in row] for row in rows], dtype=np.float64)
        table = table.reshape(len(rows), next(iter(widths), facts.raters or 0))
    if facts.raters is not None and table.shape[1] != facts.raters:
        raise ValueError(f"{need} takes {facts.raters} columns, not {table.shape[1]}")
    if np.isinf(table).any():
        raise ValueError(f"{need}: a rating is infinite; expected finite numbers, None if missing")
    return table


def point(function: Callable[..., float | None], items: Items, **params: object) -> float | None:
    """The value of a statistic; None where it is undefined."""
    facts = facts_of(function)
    table = table_of(items, facts=facts, need=getattr(function, "__name__", "a statistic"))
    found = value_of(facts.plan(table, **params), table)
    return None if math.isnan(found) else found


def value_of(plan: Plan, table: Array) -> float:
    """The value of a plan on a table; nan where undefined."""
    if isinstance(plan, Whole):
        return float(plan.compute(table))
    return float(plan.value(summed(plan, table)))


def summed(plan: Additive, table: Array, weights: Array | None = None) -> Array:
    """The features summed over items, a block of items at a time.

    Args:
        plan: Whose features.
        table: Items × raters.
        weights: Draws × items, how often each item counts; None: once.
    """
    import numpy as np

    sums: Array = np.zeros((plan.width,) if weights is None else (len(weights), plan.width))
    step = max(1, _BLOCK // max(1, plan.width))
    for start in range(0, len(table), step):
        features = plan.features(table[start : start + step])
        sums += features.sum(axis=0) if weights is None else weights[:, start : start + step] @ features
    return sums


def ratio(above: Array, below: Array) -> Array:
    """``above / below``; nan where ``below`` is 0: undefined, not 0 and not 1."""
    import numpy as np

    safe = np.where(below == 0, 1.0, below)
    return np.where(below == 0, np.nan, above / safe)


def share(sums: Array) -> Array:
    """The first of two sums over the second."""
    return ratio(sums[..., 0], sums[..., 1])


def levels_in(table: Array) -> Array:
    """The distinct labels that occur, ascending."""
    import numpy as np

    found: Array = np.unique(table[~np.isnan(table)])
    return found


def counts_of(block: Array, levels: Array) -> Array:
    """Items × levels: how many raters gave each."""
    import numpy as np

    found: Array = np.zeros((len(block), len(levels)))
    for at, level in enumerate(levels):
        found[:, at] = (block == level).sum(axis=1)
    return found


def shares_of(block: Array, levels: Array) -> Array:
    """Per item: share of pairs that agree, whether there are pairs, whether it was rated, and each label's share."""
    import numpy as np

    counts = counts_of(block, levels)
    votes = counts.sum(axis=1)
    pairs = votes * (votes - 1)
    agreed = (counts * (counts - 1)).sum(axis=1) / np.where(pairs > 0, pairs, 1)
    shares = counts / np.where(votes > 0, votes, 1)[:, None]
    return np.column_stack([agreed, pairs > 0, votes > 0, shares]).astype(np.float64)


def complete_rows(table: Array) -> Array:
    """The items that every rater who voted at all has rated."""
    import numpy as np

    seen = table[:, ~np.isnan(table).all(axis=0)] if len(table) else table
    return seen[~np.isnan(seen).any(axis=1)]
