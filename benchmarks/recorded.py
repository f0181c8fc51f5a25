"""What the library's rules make of recorded votes, beside the published figures of the same votes.

``python benchmarks/recorded.py`` prints the tables and writes ``benchmarks/results/recorded.md`` and ``recorded.json``.
Nothing is judged anew, nothing is drawn but seat orders, and those from a seed: the same library makes the same files
anywhere. Where the sets lie, ``_recorded`` says. A figure that does not come out as published stays in its table, and
stands at the top once more.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from benchmarks import _recorded as rec
from deliberate.aggregation import Weighted
from deliberate.plugins import part
from deliberate.tallies import LevelVote, numbers
from deliberate.types import BRACKETS, Bracket, Record, Rules, bracket_of, edges, to_score

RESULTS = Path(__file__).resolve().parent / "results"

TEAMS = (
    "Olz-gpt4o",
    "RMITIR-llama70B",
    "h2oloo-fewself",
    "willia-umbrela1",
    "NISTRetrieval-instruct0",
    "TREMA-4prompts",
    "prophet-setting1",
)
MODELS = ("ChatGPT-0301", "ChatGPT", "Falcon", "GPT-4", "LLaMA2", "PaLM2")
PROMPTS = ("CoT", "Metrics_Reference", "Vanilla")
VANILLA = tuple(f"{model}/Vanilla" for model in MODELS)
EIGHTEEN = tuple(f"{model}/{prompt}" for model in MODELS for prompt in PROMPTS)

GAP = (
    "published with the mean moved to a printed edge (26, 51, 76) even where it lies in the winning bracket already, "
    "as 25.4 does in Fair; the library leaves it there"
)
FAR = "further apart than twenty orders explain; no one rule was found that gives all four published means"

NOT_COMPUTED = (
    "Krippendorff's alpha and its intervals, effective number of judges, vote share as confidence, alt-test",
    "Dawid-Skene (and with it the set anaesthesia), one-coin, leave-one-out and gold weights, supervised votes",
    "posterior stopping, three-then-the-rest, risk control, random panels of a size",
)
"""What reference.json has besides: the library has no part for it yet."""


class Row(Record, frozen=True, kw_only=True):
    """A figure of ours beside the published one.

    ``digits`` is how many decimals were published; ``noise`` a standard error of the published figure, where it was
    taken over random draws; ``n`` what it is a figure of, ``missing`` how many votes among them are. A row for many
    ``figures`` says how many of them come out as published.
    """

    set: str
    figure: str
    ours: float
    published: float | None = None
    digits: int = 4
    n: int
    missing: int = 0
    source: str = ""
    noise: float = 0.0
    note: str = ""
    figures: int = 1

    @property
    def outcome(self) -> str:
        """``same`` as printed, within two standard errors (``noise``), or ``differs``; "" if nothing was published."""
        if self.published is None:
            return ""
        apart = abs(self.ours - self.published)
        half = 0.5 * 10.0**-self.digits + 1e-9
        return "same" if apart <= half else "noise" if apart <= 2 * self.noise + half else "differs"


class Spent(Record, frozen=True, kw_only=True):
    """What ``spend="enough"`` saves on one panel, over every order of its seats.

    Attributes:
        calls: Mean calls: a quorum first, then one seat at a time.
        calls_from_one: The same with a quorum of one: one at a time from the start.
        stops: States in which some order stops; ``kept``: the bracket there is the full panel's, in all of them.
        asked: Of these states, so many were put to the library's ``settled``; ``agreed``: it said the same each time.
        orders: Seat orders in which every item was replayed by the library; ``replayed_calls``: their mean calls;
            ``replayed_kept``: every replay gave the full panel's bracket.
    """

    set: str
    seats: int
    rule: str
    tie: str
    n: int
    missing: int
    calls: float
    calls_from_one: float
    stops: int
    kept: bool
    asked: int
    agreed: bool
    orders: int = 0
    replayed_calls: float | None = None
    replayed_kept: bool | None = None

    @property
    def saved(self) -> float:
        """The share of the calls that was not made."""
        return 1 - self.calls / self.seats


# --- sets ------------------------------------------------------------------------------------------


@cache
def llmjudge(judges: tuple[str, ...] | None) -> rec.Votes:
    """LLMJudge: four ordered labels, 0 to 3."""
    return rec.votes_of(rec.LLMJUDGE, range(4), judges=judges)


@cache
def llmbar(judges: tuple[str, ...] | None, order: str) -> rec.Votes:
    """LLMBar in pairs: the first output or the second, in one order of showing them."""
    return rec.votes_of(rec.LLMBAR, (1, 2), judges=judges, order=order)


@cache
def ratings() -> rec.Votes:
    """LLMBar one by one: ratings from 0 to 10."""
    return rec.votes_of(rec.POINTWISE, range(11))


# --- how good --------------------------------------------------------------------------------------


def quality(found: Sequence[int], gold: Sequence[int], *, labels: int) -> dict[str, float]:
    """Accuracy and kappa; with more than two labels, that are ordered, also what order allows."""
    pairs = list(zip(found, gold, strict=True))
    made = {"acc": sum(one == other for one, other in pairs) / len(pairs), "kappa": rec.kappa(pairs, labels)}
    if labels > 2:
        made["qwk"] = rec.kappa(pairs, labels, quadratic=True)
        made["spearman"] = rec.spearman(found, gold)
        made["mae"] = statistics.fmean(abs(one - other) for one, other in pairs)
    return made


def of_judge(votes: rec.Votes, at: int) -> dict[str, float]:
    """How good one judge is, over the items it voted on."""
    pairs = [(row[at], gold) for row, gold in zip(votes.votes, votes.gold, strict=True)]
    heard = [(vote, gold) for vote, gold in pairs if vote is not None]
    found, gold = [vote for vote, _ in heard], [one for _, one in heard]
    return {
        "n": len(heard),
        **quality(found, gold, labels=len(votes.labels)),
        "mean_bias": statistics.fmean(vote - gold for vote, gold in heard),
    }


def verdicts(votes: rec.Votes, rule: str, tie: str = "median") -> list[int]:
    """What wins on each item."""
    return [rec.won(rec.counted(row, len(votes.labels)), rule, tie) for row in votes.votes]


def lacking(votes: rec.Votes) -> int:
    """How many votes are missing."""
    return sum(vote is None for row in votes.votes for vote in row)


def scores_of(votes: rec.Votes) -> list[list[float]]:
    """The scores of each item: labels as 0–100."""
    scale = (votes.labels[0], votes.labels[-1])
    level = [to_score(label, scale=scale) for label in votes.labels]
    return [[level[vote] for vote in row if vote is not None] for row in votes.votes]


def averaged(scores: Iterable[Sequence[float]], rule: str) -> list[float]:
    """One score an item, by an aggregation rule."""
    by = cast("Callable[[Sequence[Weighted]], float]", part("aggregation", rule))
    return [by([Weighted(score) for score in row]) for row in scores]


def numbers_of(scores: Sequence[float], *, rule: str, tie: str) -> Mapping[str, float]:
    """Every number of one item, its bracket by rule and tie policy; ``held`` is ``nearest`` as it was published."""
    votes = [LevelVote(bracket_of(score), score) for score in scores]
    counts = Counter(vote.level for vote in votes)
    bracket = Bracket(rec.won(tuple(counts[level] for level in range(len(BRACKETS.tops))), rule, tie))
    found = numbers(votes, bracket)
    low, high = edges(bracket)
    return {**found, "held": min(max(found["mean"], low), high), "bracket": float(bracket)}


# --- rows ------------------------------------------------------------------------------------------


def same_of(name: str, figure: str, pairs: Sequence[tuple[float, float]], *, digits: int, n: int, source: str) -> Row:
    """One row for many figures: how many of them come out as published."""
    rows = [Row(set="", figure="", ours=ours, published=theirs, digits=digits, n=0) for ours, theirs in pairs]
    worst = max(abs(ours - theirs) for ours, theirs in pairs)
    return Row(
        set=name,
        figure=f"{figure}: {len(pairs)} figures, as published",
        ours=sum(row.outcome == "same" for row in rows),
        published=len(pairs),
        digits=0,
        n=n,
        source=source,
        note=f"furthest apart: {worst:.{digits + 1}f}",
        figures=len(pairs),
    )


def panel_rows(name: str, votes: rec.Votes, known: Mapping[str, Any], source: str) -> list[Row]:
    """The rules on one panel: every judge, how far pairs of them agree, plurality under three tie policies."""
    labels, gone = len(votes.labels), lacking(votes)
    judges = [of_judge(votes, at) for at in range(len(votes.judges))]
    per_judge = [
        (judges[at][figure], theirs)
        for at, judge in enumerate(votes.judges)
        for figure, theirs in known["judges"][judge].items()
    ]

    def row(figure: str, ours: float, published: float | None) -> Row:
        return Row(
            set=name, figure=figure, ours=ours, published=published, n=len(votes.items), missing=gone, source=source
        )

    rows = [
        same_of(name, "each judge alone", per_judge, digits=4, n=len(votes.judges), source=source),
        row("votes missing", gone, known["missing"]),
        row(
            "plurality: share of items tied",
            statistics.fmean(len(rec.winners(rec.counted(one, labels), "plurality")) > 1 for one in votes.votes),
            known["tie_rate"],
        ),
    ]
    policies = {"median": "plurality_median_tie", "lower": "plurality_low_tie", "upper": "plurality_high_tie"}
    rows += [
        row(f"plurality, tie {tie}: {figure}", ours, known["aggregation"][theirs][figure])
        for tie, theirs in policies.items()
        for figure, ours in quality(verdicts(votes, "plurality", tie), votes.gold, labels=labels).items()
    ]
    one = known["vote_share_vs_accuracy"]["unanimous"]
    agreed = [
        (rec.winners(counts, "unanimous")[0], gold)
        for line, gold in zip(votes.votes, votes.gold, strict=True)
        if len(rec.winners(counts := rec.counted(line, labels), "unanimous")) == 1
    ]
    rows += [
        row("unanimous: share of items", len(agreed) / len(votes.items), one["fraction"]),
        row("unanimous: acc where met", statistics.fmean(vote == gold for vote, gold in agreed), one["accuracy"]),
    ]
    kappas = pair_kappas(votes)
    known = known["pairwise"]
    for figure, ours in (("mean", statistics.fmean(kappas)), ("min", min(kappas)), ("max", max(kappas))):
        rows.append(row(f"{known['stat']} of two judges: {figure}", ours, known[figure]))
    return [*rows, row("percent agreement", percent(votes.votes), None)]


def percent(items: Iterable[Sequence[int | None]]) -> float:
    """The library's percent agreement."""
    return cast("float", part("agreement", "percent_agreement")(items))


