"""Independent reports, then one synthesis by a chair that must cite the votes."""

from __future__ import annotations

from typing import ClassVar

from deliberate.errors import ConfigError
from deliberate.protocols._base import BALLOT, BALLOT_TEMPLATE
from deliberate.protocols._votes import ask_of, standing
from deliberate.types import Ask, Ballot, Case, Close, Form, Heard, Panel, Record, Wave, ask_id

__all__ = ["Chair"]

_SYNTHESIS = Form(name="synthesis", template=BALLOT_TEMPLATE, reply=Ballot, cites=True)


class Chair(Record, frozen=True, kw_only=True):
    """The voting seats report; the first seat of duty ``chair`` weighs the reports and gives the verdict.

    The quorum is still that of the voting seats: a chair alone decides nothing.
    """

    name: ClassVar[str] = "chair"
    version: ClassVar[int] = 1
    forms: ClassVar[tuple[Form, ...]] = (BALLOT, _SYNTHESIS)

    def move(self, case: Case, panel: Panel, heard: Heard) -> Wave | Close:  # noqa: ARG002  every case alike
        """The reports, the synthesis, the close.

        Raises:
            ConfigError: The panel has no chair.
        """
        chair = next((seat for seat in panel.seats if seat.duty == "chair"), None)
        if chair is None:
            raise ConfigError("protocol chair needs a seat of duty chair", where="seats")
        if not heard:
            return Wave(asks=tuple(ask_of(panel, seat) for seat in panel.voters))
        reports = tuple(standing(panel, heard).values())
        voted = tuple(at for at in reports if isinstance(heard[at], Ballot))
        ask = Ask(seat=chair.name, form=_SYNTHESIS.name, round=1, role="chair", shows=voted)
        at = ask_id(ask)
        if not voted:
            return Close(counting=reports, because="nobody reported")
        if at in heard:
            return Close(counting=(at,), quorum_over=reports, because="the chair weighed the reports")
        return Wave(asks=(ask,))

    def most_asks(self, panel: Panel) -> int:
        """One ask a voting seat, and the chair's."""
        return len(panel.voters) + 1
