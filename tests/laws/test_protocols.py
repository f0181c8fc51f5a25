"""Laws of every protocol: it ends, it is a pure function of the answers, and what follows from that."""

from __future__ import annotations

from itertools import islice
from random import Random

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from deliberate.plugins import names, part
from deliberate.protocols import advance, conclude, price, protocol_of, redecide, settled
from deliberate.tallies import BRACKET_SCORES, decide
from deliberate.types import (
    Absent,
    AskId,
    Ballot,
    Closed,
    Decided,
    Heard,
    Panel,
    Pending,
    Reply,
    Rules,
    Undecided,
    Verdict,
    ask_id,
)
from tests.laws import _draws as draws

BAG = msgspec.json.Decoder(dict[str, Reply])


@pytest.fixture(params=names("protocols"), scope="module")
def name(request: pytest.FixtureRequest) -> str:
    """Every protocol of the room."""
    found: str = request.param
    return found


def seat_of(at: AskId) -> str:
    """Whom an ask was put to."""
    return at.rsplit(".", 1)[-1]


def concluded(panel: Panel, play: draws.Played, rules: Rules | None = None) -> Verdict:
    """The verdict on a deliberation that was played to its end."""
    return conclude(
        msgspec.structs.replace(panel, rules=rules or panel.rules),
        asks=play.asks,
        answers=play.answers,
        close=play.close,
        digests={"case": draws.CASE.digest},
    )


@given(data=st.data())
def test_it_ends_within_the_asks_it_declared_whatever_is_answered(name: str, data: st.DataObject) -> None:
    panel = data.draw(draws.sittings(name))
    protocol = protocol_of(panel.protocol)
    play = draws.played(protocol, panel, draws.answering(data, protocol))
    assert len(play.asks) <= protocol.most_asks(panel)
    assert len({ask_id(ask) for ask in play.asks}) == len(play.asks), "and asks nothing twice"
    assert {ask.seat for ask in play.asks} <= {seat.name for seat in panel.seats}
    assert {ask.form for ask in play.asks} <= {panel.form, *(form.name for form in protocol.forms)}


@draws.looking(0.5)
@given(data=st.data())
def test_what_is_shown_was_heard_before(name: str, data: st.DataObject) -> None:
    panel = data.draw(draws.sittings(name))
    protocol = protocol_of(panel.protocol)
    play = draws.played(protocol, panel, draws.answering(data, protocol))
    heard: set[AskId] = set()
    for ask in sorted(play.asks, key=lambda ask: ask.round):
        earlier = {ask_id(one) for one in play.asks if one.round < ask.round}
        assert set(ask.shows) <= earlier
        heard.add(ask_id(ask))
    assert heard == set(play.heard)


@draws.looking(0.5)
@given(data=st.data())
def test_it_closes_over_what_was_heard_and_counts_no_seat_twice(name: str, data: st.DataObject) -> None:
    panel = data.draw(draws.sittings(name))
    protocol = protocol_of(panel.protocol)
    play = draws.played(protocol, panel, draws.answering(data, protocol))
    for asks in (play.close.counting, play.close.quorum_over):
        assert set(asks) <= set(play.heard)
        assert len({seat_of(at) for at in asks}) == len(asks)
    assert play.close.because


@draws.looking(3)
@given(data=st.data())
def test_once_it_closed_there_is_a_verdict_or_a_reason_and_never_an_error(name: str, data: st.DataObject) -> None:
    panel = data.draw(draws.sittings(name))
    protocol = protocol_of(panel.protocol)
    verdict = concluded(panel, draws.played(protocol, panel, draws.answering(data, protocol)))
    if isinstance(verdict.decision, Decided):
        assert set(verdict.decision.numbers) == set(BRACKET_SCORES)
        assert verdict.sensitivity is not None
    else:
        assert verdict.decision.why in ("tied", "no_quorum", "not_independent", "waiting", "budget")


