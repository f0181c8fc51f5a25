"""What a live run would have asked: the same asks, fewer, or more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from deliberate.protocols._advance import advance, protocol_of
from deliberate.protocols._base import Protocol
from deliberate.protocols._settled import settled
from deliberate.tallies import needed
from deliberate.types import Absent, Ask, AskId, Case, Panel, Pending, Reply, Verdict, ask_id

__all__ = ["batches", "live", "play"]

_NOT_NEEDED = Absent(reason="not_needed")


def batches(panel: Panel, pending: Pending) -> Iterator[Sequence[AskId]]:
    """The open asks of a wave as they are released.

    All at once; or, to spend just enough, a quorum first and then one at a time, in seat order.
    """
    if pending.wave.spend == "all":
        yield pending.open
        return
    first = needed(panel.rules, len(panel.voters))
    yield pending.open[:first]
    for at in pending.open[first:]:
        yield (at,)


def live(verdict: Verdict, case: Case) -> Literal["same", "fewer", "more"]:
    """What a run under this verdict's panel and rules would have asked, beside what was asked for its answers.

    ``more`` as soon as one ask would have been made that has no answer here. ``case`` is what was judged: a verdict
    holds none.
    """
    heard: dict[AskId, Reply] = {
        at: answer.reply
        for at, answer in verdict.answers.items()
        if not (isinstance(answer.reply, Absent) and answer.reply.reason == "not_needed")
    }
    asked = play(protocol_of(verdict.panel.protocol), case, verdict.panel, lambda ask, _: heard.get(ask_id(ask)))
    if asked is None:
        return "more"
    return "fewer" if asked < len(heard) else "same"


def play(
    protocol: Protocol, case: Case, panel: Panel, say: Callable[[Ask, Mapping[AskId, Reply]], Reply | None]
) -> int | None:
    """How many asks a run takes, given what each seat says; None as soon as one says nothing.

    ``say`` is told the ask and everything said before it.
    """
    replies: dict[AskId, Reply] = {}
    count = 0
    while isinstance(step := advance(protocol, case, panel, replies), Pending):
        asks = {ask_id(ask): ask for ask in step.wave.asks}
        for batch in batches(panel, step):
            left = tuple(at for at in step.open if at not in replies)
            begun = len(left) < len(step.open)
            pending = Pending(wave=step.wave, heard=step.heard, open=left)
            if begun and step.wave.spend == "enough" and settled(protocol, case, panel, pending, replies):
                replies.update(dict.fromkeys(left, _NOT_NEEDED))
                break
            for at in batch:
                reply = say(asks[at], replies)
                if reply is None:
                    return None
                replies[at] = reply
                count += 1
    return count