def pair_kappas(votes: rec.Votes) -> list[float]:
    """Kappa of every two judges; quadratic where there are more than two labels."""
    columns = list(zip(*votes.votes, strict=True))
    return [
        rec.kappa(
            [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None],
            len(votes.labels),
            quadratic=len(votes.labels) > 2,
        )
        for at, one in enumerate(columns)
        for other in columns[:at]
    ]


def llmjudge_rows(name: str, votes: rec.Votes, known: Mapping[str, Any]) -> list[Row]:
    """What four ordered labels allow beyond: the median and the mean rule, and scores."""
    labels, gone, by = len(votes.labels), lacking(votes), known["aggregation"]
    scores = scores_of(votes)

    def row(figure: str, ours: float, published: float | None) -> Row:
        return Row(
            set=name,
            figure=figure,
            ours=ours,
            published=published,
            n=len(votes.items),
            missing=gone,
            source="reference.json",
        )

    rows = [
        row(f"rule {rule}: {figure}", ours, by[theirs][figure])
        for rule, theirs in (("median", "low_median"), ("mean", "mean_rounded"))
        for figure, ours in quality(verdicts(votes, rule), votes.gold, labels=labels).items()
    ]
    mean, median = averaged(scores, "weighted_mean"), averaged(scores, "median")
    step = 100 / (labels - 1)
    rows += [
        row("mean score: spearman", rec.spearman(mean, votes.gold), by["mean"]["spearman"]),
        row(
            "mean score: mae",
            statistics.fmean(abs(one / step - gold) for one, gold in zip(mean, votes.gold, strict=True)),
            by["mean"]["mae"],
        ),
        row("median score: spearman", rec.spearman(median, votes.gold), by["median"]["spearman"]),
    ]
    found = [numbers_of(one, rule="plurality", tie="median") for one in scores]
    rows += [
        row(f"{kind}, tie median: spearman", rec.spearman([one[kind] for one in found], votes.gold), None)
        for kind in ("nearest", "expected", "median_in_bracket", "mean_in_bracket", "midpoint")
    ]
    return rows


