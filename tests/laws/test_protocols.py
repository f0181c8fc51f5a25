"""Laws of every protocol: it ends, it is a pure function of the answers, and what follows from that."""

from __future__ import annotations

from itertools import islice
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.plugins import names, part
from deliberate.protocols import advance, conclude, live, price, redecide, settled
from deliberate.tallies import BRACKET_SCORES, decide
from deliberate.types import (
    Absent,
    AskId,
    Closed,
    Decided,
    Heard,
    Pending,
    Reply,
    Rules,
    Undecided,
    Verdict,
    ask_id,
    seat_at,
)
from tests.laws import _draws as draws

BAG = msgspec.json.Decoder(dict[str, Reply])


@pytest.fixture(params=names("protocols"), scope="module")
def name(request: pytest.FixtureRequest) -> str:
    """Every protocol of the room."""
    found: str = request.param
    return found


def concluded(sitting: draws.Sitting, play: draws.Played, rules: Rules | None = None) -> Verdict:
    """The verdict on a deliberation that was played to its end."""
    return conclude(
        msgspec.structs.replace(sitting.panel, rules=rules or sitting.panel.rules),
        asks=play.asks,
        answers=play.answers,
        close=play.close,
        digests={"case": draws.CASE.digest},
    )


def test_it_says_what_it_is(name: str) -> None:
    kind = part("protocols", name)
    assert kind.name == name
    assert kind.version >= 1
    assert len({form.name for form in kind.forms}) == len(kind.forms)


@draws.looking(3)
@given(data=st.data())
def test_it_ends_within_the_asks_it_declared_whatever_is_answered(name: str, data: st.DataObject) -> None:
    sitting = data.draw(draws.sittings(name))
    play = sitting.played()
    assert len(play.asks) <= sitting.protocol.most_asks(sitting.panel)
    assert len({ask_id(ask) for ask in play.asks}) == len(play.asks), "nothing is asked twice"
    assert {ask.seat for ask in play.asks} <= {seat.name for seat in sitting.panel.seats}
    assert {ask.form for ask in play.asks} <= {form.name for form in sitting.protocol.forms}
    for ask in play.asks:
        assert set(ask.shows) <= {ask_id(one) for one in play.asks if one.round < ask.round}, "heard before it is shown"


@given(data=st.data())
def test_it_closes_over_what_was_heard_and_counts_no_seat_twice(name: str, data: st.DataObject) -> None:
    sitting = data.draw(draws.sittings(name))
    play = sitting.played()
    for asks in (play.close.counting, play.close.quorum_over):
        assert set(asks) <= set(play.heard)
        assert len({seat_at(at) for at in asks}) == len(asks)
    assert play.close.because
    before = dict(play.heard)
    assert sitting.protocol.move(draws.CASE, sitting.panel, play.heard) == play.close, "and again"
    assert play.heard == before, "what it is given is left alone"


@draws.looking(2)
@given(data=st.data())
def test_once_it_closed_there_is_a_verdict_or_a_reason_and_never_an_error(name: str, data: st.DataObject) -> None:
    sitting = data.draw(draws.sittings(name))
    verdict = concluded(sitting, sitting.played())
    if isinstance(verdict.decision, Decided):
        assert set(verdict.decision.numbers) == set(BRACKET_SCORES)
        assert verdict.sensitivity is not None
    else:
        assert verdict.decision.why in ("tied", "no_quorum", "not_independent", "waiting", "budget")
    back = msgspec.json.decode(msgspec.json.encode(verdict), type=Verdict)
    assert back.decision_bytes == verdict.decision_bytes, "it comes back from the record byte for byte"
    assert redecide(back, sitting.panel.rules).decision_bytes == verdict.decision_bytes, "and decided again too"


@given(data=st.data(), chance=st.integers(0, 2**20).map(Random))
def test_answers_in_any_order_give_what_was_played(name: str, data: st.DataObject, chance: Random) -> None:
    sitting = data.draw(draws.sittings(name))
    play = sitting.played()
    bag = list(play.heard.items())
    chance.shuffle(bag)
    strange: Heard = {AskId("9.ballot..nobody"): Absent(reason="refused"), AskId("7.note.critic.vote0"): bag[0][1]}
    step = advance(sitting.protocol, draws.CASE, sitting.panel, {**dict(bag), **strange})
    assert isinstance(step, Closed)
    assert step.close == play.close
    assert list(step.heard.items()) == list(play.heard.items()), "wave, then seat order"
    late = play._replace(heard=dict(bag))
    assert concluded(sitting, late).decision_bytes == concluded(sitting, play).decision_bytes


