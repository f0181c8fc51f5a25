"""Sealed first ballots, one round: the default.

Majority voting accounts for most of what debate is credited with, and debate amplifies biases after the first round;
so nothing is shown to anybody unless another protocol is asked for.
"""

from __future__ import annotations

from typing import ClassVar

from deliberate.protocols._base import BALLOT
from deliberate.protocols._votes import ask_of, chair_asks, closed
from deliberate.types import Case, Close, Form, Heard, Panel, Record, Wave, ask_id

__all__ = ["Independent"]


class Independent(Record, frozen=True, kw_only=True):
    """Every voting seat hands in one ballot and sees no other; a chair is asked only if the votes tie."""

    name: ClassVar[str] = "independent"
    version: ClassVar[int] = 1
    forms: ClassVar[tuple[Form, ...]] = (BALLOT,)

    def move(self, case: Case, panel: Panel, heard: Heard) -> Wave | Close:  # noqa: ARG002  sealed: no case is looked at
        """One wave of all voting seats, then the close."""
        asks = tuple([ask_of(panel, seat) for seat in panel.voters])
        if not heard:
            return Wave(asks=asks, spend=panel.spend)
        return closed(panel, heard, Close(counting=tuple(map(ask_id, asks)), because="every seat was asked once"))

    def most_asks(self, panel: Panel) -> int:
        """One ask a voting seat, and one for a chair."""
        return len(panel.voters) + chair_asks(panel)