def swap_rows() -> list[Row]:
    """Both orders of showing the outputs: twelve votes, and how far a judge agrees with itself."""
    known = rec.reference()["llmbar_pairwise"]["swap_handling_vanilla6"]
    orders = [llmbar(VANILLA, order) for order in ("12", "21")]
    both = orders[0]._replace(votes=tuple(one + other for one, other in zip(*(o.votes for o in orders), strict=True)))
    rows = [
        Row(
            set="llmbar vanilla, both orders",
            figure=f"plurality, {what}: acc",
            ours=quality(verdicts(votes, "plurality"), votes.gold, labels=2)["acc"],
            published=known[key],
            n=len(votes.items),
            missing=lacking(votes),
            source="reference.json",
        )
        for what, key, votes in (
            ("first order", "single_order12", orders[0]),
            ("second order", "single_order21", orders[1]),
            ("twelve votes", "twelve_votes", both),
        )
    ]
    pairs: list[tuple[float, float]] = []
    for at, judge in enumerate(VANILLA):
        voted = [(row[at], row[at + len(VANILLA)], gold) for row, gold in zip(both.votes, both.gold, strict=True)]
        # Missing votes agree with nothing here, and stay in the denominator.
        consistent = [(one, gold) for one, other, gold in voted if one == other and one is not None]
        right = [vote == gold for one, other, gold in voted for vote in (one, other) if vote is not None]
        theirs = known["per_judge"][judge]
        pairs += [
            (len(consistent) / len(voted), theirs["consistent"]),
            (statistics.fmean(one == gold for one, gold in consistent), theirs["acc_when_consistent"]),
            (statistics.fmean(right), theirs["acc_all"]),
        ]
    name, figure = "llmbar vanilla, both orders", "each judge against itself"
    return [*rows, same_of(name, figure, pairs, digits=4, n=len(both.items), source="reference.json")]


