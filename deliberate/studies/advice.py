"""Which panel to use: sub-panels and rules tried on recorded votes, chosen on other items than they are held to.

The best panel of many tried looks better than it is. So items are split into folds: on all folds but one the best panel
of each cost is chosen, on the one left out it is measured. The best single judge goes through the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from deliberate.agreement.cohen_kappa import cohen_kappa
from deliberate.errors import ConfigError
from deliberate.studies._arrays import Choice, chosen, need_stats, table_from
from deliberate.studies._weights import Weights
from deliberate.types import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["Advice", "PanelChoice", "advise"]

_MOST_PANELS = 600
_FEWEST = 20


class _Option(NamedTuple):
    seats: list[int]
    rule: Choice


_RULES: tuple[Choice, ...] = ("plurality", "median", "mean")


class PanelChoice(Record, frozen=True, kw_only=True):
    """The best panel of a size or cost.

    Attributes:
        judges: Chosen on all items; ``rule``: how their votes become one.
        cost: Of one item, in the unit given; the number of calls where no costs are.
        kappa: Cross-validated: of the panels chosen on the other folds.
        kappa_seen: Of this panel on the items it was chosen on, which flatters it.
    """

    judges: tuple[str, ...]
    rule: str
    cost: float
    kappa: float | None
    kappa_seen: float | None


class Advice(Record, frozen=True, kw_only=True):
    """The front of cost against agreement, and the best single judge on the same labels.

    Attributes:
        front: Panels no cheaper one of which agrees better, the cheapest first.
        single: The best single judge, chosen and measured in the same way.
        tried: How many panels and rules; ``n``: items with a label.
    """

    front: tuple[PanelChoice, ...]
    single: PanelChoice
    tried: int
    n: int
    missing: int
    folds: int


def advise(
    votes: Sequence[Sequence[int | None]],
    gold: Sequence[int],
    *,
    judges: Sequence[str],
    levels: int,
    costs: Mapping[str, float] | None = None,
    weights: Weights = "quadratic",
    most_seats: int = 5,
    folds: int = 5,
    seed: int = 0,
) -> Advice:
    """The panels worth their cost.

    Args:
        votes: Items × judges: positions of labels, None where missing.
        gold: What is right, one an item.
        judges: Their names.
        levels: How many labels there are.
        costs: Of one vote of each judge; None: every vote costs 1.
        weights: Of kappa.
        most_seats: Of a panel. Where there are more than 600 panels, the judges best alone come first.
        folds: Of the cross-validation.
        seed: Of the split into folds.

    Raises:
        MissingExtra: numpy is not installed.
        ConfigError: Not one label an item and one name a judge, fewer than 20 items, or a judge without a cost.

    Cross-validation: Stone (1974), doi:10.1111/j.2517-6161.1974.tb00994.x.
    """
    need_stats("advise")
    import numpy as np

    table = table_from(votes, where="advise")
    _check(table, gold, judges, costs)
    price = [1.0 if costs is None else costs[name] for name in judges]
    truth = np.asarray(gold, dtype=np.float64)
    options = _options(table, truth, weights, most_seats)
    said = [chosen(table[:, seats], levels, rule=rule) for seats, rule in options]
    cost = [sum(price[at] for at in seats) for seats, _ in options]
    parts = _parts(len(gold), folds, seed)

    def kappas(rows: NDArray[np.intp]) -> list[float]:
        return [_kappa(one[rows], truth[rows], weights) for one in said]

    every = np.arange(len(gold))
    seen, training = kappas(every), [kappas(np.setdiff1d(every, part)) for part in parts]

    def choice(among: Sequence[int]) -> PanelChoice:
        best = max(among, key=lambda at: (seen[at], -at))
        held = np.full(len(gold), np.nan)
        for part, trained in zip(parts, training, strict=True):
            held[part] = said[max(among, key=lambda at: (trained[at], -at))][part]
        seats, rule = options[best]
        return PanelChoice(
            judges=tuple(judges[at] for at in seats),
            rule=rule,
            cost=cost[best],
            kappa=_or_none(_kappa(held, truth, weights)),
            kappa_seen=_or_none(seen[best]),
        )

    sizes = sorted({len(seats) for seats, _ in options})
    found = [choice([at for at, (seats, _) in enumerate(options) if len(seats) == size]) for size in sizes]
    return Advice(
        front=_front(found),
        single=found[0],
        tried=len(options),
        n=len(gold),
        missing=int(np.isnan(table).sum()),
        folds=folds,
    )


def _check(table: Array, gold: Sequence[int], judges: Sequence[str], costs: Mapping[str, float] | None) -> None:
    """Whether there is one label an item, one name a judge, and one cost a judge if there are any.

    Raises:
        ConfigError: There is not, or there are too few items.
    """
    items, seats = table.shape
    if items != len(gold) or items < _FEWEST or seats != len(judges):
        what = f"{len(gold)} labels for {items} items, {len(judges)} names for {seats} judges"
        raise ConfigError(what, where="advise", expected=f"one each, and at least {_FEWEST} items")
    lacking = [name for name in judges if costs is not None and name not in costs]
    if lacking:
        raise ConfigError(f"no cost of {lacking[0]}", where="advise", expected="one a judge")


def _parts(items: int, folds: int, seed: int) -> list[NDArray[np.intp]]:
    """The items of each fold, drawn by the seed."""
    import numpy as np

    order = Random(seed).sample(range(items), items)
    return [np.array(sorted(order[at::folds]), dtype=np.intp) for at in range(folds)]


def _front(found: Sequence[PanelChoice]) -> tuple[PanelChoice, ...]:
    """Of the best of each size, those that no cheaper one beats, the cheapest first."""
    front: list[PanelChoice] = []
    for one in sorted(found, key=lambda one: one.cost):
        if not front or (one.kappa or -2.0) > (front[-1].kappa or -2.0):
            front.append(one)
    return tuple(front)


def _options(table: Array, truth: Array, weights: Weights, most_seats: int) -> list[_Option]:
    """Seats and rule of every panel that is tried; one judge needs no rule."""
    alone = [_kappa(table[:, at], truth, weights) for at in range(table.shape[1])]
    order = sorted(range(len(alone)), key=lambda at: (-alone[at], at))
    found: list[_Option] = [_Option([at], "plurality") for at in sorted(order)]
    for size in range(2, min(most_seats, len(order)) + 1):
        room = _MOST_PANELS // most_seats
        kept = next(count for count in range(len(order), size - 1, -1) if count == size or comb(count, size) <= room)
        found += [_Option(sorted(seats), rule) for seats in combinations(order[:kept], size) for rule in _RULES]
    return found


def _kappa(votes: Array, truth: Array, weights: Weights) -> float:
    """Kappa; below any where it is undefined."""
    import numpy as np

    found = cohen_kappa(np.column_stack([votes, truth]), weights=weights)
    return -2.0 if found is None else found


def _or_none(kappa: float) -> float | None:
    return None if kappa < -1 else kappa
