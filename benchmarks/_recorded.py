"""Recorded votes, and the library's rules held against them.

The sets lie in ``../shared/data/recorded`` beside the repository, or in the folder ``DELIBERATE_RECORDED`` names; they
are not part of it. A vote is the position of its label among the ordered labels of its set, two to eleven of them. A
missing vote is None: it never becomes a category.

Two ways of deciding are here. ``won`` takes counts of votes and asks the rules themselves, for any number of labels.
``sitting`` and ``replayed`` go through panel, protocol and decision, as a live run does, for the sets of up to four
labels, which then stand for the brackets.
"""

from __future__ import annotations

import gzip
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, cast

import msgspec

from deliberate.plugins import part
from deliberate.protocols import advance, batches, protocol_of, settled
from deliberate.tallies import LevelVote, Rule, decide, needed
from deliberate.tallies._ties import settle
from deliberate.types import (
    Absent,
    AskId,
    Ballot,
    Bracket,
    Case,
    Decided,
    Judge,
    Levels,
    Panel,
    Pending,
    Reply,
    Rules,
    Seat,
    Spend,
    ask_id,
    bracket_of,
    midpoint,
)

__all__ = [
    "ANAESTHESIA",
    "LLMBAR",
    "LLMJUDGE",
    "PAIRED",
    "PANDALM",
    "POINTWISE",
    "PROMETHEUS",
    "REFERENCE",
    "Line",
    "State",
    "Stops",
    "Votes",
    "ahead",
    "blocs",
    "calls_in_order",
    "counted",
    "drawn",
    "expected_calls",
    "folder",
    "in_order",
    "is_settled",
    "kappa",
    "lines",
    "missing",
    "percentile_95",
    "published",
    "reference",
    "replayed",
    "shuffled",
    "sitting",
    "spearman",
    "states",
    "told",
    "votes_of",
    "winners",
    "won",
]

LLMJUDGE = "llmjudge_dl23_a.votes.jsonl.gz"
LLMBAR = "llmbar_pairwise.votes.jsonl.gz"
POINTWISE = "llmbar_pointwise.votes.jsonl.gz"
PANDALM = "pandalm.votes.jsonl.gz"
PROMETHEUS = "prometheus_gpt4.votes.jsonl.gz"
ANAESTHESIA = "anaesthesia.votes.jsonl.gz"
REFERENCE = "reference.json"
PAIRED = "llmbar_published.json"

CASE = Case(output="recorded")

State = tuple[int, ...]
"""How many seats gave each label, lowest first; the last number: how many were asked and gave no vote."""

Stops = Callable[[State], bool]
"""Whether no further seat is asked."""


class Line(msgspec.Struct, frozen=True):
    """One vote as recorded."""

    item_id: str
    judge: str
    vote: int | None
    gold: int | None = None
    order: str = ""
    human: tuple[int, ...] = ()


class Votes(NamedTuple):
    """The votes of some judges: items × judges, in the order of ``items`` and ``judges``.

    ``votes`` and ``gold`` hold positions in ``labels``.
    """

    labels: tuple[int, ...]
    judges: tuple[str, ...]
    items: tuple[str, ...]
    votes: tuple[tuple[int | None, ...], ...]
    gold: tuple[int, ...]


# --- the data --------------------------------------------------------------------------------------


def folder() -> Path:
    """Where the recorded sets should lie."""
    named = os.environ.get("DELIBERATE_RECORDED")
    return Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data" / "recorded"


def missing(*names: str) -> str:
    """What of these is not there, in words; "" if all of it is."""
    gone = [name for name in names or (REFERENCE,) if not (folder() / name).is_file()]
    where = "the folder DELIBERATE_RECORDED names" if "DELIBERATE_RECORDED" in os.environ else "../shared/data/recorded"
    return f"not in {where}: {', '.join(gone)}" if gone else ""


@cache
def lines(name: str) -> tuple[Line, ...]:
    """All votes of a file."""
    decoder = msgspec.json.Decoder(Line)
    with gzip.open(folder() / name) as file:
        return tuple(map(decoder.decode, file))