def authors_rows() -> list[Row]:
    """What the authors of LLMBar printed, judge by judge and subset by subset."""
    orders = [llmbar(None, order) for order in ("12", "21")]
    known = rec.published()
    subsets = [item.rsplit("-", 1)[0] for item in orders[0].items]
    pairs: dict[str, list[tuple[float, float]]] = {"correct_average": [], "correct_both": [], "equal": []}
    for at, judge in enumerate(orders[0].judges):
        for subset, theirs in known[judge].items():
            voted = [
                (one[at], other[at], gold)
                for name, one, other, gold in zip(
                    subsets, orders[0].votes, orders[1].votes, orders[0].gold, strict=True
                )
                if name == subset
            ]
            ours = {
                "correct_average": statistics.fmean((one == gold) + (other == gold) for one, other, gold in voted) / 2,
                "correct_both": statistics.fmean(one == gold == other for one, other, gold in voted),
                # As its authors count: two unusable replies are equal.
                "equal": statistics.fmean(one == other for one, other, _ in voted),
            }
            for figure, found in ours.items():
                pairs[figure].append((100 * found, float(theirs[figure].rsplit("=", 1)[-1].strip(" %"))))
    return [
        same_of("llmbar, 58 judges", figure, found, digits=2, n=len(subsets), source="llmbar_published.json")
        for figure, found in pairs.items()
    ]


# --- ratings one by one ----------------------------------------------------------------------------

RATED = "llmbar, rated one by one"
RULES = {
    "plurality": ("plurality", "lower"),
    "plurality, tie median": ("plurality", "median"),
    "rule median": ("median", "lower"),
}
"""Rule and tie policy, by how the rows are called: the tie policy is the default one unless the name says otherwise."""


def in_pairs(votes: rec.Votes, score: Sequence[float]) -> tuple[float, float]:
    """How often the better output of a pair scores higher, ties counting half; and how often they tie."""
    pairs: dict[str, list[tuple[int, float]]] = {}
    for item, gold, one in zip(votes.items, votes.gold, score, strict=True):
        pairs.setdefault(item.rsplit("-", 1)[0], []).append((gold, one))
    apart = [better - worse for (_, worse), (_, better) in map(sorted, pairs.values())]
    wins = sum((one > 0) + (one == 0) / 2 for one in apart)
    return wins / len(apart), sum(one == 0 for one in apart) / len(apart)