@given(data=st.data(), chance=st.randoms(use_true_random=False))
def test_a_full_bag_in_any_order_gives_what_was_played(name: str, data: st.DataObject, chance: Random) -> None:
    panel = data.draw(draws.sittings(name))
    protocol = protocol_of(panel.protocol)
    play = draws.played(protocol, panel, draws.answering(data, protocol))
    bag = list(play.heard.items())
    chance.shuffle(bag)
    strange: Heard = {AskId("9.ballot..nobody"): Absent(reason="refused"), AskId("7.note.critic.vote0"): bag[0][1]}
    step = advance(protocol, draws.CASE, panel, {**dict(bag), **strange})
    assert isinstance(step, Closed)
    assert step.close == play.close
    assert list(step.heard.items()) == list(play.heard.items()), "wave, then seat order"


@draws.looking(0.5)
@given(data=st.data())
def test_stopped_after_any_answer_it_goes_on_to_the_same_close_and_asks_nothing_again(
    name: str, data: st.DataObject
) -> None:
    panel = data.draw(draws.sittings(name, most=3))
    protocol = protocol_of(panel.protocol)
    answer = draws.answering(data, protocol)
    play = draws.played(protocol, panel, answer)
    for done in range(len(play.heard) + 1):
        kept = msgspec.json.encode(dict(islice(play.heard.items(), done)))
        answers = {AskId(at): reply for at, reply in BAG.decode(kept).items()}
        step, asked = draws.gone_on(protocol, panel, answers, answer)
        assert step == Closed(close=play.close, heard=play.heard)
        assert {ask_id(ask) for ask in asked} == set(play.heard) - set(answers)
        assert len(asked) == len(play.heard) - done


@draws.looking(0.5)
@given(data=st.data())
def test_a_verdict_does_not_hang_on_the_order_in_which_answers_arrived(name: str, data: st.DataObject) -> None:
    panel = data.draw(draws.sittings(name))
    protocol = protocol_of(panel.protocol)
    play = draws.played(protocol, panel, draws.answering(data, protocol))
    late = play._replace(heard=dict(reversed(list(play.heard.items()))))
    assert concluded(panel, late).decision_bytes == concluded(panel, play).decision_bytes


@draws.looking(0.5)
@given(data=st.data())
def test_deciding_again_under_the_same_rules_changes_no_byte(name: str, data: st.DataObject) -> None:
    panel = data.draw(draws.sittings(name))
    protocol = protocol_of(panel.protocol)
    verdict = concluded(panel, draws.played(protocol, panel, draws.answering(data, protocol)))
    assert redecide(verdict, panel.rules).decision_bytes == verdict.decision_bytes


@given(data=st.data())
def test_deciding_again_under_other_rules_is_a_live_run_under_them(name: str, data: st.DataObject) -> None:
    panel = data.draw(draws.sittings(name, spend="all"))
    protocol = protocol_of(panel.protocol)
    answer = draws.answering(data, protocol)
    play = draws.played(protocol, panel, answer)
    rules = data.draw(draws.rules(seats=len(panel.voters)))
    live = draws.played(protocol, msgspec.structs.replace(panel, rules=rules), answer)
    assume(live.asks == play.asks)  # otherwise it would have asked fewer, or more
    assert redecide(concluded(panel, play), rules) == concluded(panel, live, rules)


@draws.looking(0.5)
@given(data=st.data())
def test_a_verdict_comes_back_from_the_record_byte_for_byte(name: str, data: st.DataObject) -> None:
    panel = data.draw(draws.sittings(name))
    protocol = protocol_of(panel.protocol)
    verdict = concluded(panel, draws.played(protocol, panel, draws.answering(data, protocol)))
    back = msgspec.json.decode(msgspec.json.encode(verdict), type=Verdict)
    assert back.decision_bytes == verdict.decision_bytes
    assert redecide(back, panel.rules).decision_bytes == verdict.decision_bytes


