"""Rubrics: a SKILL.md that a judge reads, and the dimensions it is weighed by.

Two forms give the same record, and so the same digest:

- the strict one: front matter as Agent Skills want it, ``metadata`` from text to text with
  ``deliberate-kind: evaluator`` and ``deliberate-rubric: rubric.yaml``, and that file beside it;
- the one-file form: ``kind: evaluator`` and nested ``metadata: {categories, dimensions}``.

Neither a rubric's folder nor its files may be symbolic links: a workspace is not ours, and a link in it may lead
anywhere.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, StringConstraints

from deliberate.errors import RubricError
from deliberate.library._filed import RUBRIC_FILE, RUBRIC_SUFFIX, NotAnEvaluator
from deliberate.library._files import read_text
from deliberate.library._frontmatter import parse_front_matter
from deliberate.library._yaml import Document, FreeName, Label, SkillName, Words, Written, load_file
from deliberate.types import Dimension, Record, Rubric, SeverityMode, is_expression, same_name

__all__ = [
    "KNOWN_METADATA",
    "Source",
    "read_rubric",
    "read_source",
]

_SHEET = "rubric.yaml"
_EXACT = 1e-6


class _Dimension(Written):
    name: Label
    weight: Annotated[float, Field(gt=0)]
    description: Words
    question: str = ""
    affects: tuple[Words, ...] = ()


class _Eligibility(Written):
    os: tuple[Words, ...] = ()
    env: tuple[Words, ...] = ()
    bins: tuple[Words, ...] = ()


class _Sheet(Written):
    """What ``rubric.yaml`` says."""

    categories: tuple[Label, ...]
    dimensions: Annotated[tuple[_Dimension, ...], Field(min_length=1)]
    severity: SeverityMode = "adjust"
    eligibility: _Eligibility = _Eligibility()


class _Skill(Written):
    """The front matter of the strict form."""

    name: SkillName
    description: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1024)]
    license: str = ""
    compatibility: str = ""
    metadata: dict[str, str]
    allowed_tools: Annotated[str, Field(alias="allowed-tools")] = ""


class _NestedSheet(_Sheet):
    """The same, nested in the one-file form, with the names for eligibility and the extras that form knows.

    Other tools keep keys of their own there: what we do not know is passed over here, and told by the lint.
    """

    model_config = ConfigDict(extra="ignore")

    os: tuple[Words, ...] = ()
    requires_env: tuple[Words, ...] = ()
    requires_bins: tuple[Words, ...] = ()
    trigger: Any = None
    schema_version: Any = None
    openkoi: Any = None
    openclaw: Any = None


class _OneFile(Written):
    """The front matter of the one-file form."""

    name: FreeName
    kind: str
    description: Words
    metadata: _NestedSheet
    license: str = ""
    compatibility: str = ""
    allowed_tools: Annotated[str, Field(alias="allowed-tools")] = ""


_KNOWN = ("deliberate-kind", "deliberate-rubric", "deliberate-version")

KNOWN_METADATA = tuple(_NestedSheet.model_fields)
"""The keys under ``metadata`` that the one-file form knows."""


class Source(Record, frozen=True, kw_only=True):
    """A rubric and what its files say besides: for those who check, rewrite or copy it.

    ``sheet`` is the document that holds the dimensions, ``prefix`` the keys that lead to them; ``extra`` are the texts
    of license, compatibility, allowed tools, and (strict form) of all metadata that is not ours.
    """

    rubric: Rubric
    file: Path
    front: Document
    sheet: Document
    prefix: tuple[str, ...]
    body_line: int
    strict: bool
    extra: Mapping[str, str] = {}
    metadata: Mapping[str, str] = {}
    version: str = "1"


def read_rubric(path: Path, *, source: str = "path", links: bool = False) -> Rubric:
    """The rubric in a folder or SKILL.md file, in either form.

    Args:
        path: The folder, or the file.
        source: What the record says it comes from.
        links: Whether folder and files may be symbolic links.

    Raises:
        RubricError: It cannot be read; the message names file, line, column, key and what was expected.
        NotAnEvaluator: It is a skill of another kind.
    """
    return read_source(path, source=source, links=links).rubric


def read_source(path: Path, *, source: str = "path", links: bool = False) -> Source:
    """The rubric as ``read_rubric`` gives it, with the documents it was read from (and its errors)."""
    file = path / RUBRIC_FILE if path.is_dir() else path
    if not links and file.name == RUBRIC_FILE and file.parent.is_symlink():
        raise RubricError("is a symbolic link", where=str(file.parent), expected="a folder")
    document, halves = parse_front_matter(
        read_text(file, error=RubricError, links=links), file=str(file), error=RubricError
    )
    if not halves.body.strip():
        raise RubricError("the body is empty", where=f"{file}:{halves.body_line}", expected="what the judge reads")
    strict = _is_strict(document)
    if not strict:
        _check_form(document, file)
    front, sheet, place, prefix = _strict(document, file, links=links) if strict else _one_file(document)
    _check(sheet, place, prefix)
    rubric = _rubric(front, sheet, body=halves.body.strip(), source=source)
    told = front.metadata if isinstance(front, _Skill) else {}
    extra = {"license": front.license, "compatibility": front.compatibility, "allowed-tools": front.allowed_tools}
    return Source(
        rubric=rubric,
        file=file,
        front=document,
        sheet=place,
        prefix=prefix,
        body_line=halves.body_line,
        strict=strict,
        extra={key: text for key, text in extra.items() if text},
        metadata={key: text for key, text in told.items() if key not in _KNOWN},
        version=told.get("deliberate-version", "1"),
    )


def _rubric(front: _Skill | _OneFile, sheet: _Sheet, *, body: str, source: str) -> Rubric:
    return Rubric(
        name=front.name,
        description=front.description,
        body=body,
        dimensions=tuple(
            Dimension(
                name=one.name,
                weight=one.weight,
                description=one.description,
                question=one.question.strip(),
                affects=one.affects,
            )
            for one in sheet.dimensions
        ),
        categories=sheet.categories,
        severity=sheet.severity,
        eligibility=_eligibility(sheet),
        source=source,
    )


_Parts = tuple[_Skill | _OneFile, _Sheet, Document, tuple[str, ...]]
"""Front matter, sheet, the document it stands in, and the keys that lead to it there."""


def _is_strict(document: Document) -> bool:
    return any(path[0] == "metadata" and str(path[1]).startswith("deliberate-") for path in document.paths(2))


def _check_form(document: Document, file: Path) -> None:
    """Whether a front matter that is of no form is meant as the strict one: a sheet lies beside it."""
    data = document.data
    if isinstance(data, Mapping) and "kind" not in data and os.path.lexists(file.parent / _SHEET):
        ours = f'{{deliberate-kind: evaluator, deliberate-rubric: {_SHEET}, deliberate-version: "1"}}'
        raise document.fault("key 'metadata.deliberate-rubric' is missing", "metadata", expected=f"metadata: {ours}")


def _strict(document: Document, file: Path, *, links: bool) -> _Parts:
    skill = document.read(_Skill)
    for key in skill.metadata:
        if key.startswith("deliberate-") and key not in _KNOWN:
            raise document.unknown_key(_KNOWN, "metadata", key)
    kind = skill.metadata.get("deliberate-kind")
    if kind is None:
        raise document.fault("key 'metadata.deliberate-kind' is missing", "metadata", expected="evaluator")
    if kind != "evaluator":
        raise _of_another_kind(document, kind, "metadata", "deliberate-kind")
    called = _called(file)
    if called and skill.name != called:
        raise document.fault(f"name is {skill.name!r}, but it lies in {called!r}", "name", expected="the same name")
    sheet = skill.metadata.get("deliberate-rubric")
    if sheet is None:
        raise document.fault("key 'metadata.deliberate-rubric' is missing", "metadata", expected=_SHEET)
    if sheet != Path(sheet).name or "\\" in sheet or not sheet.endswith((".yaml", ".yml")):
        raise document.fault(
            f"metadata.deliberate-rubric is {sheet!r}",
            "metadata",
            "deliberate-rubric",
            expected="a YAML file beside it",
        )
    beside = load_file(file.parent / sheet, error=RubricError, links=links)
    return skill, beside.read(_Sheet), beside, ()


def _one_file(document: Document) -> _Parts:
    kind = document.data.get("kind") if isinstance(document.data, Mapping) else None
    if isinstance(kind, str) and kind != "evaluator":
        raise _of_another_kind(document, kind, "kind")
    written = document.read(_OneFile)
    return written, written.metadata, document, ("metadata",)


def _of_another_kind(document: Document, kind: str, *path: str) -> NotAnEvaluator:
    return NotAnEvaluator(f"{path[-1]} is {kind!r}", where=document.where(*path), expected="evaluator")


def _called(file: Path) -> str:
    """The name a file's place gives; "" where it gives none."""
    if file.name == RUBRIC_FILE:
        return file.absolute().parent.name
    return file.name.removesuffix(RUBRIC_SUFFIX) if file.name.endswith(RUBRIC_SUFFIX) else ""