def pair_rows() -> list[Row]:
    """Which number tells the better output from the worse."""
    votes = ratings()
    known = rec.reference()["llmbar_pointwise"]
    scores = scores_of(votes)
    by = {name: [numbers_of(one, rule=rule, tie=tie) for one in scores] for name, (rule, tie) in RULES.items()}

    def number(name: str, kind: str) -> list[float]:
        return [one[kind] for one in by[name]]

    alone: list[tuple[float, float]] = []
    for at, judge in enumerate(votes.judges):
        theirs = known["per_judge"][judge]
        alone += zip(_alone(votes, at), (theirs["acc_ties_half"], theirs["tie_rate"], theirs["mean"]), strict=True)
        alone += zip(_alone(votes, at, brackets=True), theirs["bracket"].values(), strict=True)
    tied = [len(rec.winners(_bracket_counts(one), "plurality")) > 1 for one in scores]

    def rows(
        figure: str,
        score: Sequence[float],
        theirs: Mapping[str, float] | tuple[float | None, ...],
        *,
        source: str = "reference.json",
        note: str = "",
    ) -> list[Row]:
        values = tuple(theirs.values()) if isinstance(theirs, Mapping) else theirs
        return [
            Row(
                set=RATED,
                figure=f"{figure}: {what}",
                ours=ours,
                published=one,
                digits=4 if source == "reference.json" else 3,
                n=len(votes.items) // 2,
                missing=lacking(votes),
                source=source,
                note=note,
            )
            for what, ours, one in zip(("pair accuracy", "pairs tied"), in_pairs(votes, score), values, strict=True)
        ]

    gap = sum(one["nearest"] != one["held"] for one in by["plurality"])
    panel = known["panel"]
    share = Row(
        set=RATED,
        figure="plurality of brackets: share of items tied",
        ours=statistics.fmean(tied),
        published=known["bracket_tie_rate"],
        n=len(tied),
        missing=lacking(votes),
        source="reference.json",
    )
    return [
        same_of(RATED, "each judge alone", alone, digits=4, n=len(votes.judges), source="reference.json"),
        share,
        *rows("mean", averaged(scores, "weighted_mean"), panel["mean"]),
        *rows("median", averaged(scores, "median"), panel["median"]),
        *rows("median of eleven labels", [float(one) for one in verdicts(votes, "median")], (None, None)),
        *rows(
            "plurality of eleven labels, tie median", [float(one) for one in verdicts(votes, "plurality")], (None, None)
        ),
        *rows("bracket, plurality, tie median", number("plurality, tie median", "bracket"), panel["bracket_plurality"]),
        *rows("bracket, rule median", number("rule median", "bracket"), panel["bracket_median"]),
        *rows("expected", number("plurality", "expected"), panel["bracket_share_expected_midpoint"]),
        *rows(
            "mean_in_bracket, plurality, tie median",
            number("plurality, tie median", "mean_in_bracket"),
            panel["plurality_bracket_then_mean_of_winners"],
        ),
        *rows("mean_in_bracket, plurality", number("plurality", "mean_in_bracket"), (None, None)),
        *rows(
            "median_in_bracket, plurality", number("plurality", "median_in_bracket"), (0.808, None), source="defaults"
        ),
        *rows("midpoint, plurality", number("plurality", "midpoint"), (0.800, None), source="defaults"),
        *rows("nearest, plurality", number("plurality", "nearest"), (0.837, 0.050), source="study 4.4", note=GAP),
        *rows(
            "nearest held to the printed edges, plurality",
            number("plurality", "held"),
            (0.837, 0.050),
            source="study 4.4",
        ),
        *rows("nearest, rule median", number("rule median", "nearest"), (0.840, 0.033), source="study 4.4", note=GAP),
        *rows(
            "nearest held to the printed edges, rule median",
            number("rule median", "held"),
            (0.840, 0.033),
            source="study 4.4",
        ),
    ]


