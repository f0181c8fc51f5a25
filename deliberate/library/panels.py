"""Panels: who sits at the table, and by which rules they decide (``*.panel.yaml``)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, cast
from typing import Protocol as Contract

import msgspec
from pydantic import BeforeValidator, Field

from deliberate import plugins
from deliberate.errors import UnknownName
from deliberate.library._filed import PANEL_SUFFIX, pinned_name
from deliberate.library._files import names_a_path, path_of
from deliberate.library._yaml import Document, Format, Label, Model, Name, Words, Written, load_file
from deliberate.library.agents import Card, judge_of
from deliberate.protocols import protocol_of
from deliberate.tallies import BRACKET_SCORES, TIE_POLICIES
from deliberate.types import Duty, Judge, Panel, Param, Rubric, Rules, Seat, Spec, Spend

__all__ = ["Documents", "read_panel"]

_Weight = Annotated[float, Field(ge=0)]
_FEW = ("majority", "all")


class Documents(Contract):
    """Where a panel finds what it names."""

    def card(self, name: str, *, where: str = "") -> Card:
        """The agent card of that name, or in that file."""
        ...

    def rubric(self, name: str, *, where: str = "") -> Rubric:
        """The rubric of that name, or in that folder or file."""
        ...


class _Seat(Written):
    agent: Words | None = None
    human: Name | None = None
    each: Literal["dimension"] | None = None
    model: Model | None = None
    weight: _Weight | None = None
    family: Label | None = None
    duty: Duty = "vote"
    stage: Annotated[int, Field(ge=0)] = 0
    name: Name | None = None


class _Protocol(Written):
    type: Words
    params: Annotated[dict[str, Any], Field(default_factory=dict)]


def _listed(value: object) -> object:
    return (value,) if isinstance(value, str) else value


def _typed(value: object) -> object:
    return {"type": value} if isinstance(value, str) else value


def _quorum(value: object) -> object:
    if value in _FEW or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value
    raise ValueError(f"{value!r} is no quorum: expected majority, all or a whole number from 1")


class _Panel(Written):
    deliberate: Format
    name: Name | None = None
    seats: Annotated[tuple[_Seat, ...], Field(min_length=1)]
    model: Model | None = None
    rubric: Words | None = None
    criteria: Words | None = None
    protocol: Annotated[_Protocol | None, BeforeValidator(_typed)] = None
    rule: Words = "plurality"
    tie: Annotated[tuple[Words, ...], Field(min_length=1), BeforeValidator(_listed)] = ("round", "chair", "lower")
    bracket_score: Words = "nearest"
    quorum: Annotated[Any, BeforeValidator(_quorum)] = "majority"
    independence: Annotated[int, Field(ge=1)] = 1
    spend: Spend = "all"
    seed: Annotated[int, Field(ge=0)] = 0


def read_panel(path: Path, *, documents: Documents, model: str | None = None, links: bool = True) -> Panel:
    """The panel in a file.

    A seat's model is its own, else its card's, else ``model``, else the panel's. A card or rubric given by its path is
    looked for beside the panel's file; such a rubric goes by its name and content (``name@digest``), so that the
    panel says the same wherever it lies.

    Args:
        path: The file.
        documents: Finds the cards and rubrics it names.
        model: For seats and cards that name none, before the panel's own default.
        links: Whether the file may be a symbolic link.

    Raises:
        ConfigError: It cannot be read, or what it asks for cannot be; the message names file, line, column and key.
        UnknownName: It names a card, rubric, protocol, rule or policy that does not exist.
    """
    document = load_file(path, links=links)
    alone = isinstance(document.data, Mapping) and isinstance(document.data.get("seats"), Mapping)
    if alone:
        document = _with_listed_seats(document)
    written = document.read(_Panel)
    _check_seats(written, document, alone=alone)
    rubric = _rubric(written, document, path.parent, documents)
    protocol = Spec(type="independent")
    if written.protocol is not None:
        protocol = Spec(type=written.protocol.type, params=written.protocol.params)
    protocol_of(protocol, where=document.where("protocol"))
    panel = Panel(
        name=written.name or path.name.removesuffix(PANEL_SUFFIX).removesuffix(".yaml").removesuffix(".yml"),
        seats=_seats(written, document, path.parent, documents, model),
        rubric=rubric,
        criteria=written.criteria or "",
        protocol=protocol,
        rules=_rules(written, document),
        spend=written.spend,
        seed=written.seed,
    )
    _check(panel, document)
    return panel


def _rubric(written: _Panel, document: Document, folder: Path, documents: Documents) -> str | None:
    if written.criteria is not None:
        if written.rubric is not None:
            raise document.fault("both rubric and criteria are given", "criteria", key=True, expected="one of them")
        return None
    name, where = written.rubric or "general", document.where("rubric")
    if names_a_path(name):
        return pinned_name(documents.rubric(str(path_of(name, beside=folder)), where=where))
    documents.rubric(name, where=where)
    return name


def _rules(written: _Panel, document: Document) -> Rules:
    plugins.part("tallies", written.rule, where=document.where("rule"))
    for at, policy in enumerate(written.tie):
        if policy not in TIE_POLICIES:
            raise UnknownName("tie policy", policy, TIE_POLICIES, where=document.where("tie", at))
    if written.bracket_score not in BRACKET_SCORES:
        raise UnknownName("bracket score", written.bracket_score, BRACKET_SCORES, where=document.where("bracket_score"))
    return Rules(
        rule=written.rule,
        tie=written.tie,
        bracket_score=written.bracket_score,
        quorum=written.quorum,
        independence=written.independence,
    )


def _seats(
    written: _Panel, document: Document, folder: Path, documents: Documents, model: str | None
) -> tuple[Seat, ...]:
    taken: set[str] = set()
    for at, one in enumerate(written.seats):
        if one.name is not None and one.name in taken:
            raise document.fault(f"two seats are called {one.name!r}", "seats", at, "name")
        if one.name is not None:
            taken.add(one.name)
    seats: list[Seat] = []
    for at, one in enumerate(written.seats):
        card = _card(at, one, document, folder, documents)
        judge = _judge(at, one, card, document, model or written.model)
        name = one.name or _free_name(card.name if card is not None else judge.model, taken)
        taken.add(name)
        weight = one.weight if one.weight is not None else card.weight if card is not None else 1.0
        seats.append(Seat(name=name, judge=judge, duty=one.duty, stage=one.stage, weight=weight, each=one.each or ""))
    return tuple(seats)


def _check_seats(written: _Panel, document: Document, *, alone: bool) -> None:
    """Whether the keys of each seat go together."""
    clash = {"each": ("human", "duty", "stage", "name"), "human": ("agent", "model", "family")}
    for at, one in enumerate(written.seats):
        if alone != (one.each is not None):
            raise document.fault(
                "'each' stands for all seats" if one.each else "seats is one mapping, without 'each'",
                *("seats", at, "each"),
                expected="a list of seats, or seats: {each: dimension, model: provider/model}",
            )
        for key, others in clash.items():
            for other in others if getattr(one, key) is not None else ():
                if ("seats", at, other) in document.marks:
                    raise document.fault(f"{key} and {other} do not go together", "seats", at, other, key=True)


def _card(at: int, one: _Seat, document: Document, folder: Path, documents: Documents) -> Card | None:
    if one.agent is None:
        return None
    name = str(path_of(one.agent, beside=folder)) if names_a_path(one.agent) else one.agent
    return documents.card(name, where=document.where("seats", at, "agent"))


def _judge(at: int, one: _Seat, card: Card | None, document: Document, default: str | None) -> Judge:
    if one.human is not None:
        return Judge(model=one.human, human=True)
    model = one.model or (card.model if card is not None else None) or default
    if model is None:
        named = "" if card is None else f"its card {card.name!r}, "
        raise document.fault(
            "no model for this seat",
            *("seats", at),
            expected=f"model: provider/model in the seat, {named}or the panel",
            hint="or one for all such seats: --judge provider/model",
        )
    if card is None:
        return Judge(model=model, family=one.family or "")
    return judge_of(card, model=model, family=one.family or "")


def _free_name(said: str, taken: set[str]) -> str:
    base = re.sub(r"[^A-Za-z0-9_-]+", "-", said.rsplit("/", 1)[-1]).strip("-") or "judge"
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    return name


def _check(panel: Panel, document: Document) -> None:
    """Whether the panel can ever decide: refused here, before anything is paid."""
    voters = panel.voters
    if not any(seat.weight > 0 for seat in voters):
        raise document.fault("no seat votes with a weight above 0", "seats", expected="one that does")
    if any(seat.each for seat in voters):
        return
    quorum = panel.rules.quorum
    if isinstance(quorum, int) and quorum > len(voters):
        raise document.fault(
            f"quorum {quorum} of {len(voters)} voting seats", "quorum", expected=f"at most {len(voters)}"
        )
    kin = sorted({seat.judge.model if seat.judge.human else seat.judge.kin for seat in voters})
    if panel.rules.independence > len(kin):
        raise document.fault(
            f"independence {panel.rules.independence} of {len(kin)} model families ({', '.join(kin)})",
            "independence",
            expected=f"at most {len(kin)}",
            hint="seat another family, or state it: family: NAME",
        )


def _with_listed_seats(document: Document) -> Document:
    """The same with a lone mapping under ``seats`` as a list of one, its marks moved along."""
    data = cast("Mapping[str, Param]", document.data)
    marks = {
        ("seats", 0, *path[1:]) if path[:1] == ("seats",) and len(path) > 1 else path: mark
        for path, mark in document.marks.items()
    }
    return msgspec.structs.replace(document, data={**data, "seats": (data["seats"],)}, marks=marks)
