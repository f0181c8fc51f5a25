"""What the library's rules make of recorded votes, beside the published figures of the same votes.

``python benchmarks/recorded.py`` prints the tables and writes ``benchmarks/results/recorded.md`` and ``recorded.json``.
Nothing is judged anew, and nothing is drawn but orders of seats, from a seed: the same library makes the same files
anywhere. Where the sets lie, ``_recorded`` says. A figure that does not come out as published stays in its table, and
stands at the top once more.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import msgspec

from benchmarks import _recorded as rec
from benchmarks import trust
from benchmarks._figures import (
    AUTHORS,
    EIGHTEEN,
    FILES,
    FIRST,
    SECOND,
    STUDY,
    TEAMS,
    VANILLA,
    Of,
    Row,
    about,
    bracket_counts,
    lacking,
    llmbar,
    llmjudge,
    numbers_of,
    ratings,
    table,
)
from deliberate.aggregation import Weighted
from deliberate.plugins import part
from deliberate.types import Record, Rules, bracket_of, to_score

RESULTS = Path(__file__).resolve().parent / "results"
AHEAD = (
    "published with a simpler rule, which stops when one label is further ahead than there are seats left; the library "
    "also sees ties that can no longer change the bracket, and asks fewer"
)
FAR = "further apart than twenty orders explain; of five rules tried none gives all four published means"

NOT_COMPUTED = (
    "leave-one-out weights, supervised votes: ways of weighing judges that the library does not offer",
    "posterior stopping, three-then-the-rest, random panels of a size",
)
"""What reference.json has besides: the library has no part for it yet."""

_ASKED = 150
_OPEN = 3
_ORDERS = 20
_REPLAYS = 5


class Spent(Record, frozen=True, kw_only=True):
    """What ``spend="enough"`` saves on one panel, over every order of its seats.

    Attributes:
        calls: Mean calls: a quorum first, then one seat at a time.
        calls_from_one: The same with a quorum of one: one at a time from the start.
        stops: States in which some order stops; ``kept``: the bracket there is the full panel's, in all of them.
        asked: States put to the library's ``settled`` itself; ``agreed``: it said the same of each.
        orders: Seat orders in which the library replayed every item; ``replayed_calls``: their mean calls;
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
    bias = statistics.fmean(vote - gold for vote, gold in heard)
    return {"n": len(heard), **quality(found, gold, labels=len(votes.labels)), "mean_bias": bias}


def alone(votes: rec.Votes, known: Mapping[str, Mapping[str, float]]) -> list[tuple[float, float]]:
    """Every published figure of every judge, with ours before it."""
    return [
        (of_judge(votes, at)[figure], theirs)
        for at, judge in enumerate(votes.judges)
        for figure, theirs in known[judge].items()
    ]


def verdicts(votes: rec.Votes, rule: str, tie: str = "median") -> list[int]:
    """What wins on each item."""
    return [rec.won(rec.counted(row, len(votes.labels)), rule, tie) for row in votes.votes]


def met(votes: rec.Votes, rule: str) -> list[bool]:
    """Whether one label alone wins, item by item."""
    return [len(rec.winners(rec.counted(row, len(votes.labels)), rule)) == 1 for row in votes.votes]


def percent(items: Iterable[Sequence[int | None]]) -> float:
    """The library's percent agreement, 0–1."""
    return cast("float", part("agreement", "percent_agreement")(items))


def pair_kappas(votes: rec.Votes) -> list[float]:
    """Kappa of every two judges, over what both voted on; quadratic where there are more than two labels."""
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


def scores_of(votes: rec.Votes) -> list[list[float]]:
    """The scores of each item: labels as 0–100."""
    scale = (votes.labels[0], votes.labels[-1])
    level = [to_score(label, scale=scale) for label in votes.labels]
    return [[level[vote] for vote in row if vote is not None] for row in votes.votes]


def averaged(scores: Iterable[Sequence[float]], rule: str) -> list[float]:
    """One score an item, by an aggregation rule."""
    by = cast("Callable[[Sequence[Weighted]], float]", part("aggregation", rule))
    return [by([Weighted(score) for score in row]) for row in scores]


# --- panels ----------------------------------------------------------------------------------------


