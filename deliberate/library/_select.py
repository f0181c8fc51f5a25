"""Which rubric judges a case: a pure choice, and the look at this machine that it needs.

The case's own category decides; without one, the types of its files or the words of its task, and if both find a
rubric the one of the higher source, else that of the files; else ``general``.
Of several that match: the higher source, then the greater effectiveness (shrunk towards 0 while it rests on few
cases), then more matching categories, then the name. Of several of one name the source alone decides.
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from deliberate.errors import RubricError
from deliberate.library._places import SOURCES
from deliberate.types import GENERAL, Choice, Record, Rubric

__all__ = ["Effect", "Surroundings", "select", "surroundings"]

_FULL_TRUST = 10
"""Cases from which on an effectiveness counts in full."""

_SYSTEMS = {"linux": "linux", "darwin": "macos", "win32": "windows", "cygwin": "windows"}
_ALIASES = {"darwin": "macos", "osx": "macos", "mac": "macos", "win32": "windows", "win": "windows"}

_TYPES: Mapping[str, tuple[str, ...]] = {
    "code": (
        *(
            "c",
            "cc",
            "cpp",
            "cs",
            "diff",
            "ex",
            "go",
            "h",
            "hpp",
            "java",
            "jl",
            "js",
            "jsx",
            "kt",
            "lua",
            "patch",
            "php",
        ),
        *("pl", "py", "r", "rb", "rs", "scala", "sh", "swift", "ts", "tsx", "vue"),
    ),
    "database": ("sql",),
    "docs": ("adoc", "md", "rst"),
    "api": ("graphql", "proto"),
}
_CATEGORY_OF = {ending: category for category, endings in _TYPES.items() for ending in endings}
_TEST_FILE = re.compile(r"(^|[._-])(test|tests|spec)[._-]|^test_", re.IGNORECASE)
_API_FILE = re.compile(r"^(openapi|swagger)\b", re.IGNORECASE)

_SYNONYMS: Mapping[str, str] = {
    "article": "writing",
    "bug": "bugfix",
    "class": "code",
    "documentation": "docs",
    "email": "writing",
    "endpoints": "endpoint",
    "essay": "writing",
    "function": "code",
    "implement": "code",
    "letter": "writing",
    "postgresql": "database",
    "program": "code",
    "pytest": "test",
    "readme": "docs",
    "refactoring": "refactor",
    "rest": "api",
    "sql": "database",
    "summarize": "summary",
    "tests": "test",
}


class Surroundings(Record, frozen=True, kw_only=True):
    """What rubrics may ask of a machine: its system, the variables that are set, the programs that are there."""

    os: str = "linux"
    env: tuple[str, ...] = ()
    bins: tuple[str, ...] = ()


class Effect(NamedTuple):
    """How well a rubric's scores agreed with what people said later: 0–1, and on how many cases."""

    agreement: float
    cases: int

    @property
    def shrunk(self) -> float:
        """The agreement, shrunk towards 0 while it rests on fewer than ten cases."""
        return self.agreement * min(self.cases / _FULL_TRUST, 1.0)


def surroundings(rubrics: Iterable[Rubric]) -> Surroundings:
    """This machine, as far as these rubrics ask."""
    wanted = {name for one in rubrics for name in one.eligibility.get("bins", ())}
    return Surroundings(
        os=_SYSTEMS.get(sys.platform, sys.platform),
        env=tuple(sorted(name for name, text in os.environ.items() if text)),
        bins=tuple(sorted(name for name in wanted if shutil.which(name))),
    )


