"""Cheap seats first; more seats, then rounds, by rules stated beforehand.

Each seat has a ``stage``. A stage is asked only if the votes so far do not settle the case; a person is a seat of the
last stage.
"""

from __future__ import annotations

from typing import ClassVar

from deliberate.protocols._base import BALLOT
from deliberate.protocols._votes import agreed, ask_of, chair_asks, closed, in_order, standing
from deliberate.types import (
    Ballot,
    Case,
    Close,
    Form,
    Heard,
    Panel,
    Record,
    Wave,
    role_at,
    round_at,
    seat_at,
)

__all__ = ["Escalate"]


class Escalate(Record, frozen=True, kw_only=True):
    """Asks stage after stage until all votes of the stages asked name one bracket.

    Fewer valid votes than ``least``, or than a quorum given as a number, settle nothing. When all stages were asked
    and still disagree, up to ``rounds`` further votes follow, with peers' reasons shown. The quorum is counted over
    the seats that were asked.

    Args:
        least: Valid votes that must agree before it stops early.
        rounds: Further rounds after the last stage.
    """

    name: ClassVar[str] = "escalate"
    version: ClassVar[int] = 1
    forms: ClassVar[tuple[Form, ...]] = (BALLOT,)

    least: int = 1
    rounds: int = 0

    def move(self, case: Case, panel: Panel, heard: Heard) -> Wave | Close:
        """The next stage, or a further round, or the close."""
        stages = sorted({seat.stage for seat in panel.voters})
        counting = tuple(standing(panel, heard).values())
        voted = tuple(at for at in counting if isinstance(heard[at], Ballot))
        asked = {seat_at(at) for at in counting}
        left = [stage for stage in stages if not any(s.name in asked for s in panel.voters if s.stage == stage)]
        quorum = panel.rules.quorum
        least = self.least if isinstance(quorum, str) else max(self.least, quorum)
        if counting and agreed(heard, voted) and len(voted) >= least:
            done = len(stages) - len(left)
            return closed(panel, heard, Close(counting=counting, because=f"stage {done} of {len(stages)} agreed"))
        if left:
            seats = [seat for seat in panel.voters if seat.stage == left[0]]
            return Wave(asks=tuple(ask_of(panel, seat) for seat in seats))
        last = max(round_at(at) for at in heard if role_at(at) != "chair")
        if last >= self.rounds or not voted:
            return closed(panel, heard, Close(counting=counting, because="every stage was asked"))
        return Wave(
            asks=tuple(
                ask_of(
                    panel,
                    seat,
                    round=last + 1,
                    shows=(*own, *in_order(panel, case, voted, round=last + 1, seat=seat.name)),
                )
                for seat in panel.voters
                if (own := tuple(at for at in voted if seat_at(at) == seat.name))
            )
        )

    def most_asks(self, panel: Panel) -> int:
        """One ask a voting seat and round, and one for a chair."""
        return len(panel.voters) * (1 + self.rounds) + chair_asks(panel)
