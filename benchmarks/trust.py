"""Which judges to trust: the library's statistics on recorded votes, beside the published figures.

``recorded.py`` prints these rows with all others; ``python benchmarks/trust.py`` prints them alone. Where a published
figure was computed on other items than the library takes by itself, the row says so.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from functools import cache
from random import Random
from statistics import fmean, stdev
from typing import Any, cast

import msgspec
import numpy as np

from benchmarks import _recorded as rec
from benchmarks._figures import (
    EIGHTEEN,
    FILES,
    FIRST,
    TEAMS,
    VANILLA,
    Of,
    Row,
    about,
    llmbar,
    llmjudge,
    numbers_of,
    ratings,
    table,
)
from deliberate.agreement import Measured, measure, pairwise_kappa
from deliberate.studies._arrays import winners
from deliberate.studies.abstention import threshold_for
from deliberate.studies.anchors import anchor_weights
from deliberate.studies.dawid_skene import Consensus, dawid_skene
from deliberate.studies.reliability import reliability
from deliberate.types import to_score

DRAWS = 60
SPLITS = 100
BANDS = (0.0, 0.5, 0.7, 0.9, 1.0)
"""The published bins of vote shares."""

DIFFERS = {
    "Dawid-Skene, full: acc": "unsmoothed, as published; the row below adds a millionth to each cell, and comes out",
    "calibration error of the vote share": "a fifth of an item apart; to three digits, as 0.066 is, the same",
    "weights from 100 anchors: acc": "60 draws each, just beyond two standard errors; which is not published",
}
"""Figures that come out otherwise on some set, and why."""

COMPLETE = "over the items all judges voted on, as published; by pairs of judges: {:.4f}"
INTERVAL = "ends of a bootstrap differ by its draws"


def by_library(row: Row) -> Row:
    """A row of many figures that the library made."""
    return msgspec.structs.replace(row, by="library")


def alphas(of: Of, votes: Sequence[Sequence[int | None]], known: dict[str, Any], interval: dict[str, Any]) -> list[Row]:
    """Krippendorff's alpha by each metric published, and the ends of its interval."""
    found: list[Row] = []
    for metric, theirs in known.items():
        ours = measure("krippendorff_alpha", votes, {"metric": metric})
        found.append(of.row(f"alpha, {metric}", _value(ours), theirs))
        for end, published in zip((ours.low, ours.high), interval.get(metric, ()), strict=False):
            side = "lower" if end == ours.low else "upper"
            error = 0.002  # of an end of 1000 draws
            found.append(
                of.row(f"alpha, {metric}: {side} end", cast("float", end), published, noise=error, note=INTERVAL)
            )
    return found


def _value(found: Measured) -> float:
    assert found.value is not None, f"{found.statistic} is undefined on a recorded set"  # noqa: S101  a benchmark
    return found.value


def panel(name: str, votes: rec.Votes, known: dict[str, Any]) -> list[Row]:
    """Alpha, effective judges, pairs of judges, Dawid and Skene's models, and vote shares as confidence."""
    of, labels = about(name, votes), len(votes.labels)
    rows = alphas(of, votes.votes, known["krippendorff"], known["krippendorff_ci95_item_bootstrap"])
    judged = [(*row, gold) for row, gold in zip(votes.votes, votes.gold, strict=True)]
    whole = [row for row in judged if None not in row]
    for form, key in (("wrong", "effective_judges_wrong_indicator"), ("distance", "effective_judges")):
        if form == "distance" and labels == 2:
            continue  # the same errors, and the published row is that of the other form
        for statistic, figure in (("error_correlation", "mean_error_corr"), ("effective_judges", "kish")):
            by_pairs = _value(measure(statistic, judged, {"form": form}, draws=0))
            ours = _value(measure(statistic, whole, {"form": form}, draws=0))
            what = f"{statistic.replace('_', ' ')}, {form}"
            rows.append(of.row(what, ours, known[key][figure], digits=3, note=COMPLETE.format(by_pairs)))
    kappas = pairwise_kappa(votes.votes, weights="quadratic" if labels > 2 else "none")
    theirs = known["pairwise"]["matrix"]
    pairs = [(cast("float", kappas[a][b]), theirs[a][b]) for a in range(len(kappas)) for b in range(a)]
    if tuple(known["pairwise"]["order"]) == votes.judges:
        rows.append(by_library(of.many(f"{known['pairwise']['stat']} of every two judges", pairs, digits=3)))
    for form, key in (("full", "dawid_skene"), ("one_coin", "one_coin")):
        found = fitted(votes, form, known["aggregation"][key]["iterations"])
        right = fmean(a == b for a, b in zip(found.labels, votes.gold, strict=True))
        rows.append(
            of.row(
                f"Dawid-Skene, {form}: acc", right, known["aggregation"][key]["acc"], note=f"{found.iterations} steps"
            )
        )
    share, was_right = shares(votes)
    rows.append(
        of.row(
            "calibration error of the vote share",
            reliability(share, was_right, bins=BANDS).error,
            known["ece_vote_share"],
        )
    )
    return rows


