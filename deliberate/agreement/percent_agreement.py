"""The share of pairs of raters that gave the same label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from deliberate.agreement._statistic import Additive, Facts, counts_of, levels_in, share, statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["percent_agreement"]


def _plan(table: Array) -> Additive:
    import numpy as np

    levels = levels_in(table)

    def features(block: Array) -> Array:
        counts = counts_of(block, levels)
        votes = counts.sum(axis=1)
        return np.stack([(counts * (counts - 1)).sum(axis=1), votes * (votes - 1)], axis=1)

    return Additive(features, share, 2)


@statistic(Facts(plan=_plan, chance=None, least=0.0, ties="labels that are alike agree"))
def percent_agreement(items: Iterable[Sequence[float | None]]) -> float | None:
    """Observed agreement, over all pairs of votes on the same item.

    Args:
        items: Items × raters; each value is a level, None where the rater gave none.

    Returns:
        0–1: 1 if all pairs agree. None ("undefined") if no item has two votes. Every pair counts once, so an item
        with more votes weighs more. Chance is not corrected for: two raters who always say "good" reach 1.

    The observed agreement of Fleiss (1971), Measuring nominal scale agreement among many raters,
    doi:10.1037/h0031619, p. 379, pooled over pairs so that items may have unequal numbers of votes.

    >>> percent_agreement([(2, 2, 1)]), percent_agreement([(2, None)])
    (0.3333333333333333, None)
    """
    agreeing = pairs = 0
    for item in items:
        votes = Counter(label for label in item if label is not None)
        total = votes.total()
        pairs += total * (total - 1) // 2
        agreeing += sum(count * (count - 1) // 2 for count in votes.values())
    return agreeing / pairs if pairs else None
