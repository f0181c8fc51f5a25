"""What an evaluation may cost, before anything is paid."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from deliberate.judging import post_of, request_of
from deliberate.library import Library
from deliberate.protocols import BALLOT, price, protocol_of
from deliberate.providers._base import Provider
from deliberate.types import AUTO, Ask, Case, Panel, Record, Rubric, laid_out

__all__ = ["Code", "Estimate", "estimate_of"]

_CHARACTERS_A_TOKEN = 4
_TYPICAL_REPLY_TOKENS = 300


class Estimate(Record, frozen=True, kw_only=True):
    """Calls, tokens and US dollars; a cost of None is unknown, never 0.

    Tokens are counted at 4 characters each. ``low_usd`` and ``expected_usd`` count replies of 300 tokens, ``worst_usd``
    replies of ``max_tokens``; retries come on top. ``unpriced`` are the models whose price is not known.
    """

    least_calls: int
    expected_calls: float
    most_calls: int
    tokens_in: int
    tokens_out: int
    low_usd: float | None
    expected_usd: float | None
    worst_usd: float | None
    unpriced: tuple[str, ...] = ()

    def times(self, cases: int) -> Estimate:
        """The same for that many cases."""
        return Estimate(
            least_calls=self.least_calls * cases,
            expected_calls=self.expected_calls * cases,
            most_calls=self.most_calls * cases,
            tokens_in=self.tokens_in * cases,
            tokens_out=self.tokens_out * cases,
            low_usd=_times(self.low_usd, cases),
            expected_usd=_times(self.expected_usd, cases),
            worst_usd=_times(self.worst_usd, cases),
            unpriced=self.unpriced,
        )


class Code(Record, frozen=True, kw_only=True):
    """A part of a plan that runs a program: where it runs, and whether it may use the network.

    ``tier`` is the sandbox; None is no sandbox: it runs as whoever runs us, and only where code is trusted.
    """

    part: str
    tier: str | None
    network: bool


async def estimate_of(
    case: Case, panels: Sequence[Panel], *, library: Library, provider: Callable[[str], Provider]
) -> Estimate:
    """The estimate for all panels of a plan, found by playing their protocols and pricing their prompts."""
    found = Estimate(
        least_calls=0, expected_calls=0, most_calls=0, tokens_in=0, tokens_out=0, low_usd=0, expected_usd=0, worst_usd=0
    )
    for panel in panels:
        if panel.rubric == AUTO:
            rubric: Rubric | None = library.choose(case).rubric
        else:
            rubric = None if panel.rubric is None else library.rubric(panel.rubric)
        found = _both(found, await _of_panel(case, laid_out(panel, rubric), rubric=rubric, provider=provider))
    return found


async def _of_panel(
    case: Case, panel: Panel, *, rubric: Rubric | None, provider: Callable[[str], Provider]
) -> Estimate:
    calls = price(case, panel)
    protocol = protocol_of(panel.protocol)
    form = next((one for one in protocol.forms if one.name == panel.form), BALLOT)
    tokens_in = tokens_out = 0
    typical: float | None = 0.0
    worst: float | None = 0.0
    unpriced: set[str] = set()
    asked = [seat for seat in panel.seats if not seat.judge.human]
    for seat in asked:
        ask = Ask(seat=seat.name, form=form.name, dimensions=seat.dimensions)
        request = request_of(
            post_of(ask, case=case, panel=panel, rubric=rubric, protocol=protocol, form=form, heard={})
        )
        reply = min(_TYPICAL_REPLY_TOKENS, request.max_tokens)
        tokens_in += round(sum(len(one.content) for one in request.messages) / _CHARACTERS_A_TOKEN)
        tokens_out += reply
        most = await provider(seat.judge.model).worst_cost_usd(request)
        usual = await provider(seat.judge.model).worst_cost_usd(msgspec.structs.replace(request, max_tokens=reply))
        unpriced |= {seat.judge.model} if most is None else set()
        worst = _plus(worst, most)
        typical = _plus(typical, usual)
    seats = max(1, len(asked))
    return Estimate(
        least_calls=calls.least,
        expected_calls=calls.expected,
        most_calls=calls.most,
        tokens_in=round(tokens_in * calls.expected / seats),
        tokens_out=round(tokens_out * calls.expected / seats),
        low_usd=_times(typical, calls.least / seats),
        expected_usd=_times(typical, calls.expected / seats),
        worst_usd=_times(worst, calls.most / seats),
        unpriced=tuple(sorted(unpriced)),
    )


def _both(one: Estimate, other: Estimate) -> Estimate:
    return Estimate(
        least_calls=one.least_calls + other.least_calls,
        expected_calls=one.expected_calls + other.expected_calls,
        most_calls=one.most_calls + other.most_calls,
        tokens_in=one.tokens_in + other.tokens_in,
        tokens_out=one.tokens_out + other.tokens_out,
        low_usd=_plus(one.low_usd, other.low_usd),
        expected_usd=_plus(one.expected_usd, other.expected_usd),
        worst_usd=_plus(one.worst_usd, other.worst_usd),
        unpriced=tuple(sorted({*one.unpriced, *other.unpriced})),
    )


def _plus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _times(one: float | None, factor: float) -> float | None:
    return None if one is None else one * factor