@cache
def reference() -> Mapping[str, Any]:
    """The figures the rows are held against."""
    return cast("Mapping[str, Any]", msgspec.json.decode((folder() / REFERENCE).read_bytes()))


@cache
def published() -> Mapping[str, Any]:
    """What the authors of LLMBar printed: judge -> subset -> figure."""
    return cast("Mapping[str, Any]", msgspec.json.decode((folder() / PAIRED).read_bytes()))


def votes_of(
    name: str, labels: Sequence[int], *, judges: Sequence[str] | None = None, order: str | None = None
) -> Votes:
    """A set as a table; items are sorted by name, judges as given, or by name."""
    place = {label: at for at, label in enumerate(labels)}
    found: dict[str, dict[str, int | None]] = {}
    gold: dict[str, int] = {}
    for line in lines(name):
        if order in {None, line.order}:
            found.setdefault(line.item_id, {})[line.judge] = None if line.vote is None else place[line.vote]
            if line.gold is not None:
                gold[line.item_id] = place.get(line.gold, line.gold)
    items = tuple(sorted(found))
    names = tuple(judges or sorted({judge for row in found.values() for judge in row}))
    return Votes(
        labels=tuple(labels),
        judges=names,
        items=items,
        votes=tuple(tuple(found[item].get(judge) for judge in names) for item in items),
        gold=tuple(gold[item] for item in items) if gold else (),
    )


def told(row: Sequence[int | None], labels: int) -> State:
    """The votes of a row by label, and how many are missing."""
    votes = Counter(row)
    return (*(votes[level] for level in range(labels)), votes[None])


def counted(row: Sequence[int | None], labels: int) -> State:
    """The votes of a row by label."""
    return told(row, labels)[:-1]


# --- deciding --------------------------------------------------------------------------------------


@cache
def winners(counts: State, rule: str) -> tuple[int, ...]:
    """The labels that win under a rule, of so many votes for each."""
    # Halves go up, as in the published figures: a mean of 0.5 is nearer to 1.
    tops = tuple(level + 0.5 - 1e-9 for level in range(len(counts)))
    levels = Levels(labels=tuple(map(str, range(len(counts)))), tops=tops)
    votes = [LevelVote(level, float(level)) for level, count in enumerate(counts) for _ in range(count)]
    return cast("Rule", part("tallies", rule))(votes, levels)


@cache
def won(counts: State, rule: str = "plurality", tie: str = "median") -> int:
    """The label that wins under a rule and a tie policy; there is at least one vote."""
    tied = winners(counts, rule)
    if len(tied) == 1:
        return tied[0]
    # A tie policy only compares and subtracts, so labels serve as well as brackets.
    found = settle(
        cast("Sequence[Bracket]", tied),
        (tie,),
        middle=cast("Bracket", winners(counts, "median")[0]),
        chair=None,
        human=None,
    )
    return int(cast("Bracket", found))


def sitting(judges: Sequence[str], *, rules: Rules, spend: Spend = "all") -> Panel:
    """A panel with one seat a judge, in this order."""
    seats = tuple(Seat(name=re.sub(r"\W+", "-", judge), judge=Judge(model=f"recorded/{judge}")) for judge in judges)
    return Panel(seats=seats, rules=rules, spend=spend)


def reply_of(score: float | None) -> Reply:
    """The ballot of a score 0–100, or none."""
    return Absent(reason="unreadable") if score is None else Ballot(bracket=bracket_of(score), score=score)


