"""What can be said of judges beyond their agreement, when it is asked for: panels, guarantees, anchors, a consensus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from deliberate.errors import ConfigError
from deliberate.studies._arrays import Choice, chosen, winners
from deliberate.studies._figures import Consensual, Further, Rate, Rates, StandIn
from deliberate.studies._study import Study
from deliberate.studies._truth import Truth
from deliberate.studies.abstention import Threshold, threshold_for
from deliberate.studies.advice import Advice, advise
from deliberate.studies.alt_test import EPSILON, alt_test
from deliberate.studies.anchors import Anchored, anchor_weights
from deliberate.studies.dawid_skene import dawid_skene
from deliberate.studies.ppi import corrected_mean
from deliberate.studies.votes import VoteTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["MEAN", "Asked", "further"]

MEAN = "mean"
_FEWEST_JUDGES = 3


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """Which of it is asked for.

    Attributes:
        panels: Which panels are worth their cost.
        stand_in: Who the people are, for the Alternative Annotator Test (``EPSILON``); "" no test.
        rate: The label from which on an item passes, or ``mean``; "" none.
        abstain: The most risk, 0–1, at which the panel may decide alone; None: not asked.
        anchors: What weights from the labels change.
        dawid_skene: What votes say when nobody knows what is right.
    """

    panels: bool = False
    stand_in: str = ""
    rate: str = ""
    abstain: float | None = None
    anchors: bool = False
    dawid_skene: bool = False


def further(table: VoteTable, study: Study, asked: Asked) -> Study:
    """The study, with what was asked for besides.

    Args:
        table: The votes the study was made of.
        study: From ``compare_votes``.
        asked: Which parts.

    Raises:
        MissingExtra: numpy and scipy are not installed.
        ConfigError: The votes are too few for it, or not of the kind; the message names the flag.
    """
    rule: Choice = "median" if study.rule == "median" else "mean" if study.rule == "mean" else "plurality"
    truth = Truth(table, rule).whole
    prices = _prices(study)
    return msgspec.structs.replace(
        study,
        further=Further(
            panels=_panels(table, truth, study, prices) if asked.panels else None,
            panel_cost="calls" if prices is None else "$/100",
            stand_in=_stand_in(table, asked.stand_in) if asked.stand_in else (),
            rates=_rates(table, truth, asked.rate, rule) if asked.rate else None,
            abstention=None if asked.abstain is None else _abstention(table, truth, asked.abstain, rule),
            anchors=_anchors(table, truth) if asked.anchors else None,
            consensus=_consensus(table, truth) if asked.dawid_skene else (),
        ),
    )


def _whole(votes: Array) -> list[list[int | None]]:
    """Positions as whole numbers, None where missing."""
    return [[None if vote != vote else int(vote) for vote in row] for row in votes]  # noqa: PLR0124  nan is not itself


def _labeled(truth: Array, flag: str, *, fewest: int = 1) -> NDArray[np.intp]:
    """The items with a label of people."""
    import numpy as np

    use: NDArray[np.intp] = np.flatnonzero(~np.isnan(truth))
    if len(use) < fewest:
        raise ConfigError(f"{len(use)} items have a label", where=flag, expected=f"at least {fewest}")
    return use


def _prices(study: Study) -> dict[str, float] | None:
    """What 100 votes of each judge cost; None where one is unknown."""
    costs = {row.name: row.conduct.cost_usd for row in study.judges if row.conduct is not None}
    priced = {name: cost for name, cost in costs.items() if cost is not None}
    return priced if len(priced) == len(study.judges) else None


def _panels(table: VoteTable, truth: Array, study: Study, prices: dict[str, float] | None) -> Advice:
    use = _labeled(truth, "--panels", fewest=20)
    return advise(
        _whole(table.votes[use]),
        [int(truth[at]) for at in use],
        judges=table.judges,
        levels=len(table.scale.labels),
        costs=prices,
        weights=study.weights,
    )


def _stand_in(table: VoteTable, who: str) -> tuple[StandIn, ...]:
    score: Literal["accuracy", "rmse"] = "rmse" if table.scale.ordered else "accuracy"
    people = _whole(table.people)
    return tuple(
        StandIn(
            judge=name,
            test=alt_test(
                [row[0] for row in _whole(table.votes[:, [at]])],
                people,
                names=table.humans,
                epsilon=EPSILON[who],
                score=score,
            ),
        )
        for at, name in enumerate(table.judges)
    )


def _rates(table: VoteTable, truth: Array, of: str, rule: Choice) -> Rates:
    """Each judge's rate on all items, and what people's labels of some of them make of it."""
    import numpy as np

    labels = table.scale.labels
    if of != MEAN and of.lower() not in labels:
        raise ConfigError(f"{of!r}", where="--rate", expected=f"{MEAN}, or a label: {', '.join(labels)}")
    least = None if of == MEAN else labels.index(of.lower())
    bounds = (0.0, float(len(labels) - 1)) if least is None else (0.0, 1.0)

    def number(votes: Array) -> Array:
        return votes if least is None else np.where(np.isnan(votes), np.nan, (votes >= least).astype(np.float64))

    columns = {name: table.votes[:, at] for at, name in enumerate(table.judges)}
    if len(columns) > 1:
        columns = {f"panel of {len(columns)}, {rule}": chosen(table.votes, len(labels), rule=rule), **columns}
    gold = number(truth)
    rows: list[Rate] = []
    left_out: list[tuple[str, str]] = []
    for name, votes in columns.items():
        said, heard = number(votes), ~np.isnan(votes)
        both, alone = heard & ~np.isnan(gold), heard & np.isnan(gold)
        try:
            pairs = [(float(one), float(other)) for one, other in zip(gold[both], said[both], strict=True)]
            rows.append(Rate(rater=name, found=corrected_mean(pairs, said[alone].tolist(), bounds=bounds)))
        except ConfigError as error:
            left_out.append((name, str(error)))
    if not rows:
        what = f"{int((~np.isnan(gold)).sum())} of {len(gold)} items have a label of people"
        raise ConfigError(what, where="--rate", expected="at least 10 with one, and items without that judges voted on")
    return Rates(of=of if least is None else labels[least], rows=tuple(rows), left_out=tuple(left_out))


def _abstention(table: VoteTable, truth: Array, target: float, rule: Choice) -> Threshold:
    """From which share of votes on the panel may decide alone."""
    import numpy as np

    if len(table.judges) < _FEWEST_JUDGES:
        what = f"{len(table.judges)} judges"
        raise ConfigError(what, where="--abstain", expected="at least 3: the share of one or two votes says nothing")
    if not 0 < target < 1:
        raise ConfigError(f"{target}", where="--abstain", expected="a share above 0 and below 1")
    together = chosen(table.votes, len(table.scale.labels), rule=rule)
    use = ~np.isnan(together) & ~np.isnan(truth)
    _labeled(np.where(use, truth, np.nan), "--abstain")
    share = (table.votes == together[:, None]).sum(axis=1)[use] / (~np.isnan(table.votes)).sum(axis=1)[use]
    return threshold_for(share.tolist(), (together == truth)[use].tolist(), target=target)


def _anchors(table: VoteTable, truth: Array) -> Anchored:
    use = _labeled(truth, "--anchors")
    gold = [int(truth[at]) for at in use]
    return anchor_weights(_whole(table.votes[use]), gold, levels=len(table.scale.labels), judges=table.judges)


def _consensus(table: VoteTable, truth: Array) -> tuple[Consensual, ...]:
    """Both forms of the model, beside plurality on the items with a label."""
    import numpy as np

    size = len(table.scale.labels)
    at, who = np.nonzero(~np.isnan(table.votes))
    names = [f"{one:09d}" for one in range(len(table.items))]  # in the order of the table, as the model sorts them
    judges = [f"{one:06d}" for one in range(len(table.judges))]
    said = [(names[i], judges[j], int(table.votes[i, j])) for i, j in zip(at, who, strict=True)]
    most = winners(table.votes, size)
    made: list[Consensual] = []
    forms: tuple[Literal["full", "one_coin"], ...] = ("full", "one_coin")
    for form in forms:
        found = dawid_skene(said, levels=size, form=form)
        guess = np.full(len(table.items), np.nan)
        guess[[int(name) for name in found.items]] = found.labels
        use = ~np.isnan(truth) & ~np.isnan(guess)
        right = float((guess == truth)[use].mean()) if use.any() else None
        accuracy = [
            sum(p * row[k] for k, (p, row) in enumerate(zip(found.prior, one, strict=True))) for one in found.confusion
        ]
        made.append(
            Consensual(
                form=form,
                judges=tuple(table.judges[int(name)] for name in found.raters),
                prior=found.prior,
                accuracy=tuple(accuracy),
                right=right,
                plurality=float((most == truth)[use].mean()) if use.any() else None,
                n=int(use.sum()),
                iterations=found.iterations,
                converged=found.converged,
                warning=found.warning,
            )
        )
    return tuple(made)
