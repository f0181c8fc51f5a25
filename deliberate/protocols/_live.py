"""What a live run would have asked: the same asks, fewer, or more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from deliberate.protocols._advance import advance, protocol_of
from deliberate.protocols._base import Protocol
from deliberate.protocols._settled import settled
from deliberate.tallies import needed
from deliberate.types import Absent, AskId, Case, Panel, Pending, Reply, Verdict

__all__ = ["batches", "live"]

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
    asked = _asked(protocol_of(verdict.panel.protocol), case, verdict.panel, heard)
    if asked is None:
        return "more"
    return "fewer" if asked < len(heard) else "same"


def _asked(protocol: Protocol, case: Case, panel: Panel, heard: Mapping[AskId, Reply]) -> int | None:
    """How many asks the run takes with these replies; None if it needs one that is not among them."""
    replies: dict[AskId, Reply] = {}
    count = 0
    while isinstance(step := advance(protocol, case, panel, replies), Pending):
        for batch in batches(panel, step):
            left = tuple(at for at in step.open if at not in replies)
            begun = len(left) < len(step.open)
            pending = Pending(wave=step.wave, heard=step.heard, open=left)
            if begun and step.wave.spend == "enough" and settled(protocol, case, panel, pending, replies):
                replies.update(dict.fromkeys(left, _NOT_NEEDED))
                break
            if any(at not in heard for at in batch):
                return None
            replies.update((at, heard[at]) for at in batch)
            count += len(batch)
    return count