def panel_rows(name: str, votes: rec.Votes, known: Mapping[str, Any]) -> list[Row]:
    """The rules on one panel: every judge, how far two of them agree, plurality under three tie policies."""
    of, labels = about(name, votes), len(votes.labels)
    agreed = [
        vote == gold
        for vote, gold, all_alike in zip(verdicts(votes, "plurality"), votes.gold, met(votes, "unanimous"), strict=True)
        if all_alike
    ]
    kappas = pair_kappas(votes)
    share, kind = known["vote_share_vs_accuracy"]["unanimous"], known["pairwise"]["stat"]
    return [
        of.many("each judge alone", alone(votes, known["judges"])),
        of.row("votes missing", of.missing, known["missing"], digits=0, by="data"),
        of.row("plurality: share of items tied", 1 - statistics.fmean(met(votes, "plurality")), known["tie_rate"]),
        *(
            row
            for tie, theirs in (("median", "median"), ("lower", "low"), ("upper", "high"))
            for row in of.rows(
                quality(verdicts(votes, "plurality", tie), votes.gold, labels=labels),
                known["aggregation"][f"plurality_{theirs}_tie"],
                of=f"plurality, tie {tie}",
            )
        ),
        of.row("unanimous: share of items", len(agreed) / of.n, share["fraction"]),
        of.row("unanimous: accuracy where met", statistics.fmean(agreed), share["accuracy"]),
        of.row(f"{kind} of two judges: mean", statistics.fmean(kappas), known["pairwise"]["mean"], by="data"),
        of.row(f"{kind} of two judges: least", min(kappas), known["pairwise"]["min"], by="data"),
        of.row(f"{kind} of two judges: most", max(kappas), known["pairwise"]["max"], by="data"),
        of.row("percent agreement", percent(votes.votes)),
    ]


def ordered_rows(name: str, votes: rec.Votes, known: Mapping[str, Any]) -> list[Row]:
    """What four ordered labels allow beyond: the median and the mean rule, and scores."""
    of, labels = about(name, votes), len(votes.labels)
    scores = scores_of(votes)
    mean, median = averaged(scores, "weighted_mean"), averaged(scores, "median")
    apart = [abs(one * (labels - 1) / 100 - gold) for one, gold in zip(mean, votes.gold, strict=True)]
    found = [numbers_of(one, rule="plurality", tie="median") for one in scores]
    return [
        *(
            row
            for rule, theirs in (("median", "low_median"), ("mean", "mean_rounded"))
            for row in of.rows(
                quality(verdicts(votes, rule), votes.gold, labels=labels), known[theirs], of=f"rule {rule}"
            )
        ),
        of.row("mean score: spearman", rec.spearman(mean, votes.gold), known["mean"]["spearman"]),
        of.row("mean score: mae", statistics.fmean(apart), known["mean"]["mae"]),
        of.row("median score: spearman", rec.spearman(median, votes.gold), known["median"]["spearman"]),
        *(
            of.row(f"{kind}, tie median: spearman", rec.spearman([one[kind] for one in found], votes.gold))
            for kind in ("nearest", "expected", "median_in_bracket", "mean_in_bracket", "midpoint")
        ),
    ]


# --- both orders -----------------------------------------------------------------------------------


def swap_rows() -> list[Row]:
    """LLMBar in both orders: twelve votes, and how far a judge agrees with itself."""
    known = rec.reference()["llmbar_pairwise"]["swap_handling_vanilla6"]
    one, other = llmbar(VANILLA, FIRST), llmbar(VANILLA, SECOND)
    both = one._replace(votes=tuple(a + b for a, b in zip(one.votes, other.votes, strict=True)))
    name = "llmbar, both orders"
    return [
        *(
            about(name, votes).row(
                f"plurality, {what}: acc",
                quality(verdicts(votes, "plurality"), votes.gold, labels=2)["acc"],
                known[key],
            )
            for what, key, votes in (
                ("first order", "single_order12", one),
                ("second order", "single_order21", other),
                ("twelve votes", "twelve_votes", both),
            )
        ),
        about(name, both).many("each of six judges against itself", list(_twice(both, known["per_judge"]))),
    ]


