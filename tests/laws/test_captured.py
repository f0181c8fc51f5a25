"""What one judge of five can do that votes whatever the judged text wants: all profiles, all five seats."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import product
from random import Random

import pytest

from deliberate.protocols import conclude
from deliberate.types import (
    Answer,
    Ask,
    Ballot,
    Bracket,
    Close,
    Decided,
    Judge,
    Key,
    Panel,
    Rules,
    Seat,
    Verdict,
    ask_id,
    midpoint,
)

ALL = os.environ.get("DELIBERATE_ALL") == "1" or os.environ.get("DELIBERATE_CHECK") == "all"
SEATS = tuple(Seat(name=f"s{at}", judge=Judge(model=f"m{at}/x")) for at in range(5))
POLICIES: tuple[tuple[str, ...], ...] = (("round", "chair", "lower"), ("median",), ("upper",))


def verdict(votes: tuple[Bracket, ...], rules: Rules, left_out: int | None = None) -> Verdict:
    """What five seats, or four of them, decide."""
    asks = [Ask(seat=seat.name, form="ballot") for at, seat in enumerate(SEATS) if at != left_out]
    cast = [vote for at, vote in enumerate(votes) if at != left_out]
    answers = {
        ask_id(ask): Answer(key=Key(ask.seat), reply=Ballot(bracket=vote, score=midpoint(vote)))
        for ask, vote in zip(asks, cast, strict=True)
    }
    seats = tuple(seat for at, seat in enumerate(SEATS) if at != left_out)
    close = Close(counting=tuple(answers), because="all were heard")
    return conclude(Panel(name="p", seats=seats, rules=rules), asks=asks, answers=answers, close=close, digests={})


def bracket(found: Verdict) -> Bracket | None:
    return found.decision.bracket if isinstance(found.decision, Decided) else None


@pytest.mark.parametrize("policies", POLICIES, ids=str)
@pytest.mark.parametrize("rule", ["plurality", "median"])
def test_one_captured_judge_of_five_moves_nothing_unseen(
    rule: str, policies: tuple[str, ...], record_property: Callable[[str, object], None]
) -> None:
    rules = Rules(rule=rule, tie=policies)
    profiles = list(product(Bracket, repeat=4))
    if not ALL:
        profiles = Random(7).sample(profiles, 8)
        record_property("sampled", "8 of 256 profiles of four honest votes")
    for honest in profiles:
        for captured in range(5):
            alone = bracket(verdict((*honest[:captured], Bracket.POOR, *honest[captured:]), rules, captured))
            for wanted in Bracket:
                found = verdict((*honest[:captured], wanted, *honest[captured:]), rules)
                won = bracket(found)
                if len(set(honest)) == 1:
                    assert won == honest[0]
                assert won is not None
                assert min(honest) <= won <= max(honest)
                assert found.sensitivity is not None
                if won != alone:
                    assert SEATS[captured].name in found.sensitivity.hinges_on
