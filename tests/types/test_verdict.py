"""What a verdict says of itself, and the bytes its decision has: no time, cost, attempt or place in them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.types import (
    Absent,
    Answer,
    Ask,
    AskId,
    Ballot,
    Bracket,
    Close,
    Decided,
    Finding,
    Judge,
    Key,
    Move,
    Note,
    Panel,
    Reply,
    Seat,
    Sensitivity,
    Undecided,
    Usage,
    Verdict,
    ask_id,
    midpoint,
)

PANEL = Panel(
    seats=(
        Seat(name="a", judge=Judge(model="m/a")),
        Seat(name="b", judge=Judge(model="m/b")),
        Seat(name="c", judge=Judge(model="m/c"), duty="chair"),
        Seat(name="d", judge=Judge(model="m/d")),
    )
)
POOR, FAIR, GOOD = (Ballot(bracket=bracket, score=midpoint(bracket)) for bracket in list(Bracket)[:3])
DECIDED = Decided(bracket=Bracket.GOOD, score=63.0, numbers={"mean": 63.0})


def answer(reply: Reply, **fields: object) -> Answer:
    """An answer that matters by its reply."""
    return msgspec.structs.replace(Answer(key=Key("k"), reply=reply), **fields)


def verdict(*rounds: Mapping[str, Reply | None], **fields: object) -> Verdict:
    """A verdict over ballots by seat, one mapping a round; None was asked and not answered."""
    asks = [Ask(seat=seat, form="ballot", round=at) for at, replies in enumerate(rounds) for seat in replies]
    answers = {ask_id(ask): answer(reply) for ask in asks if (reply := rounds[ask.round][ask.seat]) is not None}
    made = Verdict(
        panel=PANEL,
        asks=tuple(asks),
        answers=answers,
        close=Close(counting=tuple(answers), because="done"),
        decision=DECIDED,
        digests={"case": "c", "panel": "p"},
    )
    return msgspec.structs.replace(made, **fields)


def test_a_seat_has_one_vote_its_last_ballot_in_seat_order() -> None:
    one = verdict({"d": GOOD, "b": POOR, "a": GOOD, "c": GOOD}, {"b": FAIR})
    assert [(vote.id, vote.seat.name, vote.ballot) for vote in one.votes] == [
        ("0.ballot..a", "a", GOOD),
        ("1.ballot..b", "b", FAIR),
        ("0.ballot..d", "d", GOOD),
    ]
    assert one.votes[1].answer is one.answers[AskId("1.ballot..b")]


def test_an_absent_vote_is_a_vote_without_a_ballot() -> None:
    one = verdict({"a": Absent(reason="refused"), "b": GOOD})
    assert [vote.ballot for vote in one.votes] == [None, GOOD]


def test_a_seat_that_has_not_answered_keeps_its_earlier_word() -> None:
    one = verdict({"a": GOOD, "b": GOOD}, {"a": None})
    assert (one.votes[0].id, one.votes[0].ballot) == ("0.ballot..a", GOOD)


def test_other_forms_are_no_votes() -> None:
    ask = Ask(seat="a", form="argument", round=1)
    one = verdict({"a": GOOD})
    more = msgspec.structs.replace(
        one, asks=(*one.asks, ask), answers={**one.answers, ask_id(ask): answer(Note(text="because"))}
    )
    assert more.votes == one.votes
    assert more.rounds == one.rounds


def test_every_seat_that_votes_is_counted_once_in_its_state() -> None:
    one = verdict({"a": GOOD, "b": Absent(reason="truncated"), "c": GOOD})
    assert one.counts == {"voted": 1, "abstained": 0, "unread": 1, "failed": 0, "unasked": 1}


@pytest.mark.parametrize(
    ("reason", "state"),
    [("refused", "abstained"), ("unreadable", "unread"), ("transport", "failed"), ("budget", "unasked")],
)
def test_absent_votes_are_counted_by_their_state(reason: str, state: str) -> None:
    absent = msgspec.convert({"type": "Absent", "reason": reason}, Absent)
    counts = verdict({"a": absent, "b": GOOD, "d": GOOD}).counts
    assert {name: count for name, count in counts.items() if count} == {"voted": 2, state: 1}


def test_rounds_hold_the_ballots_that_were_cast() -> None:
    one = verdict({"a": GOOD, "b": POOR}, {"a": Absent(reason="transport"), "b": GOOD})
    assert one.rounds == {0: {"a": GOOD, "b": POOR}, 1: {"b": GOOD}}


def test_who_changed_its_bracket_moved() -> None:
    one = verdict({"a": POOR, "b": GOOD}, {"a": FAIR, "b": GOOD}, {"a": GOOD, "b": FAIR})
    assert one.moves == (
        Move("a", 1, Bracket.POOR, Bracket.FAIR),
        Move("a", 2, Bracket.FAIR, Bracket.GOOD, to_majority=True),
        Move("b", 2, Bracket.GOOD, Bracket.FAIR, to_majority=True),
    )


def test_a_round_without_a_ballot_does_not_hide_a_move() -> None:
    one = verdict({"a": POOR}, {"a": Absent(reason="transport")}, {"a": GOOD})
    assert one.moves == (Move("a", 2, Bracket.POOR, Bracket.GOOD),)


def test_another_number_in_the_same_bracket_is_no_move() -> None:
    higher = msgspec.structs.replace(GOOD, score=70.0)
    assert verdict({"a": GOOD}, {"a": higher}).moves == ()


def test_dissent_is_every_vote_for_another_bracket() -> None:
    one = verdict({"a": GOOD, "b": POOR, "d": Absent(reason="transport")})
    assert [vote.seat.name for vote in one.dissent] == ["b"]


def test_nobody_dissents_from_what_is_undecided() -> None:
    one = verdict({"a": GOOD, "b": POOR}, decision=Undecided(why="tied"))
    assert one.dissent == ()


def test_usage_is_that_of_all_answers() -> None:
    one = verdict({"a": GOOD, "b": GOOD})
    used = {
        at: msgspec.structs.replace(each, usage=Usage(calls=2, tokens_in=10, tokens_out=5, cost_usd=0.25))
        for at, each in one.answers.items()
    }
    assert msgspec.structs.replace(one, answers=used).usage == Usage(calls=4, tokens_in=20, tokens_out=10, cost_usd=0.5)
    assert verdict({}).usage == Usage()


RICH = verdict(
    {
        "a": msgspec.structs.replace(
            GOOD, reason="r", findings=(Finding(severity="important", dimension="d", title="t"),)
        ),
        "b": POOR,
        "d": Absent(reason="truncated", detail="2000 tokens"),
    },
    sensitivity=Sensitivity(hinges_on=("a",), without={"a": Bracket.POOR, "b": None}, rules={"mean": Bracket.FAIR}),
    flags=("one_model", "uncalibrated"),
)
COUNTS = st.integers(0, 10**6)
OTHER = st.fixed_dictionaries(
    {
        "key": st.text(max_size=5).map(Key),
        "model": st.text(max_size=5),
        "requested": st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
        "effective": st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
        "prompt_sha256": st.text(max_size=5),
        "usage": st.builds(
            Usage, calls=COUNTS, tokens_in=COUNTS, tokens_out=COUNTS, cost_usd=st.none() | st.floats(0, 100)
        ),
        "latency_seconds": st.floats(0, 100),
        "attempts": COUNTS,
    }
)


@given(st.fixed_dictionaries(dict.fromkeys(RICH.answers, OTHER)))
def test_time_cost_attempts_and_the_key_change_no_byte(fields: dict[AskId, dict[str, object]]) -> None:
    other = {at: msgspec.structs.replace(each, **fields[at]) for at, each in RICH.answers.items()}
    assert msgspec.structs.replace(RICH, answers=other).decision_bytes == RICH.decision_bytes


@pytest.mark.parametrize(
    "change",
    [
        {"flags": ("uncalibrated", "one_model")},
        {"asks": RICH.asks[::-1]},
        {"answers": dict(reversed(list(RICH.answers.items())))},
        {"close": Close(counting=(), because="another word")},
        {"digests": {"panel": "p", "case": "c"}},
    ],
)
def test_order_and_words_of_the_protocol_change_no_byte(change: dict[str, object]) -> None:
    assert msgspec.structs.replace(RICH, **change).decision_bytes == RICH.decision_bytes


def test_what_an_absent_seat_told_of_itself_changes_no_byte() -> None:
    answers = {**RICH.answers, AskId("0.ballot..d"): answer(Absent(reason="truncated", detail="4000 tokens"))}
    assert msgspec.structs.replace(RICH, answers=answers).decision_bytes == RICH.decision_bytes


@pytest.mark.parametrize(
    "change",
    [
        {"digests": {"case": "other", "panel": "p"}},
        {"decision": msgspec.structs.replace(DECIDED, score=64.0)},
        {"decision": msgspec.structs.replace(DECIDED, bracket=Bracket.FAIR)},
        {"decision": msgspec.structs.replace(DECIDED, numbers={"mean": 64.0})},
        {"decision": msgspec.structs.replace(DECIDED, tied=(Bracket.POOR, Bracket.GOOD))},
        {"decision": msgspec.structs.replace(DECIDED, contested=True)},
        {"decision": msgspec.structs.replace(DECIDED, path="shortened")},
        {"decision": Undecided(why="tied")},
        {"flags": ("one_model",)},
        {"sensitivity": None},
        {"sensitivity": Sensitivity(hinges_on=("b",))},
        {"answers": {**RICH.answers, AskId("0.ballot..a"): answer(FAIR)}},
        {"answers": {**RICH.answers, AskId("0.ballot..a"): answer(GOOD)}},
        {"answers": {**RICH.answers, AskId("0.ballot..d"): answer(Absent(reason="refused"))}},
        {"answers": {**RICH.answers, AskId("0.ballot..d"): answer(Note(text="?"))}},
    ],
)
def test_whatever_was_decided_and_by_which_ballots_changes_the_bytes(change: dict[str, object]) -> None:
    assert msgspec.structs.replace(RICH, **change).decision_bytes != RICH.decision_bytes


def test_the_bytes_name_ballots_by_seat_in_seat_order() -> None:
    told = json.loads(RICH.decision_bytes)
    assert [name for name, _ in told["ballots"]] == ["a", "b", "d"]
    assert told["ballots"][2][1] == "truncated"
    assert set(told) == {"format", "digests", "ballots", "decision", "flags", "sensitivity"}
    assert told["format"] == 1


def test_what_is_no_ballot_stands_in_the_bytes_by_its_kind() -> None:
    told = json.loads(verdict({"a": Note(text="I would rather not say")}).decision_bytes)
    assert told["ballots"] == [["a", "Note"]]


def test_the_digest_is_the_sha256_of_the_bytes() -> None:
    assert RICH.digest == hashlib.sha256(RICH.decision_bytes).hexdigest()


def test_a_verdict_comes_back_from_the_record_as_it_went_in() -> None:
    back = msgspec.json.decode(msgspec.json.encode(RICH), type=Verdict)
    assert back == RICH
    assert back.digest == RICH.digest
