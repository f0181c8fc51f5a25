"""How many calls a deliberation may take, found by playing it."""

from __future__ import annotations

from random import Random

from deliberate.protocols._advance import protocol_of
from deliberate.protocols._live import play
from deliberate.types import Ask, Ballot, Bracket, CallRange, Case, Finding, Note, Panel, Reply, Review, midpoint

__all__ = ["price"]


def price(case: Case, panel: Panel, *, agreement: float = 0.6, plays: int = 300, seed: int = 0) -> CallRange:
    """Least, expected and most calls, by playing the protocol with synthetic ballots.

    Args:
        case: The case to be judged; only protocols that look at it care.
        panel: The panel, laid out.
        agreement: How likely a seat gives the bracket the case was drawn to have, 0–1.
        plays: How many plays the expectation is taken over.
        seed: Seed of the draws: the same seed gives the same range.

    Returns:
        ``least`` and ``most`` over the plays and what the protocol declares; ``expected`` is their mean. Asks, one
        call each: retries and repair asks come on top.
    """
    protocol = protocol_of(panel.protocol)
    chance = Random(seed)
    replies = {form.name: form.reply for form in protocol.forms}
    taken: list[int] = []
    for _ in range(plays):
        truth = Bracket(chance.randrange(4))

        def say(ask: Ask, _: object, truth: Bracket = truth) -> Reply:
            return _reply(chance, truth, replies.get(ask.form, Ballot), agreement=agreement)

        taken.append(play(protocol, case, panel, say) or 0)
    return CallRange(least=min(taken), expected=sum(taken) / plays, most=protocol.most_asks(panel))


def _reply(chance: Random, truth: Bracket, kind: type[Ballot | Review | Note], *, agreement: float) -> Reply:
    if kind is Review:
        return Review(confirmed=(), refuted=())
    if kind is Note:
        return Note(text="")
    bracket = truth if chance.random() < agreement else Bracket(chance.randrange(4))
    found = () if bracket is Bracket.EXCELLENT else (Finding(severity="suggestion", dimension="", title="t", key="k"),)
    return Ballot(bracket=bracket, score=midpoint(bracket), findings=found)
