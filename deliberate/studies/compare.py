"""Which judges agree with people as well as people agree with each other, and what each is worth.

``compare_votes`` takes a table of votes and gives a ``Study``: one row a judge, between the row of people left out one
at a time (the ceiling) and a constant predictor (the floor), with intervals from the same bootstrap samples of items,
so that two judges can be told apart on the items both saw.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, cast

import msgspec

from deliberate.agreement import measure, pairwise_kappa, sampled
from deliberate.errors import ConfigError
from deliberate.plugins import part
from deliberate.studies._answer import answer
from deliberate.studies._arrays import Choice, chosen, need_stats
from deliberate.studies._study import Conduct, Difference, Disagreement, Estimate, RaterRow, Stratum, Study, Weights
from deliberate.studies.reliability import Reliability, reliability
from deliberate.studies.votes import VoteTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["Conduct", "Difference", "Disagreement", "Estimate", "RaterRow", "Stratum", "Study", "compare_votes"]

_FEWEST_ITEMS = 2
_MOST_LISTED = 25
_Z_POWER = 0.8416  # of 80 %
_Z_TEST = 1.96  # of 5 %, two-sided


class _Truth:
    """What people say: one column a person left out, or one column of gold."""

    def __init__(self, table: VoteTable, rule: Choice) -> None:
        import numpy as np

        self.levels = len(table.scale.labels)
        self.people = table.people
        several = (~np.isnan(table.people)).sum(axis=1).max(initial=0) > 1
        self.left: list[Array] = []
        if several:
            self.left = [
                chosen(np.delete(table.people, at, axis=1), self.levels, rule=rule)
                for at in range(table.people.shape[1])
            ]
        self.whole: Array = table.gold if table.gold is not None else chosen(table.people, self.levels, rule=rule)
        given = table.gold is not None
        self.columns = [self.whole] if given or not several else self.left
        self.said = "the column of gold labels" if given else _said(table, several=several)


def _said(table: VoteTable, *, several: bool) -> str:
    count = len(table.humans)
    if several:
        return f"what most of {count} people say, each left out in turn"
    return f"the labels of {count} people, one an item" if count > 1 else f"the labels of {table.humans[0]}"


def compare_votes(
    table: VoteTable,
    *,
    weights: Weights | None = None,
    rule: Choice = "plurality",
    cut: float | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> Study:
    """Holds every judge of a table against its people.

    Kappa is quadratic where labels are ordered, else unweighted, on the full scale. A judge and a person are held
    against the same thing: what most of the *other* people say, averaged over the person left out; ties go to the label
    nearest to the median, the lower on a draw. Intervals: percentile bootstrap over items.

    Args:
        table: Votes, from ``read_votes``.
        weights: Of kappa.
        rule: How votes of a panel, and of people, become one.
        cut: Votes above this are 1, others 0, where gold says only good or not; None: the middle of the scale.
        draws: Bootstrap samples.
        seed: Of the generator that draws them.

    Raises:
        MissingExtra: numpy and scipy are not installed.
        ConfigError: No judges, or no label of people on two items.
    """
    need_stats("compare")
    if not table.judges:
        raise ConfigError("all raters are people", where="compare", expected="at least one judge")
    if table.gold is None and not table.humans:
        expected = 'rows with "kind": "human", --human RATER, or --gold COLUMN'
        raise ConfigError("no labels of people to hold judges against", where="compare", expected=expected)
    table = _cut(table, cut)
    truth = _Truth(table, rule)
    import numpy as np

    if (~np.isnan(truth.whole)).sum() < _FEWEST_ITEMS:
        raise ConfigError("fewer than two items have a label of people", where="compare", expected="two or more")
    made: Weights = weights or ("quadratic" if table.scale.ordered else "none")
    return _Maker(table, truth, weights=made, rule=rule, draws=draws, seed=seed).study()


def _cut(table: VoteTable, cut: float | None) -> VoteTable:
    """Votes as 0 and 1, where gold knows no more than that."""
    import numpy as np

    labels = table.scale.labels
    if table.gold is None:
        if cut is not None:
            raise ConfigError("votes are cut only to be held against gold labels of 0 and 1", where="--cut")
        return table
    said = {labels[int(at)] for at in np.unique(table.gold[~np.isnan(table.gold)])}
    more = len(np.unique(table.votes[~np.isnan(table.votes)])) > _FEWEST_ITEMS
    if not (said <= {"0", "1"} and table.scale.ordered and more):
        return table
    numbers = np.array([float(label) for label in labels])
    edge = float(numbers.mean()) if cut is None else cut
    made = VoteTable(
        msgspec.structs.replace(table.scale, labels=("0", "1"), ordered=False), table.items, table.judges, table.humans
    )

    def above(votes: Array) -> Array:
        heard = ~np.isnan(votes)
        found: Array = np.full(votes.shape, np.nan)
        found[heard] = numbers[votes[heard].astype(int)] > edge
        return found

    made.votes, made.people = above(table.votes), above(table.people)
    zero = labels.index("0")
    made.gold = table.gold - zero
    for name in ("asked", "repeats", "swaps", "latency", "cost", "length"):
        setattr(made, name, getattr(table, name))
    middle = "the middle of the scale, --cut says otherwise" if cut is None else "--cut"
    made.notes = [*table.notes, f"gold is 0 or 1: votes above {edge:g} count as 1, others as 0 ({middle})"]
    return made


class _Maker:
    """Works out a study; what its parts share."""

    def __init__(
        self, table: VoteTable, truth: _Truth, *, weights: Weights, rule: Choice, draws: int, seed: int
    ) -> None:
        self.table = table
        self.truth = truth
        self.weights: Weights = weights
        self.rule: Choice = rule
        self.draws = draws
        self.seed = seed
        self.samples: dict[str, Array] = {}

    def study(self) -> Study:
        """The whole of it."""
        import numpy as np

        table, truth = self.table, self.truth
        human = self._human()
        judges = [self._row(name, table.votes[:, at]) for at, name in enumerate(table.judges)]
        judges.sort(key=lambda row: (-_or(row.kappa.value), row.name))
        least = min((_or(one.value) for one in self._each_human()), default=None)
        judges = [self._inside(row, least) for row in judges]
        together = chosen(table.votes, truth.levels, rule=self.rule)
        panel: list[RaterRow] = []
        if len(table.judges) > 1:
            row = self._row(f"panel of {len(table.judges)}, {self.rule}", together, kind="panel")
            panel = [self._inside(row, least)]
        rows = [*([human] if human else []), *panel, *judges, self._floor()]
        raters = (*table.humans, *(("gold",) if table.gold is not None else ()), *table.judges)
        columns = [table.people, *([table.gold[:, None]] if table.gold is not None else []), table.votes]
        made = Study(
            n=int((~np.isnan(truth.whole)).sum()),
            labels=table.scale.labels,
            ordered=table.scale.ordered,
            weights=self.weights,
            gold=truth.said,
            rows=tuple(rows),
            raters=raters,
            matrix=pairwise_kappa(_rows(np.hstack(columns)), weights=self.weights),
            alpha=self._measured("krippendorff_alpha", table.votes, metric=self._metric()),
            alpha_metric=self._metric(),
            effective=self._measured("effective_judges", self._judged()),
            error_correlation=self._measured("error_correlation", self._judged()).value,
            vote_correlation=self._measured("vote_correlation", table.votes).value,
            differences=self._differences(judges),
            disagreements=self._disagreements(),
            reliability=self._reliability(together),
            rule=self.rule,
            interval=f"95 % percentile bootstrap over items, {self.draws} draws, seed {self.seed}",
            ties="a tie of votes goes to the label nearest to the ordered median, the lower on a draw",
            notes=tuple(table.notes),
            answer="",
        )
        return msgspec.structs.replace(made, answer=answer(made))

    def _metric(self) -> str:
        return "ordinal" if self.table.scale.ordered else "nominal"

    def _judged(self) -> Array:
        import numpy as np

        return np.column_stack([self.table.votes, self.truth.whole])

    def _measured(self, name: str, votes: Array, **params: str) -> Estimate:
        found = measure(name, _rows(votes), params, draws=self.draws, seed=self.seed)
        return Estimate(value=found.value, low=found.low, high=found.high)

    def _kappa(self, name: str, votes: Sequence[Array], golds: Sequence[Array]) -> Estimate:
        """Mean kappa over pairs of a vote column and what it is held against."""
        import numpy as np

        kappa = part("agreement", "cohen_kappa")
        pairs = [np.column_stack([vote, gold]) for vote, gold in zip(votes, golds, strict=True)]
        values = [kappa(_rows(pair), weights=self.weights) for pair in pairs]
        seen = [
            sampled("cohen_kappa", _rows(pair), {"weights": self.weights}, draws=self.draws, seed=self.seed)
            for pair in pairs
        ]
        draws = np.mean(seen, axis=0)
        self.samples[name] = draws
        known = [one for one in values if one is not None]
        if len(known) < len(values) or np.isnan(draws).mean() > 0.05:  # noqa: PLR2004  as in `measure`
            return Estimate(value=sum(known) / len(known) if known and len(known) == len(values) else None)
        low, high = np.nanquantile(draws, (0.025, 0.975))
        return Estimate(value=sum(known) / len(known), low=float(low), high=float(high))

    def _row(self, name: str, votes: Array, *, kind: Literal["judge", "panel"] = "judge") -> RaterRow:
        columns = self.truth.columns
        return self._made(name, kind, [votes] * len(columns), columns, self._conduct(name, votes))

    def _made(
        self,
        name: str,
        kind: Literal["human", "panel", "judge", "floor"],
        votes: Sequence[Array],
        golds: Sequence[Array],
        conduct: Conduct | None = None,
    ) -> RaterRow:
        import numpy as np

        both = [(vote - gold)[~np.isnan(vote - gold)] for vote, gold in zip(votes, golds, strict=True)]
        heard = np.any([~np.isnan(vote - gold) for vote, gold in zip(votes, golds, strict=True)], axis=0)
        labeled = np.any([~np.isnan(gold) for gold in golds], axis=0)
        apart = np.concatenate(both)
        ordered = self.table.scale.ordered
        return RaterRow(
            name=name,
            kind=kind,
            n=int(heard.sum()),
            missing=int((labeled & ~heard).sum()),
            kappa=self._kappa(name, votes, golds),
            exact=float((apart == 0).mean()) if len(apart) else None,
            within_one=float((np.abs(apart) <= 1).mean()) if len(apart) and ordered else None,
            bias=float(apart.mean())
            if len(apart) and (ordered or len(self.table.scale.labels) == _FEWEST_ITEMS)
            else None,
            conduct=conduct,
            strata=self._strata(votes[0]) if kind in {"judge", "panel"} else (),
            confusion=self._confusion(votes[0]) if kind in {"judge", "panel"} else (),
        )

    def _human(self) -> RaterRow | None:
        """People, each held against the others."""
        import numpy as np

        left = self.truth.left
        usable = [at for at in range(len(left)) if not np.isnan(self.table.people[:, at] - left[at]).all()]
        if not usable:
            return None
        people = [self.table.people[:, at] for at in usable]
        return self._made("humans, leave-one-out", "human", people, [left[at] for at in usable])

    def _each_human(self) -> list[Estimate]:
        left = self.truth.left
        return [self._kappa(f"human {at}", [self.table.people[:, at]], [left[at]]) for at in range(len(left))]

    def _inside(self, row: RaterRow, least: float | None) -> RaterRow:
        if least is None or row.kappa.value is None:
            return row
        return msgspec.structs.replace(row, inside=row.kappa.value >= least)

    def _floor(self) -> RaterRow:
        """The label people give most often, always."""
        import numpy as np

        whole = self.truth.whole
        heard = whole[~np.isnan(whole)]
        label = int(np.bincount(heard.astype(int), minlength=self.truth.levels).argmax())
        always = np.full(len(whole), float(label))
        row = self._made(
            f'always "{self.table.scale.labels[label]}"',
            "floor",
            [always] * len(self.truth.columns),
            self.truth.columns,
        )
        return msgspec.structs.replace(row, kappa=Estimate(value=0.0))

    def _conduct(self, name: str, votes: Array) -> Conduct | None:
        import numpy as np

        table = self.table
        if name not in table.asked:
            return None
        asked, unread = table.asked[name]
        apart = votes - self.truth.whole
        both = ~np.isnan(apart) & ~np.isnan(table.length)
        length = None
        if both.sum() > _FEWEST_ITEMS:
            length = part("agreement", "spearman")(_rows(np.column_stack([apart[both], table.length[both]])))

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

    def _strata(self, votes: Array) -> tuple[Stratum, ...]:
        """Items by how many people said what most said."""
        import numpy as np

        people = self.table.people
        heard = (~np.isnan(people)).sum(axis=1)
        if heard.max(initial=0) < _FEWEST_ITEMS:
            return ()
        most = chosen(people, self.truth.levels, rule="plurality")
        same = (people == most[:, None]).sum(axis=1)
        kinds = sorted({(int(h), int(s)) for h, s in zip(heard, same, strict=True) if h >= _FEWEST_ITEMS}, reverse=True)
        found: list[Stratum] = []
        for total, alike in kinds:
            here = (heard == total) & (same == alike) & ~np.isnan(votes)
            exact = float((votes[here] == most[here]).mean()) if here.any() else None
            found.append(Stratum(certainty=f"{alike} of {total}", n=int(here.sum()), exact=exact))
        return tuple(found)

    def _confusion(self, votes: Array) -> tuple[tuple[int, ...], ...]:
        """Labels of people × votes."""
        import numpy as np

        whole, size = self.truth.whole, self.truth.levels
        both = ~np.isnan(votes) & ~np.isnan(whole)
        cells = np.bincount((whole[both] * size + votes[both]).astype(int), minlength=size * size)
        return tuple(tuple(int(one) for one in row) for row in cells.reshape(size, size))

    def _differences(self, judges: Sequence[RaterRow]) -> tuple[Difference, ...]:
        """The best judge beside each other one."""
        import numpy as np

        if not judges or judges[0].kappa.value is None:
            return ()
        best = judges[0]
        found: list[Difference] = []
        for row in judges[1:]:
            if row.kappa.value is None or best.kappa.value is None:
                continue
            apart = best.kappa.value - row.kappa.value
            seen = self.samples[best.name] - self.samples[row.name]
            seen = seen[~np.isnan(seen)]
            if not len(seen):
                continue
            low, high = np.quantile(seen, (0.025, 0.975))
            error = float(seen.std())
            told = low > 0
            shared = min(best.n, row.n)
            needed = math.ceil(shared * ((_Z_TEST + _Z_POWER) * error / apart) ** 2) if apart > 0 and not told else None
            found.append(
                Difference(
                    better=best.name,
                    other=row.name,
                    apart=Estimate(value=apart, low=float(low), high=float(high)),
                    told=bool(told),
                    needed=needed,
                )
            )
        return tuple(found)

    def _disagreements(self) -> tuple[Disagreement, ...]:
        """The items on which most judges differ from people, the most first."""
        import numpy as np

        table, whole, labels = self.table, self.truth.whole, self.table.scale.labels
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

    def _reliability(self, together: Array) -> Reliability | None:
        """Vote share of the panel's label against how often it is right."""
        import numpy as np

        if len(self.table.judges) < 3:  # noqa: PLR2004  the share of one or two votes says nothing
            return None
        votes, whole = self.table.votes, self.truth.whole
        use = ~np.isnan(together) & ~np.isnan(whole)
        if not use.any():
            return None
        share = (votes == together[:, None]).sum(axis=1)[use] / (~np.isnan(votes)).sum(axis=1)[use]
        return reliability([float(one) for one in share], [bool(one) for one in (together == whole)[use]])


def _rows(table: Array) -> Sequence[Sequence[float | None]]:
    """A table as statistics take it: an array serves."""
    return cast("Sequence[Sequence[float | None]]", table)


def _or(value: float | None) -> float:
    return -math.inf if value is None else value
