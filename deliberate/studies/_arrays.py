"""The door to numpy and scipy, and what studies do with tables of votes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, cast

from deliberate.errors import ConfigError, MissingExtra

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Ints = NDArray[np.intp]

__all__ = ["Choice", "chosen", "need_stats", "rows_from", "table_from", "winners"]

Choice = Literal["plurality", "median", "mean"]
_TIED = 1e-9


def need_stats(need: str) -> None:
    """Makes sure that numpy and scipy are there.

    Raises:
        MissingExtra: They are not.
    """
    if not all(find_spec(name) for name in ("numpy", "scipy")):
        raise MissingExtra("stats", need=need)


def table_from(items: Sequence[Sequence[float | None]], *, where: str) -> Array:
    """Rows of votes as items × columns, nan where missing.

    Raises:
        ConfigError: Rows of different length.
    """
    import numpy as np

    widths = {len(row) for row in items}
    if len(widths) > 1:
        raise ConfigError(
            f"rows of {sorted(widths)} votes", where=where, expected="one vote for each judge, None if missing"
        )
    rows = [[math.nan if one is None else float(one) for one in row] for row in items]
    return np.array(rows, dtype=np.float64).reshape(len(rows), next(iter(widths), 0))


def rows_from(table: Array) -> Sequence[Sequence[float | None]]:
    """A table as statistics take it: an array serves."""
    return cast("Sequence[Sequence[float | None]]", table)


def winners(votes: Array, levels: int, *, weights: Sequence[float] | None = None) -> Array:
    """The label that wins on each item by (weighted) plurality; nan without a vote.

    A tie goes to the label nearest to the ordered median, the lower on a draw, as in the recorded figures.

    Args:
        votes: Items × judges: positions 0, 1, … of labels, nan where missing.
        levels: How many labels there are.
        weights: One a judge, 0 or more; None: equal.
    """
    import numpy as np

    weight = np.ones(votes.shape[1]) if weights is None else np.asarray(weights, dtype=np.float64)
    counts = np.zeros((len(votes), levels))
    for label in range(levels):
        counts[:, label] = (votes == label) @ weight
    total = counts.sum(axis=1)
    middle = _median(counts)
    tied = counts >= counts.max(axis=1, keepdims=True) - _TIED
    apart = np.abs(np.arange(levels)[None, :] - middle[:, None])
    best = np.argmin(np.where(tied, apart, np.inf), axis=1).astype(np.float64)
    return np.where(total > 0, best, np.nan)


def chosen(votes: Array, levels: int, *, rule: Choice, weights: Sequence[float] | None = None) -> Array:
    """The label a rule gives each item: ``plurality``, ordered ``median`` (lower middle), or rounded ``mean``."""
    import numpy as np

    if rule == "plurality":
        return winners(votes, levels, weights=weights)
    heard = (~np.isnan(votes)).sum(axis=1)
    if rule == "mean":
        mean = np.nansum(votes, axis=1) / np.where(heard > 0, heard, 1)
        return np.where(heard > 0, np.floor(mean + 0.5), np.nan)
    counts = np.stack([(votes == label).sum(axis=1) for label in range(levels)], axis=1).astype(np.float64)
    return np.where(heard > 0, _median(counts), np.nan)


def _median(counts: Array) -> Array:
    """The lower median label of each row of counts."""
    import numpy as np

    below = np.cumsum(counts, axis=1)
    half = below[:, -1:] / 2
    found: Array = np.argmax(below >= half - _TIED, axis=1).astype(np.float64)
    return found