def _twice(both: rec.Votes, known: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[float, float]]:
    """Share consistent, accuracy where consistent, accuracy of all votes."""
    for at, judge in enumerate(VANILLA):
        voted = [(row[at], row[at + len(VANILLA)], gold) for row, gold in zip(both.votes, both.gold, strict=True)]
        # Missing votes agree with nothing here, and stay in the denominator.
        consistent = [one == gold for one, other, gold in voted if one == other and one is not None]
        right = [vote == gold for one, other, gold in voted for vote in (one, other) if vote is not None]
        yield len(consistent) / len(voted), known[judge]["consistent"]
        yield statistics.fmean(consistent), known[judge]["acc_when_consistent"]
        yield statistics.fmean(right), known[judge]["acc_all"]


def authors_rows() -> list[Row]:
    """What the authors of LLMBar printed, judge by judge and subset by subset, in percent."""
    one, other = llmbar(None, FIRST), llmbar(None, SECOND)
    subsets = [item.rsplit("-", 1)[0] for item in one.items]
    pairs: dict[str, list[tuple[float, float]]] = {"correct_average": [], "correct_both": [], "equal": []}
    for at, judge in enumerate(one.judges):
        for subset, theirs in rec.published()[judge].items():
            rows = zip(subsets, one.votes, other.votes, one.gold, strict=True)
            voted = [(a[at], b[at], gold) for name, a, b, gold in rows if name == subset]
            ours = {
                "correct_average": statistics.fmean((a == gold) + (b == gold) for a, b, gold in voted) / 2,
                "correct_both": statistics.fmean(a == gold == b for a, b, gold in voted),
                # As its authors count: two unusable replies are equal.
                "equal": statistics.fmean(a == b for a, b, _ in voted),
            }
            for figure, found in ours.items():
                pairs[figure].append((100 * found, float(theirs[figure].rsplit("=", 1)[-1].strip(" %"))))
    of = Of("llmbar, 58 judges", len(one.items), lacking(one) + lacking(other))
    return [of.many(figure, found, digits=3, source=AUTHORS) for figure, found in pairs.items()]


# --- ratings one by one ----------------------------------------------------------------------------