def _alone(votes: rec.Votes, at: int, *, brackets: bool = False) -> tuple[float, ...]:
    """One judge's pair accuracy and ties; and its mean rating, unless by brackets.

    As published: a pair with a missing rating counts half, like a coin, and is no tie.
    """
    rated = [
        (item, gold, float(bracket_of(10.0 * vote)) if brackets else float(vote))
        for item, gold, row in zip(votes.items, votes.gold, votes.votes, strict=True)
        if (vote := row[at]) is not None
    ]
    sides = Counter(item.rsplit("-", 1)[0] for item, *_ in rated)
    items, gold, score = zip(*(one for one in rated if sides[one[0].rsplit("-", 1)[0]] == 2), strict=True)
    whole, pairs = len(items) // 2, len(votes.items) // 2
    right, tied = in_pairs(votes._replace(items=items, gold=gold), score)
    found = ((right * whole + (pairs - whole) / 2) / pairs, tied * whole / pairs)
    return found if brackets else (*found, statistics.fmean(one for *_, one in rated))


def _bracket_counts(scores: Sequence[float]) -> rec.State:
    counts = Counter(bracket_of(score) for score in scores)
    return tuple(counts[bracket] for bracket in Bracket)


def moves(judges: Sequence[int], *, rule: str, tie: str) -> dict[str, list[float]]:
    """How far each number moves at the most, item by item, when one of these judges is left out."""
    found: dict[str, list[float]] = {}
    for row in ratings().votes:
        scores = [10.0 * vote for at in judges if (vote := row[at]) is not None]
        full = numbers_of(scores, rule=rule, tie=tie)
        fewer = [numbers_of([*scores[:at], *scores[at + 1 :]], rule=rule, tie=tie) for at in range(len(scores))]
        for kind, score in full.items():
            found.setdefault(kind, []).append(max(abs(one[kind] - score) for one in fewer))
    return found


def move_rows() -> list[Row]:
    """How steady each number is: its largest move when one judge is left out, which 95 % of the items do not exceed."""
    votes = ratings()
    seven, five = range(7), range(5)
    known: dict[tuple[range, str], dict[str, tuple[float, int]]] = {
        (seven, "plurality"): {
            "mean": (9.8, 1),
            "expected": (9.0, 1),
            "nearest": (23.6, 1),
            "mean_in_bracket": (27.5, 1),
            "median_in_bracket": (30, 0),
            "midpoint": (25.5, 1),
        },
        (seven, "rule median"): {"nearest": (10.2, 1)},
        (five, "plurality"): {"mean": (13, 0), "nearest": (51, 0), "median_in_bracket": (60, 0)},
        (five, "rule median"): {"nearest": (23, 0)},
    }
    rows: list[Row] = []
    for (judges, name), figures in known.items():
        rule, tie = RULES[name]
        found = moves(judges, rule=rule, tie=tie)
        rows += [
            Row(
                set=f"llmbar, one of {len(judges)} left out",
                figure=f"{kind}, {name}: 95 % of items move no further",
                ours=rec.percentile_95(found[kind]),
                published=theirs,
                digits=digits,
                n=len(votes.items),
                missing=sum(row[at] is None for row in votes.votes for at in judges),
                source="study 4.4",
                note="the first five judges by name" if judges is five else "",
            )
            for kind, (theirs, digits) in figures.items()
        ]
    return rows


# --- two smaller sets ------------------------------------------------------------------------------


def pandalm_rows() -> list[Row]:
    """PandaLM: the first output, the second or a tie; three people an item."""
    known = rec.reference()["pandalm"]
    judges = tuple(known["judges"])
    votes = rec.votes_of(rec.PANDALM, range(3), judges=judges)
    human = {line.item_id: line.human for line in rec.lines(rec.PANDALM)}
    people = votes._replace(votes=tuple(human[item] for item in votes.items), judges=("1", "2", "3"))
    counts = [rec.counted(row, 3) for row in people.votes]
    alone = [
        (of_judge(votes, at)[figure], theirs)
        for at, judge in enumerate(judges)
        for figure, theirs in known["judges"][judge].items()
    ]
    pairs = [row for row in votes.votes if None not in row]

    def row(figure: str, ours: float, published: float | None, *, missing: int = 0) -> Row:
        return Row(
            set="pandalm",
            figure=figure,
            ours=ours,
            published=published,
            n=len(votes.items),
            missing=missing,
            source="reference.json",
        )

    between = rec.kappa([(one, other) for one, other in pairs if one is not None and other is not None], 3)
    return [
        same_of("pandalm", "each judge alone", alone, digits=4, n=len(judges), source="reference.json"),
        row("cohen kappa of both judges", between, known["judge_pair_kappa"], missing=lacking(votes)),
        same_of(
            "pandalm",
            "cohen kappa of two people",
            list(zip(_people(people), known["human_pairwise_kappa"], strict=True)),
            digits=4,
            n=len(votes.items),
            source="reference.json",
        ),
        row(
            "plurality of three people: share that is the gold label",
            statistics.fmean(rec.won(one) == gold for one, gold in zip(counts, votes.gold, strict=True)),
            1.0,
        ),
        row(
            "plurality of three people: items tied",
            sum(len(rec.winners(one, "plurality")) > 1 for one in counts),
            known["no_human_majority"],
        ),
        row("percent agreement of three people", percent(people.votes), None),
    ]


