"""Delphi: sealed ballots first; on disagreement, anonymous reasons and another vote.

Peers' reasons come without names and without counts, in an order of their own for each seat, fenced as data. It stops
when all agree, when nobody moved, or when the rounds are used up.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from deliberate.protocols._base import BALLOT
from deliberate.protocols._votes import agreed, ask_of, brackets, chair_asks, closed, in_order, standing
from deliberate.types import (
    AskId,
    Ballot,
    Case,
    Close,
    Form,
    Heard,
    Panel,
    Record,
    Wave,
    form_at,
    role_at,
    round_at,
    seat_at,
)

__all__ = ["Rounds"]


class Rounds(Record, frozen=True, kw_only=True):
    """Up to ``rounds`` votes a seat.

    Args:
        rounds: Votes a seat may cast at the most, the sealed one included; at least 1.
        final: ``blind`` leaves brackets out of what is shown before the last vote: reasons only.
    """

    name: ClassVar[str] = "rounds"
    version: ClassVar[int] = 1
    forms: ClassVar[tuple[Form, ...]] = (BALLOT,)

    rounds: int = 2
    final: Literal["open", "blind"] = "open"

    def __post_init__(self) -> None:
        """Checks the number of rounds.

        Raises:
            ValueError: Fewer than one.
        """
        if self.rounds < 1:
            msg = f"rounds is {self.rounds}: at least 1 is needed"
            raise ValueError(msg)

    def move(self, case: Case, panel: Panel, heard: Heard) -> Wave | Close:
        """The sealed round, then one wave a round while it can still change something."""
        if not heard:
            return Wave(asks=tuple(ask_of(panel, seat) for seat in panel.voters))
        counting = tuple(standing(panel, heard).values())
        because = self._done(panel, heard, counting)
        if because:
            return closed(panel, heard, Close(counting=counting, because=because))
        number = 1 + _last_round(panel, heard)
        blind = self.final == "blind" and number == self.rounds - 1
        voted = tuple(at for at in counting if isinstance(heard[at], Ballot))
        return Wave(
            asks=tuple(
                ask_of(
                    panel,
                    seat,
                    round=number,
                    role="blind" if blind else "",
                    shows=(*own, *in_order(panel, case, voted, round=number, seat=seat.name)),
                )
                for seat in panel.voters
                if (own := tuple(at for at in voted if seat_at(at) == seat.name))
            )
        )

    def most_asks(self, panel: Panel) -> int:
        """One ask a voting seat and round, and one for a chair."""
        return len(panel.voters) * self.rounds + chair_asks(panel)

    def _done(self, panel: Panel, heard: Heard, counting: tuple[AskId, ...]) -> str:
        """Why there is no further round; "" if there is one."""
        last = _last_round(panel, heard)
        if agreed(heard, counting):
            return "all agreed"
        if last + 1 >= self.rounds:
            return "the rounds were used up"
        if last and _votes(panel, heard, last) == _votes(panel, heard, last - 1):
            return "nobody moved"
        return ""


def _last_round(panel: Panel, heard: Heard) -> int:
    return max(round_at(at) for at in heard if form_at(at) == panel.form and role_at(at) != "chair")


def _votes(panel: Panel, heard: Heard, number: int) -> dict[str, object]:
    """The brackets that stood after a round."""
    until = {at: reply for at, reply in heard.items() if round_at(at) <= number}
    return dict(brackets(until, tuple(standing(panel, until).values())))
