"""Plays a protocol over an unordered bag of answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import msgspec

from deliberate import plugins
from deliberate.errors import ConfigError, UnknownName
from deliberate.protocols._base import Protocol
from deliberate.types import AskId, Case, Close, Closed, Panel, Pending, Reply, Spec, ask_id

__all__ = ["advance", "protocol_of"]


def advance(protocol: Protocol, case: Case, panel: Panel, answers: Mapping[AskId, Reply]) -> Pending | Closed:
    """Where a deliberation stands, given all answers so far in any order.

    ``move`` is replayed from the start: a wave whose asks are all answered joins what was heard, in seat order; the
    first that is not is pending. Answers to asks that were never made are ignored.

    Raises:
        RuntimeError: The protocol asked more than it declared: a defect in it, and it would cost without end.
    """
    heard: dict[AskId, Reply] = {}
    most = protocol.most_asks(panel)
    while True:
        step = protocol.move(case, panel, dict(heard))
        if isinstance(step, Close):
            return Closed(close=step, heard=heard)
        ids = tuple(map(ask_id, step.asks))
        fresh = {at for at in ids if at not in heard}
        if not ids or len(heard) + len(ids) > most or len(fresh) < len(ids):
            msg = f"protocol {protocol.name!r} does not keep to the {most} asks it declared"
            raise RuntimeError(msg)
        unanswered = tuple([at for at in ids if at not in answers])
        if unanswered:
            return Pending(wave=step, heard=heard, open=unanswered)
        heard |= {at: answers[at] for at in ids}


def protocol_of(spec: Spec, *, where: str = "protocol") -> Protocol:
    """The protocol of that name, with its parameters.

    Raises:
        UnknownName: There is no such protocol.
        ConfigError: A parameter is unknown or has a wrong value.
    """
    kind = plugins.part("protocols", spec.type, where=where)
    known: tuple[str, ...] = getattr(kind, "__struct_fields__", ())
    for name in spec.params:
        if name not in known:
            what = "parameter"
            raise UnknownName(what, name, known, where=f"{where} {spec.type}")
    try:
        return cast("Protocol", msgspec.convert(dict(spec.params), kind, strict=True))
    except msgspec.ValidationError as error:
        raise ConfigError(str(error), where=f"{where} {spec.type}") from None
