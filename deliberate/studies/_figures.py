"""What a comparison of judges found: records only, which tables, drawings and pages are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from deliberate.errors import UnknownName
from deliberate.studies._weights import Weights
from deliberate.studies.abstention import Threshold
from deliberate.studies.advice import Advice
from deliberate.studies.alt_test import AltTest
from deliberate.studies.anchors import Anchored
from deliberate.studies.ppi import Corrected
from deliberate.studies.reliability import Reliability
from deliberate.types import Record

__all__ = [
    "Conduct",
    "Consensual",
    "Difference",
    "Disagreement",
    "Estimate",
    "Figures",
    "Further",
    "LengthBin",
    "Rate",
    "RaterRow",
    "Rates",
    "StandIn",
    "Stratum",
]


class Estimate(Record, frozen=True, kw_only=True):
    """A number with its interval; None: undefined."""

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def interval(self) -> tuple[float | None, float | None]:
        """Both ends."""
        return self.low, self.high


class Conduct(Record, frozen=True, kw_only=True):
    """How a judge behaves, whatever is right; None: the votes do not say.

    Attributes:
        self_flip: Share of repeated asks that changed the vote; ``order_flip``: of asks in another order.
        length_bias: Spearman's correlation of vote − gold with the length of the output.
        unread: Share of votes asked for that were not usable.
        latency_seconds: Median; ``cost_usd``: of 100 votes.
    """

    asked: int
    self_flip: float | None = None
    order_flip: float | None = None
    length_bias: float | None = None
    unread: float
    latency_seconds: float | None = None
    cost_usd: float | None = None


class Stratum(Record, frozen=True, kw_only=True):
    """Items on which people were this sure, and how often a rater gave what most of them said."""

    certainty: str
    n: int
    exact: float | None


class LengthBin(Record, frozen=True, kw_only=True):
    """Items whose outputs are about as long: the median length, and the mean of vote − gold in labels."""

    length: float
    n: int
    bias: float


class RaterRow(Record, frozen=True, kw_only=True):
    """One line of the tables.

    Attributes:
        n: Items with its vote and a label of people; ``missing``: items with a label and without its vote.
        exact: Share of items with the same label; ``within_one``: at most one label off, None where labels have no
            order; ``bias``: mean of vote − gold in labels, above 0 lenient.
        inside: Its kappa cannot be told to be below people's: the interval of the difference reaches 0; None: no two
            people, or the votes allow no interval.
        people: How far people, left out one at a time, are ahead of it; None: as above.
    """

    name: str
    kind: Literal["human", "panel", "judge", "floor"]
    n: int
    missing: int
    kappa: Estimate
    exact: float | None
    within_one: float | None
    bias: float | None
    inside: bool | None = None
    people: Difference | None = None
    conduct: Conduct | None = None
    strata: tuple[Stratum, ...] = ()
    lengths: tuple[LengthBin, ...] = ()
    confusion: tuple[tuple[int, ...], ...] = ()


class Difference(Record, frozen=True, kw_only=True):
    """The best judge, or people, beside another: kappa apart, with interval, and the items it would take to tell.

    ``apart`` is below 0 where the other is ahead (of people only). ``told``: all of its interval is above 0.
    ``needed``: items at which a difference of this size would be seen four times in five at the 5 % level.
    """

    better: str
    other: str
    apart: Estimate
    told: bool
    needed: int | None


class Disagreement(Record, frozen=True, kw_only=True):
    """An item on which many judges differ from people."""

    item: str
    gold: str
    wrong: int
    votes: tuple[tuple[str, str], ...]


class StandIn(Record, frozen=True, kw_only=True):
    """Whether a judge may stand in for a person, by the Alternative Annotator Test."""

    judge: str
    test: AltTest


class Rate(Record, frozen=True, kw_only=True):
    """A rate measured by one judge, or the panel, and put right by the labels of people."""

    rater: str
    found: Corrected


class Rates(Record, frozen=True, kw_only=True):
    """Rates of all judges.

    Attributes:
        of: What is measured: the label from which on an item passes, or ``mean``, the mean position of labels from 0.
        rows: The panel, then the judges by name.
        left_out: Raters for whom it could not be done, each with the reason.
    """

    of: str
    rows: tuple[Rate, ...]
    left_out: tuple[tuple[str, str], ...] = ()


class Consensual(Record, frozen=True, kw_only=True):
    """What Dawid and Skene's model makes of the votes.

    Attributes:
        form: ``full`` or ``one_coin``.
        prior: Share of each label.
        accuracy: How often it takes each judge to be right, 0–1, in the order of ``judges``.
        right: Share of items with a label of people on which it says the same; ``plurality``: the plurality's.
    """

    form: str
    judges: tuple[str, ...]
    prior: tuple[float, ...]
    accuracy: tuple[float, ...]
    right: float | None
    plurality: float | None
    n: int
    iterations: int
    converged: bool
    warning: str


class Further(Record, frozen=True, kw_only=True):
    """What was asked for besides agreement; None and () were not asked for."""

    panels: Advice | None = None
    panel_cost: Literal["$/100", "calls"] = "calls"
    stand_in: tuple[StandIn, ...] = ()
    rates: Rates | None = None
    abstention: Threshold | None = None
    anchors: Anchored | None = None
    consensus: tuple[Consensual, ...] = ()


class Figures(Record, frozen=True, kw_only=True):
    """Judges held against people, and against each other.

    Attributes:
        rows: People left out one at a time (if two or more label an item), all judges together, panels that were asked
            as such, by kappa, judges by kappa, the floor.
        matrix: Kappa of every two of ``raters``; None where undefined.
        answer: What to do, in two or three sentences.
        further: What was asked for besides.
    """

    n: int
    labels: tuple[str, ...]
    ordered: bool
    weights: Weights
    gold: str
    rows: tuple[RaterRow, ...]
    raters: tuple[str, ...]
    matrix: tuple[tuple[float | None, ...], ...]
    alpha: Estimate
    alpha_metric: str
    effective: Estimate
    error_correlation: float | None
    vote_correlation: float | None
    differences: tuple[Difference, ...]
    disagreements: tuple[Disagreement, ...]
    reliability: Reliability | None
    rule: str
    interval: str
    ties: str
    notes: tuple[str, ...]
    answer: str
    further: Further = Further()

    def __getitem__(self, name: str) -> RaterRow:
        """The row of a judge.

        Raises:
            UnknownName: There is none of that name.
        """
        found = next((row for row in self.rows if row.name == name), None)
        if found is None:
            raise UnknownName("judge", name, [row.name for row in self.rows])
        return found

    @property
    def base_rates(self) -> Mapping[str, float]:
        """Share of each label among people's, 0–1, on the items a judge voted on too."""
        counts = [sum(line) for line in next((row.confusion for row in self.judges), ())]
        return {label: n / sum(counts) for label, n in zip(self.labels, counts, strict=True)} if any(counts) else {}

    @property
    def judges(self) -> tuple[RaterRow, ...]:
        """The rows of judges, the best first."""
        return tuple(row for row in self.rows if row.kind == "judge")

    @property
    def together(self) -> RaterRow | None:
        """All judges together, by ``rule``: a panel that nobody asked; None of a single judge."""
        return next((row for row in self.rows if row.kind == "panel" and row.conduct is None), None)

    @property
    def panels(self) -> tuple[RaterRow, ...]:
        """The rows of panels that were asked as such, each by its verdict, the best first."""
        return tuple(row for row in self.rows if row.kind == "panel" and row.conduct is not None)

    @property
    def ceiling(self) -> RaterRow | None:
        """People, each held against the others."""
        return next((row for row in self.rows if row.kind == "human"), None)