def select(
    rubrics: Sequence[Rubric],
    *,
    category: str | None = None,
    task: str = "",
    files: Sequence[str] = (),
    around: Surroundings,
    effects: Mapping[str, Effect] | None = None,
) -> Choice:
    """The rubric that judges a case.

    Args:
        rubrics: All that are approved, from all sources.
        category: What kind of task it was; None leaves it to the files and the task.
        task: What was asked.
        files: Names of the files the case is about.
        around: The machine.
        effects: By a rubric's digest, how well it did.

    Raises:
        RubricError: There is no ``general`` that could be used: the installation lacks it.
    """
    refused: list[str] = []
    usable: dict[str, Rubric] = {}
    for one in sorted(rubrics, key=_rank):
        if reason := _unfit(one, around):
            refused.append(f"{one.name} ({one.source}): {reason}")
        else:
            usable.setdefault(one.name, one)
    choices: list[Choice] = []
    known = {name for one in usable.values() for name in one.categories}
    for by, wanted in _wanted(category, task, files, known):
        found = [(one, _matching(one, wanted)) for one in usable.values()]
        matching = [(one, hits) for one, hits in found if hits]
        if not matching:
            continue
        best, hits = min(matching, key=lambda pair: _order(pair[0], pair[1], effects or {}))
        why = f"{_BY[by]} {', '.join(hits)} ({best.source}{_others(len(matching))})"
        choices.append(Choice(rubric=best, by=by, why=why, refused=tuple(refused)))
    if choices:
        return min(choices, key=lambda choice: _rank(choice.rubric))  # of one rank the surest, which stands first
    if GENERAL not in usable:
        raise RubricError(f"there is no rubric {GENERAL!r} that can be used", hint="install deliberate-eval again")
    why = _unknown(category, known) if category else "nothing says what kind of task it was"
    return Choice(rubric=usable[GENERAL], by="general", why=why, refused=tuple(refused))


_By = Literal["category", "file_type", "keyword"]
_BY: Mapping[str, str] = {"category": "category", "file_type": "file type:", "keyword": "words of the task:"}


def _wanted(
    category: str | None, task: str, files: Sequence[str], known: set[str]
) -> tuple[tuple[_By, tuple[str, ...]], ...]:
    """The categories to look for, the surest first."""
    if category is not None and category.strip():
        return (("category", (category,)),)
    typed = tuple(dict.fromkeys(found for name in files for found in _of_file(name)))
    words = {*re.findall(r"[\w-]+", task.casefold())}
    said = [name for name in sorted(known) if name.casefold() in words]
    said += [category for word, category in sorted(_SYNONYMS.items()) if word in words]
    return (("file_type", typed), ("keyword", tuple(dict.fromkeys(said))))


def _unknown(category: str, known: set[str]) -> str:
    folded = {name.casefold(): name for name in sorted(known)}
    near = difflib.get_close_matches(category.strip().casefold(), folded, n=1)
    guess = f" (did you mean {folded[near[0]]!r}?)" if near else ""
    return f"no rubric is for the category {category!r}{guess}"


def _of_file(name: str) -> tuple[str, ...]:
    path = PurePosixPath(name.replace("\\", "/"))
    if _API_FILE.search(path.name):
        return ("api",)
    found = _CATEGORY_OF.get(path.suffix.removeprefix(".").casefold())
    if found == "code" and _TEST_FILE.search(path.name):
        return ("test",)
    return () if found is None else (found,)


def _matching(rubric: Rubric, wanted: Sequence[str]) -> tuple[str, ...]:
    own = {name.strip().casefold() for name in rubric.categories}
    return tuple(name for name in wanted if name.strip().casefold() in own)


def _order(rubric: Rubric, hits: Sequence[str], effects: Mapping[str, Effect]) -> tuple[int, float, int, str]:
    effect = effects.get(rubric.digest)
    return _rank(rubric), -effect.shrunk if effect else 0.0, -len(hits), rubric.name


def _rank(rubric: Rubric) -> int:
    return SOURCES.index(rubric.source) if rubric.source in SOURCES else 0


def _unfit(rubric: Rubric, around: Surroundings) -> str:
    """Why a rubric cannot be used on this machine; "" if it can."""
    systems = [_ALIASES.get(name.casefold(), name.casefold()) for name in rubric.eligibility.get("os", ())]
    if systems and _ALIASES.get(around.os.casefold(), around.os.casefold()) not in systems:
        return f"needs the system {' or '.join(systems)}"
    for name in rubric.eligibility.get("env", ()):
        if name not in around.env:
            return f"needs the variable {name}"
    for name in rubric.eligibility.get("bins", ()):
        if name not in around.bins:
            return f"needs the program {name}"
    return ""


def _others(count: int) -> str:
    return "" if count == 1 else f", the first of {count} that match"
