"""Cheap seats first; more seats, then rounds."""

from __future__ import annotations

import msgspec
import pytest

from deliberate.protocols import advance, conclude, live, redecide
from deliberate.protocols.escalate import Escalate
from deliberate.types import (
    Absent,
    Answer,
    Ask,
    AskId,
    Bracket,
    Closed,
    Decided,
    Key,
    Panel,
    Pending,
    Reply,
    Rules,
    Spec,
    Undecided,
)
from tests.protocols._plays import CASE, panel, replies

GONE = Absent(reason="transport")


def staged(*stages: str, rules: Rules | None = None) -> Panel:
    """A panel with these seats in each stage."""
    flat = panel(*"".join(stages), rules=rules or Rules())
    numbers = {name: number for number, names in enumerate(stages) for name in names}
    return msgspec.structs.replace(
        flat, seats=tuple(msgspec.structs.replace(seat, stage=3 * numbers[seat.name]) for seat in flat.seats)
    )


STAGED = staged("a", "bc", "d")


def after(
    said: dict[str, Reply | str],
    *,
    protocol: Escalate | None = None,
    sitting: Panel = STAGED,
    again: dict[str, Reply | str] | None = None,
) -> Pending | Closed:
    """Where it stands when these have spoken."""
    heard = {**replies(said), **replies(again or {}, turn=1)}
    return advance(protocol or Escalate(least=2), CASE, sitting, heard)


def asked(step: Pending | Closed) -> list[str]:
    """Who is asked next."""
    assert isinstance(step, Pending)
    return [ask.seat for ask in step.wave.asks]


def closed(step: Pending | Closed) -> tuple[str, tuple[str, ...]]:
    """Why it closed, over whose ballots."""
    assert isinstance(step, Closed)
    return step.close.because, tuple(at.rsplit(".", 1)[-1] for at in step.close.counting)


def test_the_lowest_stage_is_asked_first() -> None:
    assert asked(after({})) == ["a"]


def test_one_vote_is_enough_unless_more_are_asked_for() -> None:
    assert closed(after({"a": "good"}, protocol=Escalate())) == ("stage 1 of 3 agreed", ("a",))
    assert asked(after({"a": "good"})) == ["b", "c"]


def test_a_stage_that_agrees_ends_it() -> None:
    assert closed(after(dict.fromkeys("abc", "good"))) == ("stage 2 of 3 agreed", ("a", "b", "c"))


def test_a_stage_that_disagrees_asks_the_next() -> None:
    assert asked(after({"a": "good", "b": "poor", "c": "good"})) == ["d"]


def test_an_absent_seat_settles_nothing() -> None:
    assert asked(after({"a": GONE}, protocol=Escalate())) == ["b", "c"]
    assert closed(after({"a": GONE, "b": "good", "c": "good"})) == ("stage 2 of 3 agreed", ("a", "b", "c"))
    assert asked(after({"a": "good", "b": GONE, "c": GONE})) == ["d"]


def test_when_every_stage_was_asked_it_ends() -> None:
    split: dict[str, Reply | str] = {"a": "good", "b": "poor", "c": "good", "d": "fair"}
    assert closed(after(split)) == ("every stage was asked", ("a", "b", "c", "d"))


def test_when_nobody_voted_at_all_no_round_follows() -> None:
    gone: dict[str, Reply | str] = dict.fromkeys("abcd", GONE)
    assert closed(after(gone, protocol=Escalate(rounds=2)))[0] == "every stage was asked"


def test_rounds_follow_the_last_stage_with_the_peers_reasons() -> None:
    split: dict[str, Reply | str] = {"a": "good", "b": "poor", "c": GONE, "d": "fair"}
    step = after(split, protocol=Escalate(least=2, rounds=1))
    assert asked(step) == ["a", "b", "d"]
    assert isinstance(step, Pending)
    for ask in step.wave.asks:
        assert ask.round == 1
        assert ask.shows[0] == f"0.ballot..{ask.seat}"
        assert set(ask.shows) == {"0.ballot..a", "0.ballot..b", "0.ballot..d"}