def fitted(votes: rec.Votes, form: Any, steps: int = 2000, *, added: float = 0.0) -> Consensus:  # noqa: ANN401  a literal
    """Dawid and Skene's model of a set, stopped after as many steps as the published one."""
    said = [
        (item, judge, vote)
        for item, row in zip(votes.items, votes.votes, strict=True)
        for judge, vote in zip(votes.judges, row, strict=True)
        if vote is not None
    ]
    return dawid_skene(said, levels=len(votes.labels), form=form, most_steps=steps, added=added)


def smoothed(name: str, votes: rec.Votes, published: float) -> Row:
    """The full model with a millionth added to each cell of a confusion matrix, run to the end."""
    found = fitted(votes, "full", added=1e-6)
    right = fmean(a == b for a, b in zip(found.labels, votes.gold, strict=True))
    note = f"{found.iterations} steps"
    return about(name, votes).row("Dawid-Skene, full, 0.000001 added: acc", right, published, note=note, by="explains")


def shares(votes: rec.Votes) -> tuple[list[float], list[bool]]:
    """The share of votes for the winner of each item, and whether it is right."""
    found = np.array([[math.nan if vote is None else vote for vote in row] for row in votes.votes])
    won = winners(found, len(votes.labels))
    share = (found == won[:, None]).sum(axis=1) / (~np.isnan(found)).sum(axis=1)
    return [float(one) for one in share], [bool(one) for one in won == np.array(votes.gold)]


@cache
def weighted(votes: rec.Votes, anchors: int) -> tuple[float, ...]:
    """How often weights from that many anchors are right on all other items, draw by draw."""
    every = np.array([[math.nan if vote is None else vote for vote in row] for row in votes.votes])
    gold, chance, found = np.array(votes.gold), Random(0), list[float]()
    for _ in range(DRAWS):
        at = chance.sample(range(len(gold)), anchors)
        rest = np.setdiff1d(np.arange(len(gold)), at)
        learnt = anchor_weights(
            [votes.votes[one] for one in at], [votes.gold[one] for one in at], levels=len(votes.labels)
        )
        found.append(float((winners(every[rest], len(votes.labels), weights=learnt.weights) == gold[rest]).mean()))
    return tuple(found)


def anchored(name: str, votes: rec.Votes, known: dict[str, Any]) -> list[Row]:
    """Weights from 20 anchors on."""
    of, rows = about(name, votes), list[Row]()
    for count in (20, 50, 100, 200):
        found = weighted(votes, count)
        noise = 2**0.5 * stdev(found) / DRAWS**0.5  # both are means of 60 draws
        theirs = known["gold_weighted"][str(count)]["weighted_acc"]
        rows.append(
            of.row(f"weights from {count} anchors: acc", fmean(found), theirs, noise=noise, note=f"{DRAWS} draws")
        )
    return rows