@draws.looking(0.5)
@given(data=st.data())
def test_what_is_settled_no_future_changes(name: str, data: st.DataObject) -> None:
    panel = data.draw(draws.sittings(name, most=4, spend="enough"))
    protocol = protocol_of(panel.protocol)
    answer = draws.answering(data, protocol)
    first = advance(protocol, draws.CASE, panel, {})
    assert isinstance(first, Pending)
    some = data.draw(st.integers(0, len(first.open)))
    answers: dict[AskId, Reply] = {ask_id(ask): answer(ask) for ask in first.wave.asks[:some]}
    step = advance(protocol, draws.CASE, panel, answers)
    if not isinstance(step, Pending) or not settled(protocol, draws.CASE, panel, step, answers):
        return
    found = set()
    for _ in range(4):
        future: dict[AskId, Reply] = {at: data.draw(draws.REPLIES[Ballot]) for at in step.open}
        end = advance(protocol, draws.CASE, panel, {**answers, **future})
        assert isinstance(end, Closed)
        decision = decide(panel, end.heard, end.close, panel.rules)
        assert isinstance(decision, Decided)
        found.add(decision.bracket)
    assert len(found) == 1


@draws.looking(0.5)
@given(data=st.data())
def test_leaving_out_what_was_not_needed_gives_the_bracket_of_a_full_run(name: str, data: st.DataObject) -> None:
    panel = data.draw(draws.sittings(name, most=4, spend="enough"))
    protocol = protocol_of(panel.protocol)
    answer = draws.answering(data, protocol)
    answers: dict[AskId, Reply] = {}
    step = advance(protocol, draws.CASE, panel, answers)
    assert isinstance(step, Pending)
    for ask in step.wave.asks[:-1]:
        answers[ask_id(ask)] = answer(ask)
        step = advance(protocol, draws.CASE, panel, answers)
        assert isinstance(step, Pending)
        if settled(protocol, draws.CASE, panel, step, answers):
            break
    else:
        return  # all were needed
    spared = dict.fromkeys(step.open, Absent(reason="not_needed"))
    short = advance(protocol, draws.CASE, panel, {**answers, **spared})
    assert isinstance(short, Closed)
    full = draws.played(protocol, panel, answer)
    shortened = decide(panel, short.heard, short.close, panel.rules)
    whole = decide(panel, full.heard, full.close, panel.rules)
    assert isinstance(shortened, Decided)
    assert isinstance(whole, Decided)
    assert shortened.bracket is whole.bracket
    assert shortened.path == "shortened"


@draws.looking(0.5)
@given(data=st.data())
def test_no_play_is_dearer_than_the_price_says(name: str, data: st.DataObject) -> None:
    panel = data.draw(draws.sittings(name))
    protocol = protocol_of(panel.protocol)
    play = draws.played(protocol, panel, draws.answering(data, protocol))
    found = price(draws.CASE, panel, agreement=data.draw(st.sampled_from((0.0, 0.6, 1.0))), plays=5)
    assert len(play.asks) <= found.most
    assert found.least <= found.expected <= found.most


def test_it_says_what_it_is(name: str) -> None:
    kind = part("protocols", name)
    assert kind.name == name
    assert kind.version >= 1
    assert len({form.name for form in kind.forms}) == len(kind.forms)


@draws.looking(0.5)
@given(data=st.data())
def test_move_leaves_what_it_was_given_alone(name: str, data: st.DataObject) -> None:
    panel = data.draw(draws.sittings(name))
    protocol = protocol_of(panel.protocol)
    play = draws.played(protocol, panel, draws.answering(data, protocol))
    before = dict(play.heard)
    assert protocol.move(draws.CASE, panel, play.heard) == play.close
    assert play.heard == before


@draws.looking(0.5)
@given(data=st.data())
def test_a_deliberation_cut_off_is_undecided_whatever_was_heard(name: str, data: st.DataObject) -> None:
    panel = data.draw(draws.sittings(name))
    protocol = protocol_of(panel.protocol)
    play = draws.played(protocol, panel, draws.answering(data, protocol))
    verdict = conclude(panel, asks=play.asks, answers=play.answers, close=None, digests={}, stopped="waiting")
    assert isinstance(verdict.decision, Undecided)
    assert redecide(verdict, panel.rules).decision_bytes == verdict.decision_bytes
