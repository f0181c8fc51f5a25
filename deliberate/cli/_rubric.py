"""``rubric new|lint|test|migrate|add``: rubrics written, checked and tried."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from deliberate.cli._exits import say
from deliberate.cli._read import addresses
from deliberate.cli._table import print_json, print_lines, print_rows
from deliberate.engine import Session
from deliberate.errors import ConfigError, RubricError
from deliberate.gates import EXIT
from deliberate.library import (
    BEGUN_OUTPUT,
    Example,
    Library,
    add_rubric,
    draft,
    lint,
    migrate,
    read_examples,
    write_rubric,
)
from deliberate.types import Case, Evaluation, Panel, Record

__all__ = ["add", "lint_rubrics", "migrate_rubric", "new", "try_examples"]

_EXAMPLE = """\
---
task: |
  What was asked for.
expect: {expect}
---

{output}
"""


async def new(
    *, name: str, dimensions: str, category: list[str] | None, description: str, user: bool, into: Path | None
) -> int:
    """Writes a rubric to begin with, and says what to do next."""
    library = _library()
    made = draft(name, _weights(dimensions), categories=category or (), description=description)
    place = into or (library.home / "evaluators" / "user" if user else library.workspace / ".agents" / "evaluators")
    examples = {
        "good-1.md": _EXAMPLE.format(expect="[good, excellent]", output=f"{BEGUN_OUTPUT} that is good enough."),
        "poor-1.md": _EXAMPLE.format(expect="[poor, fair]", output=f"{BEGUN_OUTPUT} that is not good enough."),
    }
    write_rubric(made, place, examples=examples)
    print_lines(
        f"wrote {place / name}/{{SKILL.md,rubric.yaml,examples/good-1.md,examples/poor-1.md}}",
        "next: put your questions into SKILL.md, real outputs into examples/, then",
        f"  deliberate rubric lint {place / name}",
        f"  deliberate rubric test {place / name} --judge MODEL",
    )
    return EXIT["ok"]


async def lint_rubrics(*, names: list[str] | None, as_json: bool) -> int:
    """All remarks on the rubrics named (none: all there are); 2 if one cannot be used."""
    library = _library()
    paths = [library.rubric_path(name) for name in names or ()]
    found = [(path, remark) for path in paths for remark in lint(path, links=_is_bundled(library, path))]
    if not names:
        problems = library.problems()
        places = {library.rubric_path(one.name) for one in library.rubrics()}
        found = [(path, each) for path in sorted(places) for each in lint(path, links=_is_bundled(library, path))]
        found += [
            (Path(error.where.split(":")[0]), remark)
            for error in problems
            if isinstance(error, RubricError)
            for remark in lint(Path(error.where.split(":")[0]))
        ]
    if as_json:
        print_json({"remarks": [{"level": one.level, "where": one.where, "what": one.what} for _, one in found]})
    else:
        print_lines(*(f"{one.where}: {one.level}: {one.what}" for _, one in found))
        errors = sum(one.level == "error" for _, one in found)
        say(f"{_count(errors, 'error')}, {_count(len(found) - errors, 'warning')}")
    return EXIT["usage"] if any(one.level == "error" for _, one in found) else EXIT["ok"]


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


async def migrate_rubric(*, path: Path, into: Path) -> int:
    """Writes a one-file rubric in the strict form."""
    source, written = migrate(path, into)
    print_lines(f"wrote {into / written.name}", f"digest {written.digest[:12]}, as before: votes and history stay")
    found = {path[1] for path in source.front.paths(2) if path[0] == "metadata"}
    lost = [key for key in ("trigger", "schema_version", "openkoi", "openclaw") if key in found]
    if lost:
        print_lines(f"left out, since nothing here reads it: {', '.join(lost)}")
    return EXIT["ok"]


async def add(*, path: Path) -> int:
    """Copies a rubric into the managed source."""
    library = _library()
    added = add_rubric(path, library.home / "evaluators" / "managed")
    print_lines(f"added {added.name} ({added.digest[:12]}) for {', '.join(added.categories) or 'no category'}")
    return EXIT["ok"]


class Tried(Record, frozen=True, kw_only=True):
    """One example, judged: the brackets voted in seat order, and whether the one decided was wanted."""

    name: str
    wanted: tuple[str, ...]
    votes: tuple[str, ...]
    got: str | None
    score: float | None
    ok: bool
    note: str = ""


async def try_examples(
    *,
    name: str,
    judge: list[str] | None,
    panel: str | None,
    replay: Path | None,
    record: Path | None,
    ledger: Path | None,
    api_base: list[str] | None,
    as_json: bool,
) -> int:
    """Judges every graded example of a rubric; 3 if one comes out as nobody wanted it."""
    library = _library()
    rubric = library.rubric(name)
    path = library.rubric_path(name)
    examples = read_examples(path.parent, links=_is_bundled(library, path)) if path.name == "SKILL.md" else ()
    if not examples:
        raise RubricError(
            "has no graded examples", where=f"{path.parent / 'examples'}", hint="write good-1.md, poor-1.md"
        )
    stated: Panel | None = None
    if panel is not None:
        stated = library.panel(panel, model=judge[0] if judge else None)
    elif judge:
        stated = Panel.of(*judge)
    session = Session(
        library=library,
        judge=stated,
        replay=replay,
        record=record,
        ledger=ledger,
        api_base=addresses(api_base),
    )
    found: list[Tried] = []
    async with session:
        by_rubric = session.panel_by(name)
        for one in examples:
            case = Case(id=one.name, task=one.task, output=one.output)
            found.append(_tried(one, await session.evaluate(case, by_rubric)))
    if as_json:
        print_json({"rubric": rubric.name, "digest": rubric.digest, "examples": found})
    else:
        rows = [(one.name, "|".join(one.wanted), " ".join(v[0] for v in one.votes), _said(one)) for one in found]
        print_rows([(name, f"wanted {wanted}", f"got {votes}", said) for name, wanted, votes, said in rows])
    return EXIT["ok"] if all(one.ok for one in found) else EXIT["gate"]


def _tried(example: Example, evaluation: Evaluation) -> Tried:
    votes = () if evaluation.verdict is None else evaluation.verdict.votes
    brackets = tuple(vote.ballot.bracket.label for vote in votes if vote.ballot is not None)
    got = evaluation.bracket
    return Tried(
        name=example.name,
        wanted=tuple(one.label.lower() for one in example.expect),
        votes=brackets,
        got=None if got is None else got.label,
        score=evaluation.score,
        ok=got in example.expect,
        note=_split(evaluation) if len(set(brackets)) > 1 else ("" if got is not None else evaluation.reason),
    )


def _split(evaluation: Evaluation) -> str:
    """The dimension on which the votes lie furthest apart."""
    verdict = evaluation.verdict
    scores: dict[str, list[float]] = {}
    for vote in () if verdict is None else verdict.votes:
        for one in () if vote.ballot is None else vote.ballot.dimensions:
            scores.setdefault(one.dimension, []).append(one.adjusted)
    apart = {name: max(each) - min(each) for name, each in scores.items() if len(each) > 1}
    widest = max(apart, key=lambda name: (apart[name], name)) if apart else ""
    return f'split: judges disagree on "{widest}"' if widest and apart[widest] else "split"


def _said(one: Tried) -> str:
    verdict = "ok" if one.ok else "NOT WANTED" if one.got else "no verdict"
    number = "" if one.score is None else f" {one.got} {one.score:.1f}"
    return f"{verdict}{number}" + (f"  {one.note}" if one.note else "")


def _weights(text: str) -> Sequence[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    for part in text.split(","):
        name, colon, number = part.partition(":")
        try:
            found.append((name.strip(), float(number)))
        except ValueError:
            colon = ""
        if not colon or not name.strip():
            what = f"{part.strip()!r} is no dimension with its weight"
            raise ConfigError(what, where="--dimensions", expected="name:weight,… as in accuracy:.5,clarity:.5")
    return found


def _is_bundled(library: Library, path: Path) -> bool:
    return any(one.source == "bundled" and library.rubric_path(one.name) == path for one in library.rubrics())


def _library() -> Library:
    return Library(workspace=Path.cwd())
