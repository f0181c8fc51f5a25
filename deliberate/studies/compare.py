"""Which judges agree with people as well as people agree with each other, and what each is worth.

``compare_votes`` takes a table of votes and gives a ``Study``: one row a judge, between the row of people left out one
at a time (the ceiling) and a constant predictor (the floor), with intervals from the same bootstrap samples of items,
so that two judges can be told apart on the items both saw.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

import msgspec

from deliberate.agreement import measure, pairwise_kappa, sampled
from deliberate.errors import ConfigError
from deliberate.plugins import part
from deliberate.studies._answer import answer
from deliberate.studies._arrays import Choice, chosen, need_stats, rows_from
from deliberate.studies._details import (
    conduct_of,
    confusion_of,
    disagreements,
    length_bins,
    share_reliability,
    strata_of,
)
from deliberate.studies._figures import Conduct, Difference, Disagreement, Estimate, RaterRow, Stratum
from deliberate.studies._study import Study
from deliberate.studies._truth import Truth, cut_in_two
from deliberate.studies._weights import Weights
from deliberate.studies.votes import VoteTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["Conduct", "Difference", "Disagreement", "Estimate", "RaterRow", "Stratum", "Study", "compare_votes"]

_FEWEST_ITEMS = 2
_Z_POWER = 0.8416  # of 80 %
_Z_TEST = 1.96  # of 5 %, two-sided


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
        what = "all raters are people or panels" if table.panels else "all raters are people"
        raise ConfigError(what, where="compare", expected="at least one judge")
    if table.gold is None and not table.humans:
        expected = 'rows with "kind": "human", --human RATER, or --gold COLUMN'
        raise ConfigError("no labels of people to hold judges against", where="compare", expected=expected)
    table = cut_in_two(table, cut)
    truth = Truth(table, rule)
    import numpy as np

    if (~np.isnan(truth.whole)).sum() < _FEWEST_ITEMS:
        raise ConfigError("fewer than two items have a label of people", where="compare", expected="two or more")
    made: Weights = weights or ("quadratic" if table.scale.ordered else "none")
    found = _Maker(table, truth, weights=made, rule=rule, draws=draws, seed=seed).study()
    # Beside the record, never in it: the votes, for `redecide`.
    vars(found)["again"] = partial(compare_votes, table, weights=weights, rule=rule, cut=cut, draws=draws, seed=seed)
    return found


class _Maker:
    """Works out a study; what its parts share."""

    def __init__(
        self, table: VoteTable, truth: Truth, *, weights: Weights, rule: Choice, draws: int, seed: int
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
        judges = [self._beside(human, row) for row in judges]
        together = chosen(table.votes, truth.levels, rule=self.rule)
        panel: list[RaterRow] = []
        if len(table.judges) > 1:
            row = self._row(f"panel of {len(table.judges)}, {self.rule}", together, kind="panel")
            panel = [self._beside(human, row)]
        verdicts = [self._row(name, table.verdicts[:, at], kind="panel") for at, name in enumerate(table.panels)]
        verdicts.sort(key=lambda row: (-_or(row.kappa.value), row.name))
        panel += [self._beside(human, row) for row in verdicts]
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
            matrix=pairwise_kappa(rows_from(np.hstack(columns)), weights=self.weights),
            alpha=self._measured("krippendorff_alpha", table.votes, metric=self._metric()),
            alpha_metric=self._metric(),
            effective=self._measured("effective_judges", self._judged()),
            error_correlation=self._measured("error_correlation", self._judged()).value,
            vote_correlation=self._measured("vote_correlation", table.votes).value,
            differences=self._differences(judges),
            disagreements=disagreements(table, truth),
            reliability=share_reliability(table, truth, together),
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
        found = measure(name, rows_from(votes), params, draws=self.draws, seed=self.seed)
        return Estimate(value=found.value, low=found.low, high=found.high)

    def _kappa(self, name: str, votes: Sequence[Array], golds: Sequence[Array]) -> Estimate:
        """Mean kappa over pairs of a vote column and what it is held against."""
        import numpy as np

        kappa = part("agreement", "cohen_kappa")
        pairs = [np.column_stack([vote, gold]) for vote, gold in zip(votes, golds, strict=True)]
        values = [kappa(rows_from(pair), weights=self.weights) for pair in pairs]
        seen = [
            sampled("cohen_kappa", rows_from(pair), {"weights": self.weights}, draws=self.draws, seed=self.seed)
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
        return self._made(name, kind, [votes] * len(columns), columns, conduct_of(self.table, self.truth, name, votes))

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
            strata=strata_of(self.table, self.truth, votes[0]) if kind in {"judge", "panel"} else (),
            lengths=length_bins(self.table, self.truth, votes[0]) if kind in {"judge", "panel"} else (),
            confusion=confusion_of(self.truth, votes[0]) if kind in {"judge", "panel"} else (),
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

    def _beside(self, human: RaterRow | None, row: RaterRow) -> RaterRow:
        """A judge beside people, by the difference on the same samples of items."""
        if human is None or human.kappa.low is None or row.kappa.low is None:
            return row
        found = self._difference(human, row)
        return row if found is None else msgspec.structs.replace(row, inside=not found.told, people=found)

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

    def _differences(self, judges: Sequence[RaterRow]) -> tuple[Difference, ...]:
        """The best judge beside each other one."""
        made = (self._difference(judges[0], row) for row in judges[1:])
        return tuple(one for one in made if one is not None)

    def _difference(self, better: RaterRow, other: RaterRow) -> Difference | None:
        """One beside another, paired on the samples of items; None where a kappa is undefined."""
        import numpy as np

        if better.kappa.value is None or other.kappa.value is None:
            return None
        apart = better.kappa.value - other.kappa.value
        seen = self.samples[better.name] - self.samples[other.name]
        seen = seen[~np.isnan(seen)]
        if not len(seen):
            return None
        low, high = np.quantile(seen, (0.025, 0.975))
        error = float(seen.std())
        told = low > 0
        shared = min(better.n, other.n)
        needed = math.ceil(shared * ((_Z_TEST + _Z_POWER) * error / apart) ** 2) if apart > 0 and not told else None
        return Difference(
            better=better.name,
            other=other.name,
            apart=Estimate(value=apart, low=float(low), high=float(high)),
            told=bool(told),
            needed=needed,
        )


def _or(value: float | None) -> float:
    return -math.inf if value is None else value
