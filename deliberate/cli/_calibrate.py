"""``rubric report`` and ``rubric reweigh``: what the ledger and people's labels say of a rubric."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from deliberate.cli._table import print_json, print_lines, print_rows
from deliberate.errors import ConfigError
from deliberate.ledger import default_path, read_ledger
from deliberate.library import Library, read_source, reweighed, write_effects
from deliberate.studies.calibration import Fitted, RubricReport, effect_of, fit_weights, labeled, report_of
from deliberate.studies.history import Judged, history
from deliberate.types import bracket_named, finite, midpoint

__all__ = ["judged_in", "report", "reweigh"]


class _Label(msgspec.Struct):
    """What of a row of labels is read here."""

    item: str
    score: float | None = None
    vote: str = ""


_MOST_BYTES = 16 * 1024 * 1024


async def judged_in(ledger: Path | None, *, since: str = "") -> tuple[Judged, ...]:
    """All judgments by dimensions in a ledger.

    Raises:
        ConfigError: There is no ledger.
    """
    path = Path(ledger or default_path(os.environ))
    if not path.exists():
        raise ConfigError("there is no ledger yet", where=str(path), hint="deliberate ask makes one")
    async with read_ledger(path) as reader:
        return await history(reader, since=since)


async def report(*, name: str | None, labels: Path | None, ledger: Path | None, as_json: bool) -> int:
    """How rubrics scored; with labels, how well, which the selection remembers."""
    judged = await judged_in(ledger)
    library = Library(workspace=Path.cwd())
    if name is not None:
        name = library.rubric(name).name
        judged = tuple(one for one in judged if one.rubric == name)
    found = report_of(judged)
    if labels is not None:
        wanted = _wanted(labels)
        effects = {
            digest: effect
            for digest in sorted({one.rubric_digest for one in judged})
            if (effect := effect_of(labeled([one for one in judged if one.rubric_digest == digest], wanted))).cases
        }
        write_effects(library.home, effects)
    if as_json:
        print_json({"rubrics": found})
    else:
        for one in found:
            _print(one)
        if not found:
            print_lines("no judgments by rubrics in this ledger")
    return 0


async def reweigh(*, name: str, labels: Path, apply: bool, ledger: Path | None, as_json: bool) -> int:
    """Shows fitted weights; with ``--apply``, writes them as a new version if they are others."""
    library = Library(workspace=Path.cwd())
    rubric = library.rubric(name)
    judged = [one for one in await judged_in(ledger) if one.rubric == rubric.name]
    fitted = fit_weights(rubric, labeled(judged, _wanted(labels)))
    if as_json:
        print_json({"rubric": rubric.name, "fitted": fitted, "applied": apply and fitted.changes})
    else:
        _print_weights(fitted)
    if not fitted.changes:
        if not as_json:
            print_lines("nothing to change: these labels ask for the weights there are")
    elif apply:
        path = library.rubric_path(name)
        own = library.home / "evaluators" / "user"
        bundled = rubric.source == "bundled"
        into = own if bundled or path.name != "SKILL.md" else path.parent.parent
        written = reweighed(read_source(path, links=bundled), fitted.after, into)
        if not as_json:
            print_lines(f"wrote {into / written.name} ({written.digest[:12]}); scores already given stay as they are")
    elif not as_json:
        print_lines("nothing was changed; --apply writes them as a new version")
    return 0


def _wanted(path: Path) -> Mapping[str, float]:
    """What people said, 0–100, by item: rows with ``item``, and ``score`` or ``vote``."""
    if not path.is_file():
        raise ConfigError("there is no such file", where=str(path), expected="labels, JSONL")
    if path.stat().st_size > _MOST_BYTES:
        raise ConfigError("is larger than 16 MB", where=str(path), expected="labels, JSONL")
    found: dict[str, float] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if line.strip():
            item, score = _label(line, where=f"{path}:{number}:1")
            found[item] = score
    return found


def _label(line: bytes, *, where: str) -> tuple[str, float]:
    expected = '{"item": "q1", "score": 0-100} or {"item": "q1", "vote": "good"}'
    try:
        row = msgspec.json.decode(line, type=_Label)
        if row.score is not None:
            return row.item, finite(row.score, low=0.0, high=100.0)
        return row.item, midpoint(bracket_named(row.vote))
    except (msgspec.DecodeError, ValueError) as error:
        raise ConfigError(f"is no label: {error}", where=where, expected=expected) from None


def _print(one: RubricReport) -> None:
    stable = "no case twice" if one.stability is None else f"±{one.stability:.1f} on {one.repeated} repeated cases"
    agree = "one judge" if one.agreement is None else f"{one.agreement:.2f} of pairs of votes in one bracket"
    print_lines(f"{one.rubric}  {one.overall.count} judgments, {stable}, {agree}", f"drift: {_DRIFT[one.drift]}")
    rows: list[Sequence[str]] = [("", "n", "mean", "sd", "range", "P F G E")]
    for name, each in {"all": one.overall, **one.months, **one.dimensions}.items():
        counts = " ".join(map(str, each.brackets))
        spread = f"{each.least:.0f}-{each.most:.0f}"
        rows.append((name, str(each.count), f"{each.mean:.1f}", f"{each.deviation:.1f}", spread, counts))
    print_rows(rows)


_DRIFT = {
    "more_lenient": "later scores lie above earlier ones",
    "stricter": "later scores lie below earlier ones",
    "none": "none that chance would not give",
    "unknown": "too few judgments to tell",
}


def _print_weights(fitted: Fitted) -> None:
    rows = [(name, f"{fitted.before[name]:g}", f"{weight:g}") for name, weight in fitted.after.items()]
    print_rows([("dimension", "now", "fitted"), *rows])
    errors = f"{fitted.error_before:.1f} to {fitted.error_after:.1f} points"
    print_lines(f"error on {fitted.labels} labels: {errors}")
