"""Rubrics written: new ones, other forms, copies, weights. Always the strict form, one digest whatever the form.

What is written is read again before anything is put in its place; a rubric that lies there is never overwritten
unasked.
"""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from deliberate.errors import ConfigError, RubricError
from deliberate.library._examples import EXAMPLES
from deliberate.library._files import listed, read_text
from deliberate.library.rubrics import Source, read_rubric, read_source
from deliberate.types import Dimension, Rubric, same_name

__all__ = ["BEGUN", "DIGEST", "add_rubric", "draft", "migrate", "reweighed", "write_rubric"]

DIGEST = "digest"
"""The file beside an added rubric that holds the digest it was added with."""

BEGUN = "Replace these questions by your own."
"""What a draft says of itself, until somebody has."""

_LICENSE = "Apache-2.0"
_NAME = re.compile(r"(?=.{1,64}\Z)[a-z0-9]+(-[a-z0-9]+)*")


def write_rubric(
    rubric: Rubric,
    folder: Path,
    *,
    extra: Mapping[str, str] | None = None,
    metadata: Mapping[str, str] | None = None,
    version: str = "1",
    examples: Mapping[str, str] | None = None,
) -> Rubric:
    """Writes a rubric into ``folder/<name>/`` in the strict form, and gives it as it was read back.

    Args:
        rubric: What to write.
        folder: Where its own folder is made.
        extra: License, compatibility and allowed tools.
        metadata: More keys under ``metadata``.
        version: Its number.
        examples: Texts of ``examples/*.md`` by file name.

    Raises:
        RubricError: Something lies there already, or what was written does not read back as the same.
    """
    if not _NAME.fullmatch(rubric.name):
        expected = "1 to 64 lower-case letters and digits, with single hyphens between them"
        raise RubricError(f"{rubric.name!r} is no name for a rubric", expected=expected)
    place = folder / rubric.name
    if place.exists() or place.is_symlink():
        raise RubricError("lies there already", where=str(place), hint="choose another name, or remove it first")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".new-") as work:
            made = Path(work) / rubric.name
            (made / EXAMPLES).mkdir(parents=True)
            front = _front(rubric, extra or {"license": _LICENSE}, metadata or {}, version)
            (made / "SKILL.md").write_text(f"{front}\n{rubric.body.strip()}\n", encoding="utf-8", newline="\n")
            (made / "rubric.yaml").write_text(_sheet(rubric), encoding="utf-8", newline="\n")
            for name, text in (examples or {}).items():
                (made / EXAMPLES / name).write_text(text, encoding="utf-8", newline="\n")
            read = read_rubric(made)
            if read.digest != rubric.digest:
                raise RubricError("cannot be written so that it reads back as the same", where=str(place))
            made.rename(place)
    except OSError as error:
        raise RubricError(f"cannot be written: {error.strerror}", where=str(place)) from None
    return read


def draft(name: str, dimensions: Sequence[tuple[str, float]], *, categories: Sequence[str], description: str) -> Rubric:
    """A rubric to begin with, in the house style: one section a dimension, with questions to be replaced.

    Raises:
        RubricError: The weights do not sum to 1, or a name stands twice.
    """
    total = math.fsum(weight for _, weight in dimensions)
    terms = " + ".join(f"{one} {weight:g}" for one, weight in dimensions)
    if not dimensions or not all(weight > 0 for _, weight in dimensions) or abs(total - 1.0) > 1e-6:  # noqa: PLR2004
        raise RubricError(
            f"weights sum to {total:.6g}, must be 1.0 ({terms})",
            where="--dimensions",
            expected="name:weight,…, each above 0, 1 in all",
        )
    words = name.replace("-", " ")
    sections = "\n\n".join(
        f"## {one.replace('_', ' ').replace('-', ' ').capitalize()} ({weight * 100:g}%)\n\n"
        f"- Is the {one.replace('_', ' ')} of the output as the task asks?\n"
        f"- What would a careful reader object to here?"
        for one, weight in dimensions
    )
    body = f"""You judge {words} by what the task asks. {BEGUN}

{sections}

## Severity Guide

- **Blocker**: the output cannot be used, or does harm where it is used.
- **Important**: something is wrong or missing that must be mended before use.
- **Suggestion**: wording, order or layout that would make a good output better."""
    return Rubric(
        name=name,
        description=description or f"Judges {words}. Use it for outputs of this kind.",
        body=body,
        dimensions=tuple(
            Dimension(
                name=one,
                weight=weight,
                description=f"Is the {one.replace('_', ' ')} as the task asks?",
                question=f"Is the {one.replace('_', ' ')} of the output good?",
            )
            for one, weight in dimensions
        ),
        categories=tuple(categories),
        source="path",
    )


def migrate(path: Path, into: Path) -> tuple[Source, Rubric]:
    """Writes a rubric of either form in the strict form into ``into/<name>/``; examples go along.

    Raises:
        RubricError: It cannot be read, its name is none that Agent Skills take, or something lies there already.
    """
    source = read_source(path)
    folder = source.file.parent / EXAMPLES
    beside = listed(folder) if source.file.name == "SKILL.md" else ()
    examples = {one.name: read_text(one, error=RubricError) for one in beside if one.suffix == ".md"}
    written = write_rubric(
        source.rubric,
        into,
        extra=source.extra or {"license": _LICENSE},
        metadata=source.metadata,
        version=source.version,
        examples=examples,
    )
    return source, written