def _people(people: rec.Votes) -> list[float]:
    columns = list(zip(*people.votes, strict=True))
    return [
        rec.kappa(list(zip(columns[one], columns[other], strict=True)), 3) for one, other in ((0, 1), (0, 2), (1, 2))
    ]


def prometheus_rows() -> list[Row]:
    """GPT-4 against itself: three samples an item, five labels."""
    known = rec.reference()["prometheus_gpt4"]
    votes = rec.votes_of(rec.PROMETHEUS, range(1, 6))
    counts = [rec.counted(row, 5) for row in votes.votes]
    seen = Counter(vote for row in votes.votes for vote in row)
    spread = statistics.fmean(statistics.pstdev(row) for row in votes.votes)

    def row(figure: str, ours: float, published: float | None) -> Row:
        return Row(
            set="prometheus, three samples",
            figure=figure,
            ours=ours,
            published=published,
            n=len(votes.items),
            missing=lacking(votes),
            source="reference.json",
        )

    return [
        row(
            "unanimous: share of items",
            statistics.fmean(len(rec.winners(one, "unanimous")) == 1 for one in counts),
            known["all_three_equal"],
        ),
        same_of(
            "prometheus, three samples",
            "votes for each label",
            [(seen[at], known["score_counts"][str(label)]) for at, label in enumerate(votes.labels)],
            digits=0,
            n=len(votes.items),
            source="reference.json",
        ),
        row(
            "plurality: share of items tied",
            statistics.fmean(len(rec.winners(one, "plurality")) > 1 for one in counts),
            None,
        ),
        row("percent agreement", percent(votes.votes), None),
    ]


# --- asking no more than needed --------------------------------------------------------------------

_ASKED = 150
_OPEN = 3
"""The library's own ``settled`` is asked about so many states, drawn from a seed, with so many seats open at most."""


def stop_rows(name: str, votes: rec.Votes, known: Mapping[str, Any], *, percent_saved: int | None) -> list[Row]:
    """The published way to stop: a label further ahead than there are seats left; ties are never looked into."""
    seats = len(votes.judges)
    stops = rec.ahead(seats)
    calls, ends = every_order(votes, stops)
    orders = rec.shuffled(20, seats=seats, seed=20)
    # Published over twenty orders, each the same for all items; these say how far twenty may lie from all.
    noise = statistics.stdev(rec.calls_in_order(votes, order, stops) for order in orders) / 20**0.5
    theirs = known["sequential"]["decided"]
    digits = len(str(theirs["mean_calls"]).partition(".")[2])

    def row(
        figure: str, ours: float, published: float, digits: int, noise: float, source: str = "reference.json"
    ) -> Row:
        return Row(
            set=name,
            figure=figure,
            ours=ours,
            published=published,
            digits=digits,
            n=len(votes.items),
            missing=lacking(votes),
            noise=noise,
            source=source,
        )

    saved = 1 - calls / seats
    rows = [
        row("stop when ahead: mean calls", calls, theirs["mean_calls"], digits, noise),
        row("stop when ahead: share saved", saved, theirs["calls_saved"], 3, noise / seats),
        row(
            "stop when ahead: share of orders that keep the label",
            keeping(votes, ends),
            theirs["same_as_full_plurality"],
            4,
            0.0,
        ),
    ]
    if percent_saved is not None:
        rows.append(row("stop when ahead: percent saved", 100 * saved, percent_saved, 0, 0.0, "study 4.6"))
    return rows


