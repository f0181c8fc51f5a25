"""Judges first, then a verifier that may only confirm or refute their findings, with a quote."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from deliberate.errors import ConfigError
from deliberate.protocols._base import BALLOT
from deliberate.protocols._votes import ask_of, chair_asks, closed, standing
from deliberate.types import Ask, Ballot, Case, Close, Form, Heard, Panel, Record, Review, Wave, seat_at

__all__ = ["Verify"]

_REVIEW = Form(
    name="review",
    template="""\
Others judged the output below and reported findings. Check each finding against the output, and nothing else: you \
give no score and add no finding. Refute a finding only with a quote, copied exactly from the output, that shows it \
is wrong; confirm it otherwise.

## Task
{task}

{reference}{evidence}## Output that was judged
{output}

## Findings
{findings}

Reply with one JSON object: {{"reasoning": "...", "confirmed": ["F1"], \
"refuted": [{{"finding": "F2", "quote": "..."}}]}}\
""",
    reply=Review,
)


class Verify(Record, frozen=True, kw_only=True):
    """Findings that more verifiers refute than confirm are struck, and ballots re-scored without them."""

    name: ClassVar[str] = "verify"
    version: ClassVar[int] = 1
    forms: ClassVar[tuple[Form, ...]] = (BALLOT, _REVIEW)

    def move(self, case: Case, panel: Panel, heard: Heard) -> Wave | Close:  # noqa: ARG002  every case alike
        """The ballots, the reviews where there are findings, the close.

        Raises:
            ConfigError: The panel has no verifier.
        """
        verifiers = [seat for seat in panel.seats if seat.duty == "verify"]
        if not verifiers:
            raise ConfigError("protocol verify needs a seat of duty verify", where="seats")
        if not heard:
            return Wave(asks=tuple(ask_of(panel, seat) for seat in panel.voters))
        counting = tuple(standing(panel, heard).values())
        ballots = tuple(at for at in counting if isinstance(heard[at], Ballot))
        about = _findings(heard, ballots)
        if not about:
            return closed(panel, heard, Close(counting=counting, because="there were no findings to verify"))
        names = {seat.name for seat in verifiers}
        reviews = [reply for at, reply in heard.items() if seat_at(at) in names]
        if not reviews:
            return Wave(
                asks=tuple(
                    Ask(seat=seat.name, form=_REVIEW.name, round=1, role="verifier", shows=ballots, about=about)
                    for seat in verifiers
                )
            )
        struck = _struck([reply for reply in reviews if isinstance(reply, Review)])
        because = f"{len(struck)} of {len(about)} findings were refuted"
        return closed(panel, heard, Close(counting=counting, struck=struck, because=because))

    def most_asks(self, panel: Panel) -> int:
        """One ask a seat, and one for a chair."""
        return len(panel.voters) + sum(seat.duty == "verify" for seat in panel.seats) + chair_asks(panel)


def _findings(heard: Heard, ballots: tuple[str, ...]) -> tuple[str, ...]:
    """The keys of all findings, once each, in ballot order."""
    return tuple(
        dict.fromkeys(
            finding.key
            for at, reply in heard.items()
            if at in ballots and isinstance(reply, Ballot)
            for finding in reply.findings
        )
    )


def _struck(reviews: list[Review]) -> tuple[str, ...]:
    refuted = Counter(key for review in reviews for key in review.refuted)
    confirmed = Counter(key for review in reviews for key in review.confirmed)
    return tuple(sorted(key for key, count in refuted.items() if count > confirmed[key]))
