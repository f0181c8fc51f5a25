"""Graded examples: outputs of which a person has said what they are worth. They are the tests of a rubric."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from deliberate.errors import RubricError
from deliberate.library._files import listed, read_text
from deliberate.library._frontmatter import parse_front_matter
from deliberate.library._yaml import Words, Written
from deliberate.types import BRACKETS, Bracket, Record, bracket_named

__all__ = ["BEGUN_OUTPUT", "EXAMPLES", "Example", "read_examples"]

EXAMPLES = "examples"
"""The folder beside SKILL.md they lie in; no part of a rubric's digest."""

BEGUN_OUTPUT = "Put an output here"
"""How the output of an example begins that is still to be written."""


class Example(Record, frozen=True, kw_only=True):
    """A task, an output, and the brackets a person would give it."""

    name: str
    file: Path
    task: str
    output: str
    expect: tuple[Bracket, ...]


class _Head(Written):
    task: Words
    expect: Annotated[tuple[Words, ...], Field(min_length=1)]


def read_examples(folder: Path, *, links: bool = False) -> tuple[Example, ...]:
    """The examples of the rubric in a folder, by name; none if it has none.

    Raises:
        RubricError: One cannot be read; the message names file, line, column and key.
    """
    return tuple(_example(path, links=links) for path in listed(folder / EXAMPLES) if path.suffix == ".md")


def _example(path: Path, *, links: bool) -> Example:
    text = read_text(path, error=RubricError, links=links)
    document, halves = parse_front_matter(text, file=str(path), error=RubricError)
    head = document.read(_Head)
    for at, name in enumerate(head.expect):
        if name.casefold() not in BRACKETS.labels:
            raise document.fault(f"{name!r} is no bracket", "expect", at, expected=", ".join(BRACKETS.labels))
    if not halves.body.strip():
        raise RubricError("there is no output", where=f"{path}:{halves.body_line}", expected="what is to be judged")
    return Example(
        name=path.stem,
        file=path,
        task=head.task.strip(),
        output=halves.body.strip(),
        expect=tuple(bracket_named(name) for name in head.expect),
    )