def replayed(panel: Panel, said: Sequence[Reply]) -> tuple[Bracket | None, int]:
    """The bracket of a panel that is asked seat by seat, as a live run asks it, and how many seats were asked.

    Args:
        panel: Its protocol makes one wave.
        said: What each seat says if it is asked, in seat order.
    """
    protocol = protocol_of(panel.protocol)
    answers: dict[AskId, Reply] = {}
    asked = 0
    while isinstance(step := advance(protocol, CASE, panel, answers), Pending):
        reply = {ask_id(ask): one for ask, one in zip(step.wave.asks, said, strict=True)}
        for batch in batches(panel, step):
            left = tuple(at for at in step.open if at not in answers)
            pending = Pending(wave=step.wave, heard=step.heard, open=left)
            begun = len(left) < len(step.open)
            if step.wave.spend == "enough" and begun and settled(protocol, CASE, panel, pending, answers):
                answers.update(dict.fromkeys(left, Absent(reason="not_needed")))
                break
            answers.update((at, reply[at]) for at in batch)
            asked += len(batch)
    decision = decide(panel, step.heard, step.close, panel.rules)
    return (decision.bracket if isinstance(decision, Decided) else None), asked


# --- when to stop ----------------------------------------------------------------------------------


def ahead(seats: int) -> Stops:
    """Stops once the leading label is further ahead than there are seats left: what the published figures count."""

    def stops(state: State) -> bool:
        *_, second, first = sorted(state[:-1])
        return first - second > seats - sum(state)

    return stops


def blocs(seats: int, *, rule: str = "plurality", tie: str = "median", quorum: int | None = None) -> Stops:
    """Stops once no bloc of all seats left, voting alike, could change what wins: ``settled``, counted.

    Only blocs need trying. If seats left can bring another label to win a plurality, or into a tie, then so they can
    by all voting for that label: it gains and no other does. A median moves furthest if all vote for an end.

    ``quorum`` None means a strict majority of the seats; before that many votes nothing is settled.
    """
    least = needed(Rules(), seats) if quorum is None else quorum

    @cache
    def stops(state: State) -> bool:
        counts, left = state[:-1], seats - sum(state)
        if sum(counts) < least:
            return False
        base = won(counts, rule, tie)
        return all(
            won((*counts[:at], count + left, *counts[at + 1 :]), rule, tie) == base for at, count in enumerate(counts)
        )

    return stops


def states(full: State, *, seats: int, most_open: int) -> Iterator[State]:
    """Every state on the way to a full one, in whatever order, with at least one seat open and at most so many."""
    for state in product(*(range(count + 1) for count in full)):
        if 1 <= seats - sum(state) <= most_open:
            yield state


def drawn(some: Iterable[State], most: int) -> list[State]:
    """At most so many of these states, drawn from a seed."""
    ordered = sorted(some)
    return ordered if len(ordered) <= most else Random(0).sample(ordered, most)


def is_settled(panel: Panel, state: State) -> bool:
    """What the library's ``settled`` says where so many seats of a panel were heard."""
    said: list[Reply] = [
        reply_of(None) if level == len(state) - 1 else Ballot(bracket=Bracket(level), score=midpoint(Bracket(level)))
        for level, count in enumerate(state)
        for _ in range(count)
    ]
    protocol = protocol_of(panel.protocol)
    start = advance(protocol, CASE, panel, {})
    if not isinstance(start, Pending):  # pragma: no cover  a sealed panel begins by asking
        return False
    answers = dict(zip(start.open, said, strict=False))
    pending = Pending(wave=start.wave, heard=start.heard, open=start.open[len(said) :])
    return settled(protocol, CASE, panel, pending, answers)


def in_order(votes: Votes, order: Sequence[int], *, rule: str, tie: str) -> tuple[float, bool]:
    """Mean calls of all items replayed in one order of judges, and whether each kept the full panel's bracket."""
    rules = Rules(rule=rule, tie=(tie,))
    judges = [votes.judges[at] for at in order]
    enough, whole = sitting(judges, rules=rules, spend="enough"), sitting(judges, rules=rules)

    @cache
    def one(row: tuple[int | None, ...]) -> tuple[int, bool]:
        said = [reply_of(None if vote is None else midpoint(Bracket(vote))) for vote in row]
        bracket, calls = replayed(enough, said)
        return calls, bracket == replayed(whole, said)[0]

    found = [one(tuple(row[at] for at in order)) for row in votes.votes]
    return sum(calls for calls, _ in found) / len(found), all(kept for _, kept in found)


