"""How a wave is released, and what a live run would have asked beside what was asked."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest

from deliberate.protocols import advance, batches, live, redecide
from deliberate.protocols.independent import Independent
from deliberate.types import Absent, Answer, Ask, AskId, Judge, Key, Panel, Pending, Reply, Rules, Seat, Spec, Verdict
from tests.protocols._plays import CASE, ballot, panel, replies, verdict

GONE = Absent(reason="transport")
SPARED = Absent(reason="not_needed")
CHAIR = Seat(name="x", judge=Judge(model="local/x"), duty="chair")


def released(sitting: Panel, heard: Mapping[AskId, Reply] | None = None) -> list[list[str]]:
    """The seats of each batch."""
    step = advance(Independent(), CASE, sitting, heard or {})
    assert isinstance(step, Pending)
    return [[at.rsplit(".", 1)[-1] for at in batch] for batch in batches(sitting, step)]


def test_to_spend_all_everybody_is_asked_at_once() -> None:
    assert released(panel(*"abcde")) == [["a", "b", "c", "d", "e"]]


@pytest.mark.parametrize(
    ("quorum", "expected"),
    [
        ("majority", [["a", "b", "c"], ["d"], ["e"]]),
        ("all", [["a", "b", "c", "d", "e"]]),
        (1, [["a"], ["b"], ["c"], ["d"], ["e"]]),
    ],
)
def test_to_spend_just_enough_a_quorum_is_asked_and_then_one_at_a_time(quorum: int, expected: list[list[str]]) -> None:
    sitting = msgspec.structs.replace(panel(*"abcde", rules=Rules(quorum=quorum)), spend="enough")
    assert released(sitting) == expected


def test_only_what_is_open_is_released() -> None:
    assert released(panel(*"abc"), replies({"b": "good"})) == [["a", "c"]]


def shortened(said: Mapping[str, Reply | str]) -> Verdict:
    """A verdict of a panel that spends just enough."""
    sitting = msgspec.structs.replace(panel(*said), spend="enough")
    return verdict(said, sitting=sitting)


def test_what_was_asked_is_what_a_live_run_would_have_asked() -> None:
    assert live(verdict({"a": "good", "b": "poor", "c": GONE}), CASE) == "same"
    assert live(shortened({"a": "good", "b": "good", "c": "good", "d": SPARED, "e": SPARED}), CASE) == "same"


def test_a_run_that_spends_just_enough_would_have_asked_fewer() -> None:
    assert live(shortened(dict.fromkeys("abcde", "good")), CASE) == "fewer"
    assert live(shortened({"a": "good", "b": "good", "c": "poor", "d": "good", "e": "good"}), CASE) == "fewer"


def test_a_run_that_may_not_leave_anybody_out_would_have_asked_more() -> None:
    one = shortened({"a": "good", "b": "good", "c": "good", "d": SPARED, "e": SPARED})
    assert live(redecide(one, Rules(quorum="all")), CASE) == "more"
    assert live(redecide(one, Rules(rule="mean")), CASE) == "more"


def test_a_run_with_a_chair_to_ask_would_have_asked_more() -> None:
    sitting = msgspec.structs.replace(
        panel("a", "b", rules=Rules(tie=("lower",))), seats=(*panel("a", "b").seats, CHAIR)
    )
    one = verdict({"a": "good", "b": "fair"}, sitting=sitting, rules=Rules(tie=("lower",)))
    assert live(one, CASE) == "same"
    assert live(redecide(one, Rules(tie=("chair",))), CASE) == "more"


def test_a_run_without_the_chair_would_have_asked_fewer() -> None:
    sitting = msgspec.structs.replace(panel("a", "b"), seats=(*panel("a", "b").seats, CHAIR))
    one = verdict({"a": "good", "b": "fair"}, sitting=sitting)
    at = AskId("1.ballot.chair.x")
    asked = msgspec.structs.replace(
        one,
        asks=(*one.asks, Ask(seat="x", form="ballot", round=1, role="chair")),
        answers={**one.answers, at: Answer(key=Key("k"), reply=ballot("good"))},
    )
    assert live(asked, CASE) == "same"
    assert live(redecide(asked, Rules(tie=("upper",))), CASE) == "fewer"


def test_a_deliberation_that_was_cut_off_would_have_asked_more() -> None:
    one = verdict({"a": "good", "b": "good"}, sitting=panel("a", "b", "c"), stopped="waiting", closed=False)
    assert live(one, CASE) == "more"


def test_the_protocol_is_the_verdicts_own() -> None:
    one = verdict({"a": "good", "b": "fair"})
    longer = msgspec.structs.replace(one.panel, protocol=Spec(type="rounds", params={"rounds": 2}))
    assert live(msgspec.structs.replace(one, panel=longer), CASE) == "more"
