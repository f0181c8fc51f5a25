"""Agent cards: who a judge is. Front matter says which model and how; the body is the persona."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from deliberate.errors import AgentCardError
from deliberate.library._files import read_text
from deliberate.library._frontmatter import parse_front_matter
from deliberate.library._yaml import Label, Model, Name, Words, Written
from deliberate.types import Judge, Record

__all__ = ["Card", "judge_of", "read_card"]


class Card(Record, frozen=True, kw_only=True):
    """One agent card.

    ``model`` None leaves the model to the panel; ``temperature`` None is the model's own; ``family`` belongs to the
    card's model; ``weight`` (≥ 0) is its seat's unless the seat has one.
    """

    name: str
    description: str
    persona: str
    model: str | None = None
    family: str = ""
    temperature: float | None = 0.1
    max_tokens: int = 2000
    weight: float = 1.0
    source: str = "bundled"


class _Front(Written):
    name: Name
    description: Words
    model: Model | None = None
    family: Label | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 0.1
    max_tokens: Annotated[int, Field(ge=1)] = 2000
    weight: Annotated[float, Field(ge=0)] = 1.0


def read_card(path: Path, *, source: str = "path", links: bool = False) -> Card:
    """The agent card in a file.

    Args:
        path: The file, named after the card.
        source: What the record says it comes from.
        links: Whether the file may be a symbolic link.

    Raises:
        AgentCardError: It cannot be read; the message names file, line, column, key and what was expected.
    """
    document, halves = parse_front_matter(
        read_text(path, error=AgentCardError, links=links), file=str(path), error=AgentCardError
    )
    front = document.read(_Front)
    if front.name != path.stem:
        raise document.fault(
            f"name is {front.name!r}, but the file is {path.name!r}", "name", expected=f"{path.stem!r}"
        )
    persona = halves.body.strip()
    if not persona:
        raise AgentCardError("the body is empty", where=f"{path}:{halves.body_line}", expected="the persona")
    return Card(
        name=front.name,
        description=front.description,
        persona=persona,
        model=front.model,
        family=front.family or "",
        temperature=front.temperature,
        max_tokens=front.max_tokens,
        weight=front.weight,
        source=source,
    )


def judge_of(card: Card, *, model: str, family: str = "") -> Judge:
    """The judge that a card and a model make; the card's family counts only for the card's own model."""
    return Judge(
        model=model,
        persona=card.persona,
        temperature=card.temperature,
        max_tokens=card.max_tokens,
        family=family or (card.family if model == card.model else ""),
    )
