"""Sealed ballots; on disagreement an advocate and a critic argue, and the panel votes again."""

from __future__ import annotations

import hashlib
from typing import ClassVar

from deliberate.protocols._base import BALLOT
from deliberate.protocols._votes import agreed, ask_of, chair_asks, closed, standing
from deliberate.types import Ask, AskId, Case, Close, Form, Heard, Note, Panel, Record, Wave, form_at, round_at, seat_at

__all__ = ["Debate"]

_ARGUMENT = Form(
    name="argument",
    template="""\
A panel is judging the output below and does not agree. You speak as the {role}: {role_task}
Argue only from what stands in the output; quote it. At most 150 words. Give no score and no verdict.

## {rubric_title}
{rubric}

## Task
{task}

{reference}{evidence}## Output to evaluate
{output}

{shown}Reply with one JSON object: {{"text": "your argument"}}""",
    reply=Note,
)


class Debate(Record, frozen=True, kw_only=True):
    """Two seats argue for ``turns`` turns, then every seat votes once more, with the arguments before it.

    Which seats argue is drawn by seed and case, so that roles rotate from case to case. With fewer than two seats, or
    if the sealed ballots agree, nobody argues.
    """

    name: ClassVar[str] = "debate"
    version: ClassVar[int] = 1
    forms: ClassVar[tuple[Form, ...]] = (BALLOT, _ARGUMENT)

    turns: int = 1

    def move(self, case: Case, panel: Panel, heard: Heard) -> Wave | Close:
        """Sealed ballots, arguments, ballots, close."""
        if not heard:
            return Wave(asks=tuple(ask_of(panel, seat) for seat in panel.voters))
        counting = tuple(standing(panel, heard).values())
        if agreed(heard, counting):
            return closed(panel, heard, Close(counting=counting, because="all agreed"))
        last = 1 + self.turns
        if any(round_at(at) == last for at in heard):
            return closed(panel, heard, Close(counting=counting, because="the debate was held"))
        said = tuple(at for at in heard if form_at(at) == _ARGUMENT.name)
        turn = 1 + len(said) // 2
        if turn <= self.turns:
            return Wave(asks=self._arguments(case, panel, said, turn=turn))
        told = tuple(at for at in said if isinstance(heard[at], Note))
        own = standing(panel, heard)
        return Wave(
            asks=tuple(
                ask_of(panel, seat, round=last, shows=(own[seat.name], *told))
                for seat in panel.voters
                if seat.name in own
            )
        )

    def most_asks(self, panel: Panel) -> int:
        """Two ballots a voting seat, two arguments a turn, one for a chair."""
        return 2 * len(panel.voters) + 2 * self.turns + chair_asks(panel)

    def _arguments(self, case: Case, panel: Panel, said: tuple[AskId, ...], *, turn: int) -> tuple[Ask, ...]:
        drawn = sorted(panel.voters, key=lambda seat: _lot(panel, case, seat.name))
        return tuple(
            Ask(
                seat=seat.name,
                form=_ARGUMENT.name,
                round=turn,
                role=role,
                shows=tuple(at for at in said if seat_at(at) != seat.name),
            )
            for seat, role in zip(drawn, ("advocate", "critic"), strict=False)
        )


def _lot(panel: Panel, case: Case, seat: str) -> str:
    return hashlib.sha256(f"{panel.seed}|{case.digest}|debate|{seat}".encode()).hexdigest()