def expected_calls(full: State, stops: Stops, *, begin: int = 0) -> tuple[float, frozenset[State]]:
    """Mean calls over every order of the seats, and all states in which an order may stop.

    Exact: orders that lead to the same state are taken together, each with its share.

    Args:
        full: What all seats say.
        stops: When no further seat is asked.
        begin: So many seats are always asked; ``stops`` must be false before.
    """
    ends: set[State] = set()
    seats = sum(full)

    @cache
    def more(state: State) -> float:
        left = seats - sum(state)
        if not left or stops(state):
            ends.add(state)
            return 0.0
        return 1.0 + sum(
            (full[at] - count) / left * more((*state[:at], count + 1, *state[at + 1 :]))
            for at, count in enumerate(state)
            if count < full[at]
        )

    ways = math.comb(seats, begin)
    first = [state for state in product(*(range(count + 1) for count in full)) if sum(state) == begin]
    shares = [math.prod(map(math.comb, full, state)) / ways for state in first]
    return begin + math.fsum(share * more(state) for share, state in zip(shares, first, strict=True)), frozenset(ends)


def calls_in_order(votes: Votes, order: Sequence[int], stops: Stops) -> float:
    """Mean calls over the items if all of them are asked in this order of judges."""
    total = 0
    for row in votes.votes:
        state = [0] * (len(votes.labels) + 1)
        for at in order:
            vote = row[at]
            state[-1 if vote is None else vote] += 1
            total += 1
            if stops(tuple(state)):
                break
    return total / len(votes.items)


def shuffled(count: int, *, seats: int, seed: int) -> list[list[int]]:
    """Random orders of seats, drawn from a seed."""
    chance = Random(seed)
    return [chance.sample(range(seats), seats) for _ in range(count)]


# --- how good --------------------------------------------------------------------------------------


def kappa(pairs: Sequence[tuple[int, int]], labels: int, *, quadratic: bool = False) -> float:
    """Agreement of two raters beyond chance; all labels of the scale count, whether they occur or not.

    At most 1; 0 is chance level; nan where chance alone agrees on everything.

    Cohen (1960), A coefficient of agreement for nominal scales, doi:10.1177/001316446002000104; with squared weights
    Cohen (1968), Weighted kappa, doi:10.1037/h0026256.

    >>> round(kappa([(0, 0)] * 20 + [(0, 1)] * 5 + [(1, 0)] * 10 + [(1, 1)] * 15, 2), 2)
    0.4
    """

    def apart(one: int, other: int) -> float:
        return ((one - other) / (labels - 1)) ** 2 if quadratic else float(one != other)

    here, there = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    seen = math.fsum(apart(*pair) * count for pair, count in Counter(pairs).items())
    chance = math.fsum(apart(one, other) * here[one] * there[other] for one in here for other in there) / len(pairs)
    return 1 - seen / chance if chance else math.nan


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """Correlation of ranks, ties sharing the mean of theirs; nan if one side is all alike.

    Spearman (1904), The proof and measurement of association between two things, doi:10.2307/1412159.

    >>> round(spearman([1, 2, 3, 4, 5], [5, 6, 7, 8, 7]), 3)
    0.821
    """
    here, there = _ranks(one), _ranks(other)
    middle = (len(one) + 1) / 2
    both = math.fsum((a - middle) * (b - middle) for a, b in zip(here, there, strict=True))
    spread = math.fsum((a - middle) ** 2 for a in here) * math.fsum((b - middle) ** 2 for b in there)
    return both / math.sqrt(spread) if spread else math.nan


def percentile_95(values: Sequence[float]) -> float:
    """The least value that at least 95 % of the values do not exceed."""
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]


def _ranks(values: Sequence[float]) -> list[float]:
    # A third of 100 has nine decimals as a score; means of such scores that should tie may differ in the ninth.
    rounded = [round(value, 6) for value in values]
    count = Counter(rounded)
    rank: dict[float, float] = {}
    before = 0
    for value in sorted(count):
        rank[value] = before + (count[value] + 1) / 2
        before += count[value]
    return [rank[value] for value in rounded]