RULES = {
    "plurality": ("plurality", "lower"),
    "plurality, tie median": ("plurality", "median"),
    "rule median": ("median", "lower"),
}
"""Rule and tie policy as the rows call them; where no tie policy is named, it is the default."""


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
    reference = rec.reference()["llmbar_pointwise"]
    known = {name: tuple(pair.values()) for name, pair in reference["panel"].items()}
    scores = scores_of(votes)
    by = {name: [numbers_of(one, rule=rule, tie=tie) for one in scores] for name, (rule, tie) in RULES.items()}
    of = Of("llmbar, rated one by one", len(votes.items) // 2, lacking(votes))
    nothing = (None, None)

    def rows(figure: str, score: Sequence[float], published: Sequence[float | None], **said: Any) -> list[Row]:  # noqa: ANN401
        found = zip(("pair accuracy", "pairs tied"), in_pairs(votes, score), published, strict=True)
        return [of.row(f"{figure}: {what}", ours, theirs, **said) for what, ours, theirs in found]

    def number(kind: str, rule: str, published: Sequence[float | None], **said: Any) -> list[Row]:  # noqa: ANN401  any fact
        return rows(f"{kind}, {rule}", [one[kind] for one in by[rule]], published, **said)

    study = {"digits": 3, "source": STUDY}
    tied = [len(rec.winners(bracket_counts(one), "plurality")) > 1 for one in scores]
    return [
        of.many("each judge alone", list(_each(votes, reference["per_judge"]))),
        *rows("mean", averaged(scores, "weighted_mean"), known["mean"]),
        *rows("median", averaged(scores, "median"), known["median"]),
        *rows("median of eleven labels", verdicts(votes, "median"), nothing),
        *rows("plurality of eleven labels, tie median", verdicts(votes, "plurality"), nothing),
        about(of.set, votes).row(
            "brackets: share of items tied", statistics.fmean(tied), reference["bracket_tie_rate"]
        ),
        *number("bracket", "plurality, tie median", known["bracket_plurality"]),
        *number("bracket", "rule median", known["bracket_median"]),
        *number("expected", "plurality, tie median", known["bracket_share_expected_midpoint"]),
        *number("mean_in_bracket", "plurality, tie median", known["plurality_bracket_then_mean_of_winners"]),
        *number("mean_in_bracket", "plurality", nothing),
        *number("median_in_bracket", "plurality", (0.808, None), **study),
        *number("midpoint", "plurality", (0.800, None), **study),
        *number("nearest", "plurality", (0.837, 0.050), **study),
        *number("nearest", "rule median", (0.840, 0.033), **study),
    ]


def _each(votes: rec.Votes, known: Mapping[str, Any]) -> Iterator[tuple[float, float]]:
    """Every judge's pair accuracy, ties and mean rating; pair accuracy and ties of its brackets."""
    for at, judge in enumerate(votes.judges):
        theirs = known[judge]
        rated = [vote for row in votes.votes if (vote := row[at]) is not None]
        yield statistics.fmean(rated), theirs["mean"]
        yield from zip(_alone(votes, at, float), (theirs["acc_ties_half"], theirs["tie_rate"]), strict=True)
        brackets = _alone(votes, at, lambda vote: float(bracket_of(10.0 * vote)))
        yield from zip(brackets, theirs["bracket"].values(), strict=True)


def _alone(votes: rec.Votes, at: int, value: Callable[[int], float]) -> tuple[float, float]:
    """One judge's pair accuracy and ties; as published, a pair with a missing rating counts half and is no tie."""
    rows = list(zip(votes.items, votes.gold, votes.votes, strict=True))
    gone = {item.rsplit("-", 1)[0] for item, _, row in rows if row[at] is None}
    rated = [
        (item, gold, value(vote))
        for item, gold, row in rows
        if (vote := row[at]) is not None and item.rsplit("-", 1)[0] not in gone
    ]
    items, gold, score = zip(*rated, strict=True)
    pairs, whole = len(votes.items) // 2, len(items) // 2
    right, tied = in_pairs(votes._replace(items=items, gold=gold), score)
    return (right * whole + len(gone) / 2) / pairs, tied * whole / pairs


def moves(judges: Sequence[int], *, rule: str, tie: str) -> dict[str, list[float]]:
    """How far each number moves at the most, item by item, when one of these judges is left out."""
    found: dict[str, list[float]] = {}
    for row in ratings().votes:
        scores = [10.0 * vote for at in judges if (vote := row[at]) is not None]
        fewer = [numbers_of([*scores[:at], *scores[at + 1 :]], rule=rule, tie=tie) for at in range(len(scores))]
        for kind, score in numbers_of(scores, rule=rule, tie=tie).items():
            found.setdefault(kind, []).append(max(abs(one[kind] - score) for one in fewer))
    return found


MOVES: Mapping[tuple[int, str], Mapping[str, tuple[float, int]]] = {
    (7, "plurality"): {
        "mean": (9.8, 1),
        "expected": (9.0, 1),
        "nearest": (23.6, 1),
        "mean_in_bracket": (27.5, 1),
        "median_in_bracket": (30, 0),
        "midpoint": (25.5, 1),
    },
    (7, "rule median"): {"nearest": (10.2, 1)},
    (5, "plurality"): {"mean": (13, 0), "nearest": (51, 0), "median_in_bracket": (60, 0)},
    (5, "rule median"): {"nearest": (23, 0)},
}
"""Published largest moves, with their decimals; five are the first five judges by name."""


def move_rows(which: Iterable[tuple[int, str]] = tuple(MOVES)) -> list[Row]:
    """How steady each number is: its largest move when one judge is left out, which 95 % of the items do not exceed."""
    rows: list[Row] = []
    for judges, name in which:
        rule, tie = RULES[name]
        found = moves(range(judges), rule=rule, tie=tie)
        gone = sum(row[at] is None for row in ratings().votes for at in range(judges))
        of = Of(f"llmbar, one of {judges} judges left out", len(ratings().items), gone)
        rows += [
            of.row(
                f"{kind}, {name}: 95th percentile", rec.percentile_95(found[kind]), theirs, digits=digits, source=STUDY
            )
            for kind, (theirs, digits) in MOVES[judges, name].items()
        ]
    return rows


# --- two smaller sets ------------------------------------------------------------------------------


def pandalm_rows() -> list[Row]:
    """PandaLM: the first output, the second or a tie; three people an item."""
    known = rec.reference()["pandalm"]
    votes = rec.votes_of(rec.PANDALM, range(3), judges=tuple(known["judges"]))
    human = {line.item_id: line.human for line in rec.lines(rec.PANDALM)}
    people = votes._replace(votes=tuple(human[item] for item in votes.items), judges=("0", "1", "2"))
    kappas = [
        rec.kappa([(row[one], row[other]) for row in (human[item] for item in votes.items)], 3)
        for one, other in ((0, 1), (0, 2), (1, 2))
    ]
    gold = [vote == gold for vote, gold in zip(verdicts(people, "plurality"), votes.gold, strict=True)]
    of = Of("pandalm", len(votes.items))
    both = about("pandalm", votes)
    return [
        both.many("each of two judges alone", alone(votes, known["judges"])),
        both.row("cohen kappa of both judges", pair_kappas_nominal(votes), known["judge_pair_kappa"], by="data"),
        of.many("cohen kappa of two people", list(zip(kappas, known["human_pairwise_kappa"], strict=True))),
        of.row("plurality of three people: is the gold label", statistics.fmean(gold), 1.0),
        of.row(
            "plurality of three people: items tied",
            met(people, "plurality").count(False),
            known["no_human_majority"],
            digits=0,
        ),
        of.row("percent agreement of three people", percent(people.votes)),
    ]


def pair_kappas_nominal(votes: rec.Votes) -> float:
    """Kappa of two judges whose labels have no order, over what both voted on."""
    pairs = [(one, other) for one, other in votes.votes if one is not None and other is not None]
    return rec.kappa(pairs, len(votes.labels))


def prometheus_rows() -> list[Row]:
    """GPT-4 against itself: three samples an item, five labels."""
    known = rec.reference()["prometheus_gpt4"]
    votes = rec.votes_of(rec.PROMETHEUS, range(1, 6))
    seen = Counter(vote for row in votes.votes for vote in row)
    counts = [(float(seen[at]), known["score_counts"][str(label)]) for at, label in enumerate(votes.labels)]
    of = about("prometheus, three samples", votes)
    return [
        of.many("votes for each label", counts, digits=0),
        of.row("unanimous: share of items", statistics.fmean(met(votes, "unanimous")), known["all_three_equal"]),
        of.row("plurality: share of items tied", 1 - statistics.fmean(met(votes, "plurality"))),
        of.row("percent agreement", percent(votes.votes)),
    ]


# --- asking no more than needed --------------------------------------------------------------------

Ends = Mapping[rec.State, frozenset[rec.State]]
"""For each full state, the states in which some order stops."""


def every_order(votes: rec.Votes, stops: rec.Stops) -> tuple[float, Ends]:
    """Mean calls over all items and all orders of seats, and where they stop."""
    full = Counter(rec.told(row, len(votes.labels)) for row in votes.votes)
    # Half the seats must be heard: a bloc of more than were heard can always change what wins.
    found = {state: rec.expected_calls(state, stops, begin=len(votes.judges) // 2) for state in full}
    calls = sum(found[state][0] * count for state, count in full.items()) / len(votes.items)
    return calls, {state: ends for state, (_, ends) in found.items()}


def kept(ends: Ends, *, rule: str = "plurality", tie: str = "median") -> bool:
    """Whether every stop has the label of all votes."""
    return all(
        rec.won(end[:-1], rule, tie) == rec.won(full[:-1], rule, tie) for full, some in ends.items() for end in some
    )


@cache
def enough(votes: rec.Votes, rule: str, tie: str, quorum: int | None) -> tuple[float, Ends]:
    """Mean calls and stops of ``spend="enough"``."""
    return every_order(votes, rec.blocs(len(votes.judges), rule=rule, tie=tie, quorum=quorum))


def stop_rows(name: str, votes: rec.Votes, known: Mapping[str, Any], *, saved: int | None) -> list[Row]:
    """What the library asks, beside the published means; and what the rule asks by which they seem to be made."""
    of, seats = about(name, votes), len(votes.judges)
    digits = len(str(known["mean_calls"]).partition(".")[2])
    ahead = rec.ahead(seats)

    def rows(what: str, stops: rec.Stops, calls: float, ends: Ends, **said: Any) -> list[Row]:  # noqa: ANN401  any fact
        # Published over twenty orders, each the same for all items: how far may twenty lie from all?
        some = [rec.calls_in_order(votes, order, stops) for order in rec.shuffled(_ORDERS, seats=seats, seed=20)]
        noise = statistics.stdev(some) / _ORDERS**0.5
        share, same = 1 - calls / seats, known["same_as_full_plurality"]
        made = [
            of.row(f"{what}: mean calls", calls, known["mean_calls"], digits=digits, noise=noise, **said),
            of.row(f"{what}: share saved", share, known["calls_saved"], digits=3, noise=noise / seats, **said),
            of.row(f"{what}: keeps the label in every order", kept(ends), same, **said),
        ]
        if saved is not None:
            made.append(of.row(f"{what}: percent saved", 100 * share, saved, digits=0, source=STUDY, **said))
        note = FAR if said else AHEAD
        return [msgspec.structs.replace(row, note=note if row.outcome == "differs" else "") for row in made]

    return [
        *rows("spend enough, tie median", rec.blocs(seats), *enough(votes, "plurality", "median", None)),
        *rows("stop when ahead", ahead, *every_order(votes, ahead), by="explains"),
    ]


def spent(
    name: str, votes: rec.Votes, *, rule: str = "plurality", tie: str = "median", orders: int = 0, asked: int = _ASKED
) -> Spent:
    """What ``spend="enough"`` saves on a panel.

    Args:
        name: The name of the set.
        votes: At most four labels.
        rule: The rule.
        tie: The tie policy.
        orders: Random seat orders, from a seed, in which the library replays every item.
        asked: States with up to three open seats, drawn from a seed, about which ``settled`` itself is asked.
    """
    seats = len(votes.judges)
    stops = rec.blocs(seats, rule=rule, tie=tie)
    calls, ends = enough(votes, rule, tie, None)
    from_one, _ = enough(votes, rule, tie, 1)
    panel = rec.sitting(votes.judges, rules=Rules(rule=rule, tie=(tie,)), spend="enough")
    few = rec.drawn({state for full in ends for state in rec.states(full, seats=seats, most_open=_OPEN)}, asked)
    replays = [rec.in_order(votes, order, rule=rule, tie=tie) for order in rec.shuffled(orders, seats=seats, seed=0)]
    return Spent(
        set=name,
        seats=seats,
        rule=rule,
        tie=tie,
        n=len(votes.items),
        missing=lacking(votes),
        calls=calls,
        calls_from_one=from_one,
        stops=len(set[rec.State]().union(*ends.values())),
        kept=kept(ends, rule=rule, tie=tie),
        asked=len(few),
        agreed=all(rec.is_settled(panel, state) == stops(state) for state in few),
        orders=orders,
        replayed_calls=statistics.fmean(calls for calls, _ in replays) if replays else None,
        replayed_kept=all(same for _, same in replays) if replays else None,
    )


# --- all of it -------------------------------------------------------------------------------------


def all_rows() -> list[Row]:
    """Every figure."""
    judged, paired = rec.reference()["llmjudge_dl23_a"], rec.reference()["llmbar_pairwise"]
    rows: list[Row] = []
    for name, votes, known, saved in (
        ("llmjudge, 7 judges", llmjudge(TEAMS), judged["panel7_one_per_team"], 22),
        ("llmjudge, 33 judges", llmjudge(None), judged["all"], None),
        ("llmbar, 6 judges", llmbar(VANILLA, FIRST), paired["vanilla6_order12"], 18),
        ("llmbar, 18 judges", llmbar(EIGHTEEN, FIRST), paired["models6_x3strategies_order12"], None),
    ):
        rows += panel_rows(name, votes, known)
        rows += ordered_rows(name, votes, known["aggregation"]) if len(votes.labels) > 2 else []
        rows += stop_rows(name, votes, known["sequential"]["decided"], saved=saved)
    rows += [*swap_rows(), *authors_rows(), *pair_rows(), *move_rows(), *pandalm_rows(), *prometheus_rows()]

    return [*rows, *trust.rows()]


def all_spent(orders: int) -> list[Spent]:
    """Every panel that is asked no more than needed; those of up to seven seats are replayed as well."""
    seven, six = llmjudge(TEAMS), llmbar(VANILLA, FIRST)
    return [
        spent("llmjudge, 7 judges", seven, orders=orders),
        spent("llmjudge, 7 judges", seven, tie="lower"),
        spent("llmjudge, 7 judges", seven, rule="median"),
        spent("llmbar, 6 judges", six, orders=orders),
        spent("llmbar, 6 judges", six, tie="lower"),
        spent("llmbar, 18 judges", llmbar(EIGHTEEN, FIRST)),
        spent("llmjudge, 33 judges", llmjudge(None)),
    ]


def page(rows: Sequence[Row], panels: Sequence[Spent]) -> str:
    """All of it as Markdown."""
    far = [row for row in rows if row.outcome == "differs"]
    made = f"deliberate-eval {version('deliberate-eval')}, by `python benchmarks/recorded.py`."
    text = ["# Recorded votes", "", made, "", f"- What the library's rules make: {summed(rows, 'library')}."]
    text += [f"- How the sets are read, judges alone and in pairs: {summed(rows, 'data')}."]
    if far:
        text += ["", "## What differs", "", *table(far, named=True)]
    text += ["", '## Asking no more than needed: `spend="enough"`', "", *spent_table(panels)]
    for name in dict.fromkeys(row.set for row in rows):
        text += ["", f"## {name}", "", *table([row for row in rows if row.set == name])]
    text += ["", "## Not computed", "", "What reference.json has besides, and the library has no part for yet:", ""]
    return "\n".join([*text, *(f"- {one}" for one in NOT_COMPUTED), ""])


def summed(rows: Iterable[Row], by: str) -> str:
    """How many published figures come out as printed."""
    found: Counter[str] = Counter()
    for row in rows:
        if row.by == by and row.figures > 1:
            found.update(same=int(row.ours), differs=row.figures - int(row.ours))
        elif row.by == by and row.outcome:
            found[row.outcome] += 1
    total, same, noise = found.total(), found["same"], found["noise"]
    between = f"{noise} within the noise of random orders, " if noise else ""
    return f"of {total:,} published figures {same:,} come out as printed, {between}{found['differs']} differ"


def spent_table(panels: Sequence[Spent]) -> Iterator[str]:
    """Panels as a Markdown table."""
    heads = (
        "set",
        "seats",
        "rule, tie",
        "mean calls",
        "saved",
        "one at a time from the start",
        "every order keeps the bracket",
        "`settled` itself agrees",
        "replayed: mean calls, bracket kept",
        "n",
        "missing",
    )
    yield f"| {' | '.join(heads)} |"
    yield "|".join(["", "---", "---:", "---", *["---:"] * 3, *["---"] * 3, "---:", "---:", ""])
    for one in panels:
        said = "yes" if one.replayed_kept else "NO"
        replayed = "–" if one.replayed_calls is None else f"{one.orders} orders: {one.replayed_calls:.3f}, {said}"
        cells = (
            one.set,
            f"{one.seats}",
            f"{one.rule}, {one.tie}",
            f"{one.calls:.3f}",
            f"{100 * one.saved:.1f} %",
            f"{one.calls_from_one:.3f}",
            f"{'yes' if one.kept else 'NO'}, {one.stops} states",
            f"{'yes' if one.agreed else 'NO'}, {one.asked} states",
            replayed,
            f"{one.n}",
            f"{one.missing}",
        )
        yield f"| {' | '.join(cells)} |"


def record(rows: Sequence[Row], panels: Sequence[Spent]) -> bytes:
    """All of it as JSON; no time, machine or place in it."""
    made = {
        "versions": {"deliberate-eval": version("deliberate-eval"), "format": 1},
        "data": {name: hashlib.sha256((rec.folder() / name).read_bytes()).hexdigest() for name in FILES},
        "rows": [{**msgspec.to_builtins(row), "outcome": row.outcome} for row in rows],
        "spent": [{**msgspec.to_builtins(one), "saved": one.saved} for one in panels],
        "not_computed": NOT_COMPUTED,
    }
    return msgspec.json.format(msgspec.json.encode(rounded(made)), indent=1) + b"\n"


def rounded(value: object) -> object:
    """Numbers to six decimals: enough to compare, and alike on every machine."""
    found = value
    if isinstance(value, float):
        found = round(value, 6)
    elif isinstance(value, dict):
        found = {key: rounded(one) for key, one in cast("dict[str, object]", value).items()}
    elif isinstance(value, (list, tuple)):
        found = [rounded(one) for one in cast("Sequence[object]", value)]
    return found


def main(orders: int) -> int:
    """Computes, prints and writes."""
    if lacks := rec.missing(*FILES):
        print(lacks, file=sys.stderr)
        return 2
    rows, panels = all_rows(), all_spent(orders)
    text = page(rows, panels)
    print(text, end="")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "recorded.md").write_text(text, encoding="utf-8")
    (RESULTS / "recorded.json").write_bytes(record(rows, panels))
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, default=_REPLAYS, help="random seat orders in which items are replayed")
    raise SystemExit(main(parser.parse_args().orders))
