"""Independent reports, then one synthesis by a chair."""

from __future__ import annotations

import msgspec
import pytest

from deliberate.errors import ConfigError
from deliberate.protocols import advance
from deliberate.protocols.chair import Chair
from deliberate.tallies import decide
from deliberate.types import (
    Absent,
    Ask,
    AskId,
    Bracket,
    Close,
    Closed,
    Decided,
    Judge,
    Pending,
    Reply,
    Rules,
    Seat,
    Undecided,
    Wave,
)
from tests.protocols._plays import CASE, ballot, panel, replies

BOSS = Seat(name="boss", judge=Judge(model="local/boss"), duty="chair")
SECOND = Seat(name="second", judge=Judge(model="local/second"), duty="chair")
SITTING = msgspec.structs.replace(panel("a", "b", "c"), seats=(BOSS, *panel("a", "b", "c").seats, SECOND))
SYNTHESIS = AskId("1.synthesis.chair.boss")
GONE = Absent(reason="transport")


def closed(heard: dict[AskId, Reply]) -> Closed:
    """How it closes over these answers."""
    step = advance(Chair(), CASE, SITTING, heard)
    assert isinstance(step, Closed)
    return step


def test_the_seats_that_vote_report_first() -> None:
    wave = Chair().move(CASE, SITTING, {})
    assert wave == Wave(asks=tuple(Ask(seat=name, form="ballot") for name in "abc"))


def test_the_first_chair_is_shown_every_report_that_came() -> None:
    step = advance(Chair(), CASE, SITTING, replies({"a": "good", "b": GONE, "c": "poor"}))
    assert isinstance(step, Pending)
    assert step.wave.asks == (
        Ask(
            seat="boss",
            form="synthesis",
            round=1,
            role="chair",
            shows=(AskId("0.ballot..a"), AskId("0.ballot..c")),
        ),
    )


def test_the_chairs_bracket_counts_and_the_quorum_is_of_the_reports() -> None:
    heard = {**replies({"a": "good", "b": "good", "c": "poor"}), SYNTHESIS: ballot("fair")}
    step = closed(heard)
    assert step.close == Close(
        counting=(SYNTHESIS,),
        quorum_over=tuple(replies(dict.fromkeys("abc", "good"))),
        because="the chair weighed the reports",
    )
    decision = decide(SITTING, step.heard, step.close, SITTING.rules)
    assert isinstance(decision, Decided)
    assert (decision.bracket, decision.score) == (Bracket.FAIR, 38)


def test_a_chair_alone_decides_nothing() -> None:
    heard = {**replies({"a": "good", "b": GONE, "c": GONE}), SYNTHESIS: ballot("good")}
    step = closed(heard)
    assert decide(SITTING, step.heard, step.close, SITTING.rules) == Undecided(
        why="no_quorum", detail="1 of 3 seats voted, 2 needed"
    )


def test_a_chair_that_does_not_answer_leaves_no_verdict() -> None:
    step = closed({**replies(dict.fromkeys("abc", "good")), SYNTHESIS: GONE})
    assert decide(SITTING, step.heard, step.close, SITTING.rules) == Undecided(
        why="no_quorum", detail="no ballot counts"
    )


def test_where_nobody_reported_the_chair_is_not_asked() -> None:
    assert closed(replies(dict.fromkeys("abc", GONE))).close == Close(
        counting=tuple(replies(dict.fromkeys("abc", GONE))), because="nobody reported"
    )


def test_the_reports_make_it_independent() -> None:
    """The chair's is the one ballot that counts, but the votes it rests on are of three families."""
    step = closed({**replies(dict.fromkeys("abc", "good")), SYNTHESIS: ballot("good")})
    assert isinstance(decide(SITTING, step.heard, step.close, Rules(independence=3)), Decided)


def test_without_a_chair_it_says_so_before_anybody_is_asked() -> None:
    with pytest.raises(ConfigError, match="protocol chair needs a seat of duty chair") as caught:
        Chair().move(CASE, panel("a", "b"), {})
    assert caught.value.where == "seats"


def test_it_asks_every_seat_that_votes_and_one_chair() -> None:
    assert Chair().most_asks(SITTING) == 4