def _check(sheet: _Sheet, document: Document, prefix: Sequence[str]) -> None:
    """Whether names are unique and weights sum to 1."""
    found = sheet.dimensions
    for at, one in enumerate(found):
        if not any(sign.isalnum() for sign in one.name):
            raise document.fault(
                f"dimension name is {one.name!r}", *prefix, "dimensions", at, "name", expected="a letter or digit in it"
            )
        twin = next((other for other in found[:at] if same_name(one.name, other.name)), None)
        if twin is not None:
            raise document.fault(
                f"dimension {one.name!r} is {twin.name!r} again (case, spaces, _ and - do not tell names apart)",
                *prefix,
                "dimensions",
                at,
                "name",
                expected="a name of its own",
            )
        for number, pattern in enumerate(one.affects):
            _check_pattern(pattern, document, *prefix, "dimensions", at, "affects", number)
    total = math.fsum(one.weight for one in found)
    if not abs(total - 1.0) <= _EXACT:
        terms = " + ".join(f"{one.name} {one.weight:g}" for one in found)
        raise document.fault(
            f"weights sum to {total:.6g}, must be 1.0 ({terms})", *prefix, "dimensions", len(found) - 1, "weight"
        )


def _check_pattern(pattern: str, document: Document, *path: str | int) -> None:
    """Whether what stands between slashes is a regular expression; everything else is a glob, and always one."""
    if not is_expression(pattern):
        return
    import regex  # noqa: PLC0415  52 ms that a rubric without expressions need not pay

    try:
        regex.compile(pattern[1:-1])
    except regex.error as error:
        raise document.fault(
            f"{pattern!r} is no pattern: {error}", *path, expected="a glob, or /a regular expression/"
        ) from None


def _eligibility(sheet: _Sheet) -> dict[str, tuple[str, ...]]:
    stated = sheet.eligibility
    found = {"os": stated.os, "env": stated.env, "bins": stated.bins}
    if isinstance(sheet, _NestedSheet):
        nested = {"os": sheet.os, "env": sheet.requires_env, "bins": sheet.requires_bins}
        found = {key: tuple(dict.fromkeys((*found[key], *nested[key]))) for key in found}
    return {key: values for key, values in found.items() if values}
