"""What the tests on recorded votes share: what they need, how much they look at, and panels of recorded votes."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from benchmarks import _recorded as rec
from deliberate.protocols import advance, conclude, protocol_of
from deliberate.types import Answer, Ask, Closed, Key, Panel, Reply, Verdict, ask_id


def needs(*names: str) -> pytest.MarkDecorator:
    """Skips, naming what is missing and where it should be, if a recorded set is not there."""
    lacks = rec.missing(*names)
    return pytest.mark.skipif(bool(lacks), reason=f"recorded votes {lacks}")


def everything(request: pytest.FixtureRequest) -> bool:
    """Whether all items and orders are tried, not a sample of them."""
    asked = (os.environ.get("DELIBERATE_ALL"), os.environ.get("DELIBERATE_CHECK"))
    return bool(request.config.getoption("--all")) or asked[0] == "1" or asked[1] == "all"


def concluded(panel: Panel, said: Sequence[Reply]) -> Verdict:
    """The verdict of a sealed panel; ``said`` is in seat order."""
    asks = [Ask(seat=seat.name, form=panel.form) for seat in panel.voters]
    replies = {ask_id(ask): reply for ask, reply in zip(asks, said, strict=True)}
    step = advance(protocol_of(panel.protocol), rec.CASE, panel, replies)
    assert isinstance(step, Closed)
    return conclude(
        panel,
        asks=asks,
        answers={at: Answer(key=Key(at), reply=reply) for at, reply in replies.items()},
        close=step.close,
        digests={"case": rec.CASE.digest, "rubric": "", "protocol": "independent@1"},
    )
