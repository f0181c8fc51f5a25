"""What is wrong with a rubric, and what could be better: each with file, line and column."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, cast

from deliberate.errors import ConfigError, RubricError
from deliberate.library._examples import BEGUN_OUTPUT, read_examples
from deliberate.library._files import read_text
from deliberate.library._write import BEGUN, DIGEST
from deliberate.library.rubrics import KNOWN_METADATA, Source, read_source
from deliberate.types import Record, same_name

__all__ = ["Remark", "lint"]

_HEADING = re.compile(r"^##\s+(?P<name>.+?)\s*(?:\((?P<share>\d+(?:\.\d+)?)\s*%\))?\s*$")
_WHEN = re.compile(r"\b(use|uses|used|when|whenever|for)\b", re.IGNORECASE)
_MOST_LINES = 500
_FEWEST_EXAMPLES = 2
_STRICT_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class Remark(Record, frozen=True, kw_only=True):
    """One thing: ``error`` if the rubric cannot be used so, else ``warning``. ``where`` is ``file:line:column``."""

    level: Literal["error", "warning"]
    where: str
    what: str


def lint(path: Path, *, links: bool = False) -> tuple[Remark, ...]:
    """All there is to say about the rubric in a folder or file, in the order of its files; nothing if all is well."""
    try:
        source = read_source(path, links=links)
    except RubricError as error:
        return (_error(error),)
    found = [*_front(source), *_body(source), *_copy(source)]
    if source.file.name == "SKILL.md":
        try:
            examples = read_examples(source.file.parent, links=links)
        except ConfigError as error:
            found.append(_error(error))
        else:
            if len(examples) < _FEWEST_EXAMPLES:
                what = f"has {len(examples)} graded examples: write one that is good and one that is not"
                found.append(_warning(f"{source.file.parent}/examples:1:1", what))
            begun = [one.file for one in examples if one.output.startswith(BEGUN_OUTPUT)]
            found += [_warning(f"{file}:1:1", "has no output yet: put a real one in") for file in begun]
    return tuple(found)


def _error(error: ConfigError) -> Remark:
    where = error.where if re.search(r":\d+:\d+\Z", error.where) else f"{error.where}:1:1"
    more = "; ".join(part for part in (error.what, error.expected and f"expected {error.expected}", error.hint) if part)
    return Remark(level="error", where=where, what=more)


def _warning(where: str, what: str) -> Remark:
    return Remark(level="warning", where=where, what=what)


def _front(source: Source) -> Iterator[Remark]:
    front, rubric = source.front, source.rubric
    if not _WHEN.search(rubric.description):
        what = "description does not say when to use it (Agent Skills clients choose by it)"
        yield _warning(front.where("description"), what)
    if source.strict and not source.version.isdecimal():
        where = front.where("metadata", "deliberate-version")
        yield _warning(where, f"metadata.deliberate-version is {source.version!r}: expected a whole number in quotes")
    if not source.strict:
        yield from _nested(source)
    yield from _sheet(source)


def _nested(source: Source) -> Iterator[Remark]:
    front = source.front
    data = cast("Mapping[str, Mapping[str, object]]", front.data)
    for key in data["metadata"]:
        if key not in KNOWN_METADATA:
            yield _warning(front.where("metadata", key, key=True), f"unknown key 'metadata.{key}' is passed over")
    if not _STRICT_NAME.fullmatch(source.rubric.name):
        what = "Agent Skills clients take names of lower-case letters, digits and single hyphens only"
        yield _warning(front.where("name"), what)


def _sheet(source: Source) -> Iterator[Remark]:
    sheet, prefix = source.sheet, source.prefix
    names = [name.casefold() for name in source.rubric.categories]
    for at, name in enumerate(names):
        if name in names[:at]:
            yield _warning(sheet.where(*prefix, "categories", at), f"category {name!r} stands twice")
    for at, one in enumerate(source.rubric.dimensions):
        if not one.question:
            what = f"dimension {one.name!r} has no question: local judges are asked its description instead"
            yield _warning(sheet.where(*prefix, "dimensions", at), what)


def _body(source: Source) -> Iterator[Remark]:
    lines = source.rubric.body.split("\n")
    text = read_text(source.file, error=RubricError, links=True).split("\n")
    first = source.body_line + next(at for at, line in enumerate(text[source.body_line - 1 :]) if line.strip())
    headings = [(first + at, found) for at, line in enumerate(lines) if (found := _HEADING.match(line)) is not None]
    for at, one in enumerate(source.rubric.dimensions):
        match = next(((number, each) for number, each in headings if same_name(each["name"], one.name)), None)
        if match is None:
            where = source.sheet.where(*source.prefix, "dimensions", at, "name")
            yield _warning(where, f"dimension {one.name!r} has no section '## {one.name}' in the body")
        elif match[1]["share"] and abs(float(match[1]["share"]) - one.weight * 100) >= 1:
            what = f"the heading says {match[1]['share']}%, the weight of {one.name!r} is {one.weight * 100:g}%"
            yield _warning(f"{source.file}:{match[0]}:1", what)
    if not any(same_name(each["name"], "Severity Guide") for _, each in headings):
        yield _warning(f"{source.file}:{first}:1", "the body has no section '## Severity Guide'")
    for at, line in enumerate(lines):
        if BEGUN in line:
            yield _warning(f"{source.file}:{first + at}:1", "its questions are still to be replaced by your own")
    if len(lines) > _MOST_LINES:
        yield _warning(f"{source.file}:{first + _MOST_LINES}:1", f"the body has {len(lines)} lines: {_MOST_LINES} do")


def _copy(source: Source) -> Iterator[Remark]:
    path = source.file.parent / DIGEST
    if path.is_file() and read_text(path).split()[:1] != [source.rubric.digest]:
        yield _warning(f"{path}:1:1", "the copy was changed since it was added")
