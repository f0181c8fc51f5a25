"""The content key of an ask, made here and nowhere else.

Everything that shapes what a judge is asked is in it; where in a deliberation it was asked is not. A changed rubric,
template, model or protocol never reuses an old vote; the same question never is paid twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from deliberate.judging._schema import asked_dimensions, schema_for
from deliberate.types import Ask, Case, Dimension, Form, Judge, Key, Reply, Rubric, Seat, canonical, digest_of

__all__ = ["key_of", "key_of_case"]

_FORMAT = 1


def key_of_case(case: Case) -> Key:
    """The key under which a case is on record."""
    return Key(case.record_digest)


def key_of(
    ask: Ask,
    *,
    seat: Seat,
    case: Case,
    rubric: Rubric | None,
    form: Form,
    protocol: str,
    criteria: str = "",
    shown: Sequence[Reply] = (),
) -> Key:
    """The key of one ask: sha-256 in hex of all that it says.

    Args:
        ask: The ask; its round and its seat's name are position and do not count.
        seat: Whose judge and sample number do count.
        case: What is judged, by its digest.
        rubric: How, by its digest.
        form: The form to fill in, by template and reply schema.
        protocol: ``"<name>@<version>"``.
        criteria: Free text instead of a rubric.
        shown: The replies this seat sees, in the order it sees them.
    """
    return Key(
        digest_of(
            {
                "format": _FORMAT,
                "protocol": protocol,
                "case": case.digest,
                "rubric": None if rubric is None else rubric.digest,
                "criteria": criteria,
                "form": _spelled_form(form),
                "schema": _spelled_schema(form, asked_dimensions(rubric, ask.dimensions)),
                "judge": _spelled_judge(seat.judge),
                "sample": seat.sample,
                "ask": _spelled_ask(ask.role, ask.about, ask.dimensions),
                "shown": shown or _NOTHING,
            }
        )
    )


# What is the same for every case is spelled once.

_NOTHING = msgspec.Raw(canonical([]))


@lru_cache(maxsize=128)
def _spelled_ask(role: str, about: tuple[str, ...], dimensions: tuple[str, ...]) -> msgspec.Raw:
    return msgspec.Raw(canonical([role, about, dimensions]))


@lru_cache(maxsize=128)
def _spelled_form(form: Form) -> msgspec.Raw:
    template = hashlib.sha256(form.template.encode()).hexdigest()
    later = [form.fallback] if form.fallback else []  # keys older than fallbacks stay as they are
    return msgspec.Raw(canonical([form.name, form.wire, form.scale, form.cites, template, *later]))


@lru_cache(maxsize=128)
def _spelled_schema(form: Form, dimensions: tuple[Dimension, ...]) -> msgspec.Raw:
    return msgspec.Raw(canonical(schema_for(form, dimensions)))


@lru_cache(maxsize=1024)
def _spelled_judge(judge: Judge) -> msgspec.Raw:
    return msgspec.Raw(canonical(judge))