def add_rubric(path: Path, managed: Path) -> Rubric:
    """Copies a rubric into the managed source, in the form it has, with its digest beside it.

    Raises:
        RubricError: It cannot be read, or one of its name was added before.
    """
    source = read_source(path)
    rubric = source.rubric
    place = managed / rubric.name
    if place.exists() or place.is_symlink():
        raise RubricError("lies there already", where=str(place), hint="remove it first")
    names = ["SKILL.md"]
    if source.strict:
        names.append(Path(source.sheet.file).name)
    folder = source.file.parent
    files = {name: folder / name for name in names[1:]} | {"SKILL.md": source.file}
    if source.file.name == "SKILL.md":
        files |= {f"{EXAMPLES}/{one.name}": one for one in listed(folder / EXAMPLES) if one.suffix == ".md"}
    texts = {name: read_text(file, error=RubricError) for name, file in files.items()}
    try:
        managed.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=managed, prefix=".new-") as work:
            made = Path(work) / rubric.name
            (made / EXAMPLES).mkdir(parents=True)
            for name, text in {**texts, DIGEST: f"{rubric.digest}\n"}.items():
                (made / name).write_text(text, encoding="utf-8", newline="\n")
            if read_rubric(made).digest != rubric.digest:
                raise RubricError("changed while it was read", where=str(path), hint="try again")
            made.rename(place)
    except OSError as error:
        raise RubricError(f"cannot be written: {error.strerror}", where=str(place)) from None
    return read_rubric(place, source="managed")


def reweighed(source: Source, weights: Mapping[str, float], into: Path) -> Rubric:
    """Writes the rubric with other weights, and its version one higher; the old one is kept beside it.

    The percentages in the headings of its body follow. A rubric that lies elsewhere than in ``into`` (a bundled one)
    is left as it is: its successor is written into ``into``.

    Raises:
        ConfigError: The weights do not name its dimensions.
        RubricError: It cannot be written.
    """
    rubric = source.rubric
    if sorted(weights) != sorted(one.name for one in rubric.dimensions):
        raise ConfigError("the weights do not name the rubric's dimensions", where=rubric.name)
    body = rubric.body
    for one in rubric.dimensions:
        body = _headed(body, one.name, weights[one.name])
    dimensions = tuple(msgspec.structs.replace(one, weight=weights[one.name]) for one in rubric.dimensions)
    successor = msgspec.structs.replace(rubric, body=body, dimensions=dimensions)
    place = into / rubric.name
    version = int(source.version) if source.version.isdecimal() else 1
    beside = listed(source.file.parent / EXAMPLES) if source.file.name == "SKILL.md" else ()
    examples = {one.name: read_text(one, error=RubricError, links=True) for one in beside if one.suffix == ".md"}
    older = into / ".versions" / str(version) / rubric.name
    kept = place.exists()
    if kept:
        if older.exists():
            raise RubricError("that version was kept before", where=str(older), hint="raise deliberate-version")
        older.parent.mkdir(parents=True, exist_ok=True)
        place.rename(older)
    try:
        return write_rubric(
            successor,
            into,
            extra=source.extra or {"license": _LICENSE},
            metadata=source.metadata,
            version=str(version + 1),
            examples=examples,
        )
    except RubricError:
        if kept:
            older.rename(place)
        raise


def _headed(body: str, name: str, weight: float) -> str:
    def heading(match: re.Match[str]) -> str:
        return f"{match[1]}({weight * 100:.3g}%)" if same_name(match["name"], name) else match[0]

    return re.sub(r"^(##\s+(?P<name>.+?)\s*)\(\d+(?:\.\d+)?\s*%\)", heading, body, flags=re.MULTILINE)


def _front(rubric: Rubric, extra: Mapping[str, str], metadata: Mapping[str, str], version: str) -> str:
    ours = {"deliberate-kind": "evaluator", "deliberate-rubric": "rubric.yaml", "deliberate-version": version}
    lines = [
        "---",
        f"name: {rubric.name}",
        f"description: {_quoted(rubric.description)}",
        *(f"{key}: {_quoted(text)}" for key, text in extra.items()),
        "metadata:",
        *(f"  {key}: {_quoted(text)}" for key, text in {**ours, **metadata}.items()),
        "---",
        "",
    ]
    return "\n".join(lines)


def _sheet(rubric: Rubric) -> str:
    lines = [f"categories: {_listed(rubric.categories)}", "dimensions:"]
    for one in rubric.dimensions:
        lines += [
            f"  - name: {_quoted(one.name)}",
            f"    weight: {one.weight!r}",
            f"    description: {_quoted(one.description)}",
            f"    question: {_quoted(one.question)}",
            f"    affects: {_listed(one.affects)}",
        ]
    lines.append(f"severity: {rubric.severity}")
    if rubric.eligibility:
        lines.append("eligibility:")
        lines += [f"  {key}: {_listed(names)}" for key, names in rubric.eligibility.items()]
    return "\n".join(lines) + "\n"


def _listed(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(_quoted, texts))}]"


def _quoted(text: str) -> str:
    """The text in YAML's double quotes, whose escapes are JSON's."""
    return json.dumps(text, ensure_ascii=False)
