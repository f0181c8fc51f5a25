"""Whether the open asks can still change the bracket."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations_with_replacement, product

from deliberate.protocols._advance import advance
from deliberate.protocols._base import Protocol
from deliberate.tallies import decide
from deliberate.types import Absent, AskId, Ballot, Bracket, Case, Closed, Decided, Panel, Pending, Reply

__all__ = ["settled"]

_MOST_ASSIGNMENTS = 20_000
"""Beyond this many futures nothing is called settled: asking on is dearer, but never wrong."""

_FUTURES: tuple[Reply, ...] = (
    Ballot(bracket=Bracket.POOR, score=0.0),
    Ballot(bracket=Bracket.FAIR, score=26.0),
    Ballot(bracket=Bracket.FAIR, score=50.0),
    Ballot(bracket=Bracket.GOOD, score=51.0),
    Ballot(bracket=Bracket.GOOD, score=75.0),
    Ballot(bracket=Bracket.EXCELLENT, score=100.0),
    Absent(reason="transport"),
)


def settled(protocol: Protocol, case: Case, panel: Panel, pending: Pending, answers: Mapping[AskId, Reply]) -> bool:
    """Whether every way the open asks may be answered, or not asked at all, closes with the same bracket.

    No formula per rule: each possible future is played through the protocol and decided. Equal seats need only
    multisets of replies; where weights or independence tell seats apart, every assignment is tried. A wave that may
    lead to another wave is never settled.
    """
    unasked: Mapping[AskId, Reply] = dict.fromkeys(pending.open, Absent(reason="not_needed"))
    base = _bracket(protocol, case, panel, {**answers, **unasked})
    if base is None:
        return False
    return all(
        _bracket(protocol, case, panel, {**answers, **future}) == base for future in _futures(panel, pending)
    ) and _few_enough(panel, pending)


def _bracket(protocol: Protocol, case: Case, panel: Panel, answers: Mapping[AskId, Reply]) -> Bracket | None:
    step = advance(protocol, case, panel, answers)
    if not isinstance(step, Closed):
        return None
    decision = decide(panel, step.heard, step.close, panel.rules)
    return decision.bracket if isinstance(decision, Decided) else None


def _alike(panel: Panel) -> bool:
    return panel.rules.independence == 1 and len({seat.weight for seat in panel.voters}) == 1


def _few_enough(panel: Panel, pending: Pending) -> bool:
    return _alike(panel) or len(_FUTURES) ** len(pending.open) <= _MOST_ASSIGNMENTS


def _futures(panel: Panel, pending: Pending) -> Iterator[dict[AskId, Reply]]:
    if not _few_enough(panel, pending):
        return
    ways = (
        combinations_with_replacement(_FUTURES, len(pending.open))
        if _alike(panel)
        else product(_FUTURES, repeat=len(pending.open))
    )
    for way in ways:
        yield dict(zip(pending.open, way, strict=True))
