"""Judges first, then a verifier that may only confirm or refute their findings."""

from __future__ import annotations

import msgspec
import pytest

from deliberate.errors import ConfigError
from deliberate.protocols import advance
from deliberate.protocols.verify import Verify
from deliberate.types import (
    Absent,
    Ask,
    AskId,
    Ballot,
    Closed,
    Finding,
    Judge,
    Pending,
    Reply,
    Review,
    Seat,
)
from tests.protocols._plays import CASE, ballot, panel, replies

VERIFIERS = tuple(Seat(name=name, judge=Judge(model=f"local/{name}"), duty="verify") for name in "vwx")
SITTING = msgspec.structs.replace(panel("a", "b"), seats=(*panel("a", "b").seats, *VERIFIERS))
GONE = Absent(reason="transport")


def found(*keys: str) -> Ballot:
    """A ballot with findings."""
    findings = tuple(Finding(key=key, severity="important", dimension="d", title=key) for key in keys)
    return msgspec.structs.replace(ballot("good"), findings=findings)


def refutes(*keys: str, confirms: tuple[str, ...] = ()) -> Review:
    """A verifier's word."""
    return Review(confirmed=confirms, refuted=keys, quotes=tuple("q" for _ in keys))


def after(said: dict[str, Reply | str], reviews: dict[str, Reply] | None = None) -> Pending | Closed:
    """Where it stands when these have spoken."""
    checked = {AskId(f"1.review.verifier.{seat}"): reply for seat, reply in (reviews or {}).items()}
    return advance(Verify(), CASE, SITTING, {**replies(said), **checked})


def test_only_the_seats_that_vote_judge() -> None:
    step = after({})
    assert isinstance(step, Pending)
    assert step.wave.asks == (Ask(seat="a", form="ballot"), Ask(seat="b", form="ballot"))


def test_every_verifier_is_asked_about_every_finding_once() -> None:
    step = after({"a": found("k1", "k2"), "b": found("k2", "k3")})
    assert isinstance(step, Pending)
    assert step.wave.asks == tuple(
        Ask(
            seat=name,
            form="review",
            round=1,
            role="verifier",
            shows=(AskId("0.ballot..a"), AskId("0.ballot..b")),
            about=("k1", "k2", "k3"),
        )
        for name in "vwx"
    )


@pytest.mark.parametrize("said", [{"a": "good", "b": "good"}, {"a": GONE, "b": GONE}])
def test_without_findings_no_verifier_is_asked(said: dict[str, Reply | str]) -> None:
    step = after(said)
    assert isinstance(step, Closed)
    assert (step.close.because, step.close.struck) == ("there were no findings to verify", ())


@pytest.mark.parametrize(
    ("reviews", "struck"),
    [
        ({"v": refutes("k1"), "w": refutes("k1"), "x": refutes("k1")}, ("k1",)),
        ({"v": refutes("k2", "k1"), "w": GONE, "x": GONE}, ("k1", "k2")),
        ({"v": refutes("k1"), "w": refutes(confirms=("k1",)), "x": GONE}, ()),
        ({"v": refutes("k1"), "w": refutes("k1"), "x": refutes(confirms=("k1",))}, ("k1",)),
        ({"v": refutes("k1"), "w": refutes(confirms=("k1",)), "x": refutes(confirms=("k1",))}, ()),
        ({"v": refutes(), "w": refutes(), "x": refutes()}, ()),
        ({"v": GONE, "w": GONE, "x": GONE}, ()),
    ],
)
def test_findings_that_more_verifiers_refute_than_confirm_are_struck(
    reviews: dict[str, Reply], struck: tuple[str, ...]
) -> None:
    step = after({"a": found("k1", "k2"), "b": "good"}, reviews)
    assert isinstance(step, Closed)
    assert step.close.struck == struck
    assert step.close.because == f"{len(struck)} of 2 findings were refuted"
    assert step.close.counting == ("0.ballot..a", "0.ballot..b")


def test_without_a_verifier_it_says_so_before_anybody_is_asked() -> None:
    with pytest.raises(ConfigError, match="protocol verify needs a seat of duty verify") as caught:
        Verify().move(CASE, panel("a", "b"), {})
    assert caught.value.where == "seats"


def test_it_asks_every_seat_once_and_a_chair() -> None:
    assert Verify().most_asks(SITTING) == 5