def every_order(votes: rec.Votes, stops: rec.Stops) -> tuple[float, dict[rec.State, frozenset[rec.State]]]:
    """Mean calls over all items and all orders; and for each full state those in which an order may stop."""
    full = Counter(rec.told(row, len(votes.labels)) for row in votes.votes)
    found = {state: rec.expected_calls(state, stops) for state in full}
    calls = sum(found[state][0] * count for state, count in full.items()) / len(votes.items)
    return calls, {state: ends for state, (_, ends) in found.items()}


def keeping(
    votes: rec.Votes, ends: Mapping[rec.State, frozenset[rec.State]], rule: str = "plurality", tie: str = "median"
) -> float:
    """The share of stops at which the label is that of all votes."""
    kept = [
        rec.won(end[:-1], rule, tie) == rec.won(full[:-1], rule, tie) for full, some in ends.items() for end in some
    ]
    return sum(kept) / len(kept)


def spent(name: str, votes: rec.Votes, *, rule: str = "plurality", tie: str = "median", orders: int = 0) -> Spent:
    """What ``spend="enough"`` saves on a panel."""
    seats = len(votes.judges)
    stops = rec.blocs(seats, rule=rule, tie=tie)
    calls, ends = every_order(votes, stops)
    from_one, _ = every_order(votes, rec.blocs(seats, rule=rule, tie=tie, quorum=1))
    panel = rec.sitting(votes.judges, rules=Rules(rule=rule, tie=(tie,)), spend="enough")
    few = rec.drawn({state for full in ends for state in rec.states(full, seats=seats, most_open=_OPEN)}, _ASKED)
    made = Spent(
        set=name,
        seats=seats,
        rule=rule,
        tie=tie,
        n=len(votes.items),
        missing=lacking(votes),
        calls=calls,
        calls_from_one=from_one,
        stops=len(set().union(*ends.values())),
        kept=keeping(votes, ends, rule, tie) == 1,
        asked=len(few),
        agreed=all(rec.is_settled(panel, state) == stops(state) for state in few),
    )
    if not orders:
        return made
    replays = [rec.in_order(votes, order, rule=rule, tie=tie) for order in rec.shuffled(orders, seats=seats, seed=0)]
    return msgspec.structs.replace(
        made,
        orders=orders,
        replayed_calls=statistics.fmean(one for one, _ in replays),
        replayed_kept=all(kept for _, kept in replays),
    )


# --- all of it -------------------------------------------------------------------------------------


def all_rows() -> list[Row]:
    """Every figure."""
    judged, paired = rec.reference()["llmjudge_dl23_a"], rec.reference()["llmbar_pairwise"]
    rows: list[Row] = []
    for name, judges, known, saved in (
        ("llmjudge, 7 judges", TEAMS, judged["panel7_one_per_team"], 22),
        ("llmjudge, 33 judges", None, judged["all"], None),
    ):
        votes = llmjudge(judges)
        rows += panel_rows(name, votes, known, "reference.json")
        rows += llmjudge_rows(name, votes, known)
        rows += stop_rows(name, votes, known, percent_saved=saved)
    for name, judges, known, saved in (
        ("llmbar, 6 judges", VANILLA, paired["vanilla6_order12"], 18),
        ("llmbar, 18 judges", EIGHTEEN, paired["models6_x3strategies_order12"], None),
    ):
        votes = llmbar(judges, "12")
        rows += panel_rows(name, votes, known, "reference.json")
        rows += stop_rows(name, votes, known, percent_saved=saved)
    return [*rows, *swap_rows(), *authors_rows(), *pair_rows(), *move_rows(), *pandalm_rows(), *prometheus_rows()]


def all_spent(orders: int) -> list[Spent]:
    """Every panel that is asked no more than needed; those of up to seven seats are replayed as well."""
    seven, six = llmjudge(TEAMS), llmbar(VANILLA, "12")
    return [
        spent("llmjudge, 7 judges", seven, orders=orders),
        spent("llmjudge, 7 judges", seven, tie="lower"),
        spent("llmjudge, 7 judges", seven, rule="median"),
        spent("llmbar, 6 judges", six, orders=orders),
        spent("llmbar, 6 judges", six, tie="lower"),
        spent("llmbar, 18 judges", llmbar(EIGHTEEN, "12")),
        spent("llmjudge, 33 judges", llmjudge(None)),
    ]
