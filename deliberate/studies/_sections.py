"""What was asked for besides agreement, as titled sections: the same words in a terminal, in Markdown and on a page."""

from __future__ import annotations

from typing import NamedTuple

from deliberate.studies._figures import Consensual, Figures, Further, Rates, StandIn
from deliberate.studies.abstention import Threshold
from deliberate.studies.advice import Advice, PanelChoice
from deliberate.studies.alt_test import EPSILON
from deliberate.studies.anchors import Anchored

__all__ = ["Section", "sections"]


class Section(NamedTuple):
    """A title, what is said under it, and a table; names stand in the first column."""

    title: str
    said: tuple[str, ...]
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


def sections(study: Figures) -> tuple[Section, ...]:
    """One for each thing that was asked for."""
    found = study.further
    made = [
        None if found.panels is None else _panels(found.panels, found),
        _stand_in(found.stand_in) if found.stand_in else None,
        None if found.rates is None else _rates(found.rates),
        None if found.abstention is None else _abstention(found.abstention),
        None if found.anchors is None else _anchors(found.anchors),
        _consensus(found.consensus) if found.consensus else None,
    ]
    return tuple(one for one in made if one is not None)


def _panels(found: Advice, of: Further) -> Section:
    said = (
        (
            f"{found.tried} panels and rules tried on {found.n} items, in {found.folds} folds: kappa is of items the "
            "panel was not chosen on; seen, of those it was chosen on, which flatters it. A panel is listed only where "
            "no cheaper one agrees better."
        ),
        (
            "Here all people together are what is right, where there are several; the tables above hold a judge "
            "against people with one left out at a time, so its kappa there may differ."
        ),
    )

    def row(kind: str, one: PanelChoice) -> tuple[str, ...]:
        rule = f", {one.rule}" if len(one.judges) > 1 else ""
        name = f"{kind}: {', '.join(one.judges)}{rule}"
        return name, f"{one.cost:.3g}", _number(one.kappa), _number(one.kappa_seen)

    rows = (row("best single judge on the same labels", found.single), *(row("panel", one) for one in found.front))
    return Section("Panels worth their cost", said, ("who", of.panel_cost, "kappa", "seen"), rows)


def _stand_in(found: tuple[StandIn, ...]) -> Section:
    test = found[0].test
    who = next((name for name, epsilon in EPSILON.items() if epsilon == test.epsilon), "own")
    said = [
        (
            f"Epsilon {test.epsilon:g} ({who}): how much worse than a person a judge may be, as it is cheaper. It may "
            "stand in for people where it wins against at least half of them (one-sided t-tests, Benjamini-Yekutieli "
            f"at level {test.q:g}); advantage is how often it is at least as near to the other people as a person is."
        ),
    ]
    if test.left_out:
        said.append(f"Left out for fewer than 30 items: {', '.join(test.left_out)}.")
    rows = tuple(
        (one.judge, f"{one.test.winning_rate:.2f}", f"{one.test.advantage:.2f}", "yes" if one.test.passes else "no")
        for one in found
    )
    title = "Alternative Annotator Test: may a judge stand in for a person?"
    return Section(title, tuple(said), ("judge", "wins", "advantage", "passes"), rows)


def _rates(found: Rates) -> Section:
    mean = found.of == "mean"
    what = "Mean label, its position from 0" if mean else f"Share of items that are {found.of} or better"
    first = found.rows[0].found
    said = [
        (
            f"{what}. Raw is the judge's word on all items; corrected adds what {first.n} labels of people say of its "
            f"errors (prediction-powered, PPI++; {first.confidence:.0%} interval); people is those labels alone. "
            "Weight is how far the judge is relied on, 0 to 1. Labels must be of items drawn at random."
        ),
        *(f"Left out: {name} ({why})." for name, why in found.left_out),
    ]

    def row(name: str, cells: tuple[float, ...]) -> tuple[str, ...]:
        raw, value, low, high, people, people_low, people_high, weight = (
            f"{one:.2f}" if mean else f"{one:.3f}" for one in cells
        )
        return name, raw, value, f"{low}–{high}", people, f"{people_low}–{people_high}", weight

    rows = tuple(
        row(
            one.rater,
            (
                *(one.found.judged, one.found.value, one.found.low, one.found.high),
                *(one.found.labeled, one.found.labeled_low, one.found.labeled_high, one.found.weight),
            ),
        )
        for one in found.rows
    )
    heads = ("judge", "raw", "corrected", "interval", "people", "interval", "weight")
    return Section("A rate, put right by people's labels", tuple(said), heads, rows)


def _abstention(found: Threshold) -> Section:
    title = "From which share of votes on may the panel decide alone?"
    promise = f"at most {found.target:.0%} wrong, with probability {1 - found.delta:.0%}"
    if found.threshold is None:
        reason = f"{found.reason[:1].upper()}{found.reason[1:]}."
        return Section(title, (f"From none: {promise} cannot be promised on {found.n} labeled items. {reason}",))
    said = (
        f"From {found.threshold:.3g} on: {promise}. That keeps {found.coverage:.0%} of {found.n} labeled items "
        f"({found.kept}), of which {found.risk or 0:.1%} are wrong (upper bound {found.bound or 0:.1%}, "
        "Clopper-Pearson, fixed sequence); the others go to a person."
    )
    return Section(title, (said,))


def _anchors(found: Anchored) -> Section:
    rows = tuple(
        (name, _number(right), f"{weight:.2f}")
        for name, right, weight in zip(found.judges, found.right, found.weights, strict=True)
    )
    said = tuple(f"{line[:1].upper()}{line[1:]}." for line in found.lines)
    return Section("Weights from anchors, before and after", said, ("judge", "right", "weight"), rows)


def _consensus(found: tuple[Consensual, ...]) -> Section:
    first = found[0]
    said = [f"WARNING: {first.warning}"]
    for one in found:
        steps = f"{one.iterations} steps" + ("" if one.converged else ", not converged")
        if one.right is None or one.plurality is None:
            said.append(f"{_FORM[one.form]}: {steps}; no labels to check it against.")
        else:
            said.append(
                f"{_FORM[one.form]}: right on {one.right:.1%} of {one.n} labeled items, plurality on "
                f"{one.plurality:.1%} ({steps})."
            )
    columns = {one.form: dict(zip(one.judges, one.accuracy, strict=True)) for one in found}
    rows = tuple((name, *(f"{columns[one.form][name]:.2f}" for one in found)) for name in first.judges)
    heads = ("taken to be right", *(_FORM[one.form] for one in found))
    return Section("What votes say when nobody knows what is right (Dawid-Skene)", tuple(said), heads, rows)


_FORM = {"full": "full", "one_coin": "one coin"}


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"