def test_rounds_end_when_they_are_used_up() -> None:
    split: dict[str, Reply | str] = {"a": "good", "b": "poor", "c": GONE, "d": "fair"}
    step = after(split, protocol=Escalate(least=2, rounds=1), again={"a": "good", "b": "good", "d": "fair"})
    assert isinstance(step, Closed)
    assert step.close.because == "every stage was asked"
    assert step.close.counting == ("1.ballot..a", "1.ballot..b", "0.ballot..c", "1.ballot..d")


def test_rounds_end_when_all_agree() -> None:
    split: dict[str, Reply | str] = {"a": "good", "b": "poor", "c": GONE, "d": "good"}
    step = after(split, protocol=Escalate(least=2, rounds=5), again=dict.fromkeys("abd", "good"))
    assert closed(step)[0] == "stage 3 of 3 agreed"


def test_the_quorum_is_of_the_seats_that_were_asked() -> None:
    step = after({"a": "good"}, protocol=Escalate())
    assert isinstance(step, Closed)
    answers = {at: Answer(key=Key(at), reply=reply) for at, reply in step.heard.items()}
    asks = [Ask(seat="a", form="ballot")]
    verdict = conclude(STAGED, asks=asks, answers=answers, close=step.close, digests={})
    assert isinstance(verdict.decision, Decided)
    assert verdict.decision.bracket is Bracket.GOOD


@pytest.mark.parametrize("quorum", [2, 3, 4])
def test_a_quorum_given_as_a_number_does_not_crash_where_fewer_were_asked(quorum: int) -> None:
    """Four seats can make a quorum of three; that a stage of one agreed must not end in an error after it was paid."""
    sitting = staged("a", "bc", "d", rules=Rules(quorum=quorum))
    step = after({"a": "good"}, protocol=Escalate(), sitting=sitting)
    if isinstance(step, Pending):
        return  # it may go on until the quorum can be met
    answers = {at: Answer(key=Key(at), reply=reply) for at, reply in step.heard.items()}
    conclude(sitting, asks=[Ask(seat="a", form="ballot")], answers=answers, close=step.close, digests={})


def test_the_stages_numbers_need_not_follow_each_other() -> None:
    assert [seat.stage for seat in STAGED.seats] == [0, 3, 3, 6]
    assert asked(after({"a": "good"})) == ["b", "c"]


def test_it_asks_no_more_than_every_seat_in_every_round_and_a_chair() -> None:
    assert Escalate(rounds=2).most_asks(STAGED) == 12
    assert Escalate().most_asks(STAGED) == 4


def test_the_first_asks_show_nothing() -> None:
    step = after({"a": "good"})
    assert isinstance(step, Pending)
    assert step.wave.asks == (Ask(seat="b", form="ballot"), Ask(seat="c", form="ballot"))
    assert step.open == (AskId("0.ballot..b"), AskId("0.ballot..c"))


def test_a_round_in_which_nobody_answers_does_not_go_on_for_ever() -> None:
    protocol = Escalate(least=2, rounds=2)
    split: dict[str, Reply | str] = {"a": "good", "b": "poor", "c": GONE, "d": "fair"}
    step = after(split, protocol=protocol, again=dict.fromkeys("abd", GONE))
    assert isinstance(step, Closed) or {ask.round for ask in step.wave.asks} == {2}


def test_an_early_end_decided_again_under_a_higher_quorum_is_no_quorum_and_not_an_error() -> None:
    step = after({"a": "good"}, protocol=Escalate())
    assert isinstance(step, Closed)
    answers = {at: Answer(key=Key(at), reply=reply) for at, reply in step.heard.items()}
    sitting = msgspec.structs.replace(STAGED, protocol=Spec(type="escalate"))
    asks = [Ask(seat="a", form="ballot")]
    verdict = conclude(sitting, asks=asks, answers=answers, close=step.close, digests={})
    again = redecide(verdict, Rules(quorum=3))
    assert isinstance(again.decision, Undecided)
    assert again.decision.why == "no_quorum"
    assert live(again, CASE) == "more"
