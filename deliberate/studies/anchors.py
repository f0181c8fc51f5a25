"""Weights of judges from gold labels (anchors), never from agreement alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from deliberate.errors import ConfigError
from deliberate.studies._arrays import need_stats, table_from, winners
from deliberate.types import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["FEWEST_ANCHORS", "Anchored", "anchor_weights"]

FEWEST_ANCHORS = 20
"""Anchors below which all judges weigh the same."""


class Anchored(Record, frozen=True, kw_only=True):
    """Weights, and what they change on the anchors themselves.

    Attributes:
        weights: One a judge, 0 or more; all 1 where ``learnt`` is False.
        learnt: Whether there were enough anchors, and a judge better than chance.
        n: Anchors; ``missing``: votes missing on them.
        right: Share of anchors each judge has right, of those it voted on.
        before: Share that plurality with equal weights has right; ``after``: with weights learnt on the *other* anchors
            (leave one out).
        best: The judge with the highest share on the anchors, and ``best_right`` that share, which flatters it: it was
            chosen on the same anchors.
    """

    judges: tuple[str, ...]
    weights: tuple[float, ...]
    learnt: bool
    n: int
    missing: int
    right: tuple[float | None, ...]
    before: float
    after: float
    best: str
    best_right: float
    reason: str

    @property
    def lines(self) -> tuple[str, ...]:
        """What to print, before and after."""
        return (
            f"{self.reason} ({self.n} anchors, {self.missing} votes missing)",
            f"panel before: {self.before:.3f} right; after, weights from the other anchors: {self.after:.3f}",
            f"best single judge on the anchors: {self.best}, {self.best_right:.3f} (chosen on them, so flattered)",
        )


def anchor_weights(
    votes: Sequence[Sequence[int | None]], gold: Sequence[int], *, levels: int, judges: Sequence[str] = ()
) -> Anchored:
    """Weights by log-odds of being right, floor 0; equal below 20 anchors.

    w = max(0, ln(a (q − 1) / (1 − a))) with a = (right + 1) / (n + 2) and q labels: the weights under which a weighted
    plurality of independent judges is most often right.

    Args:
        votes: Anchors × judges: positions of labels, None where missing.
        gold: What is right, one an anchor.
        levels: How many labels there are.
        judges: Their names.

    Raises:
        MissingExtra: numpy is not installed.
        ConfigError: No anchors, or not one gold label for each.

    Nitzan and Paroush (1982), Optimal decision rules in uncertain dichotomous choice situations, doi:10.2307/2526438,
    theorem 1; smoothing: Laplace's rule of succession.
    """
    need_stats("anchor_weights")
    import numpy as np

    if not votes or len(votes) != len(gold):
        raise ConfigError(f"{len(gold)} gold labels for {len(votes)} items", where="anchors", expected="one each")
    table, truth = table_from(votes, where="anchors"), np.asarray(gold, dtype=np.float64)
    names = tuple(judges) or tuple(f"judge {at + 1}" for at in range(table.shape[1]))
    heard, right = ~np.isnan(table), table == truth[:, None]
    shares = [float(r.sum() / h.sum()) if h.any() else None for r, h in zip(right.T, heard.T, strict=True)]
    enough = len(gold) >= FEWEST_ANCHORS
    weights = _weights(right.sum(axis=0), heard.sum(axis=0), levels)
    learnt = enough and bool(weights.any())
    best = max(range(len(names)), key=lambda at: (shares[at] or 0.0, -at))
    before = float((winners(table, levels) == truth).mean())
    return Anchored(
        judges=names,
        weights=tuple(map(float, weights)) if learnt else (1.0,) * len(names),
        learnt=learnt,
        n=len(gold),
        missing=int((~heard).sum()),
        right=tuple(shares),
        before=before,
        after=_left_out(table, truth, right, heard, levels) if learnt else before,
        best=names[best],
        best_right=shares[best] or 0.0,
        reason=_reason(learnt=learnt, enough=enough),
    )


def _reason(*, learnt: bool, enough: bool) -> str:
    if learnt:
        return "weights by log-odds of being right on the anchors"
    return (
        "equal weights: no judge is better than chance" if enough else f"equal weights below {FEWEST_ANCHORS} anchors"
    )


def _weights(right: Array, heard: Array, levels: int) -> Array:
    import numpy as np

    share = (right + 1) / (heard + 2)
    found: Array = np.maximum(0.0, np.log(share / (1 - share)) + math.log(max(1, levels - 1)))
    return np.where(heard > 0, found, 0.0)


def _left_out(table: Array, truth: Array, right: Array, heard: Array, levels: int) -> float:
    """How often the panel is right on an anchor, with weights from all the others."""
    import numpy as np

    total, voted = right.sum(axis=0), heard.sum(axis=0)
    found = 0
    for at in range(len(truth)):
        weights = _weights(total - right[at], voted - heard[at], levels)
        weights = weights if weights.any() else np.ones(len(weights))
        found += bool(winners(table[at : at + 1], levels, weights=tuple(weights))[0] == truth[at])
    return found / len(truth)