@draws.looking(0.5)
@given(data=st.data())
def test_stopped_after_any_answer_it_goes_on_to_the_same_close_and_asks_nothing_again(
    name: str, data: st.DataObject
) -> None:
    sitting = data.draw(draws.sittings(name, most=3))
    play = sitting.played()
    for done in range(len(play.heard) + 1):
        kept = msgspec.json.encode(dict(islice(play.heard.items(), done)))
        answers = {AskId(at): reply for at, reply in BAG.decode(kept).items()}
        step, asked = draws.gone_on(sitting, answers)
        assert step == Closed(close=play.close, heard=play.heard)
        assert {ask_id(ask) for ask in asked} == set(play.heard) - set(answers)
        assert len(asked) == len(play.heard) - done


@given(data=st.data())
def test_deciding_again_under_other_rules_is_a_live_run_under_them(name: str, data: st.DataObject) -> None:
    sitting = data.draw(draws.sittings(name, spend="all"))
    rules = data.draw(draws.rules(seats=len(sitting.panel.voters)))
    play = sitting.played()
    other = sitting._replace(panel=msgspec.structs.replace(sitting.panel, rules=rules)).played()
    again = redecide(concluded(sitting, play), rules)
    if set(other.heard) - set(play.heard):
        assert live(again, draws.CASE) == "more"
    elif len(other.heard) < len(play.heard):
        assert live(again, draws.CASE) == "fewer"
    else:
        assert live(again, draws.CASE) == "same"
        assert again.decision_bytes == concluded(sitting, other, rules).decision_bytes


@draws.looking(0.5)
@given(data=st.data())
def test_a_deliberation_cut_off_is_undecided_whatever_was_heard(name: str, data: st.DataObject) -> None:
    sitting = data.draw(draws.sittings(name))
    play = sitting.played()
    verdict = conclude(sitting.panel, asks=play.asks, answers=play.answers, close=None, digests={}, stopped="waiting")
    assert isinstance(verdict.decision, Undecided)
    assert redecide(verdict, sitting.panel.rules).decision_bytes == verdict.decision_bytes


@given(data=st.data())
def test_what_is_settled_no_future_changes(name: str, data: st.DataObject) -> None:
    sitting = data.draw(draws.sittings(name, most=4, spend="enough"))
    protocol, panel, answer = sitting.protocol, sitting.panel, sitting.answer
    answers: dict[AskId, Reply] = {}
    step = advance(protocol, draws.CASE, panel, answers)
    assert isinstance(step, Pending)
    asks = step.wave.asks
    if step.wave.spend == "all":
        return  # nothing of it is ever left out
    for ask in asks[:-1]:
        answers[ask_id(ask)] = answer(ask)
        step = advance(protocol, draws.CASE, panel, answers)
        assert isinstance(step, Pending)
        if settled(protocol, draws.CASE, panel, step, answers):
            break
    else:
        return  # all were needed
    spared = advance(protocol, draws.CASE, panel, {**answers, **dict.fromkeys(step.open, Absent(reason="not_needed"))})
    assert isinstance(spared, Closed)
    decision = decide(panel, spared.heard, spared.close, panel.rules)
    assert isinstance(decision, Decided)
    assert decision.path == "shortened"
    for seed in range(4):
        future = draws.answering(sitting.mood._replace(seed=sitting.mood.seed + seed, alike=0.3), protocol)
        heard = {**answers, **{ask_id(ask): future(ask) for ask in asks if ask_id(ask) in step.open}}
        end = advance(protocol, draws.CASE, panel, heard)
        assert isinstance(end, Closed)
        full = decide(panel, end.heard, end.close, panel.rules)
        assert isinstance(full, Decided)
        assert full.bracket is decision.bracket


@draws.looking(0.5)
@given(data=st.data(), agreement=st.sampled_from((0.0, 0.6, 1.0)))
def test_no_play_is_dearer_than_the_price_says(name: str, data: st.DataObject, agreement: float) -> None:
    sitting = data.draw(draws.sittings(name, most=3))
    found = price(draws.CASE, sitting.panel, agreement=agreement, plays=4)
    assert len(sitting.played().asks) <= found.most
    assert found.least <= found.expected <= found.most
