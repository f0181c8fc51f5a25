"""Details of a study: how a judge behaves, where people are sure, what is disagreed on, what a share of votes means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deliberate.plugins import part
from deliberate.studies._arrays import chosen, rows_from
from deliberate.studies._figures import Conduct, Disagreement, LengthBin, Stratum
from deliberate.studies._truth import Truth
from deliberate.studies.reliability import Reliability, reliability
from deliberate.studies.votes import VoteTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["conduct_of", "confusion_of", "disagreements", "length_bins", "share_reliability", "strata_of"]

_FEWEST_ITEMS = 2
_MOST_LISTED = 25
_LENGTH_BINS = 6
_FEWEST_IN_BINS = 30


def conduct_of(table: VoteTable, truth: Truth, name: str, votes: Array) -> Conduct | None:
    import numpy as np

    if name not in table.asked:
        return None
    asked, unread = table.asked[name]
    apart = votes - truth.whole
    both = ~np.isnan(apart) & ~np.isnan(table.length)
    length = None
    if both.sum() > _FEWEST_ITEMS:
        length = part("agreement", "spearman")(rows_from(np.column_stack([apart[both], table.length[both]])))

    def mean(found: Array | NDArray[np.bool_] | None, times: float = 1.0) -> float | None:
        return float(found.mean()) * times if found is not None and len(found) else None

    seconds = table.latency.get(name)
    return Conduct(
        asked=asked,
        self_flip=mean(table.repeats.get(name)),
        order_flip=mean(table.swaps.get(name)),
        length_bias=length,
        unread=unread / asked if asked else 0.0,
        latency_seconds=float(np.median(seconds)) if seconds is not None and len(seconds) else None,
        cost_usd=mean(table.cost.get(name), 100),
    )


def length_bins(table: VoteTable, truth: Truth, votes: Array) -> tuple[LengthBin, ...]:
    """Vote − people's label by how long the output is: items in bins of equal count; () where lengths are unknown."""
    import numpy as np

    apart = votes - truth.whole
    both = np.flatnonzero(~np.isnan(apart) & ~np.isnan(table.length))
    if len(both) < _FEWEST_IN_BINS or len(np.unique(table.length[both])) < _LENGTH_BINS:
        return ()
    order = both[np.argsort(table.length[both], kind="stable")]
    return tuple(
        LengthBin(length=float(np.median(table.length[one])), n=len(one), bias=float(apart[one].mean()))
        for one in np.array_split(order, _LENGTH_BINS)
    )


def strata_of(table: VoteTable, truth: Truth, votes: Array) -> tuple[Stratum, ...]:
    """Items by how many people said what most said."""
    import numpy as np

    people = table.people
    heard = (~np.isnan(people)).sum(axis=1)
    if heard.max(initial=0) < _FEWEST_ITEMS:
        return ()
    most = chosen(people, truth.levels, rule="plurality")
    same = (people == most[:, None]).sum(axis=1)
    kinds = sorted({(int(h), int(s)) for h, s in zip(heard, same, strict=True) if h >= _FEWEST_ITEMS}, reverse=True)
    found: list[Stratum] = []
    for total, alike in kinds:
        here = (heard == total) & (same == alike) & ~np.isnan(votes)
        exact = float((votes[here] == most[here]).mean()) if here.any() else None
        found.append(Stratum(certainty=f"{alike} of {total}", n=int(here.sum()), exact=exact))
    return tuple(found)


def confusion_of(truth: Truth, votes: Array) -> tuple[tuple[int, ...], ...]:
    """Labels of people × votes."""
    import numpy as np

    whole, size = truth.whole, truth.levels
    both = ~np.isnan(votes) & ~np.isnan(whole)
    cells = np.bincount((whole[both] * size + votes[both]).astype(int), minlength=size * size)
    return tuple(tuple(int(one) for one in row) for row in cells.reshape(size, size))


def disagreements(table: VoteTable, truth: Truth) -> tuple[Disagreement, ...]:
    """The items on which most judges differ from people, the most first."""
    import numpy as np

    whole, labels = truth.whole, table.scale.labels
    wrong = ((table.votes != whole[:, None]) & ~np.isnan(table.votes)).sum(axis=1)
    wrong = np.where(np.isnan(whole), 0, wrong)
    order = [int(at) for at in np.lexsort((np.arange(len(wrong)), -wrong))[:_MOST_LISTED]]
    return tuple(
        Disagreement(
            item=table.items[at],
            gold=labels[int(whole[at])],
            wrong=int(wrong[at]),
            votes=tuple(
                (name, labels[int(vote)])
                for name, vote in zip(table.judges, table.votes[at], strict=True)
                if not np.isnan(vote)
            ),
        )
        for at in order
        if wrong[at]
    )


def share_reliability(table: VoteTable, truth: Truth, together: Array) -> Reliability | None:
    """Vote share of the panel's label against how often it is right."""
    import numpy as np

    if len(table.judges) < 3:  # noqa: PLR2004  the share of one or two votes says nothing
        return None
    votes, whole = table.votes, truth.whole
    use = ~np.isnan(together) & ~np.isnan(whole)
    if not use.any():
        return None
    share = (votes == together[:, None]).sum(axis=1)[use] / (~np.isnan(votes)).sum(axis=1)[use]
    return reliability([float(one) for one in share], [bool(one) for one in (together == whole)[use]])
