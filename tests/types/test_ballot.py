"""What may be asked and what may come back: positions, states, usage, and what may be kept for good."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.types import (
    Absent,
    AbsentReason,
    Answer,
    Ask,
    Ballot,
    BallotState,
    Bracket,
    Key,
    Note,
    Reply,
    Review,
    Usage,
    ask_id,
    form_at,
    role_at,
    round_at,
    seat_at,
    state_of,
)

STATES: dict[AbsentReason, BallotState] = {
    "refused": "abstained",
    "abstained": "abstained",
    "unreadable": "unread",
    "truncated": "unread",
    "deadline": "failed",
    "transport": "failed",
    "crashed": "failed",
    "budget": "unasked",
    "not_needed": "unasked",
}
LASTING = {"refused", "abstained", "unreadable", "truncated"}
PRESENT: tuple[Reply, ...] = (
    Ballot(bracket=Bracket.POOR, score=0.0),
    Review(confirmed=(), refuted=("k",)),
    Note(text="because"),
)


def test_an_ask_is_known_by_its_position() -> None:
    assert ask_id(Ask(seat="a", form="ballot")) == "0.ballot..a"
    assert ask_id(Ask(seat="a", form="argument", round=2, role="critic")) == "2.argument.critic.a"


def test_every_reason_has_its_state() -> None:
    assert set(STATES) == set(get_args(AbsentReason))


@pytest.mark.parametrize("reason", list(STATES))
def test_an_absent_ballot_is_in_the_state_of_its_reason(reason: AbsentReason) -> None:
    absent = Absent(reason=reason)
    assert absent.state == state_of(absent) == STATES[reason]


@pytest.mark.parametrize("reply", PRESENT)
def test_whatever_is_not_absent_was_voted(reply: Reply) -> None:
    assert state_of(reply) == "voted"


@pytest.mark.parametrize("reason", list(STATES))
def test_only_what_was_the_judges_own_doing_is_kept_for_good(reason: AbsentReason) -> None:
    absent = Absent(reason=reason)
    assert absent.lasting is (reason in LASTING)
    assert Answer(key=Key("k"), reply=absent).lasting is (reason in LASTING)


@pytest.mark.parametrize("reply", PRESENT)
def test_every_real_reply_is_kept_for_good(reply: Reply) -> None:
    assert Answer(key=Key("k"), reply=reply).lasting


@pytest.mark.parametrize("reply", [*PRESENT, Absent(reason="refused", detail="no")])
def test_a_reply_comes_back_from_the_record_as_it_went_in(reply: Reply) -> None:
    answer = Answer(key=Key("k"), reply=reply, usage=Usage(calls=1, cost_usd=None), latency_seconds=0.25)
    assert msgspec.json.decode(msgspec.json.encode(answer), type=Answer) == answer


COUNTS = st.integers(0, 10**9)
USAGES = st.builds(
    Usage,
    calls=COUNTS,
    tokens_in=COUNTS,
    tokens_out=COUNTS,
    cost_usd=st.none() | st.integers(0, 4096).map(lambda n: n / 64),
)


@given(USAGES, USAGES)
def test_usage_adds_up_and_an_unknown_cost_stays_unknown(one: Usage, other: Usage) -> None:
    both = one + other
    assert both == other + one
    assert (both.calls, both.tokens_in, both.tokens_out) == (
        one.calls + other.calls,
        one.tokens_in + other.tokens_in,
        one.tokens_out + other.tokens_out,
    )
    if one.cost_usd is None or other.cost_usd is None:
        assert both.cost_usd is None
    else:
        assert both.cost_usd == one.cost_usd + other.cost_usd


@given(USAGES)
def test_nothing_used_adds_nothing(usage: Usage) -> None:
    assert usage + Usage() == usage


@given(st.integers(0, 99), st.sampled_from(["ballot", "review"]), st.sampled_from(["", "chair"]), st.text(min_size=1))
def test_a_position_tells_its_parts_whatever_a_seat_is_called(number: int, form: str, role: str, seat: str) -> None:
    at = ask_id(Ask(seat=seat, form=form, round=number, role=role))
    assert (round_at(at), form_at(at), role_at(at), seat_at(at)) == (number, form, role, seat)
