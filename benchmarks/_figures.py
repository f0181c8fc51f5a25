"""The recorded sets by name, and a figure of ours beside the published one: what ``recorded`` and ``trust`` share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

from benchmarks import _recorded as rec
from deliberate.tallies import LevelVote, numbers
from deliberate.types import BRACKETS, Bracket, Record, bracket_of

FILES = (
    rec.LLMJUDGE,
    rec.LLMBAR,
    rec.POINTWISE,
    rec.PANDALM,
    rec.PROMETHEUS,
    rec.ANAESTHESIA,
    rec.REFERENCE,
    rec.PAIRED,
)

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
VANILLA = tuple(f"{model}/Vanilla" for model in MODELS)
EIGHTEEN = tuple(f"{model}/{prompt}" for model in MODELS for prompt in ("CoT", "Metrics_Reference", "Vanilla"))
FIRST = "12"
SECOND = "21"
"""Which output was shown first."""

REFERENCE, AUTHORS, STUDY = "reference.json", "llmbar_published.json", "study"
"""Where a figure was published; README.md says what these are."""


class Row(Record, frozen=True, kw_only=True):
    """A figure of ours beside the published one.

    Attributes:
        digits: How many decimals were published.
        n: What it is a figure of; ``missing``: how many votes among them are.
        noise: A standard error of the published figure, where it was taken over random orders.
        figures: A row for many figures says how many of them come out as published.
        by: What made our figure. ``library``: its rules. ``data``: only how the sets are read and the statistics of
            this benchmark, single judges and pairs of them. ``explains``: another way, shown because the library's
            figure differs from the published one, and never counted.
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
    by: Literal["library", "data", "explains"] = "library"

    @property
    def outcome(self) -> str:
        """``same`` as printed, within two standard errors (``noise``), or ``differs``; "" if nothing was published."""
        if self.published is None:
            return ""
        apart = abs(self.ours - self.published)
        half = 0.5 * 10.0**-self.digits + 1e-9
        return "same" if apart <= half else "noise" if apart <= 2 * self.noise + half else "differs"


class Of(NamedTuple):
    """What rows are about: the name of a set, how many items, how many missing votes."""

    set: str
    n: int
    missing: int = 0

    def row(self, figure: str, ours: float, published: float | None = None, **said: Any) -> Row:  # noqa: ANN401  any fact
        """One figure; what is said besides are fields of a row."""
        at = {"digits": 4, "source": REFERENCE, **said}
        if published is None:
            at["source"] = ""
        return Row(set=self.set, figure=figure, ours=ours, published=published, n=self.n, missing=self.missing, **at)

    def rows(self, found: Mapping[str, float], published: Mapping[str, float], *, of: str) -> list[Row]:
        """A row a figure."""
        return [self.row(f"{of}: {figure}", ours, published[figure]) for figure, ours in found.items()]

    def many(self, figure: str, pairs: Sequence[tuple[float, float]], *, digits: int = 4, **said: Any) -> Row:  # noqa: ANN401  same
        """One row for many figures, ours and theirs: how many come out as published."""
        rows = [Row(set="", figure="", ours=ours, published=theirs, digits=digits, n=0) for ours, theirs in pairs]
        same = sum(row.outcome == "same" for row in rows)
        worst = max(abs(ours - theirs) for ours, theirs in pairs)
        note = f"{len(pairs)} figures; furthest apart: {worst:.{digits + 1}f}"
        return self.row(figure, same, len(pairs), digits=0, note=note, figures=len(pairs), by="data", **said)


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


def lacking(votes: rec.Votes) -> int:
    """How many votes are missing."""
    return sum(vote is None for row in votes.votes for vote in row)


def about(name: str, votes: rec.Votes) -> Of:
    """The set of these votes."""
    return Of(name, len(votes.items), lacking(votes))


def bracket_counts(scores: Iterable[float]) -> rec.State:
    """How many of these scores lie in each bracket."""
    counts = Counter(bracket_of(score) for score in scores)
    return tuple(counts[bracket] for bracket in Bracket)


def numbers_of(scores: Sequence[float], *, rule: str, tie: str) -> Mapping[str, float]:
    """Every number of one item, and its bracket by rule and tie policy."""
    bracket = Bracket(rec.won(bracket_counts(scores), rule, tie))
    found = numbers([LevelVote(BRACKETS.of(score), score) for score in scores], bracket)
    return {**found, "bracket": float(bracket)}


def table(rows: Sequence[Row], *, named: bool = False) -> Iterator[str]:
    """Rows as a Markdown table."""
    heads = ["set"] * named + ["figure", "ours", "published", "difference", "", "by", "n", "missing", "source"]
    yield f"| {' | '.join(heads)} |"
    yield "|".join(["", *["---"] * (1 + named), *["---:"] * 3, *["---"] * 2, *["---:"] * 2, "---", ""])
    for row in rows:
        # A decimal more than was published, so that a difference shows.
        digits = 0 if row.figures > 1 else row.digits + (row.outcome in {"noise", "differs"})
        apart = "" if row.published is None else f"{round(row.ours - row.published, digits) + 0.0:+.{digits}f}"
        theirs = "–" if row.published is None else f"{row.published:.{row.digits}f}"
        figure = f"{row.figure} ({row.note})" if row.note else row.figure
        cells = [figure, f"{row.ours:.{digits}f}", theirs, apart, row.outcome, row.by]
        of = [f"{row.n}", f"{row.missing}", row.source]
        yield f"| {' | '.join([row.set] * named + cells + of)} |"
