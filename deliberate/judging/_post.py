"""Ask -> post: everything a prompt is made from, under its key."""

from __future__ import annotations

from collections.abc import Mapping

from deliberate.judging.key import key_of
from deliberate.protocols import Protocol
from deliberate.runtime import Post
from deliberate.types import Ask, AskId, Case, Form, Panel, Reply, Rubric

__all__ = ["post_of"]


def post_of(
    ask: Ask,
    *,
    case: Case,
    panel: Panel,
    rubric: Rubric | None,
    protocol: Protocol,
    form: Form,
    heard: Mapping[AskId, Reply],
    deadline_seconds: float = 120.0,
    session_seconds: float | None = None,
) -> Post:
    """The post of one ask; what it shows is taken from what was heard."""
    seat = panel.seat(ask.seat)
    shown = tuple([(at, heard[at]) for at in ask.shows])
    key = key_of(
        ask,
        seat=seat,
        case=case,
        rubric=rubric,
        form=form,
        protocol=f"{protocol.name}@{protocol.version}",
        criteria=panel.criteria,
        shown=[reply for _, reply in shown],
    )
    return Post(
        key=key,
        ask=ask,
        judge=seat.judge,
        sample=seat.sample,
        case=case,
        rubric=rubric,
        form=form,
        criteria=panel.criteria,
        shown=shown,
        deadline_seconds=deadline_seconds,
        session_seconds=session_seconds,
    )