def abstaining(name: str, votes: rec.Votes, known: dict[str, Any]) -> list[Row]:
    """Share of items a panel may decide alone at risk targets, from a random half as labels."""
    of, (share, right) = about(name, votes), shares(votes)
    rows: list[Row] = []
    for target, published in known["risk_control"].items():
        chance, kept, broken = Random(1), list[float](), 0
        for _ in range(SPLITS):
            order = chance.sample(range(len(share)), len(share))
            seen, rest = order[: len(order) // 2], order[len(order) // 2 :]
            found = threshold_for([share[at] for at in seen], [right[at] for at in seen], target=float(target))
            held = [] if found.threshold is None else [right[at] for at in rest if share[at] >= found.threshold]
            kept.append(len(held) / len(rest))
            broken += bool(held) and 1 - fmean(held) > float(target)
        rows.append(
            of.row(
                f"risk at most {target}: share decided",
                fmean(kept),
                note=f"promise broken in {broken} of {SPLITS} splits; published with its own sequence: "
                f"{published['coverage']} decided, {published['violations']:.0%} broken",
            )
        )
    return rows


def patients() -> list[Row]:
    """Dawid and Skene's own patients."""
    known = rec.reference()["anaesthesia"]
    lines = rec.lines(rec.ANAESTHESIA)
    found = dawid_skene([(line.item_id, line.judge, cast("int", line.vote) - 1) for line in lines], levels=4)
    of = Of("anaesthesia", len(found.items))
    cells = [
        (ours, theirs)
        for rater, rows in zip(found.raters, found.confusion, strict=True)
        for row, published in zip(rows, known["confusion"][rater], strict=True)
        for ours, theirs in zip(row, published, strict=True)
    ]
    unsure = {item: one for item, one in zip(found.items, found.posterior, strict=True) if max(one) < 0.99}
    posterior = [
        pair
        for one in known["posterior_below_0_99"]
        for pair in zip(unsure[one["item"]], one["posterior"], strict=True)
    ]
    counts = [(float(found.labels.count(label)), known["label_counts"][label]) for label in range(4)]
    return [
        by_library(of.many("prior of each label", list(zip(found.prior, known["prior"], strict=True)))),
        by_library(of.many("confusion of each rater", cells)),
        by_library(of.many("items with each label", counts, digits=0)),
        by_library(of.many("posteriors below 0.99", posterior)),
        of.row("items below 0.99", len(unsure), len(known["posterior_below_0_99"]), digits=0),
    ]


def others() -> list[Row]:
    """Alpha of the other sets."""
    known = rec.reference()
    one = ratings()
    brackets = [
        [
            None
            if vote is None
            else numbers_of([to_score(vote, scale="0..10")], rule="plurality", tie="lower")["bracket"]
            for vote in row
        ]
        for row in one.votes
    ]
    people = rec.votes_of(rec.PANDALM, range(3))
    human = {line.item_id: line.human for line in rec.lines(rec.PANDALM)}
    three = [human[item] for item in people.items]
    both = [(*row, *said) for row, said in zip(people.votes, three, strict=True)]
    samples = rec.votes_of(rec.PROMETHEUS, range(1, 6))
    of = Of("pandalm", len(people.items))
    kappas = pairwise_kappa(three)
    pairs = list(
        zip(
            (cast("float", kappas[a][b]) for a, b in ((0, 1), (0, 2), (1, 2))),
            known["pandalm"]["human_pairwise_kappa"],
            strict=True,
        )
    )
    pointwise = about("llmbar one by one, 7 judges", one)
    return [
        *alphas(pointwise, one.votes, known["llmbar_pointwise"]["krippendorff"], {}),
        pointwise.row(
            "alpha of brackets, ordinal",
            _value(measure("krippendorff_alpha", brackets)),
            known["llmbar_pointwise"]["krippendorff_brackets_ordinal"],
        ),
        *alphas(
            about("prometheus, three samples", samples), samples.votes, known["prometheus_gpt4"]["krippendorff"], {}
        ),
        of.row(
            "alpha of three people, nominal",
            _value(measure("krippendorff_alpha", three, {"metric": "nominal"})),
            known["pandalm"]["human_krippendorff_nominal"],
        ),
        of.row(
            "alpha of five raters, nominal",
            _value(measure("krippendorff_alpha", both, {"metric": "nominal"})),
            known["pandalm"]["five_raters_alpha"],
        ),
        by_library(of.many("kappa of every two people", pairs)),
    ]


def rows() -> list[Row]:
    """Every figure."""
    judged, paired, extra = (rec.reference()[key] for key in ("llmjudge_dl23_a", "llmbar_pairwise", "extra"))
    seven, six = llmjudge(TEAMS), llmbar(VANILLA, FIRST)
    made = [
        *panel("llmjudge, 7 judges", seven, judged["panel7_one_per_team"]),
        *anchored("llmjudge, 7 judges", seven, extra["llmjudge_dl23_a/panel7"]),
        *abstaining("llmjudge, 7 judges", seven, extra["llmjudge_dl23_a/panel7"]),
        *panel("llmjudge, 33 judges", llmjudge(None), judged["all"]),
        smoothed("llmjudge, 33 judges", llmjudge(None), judged["all"]["aggregation"]["dawid_skene"]["acc"]),
        *panel("llmbar, 6 judges", six, paired["vanilla6_order12"]),
        *anchored("llmbar, 6 judges", six, extra["llmbar_pairwise/vanilla6_order12"]),
        *abstaining("llmbar, 6 judges", six, extra["llmbar_pairwise/vanilla6_order12"]),
        *panel("llmbar, 18 judges", llmbar(EIGHTEEN, FIRST), paired["models6_x3strategies_order12"]),
        *others(),
        *patients(),
    ]
    return [
        msgspec.structs.replace(row, note=DIFFERS.get(row.figure, row.note)) if row.outcome == "differs" else row
        for row in made
    ]


def main() -> int:
    """Prints them."""
    if lacks := rec.missing(*FILES):
        print(lacks, file=sys.stderr)
        return 2
    print("\n".join(table(rows(), named=True)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
