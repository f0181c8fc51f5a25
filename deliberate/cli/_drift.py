"""``judge drift``: whether judges have changed, from anchors scored again over time."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from deliberate.cli._compare import write_whole
from deliberate.cli._exits import say
from deliberate.cli._table import print_json, print_lines
from deliberate.errors import ConfigError
from deliberate.ledger import Reader, default_path, read_ledger
from deliberate.library import Calibrated, Library, read_calibrations
from deliberate.studies._drifting import Drifting, drift_page, drift_text
from deliberate.studies.drift import Scored, drift
from deliberate.studies.rescored import Judging, rescored
from deliberate.studies.votes import rows_in
from deliberate.types import Bracket, bracket_named, bracket_of

__all__ = ["drift_of_judges"]

_FORMS = (".html", ".json")


async def drift_of_judges(
    *,
    labels: Path | None,
    name: str | None,
    promised: float | None,
    tolerance: float,
    false_alarms: float,
    ledger: Path | None,
    out: list[Path] | None,
    as_json: bool,
) -> int:
    """Bets on every judge by every rubric that it is worse than promised; prints and writes what came of it."""
    wrong = next((path for path in out or [] if path.suffix not in _FORMS), None)
    if wrong is not None:
        raise ConfigError(f"unknown ending {wrong.suffix!r}", where=f"-o {wrong}", expected=", ".join(_FORMS))
    place = Path(ledger or default_path(os.environ))
    if not place.exists():
        raise ConfigError("there is no ledger yet", where=str(place), hint="deliberate ask makes one")
    scored = await _scored(place, labels)
    known = read_calibrations(Library(workspace=Path.cwd()).home)
    reports: list[Drifting] = []
    for of, votes in scored.items():
        share = _promise(of, known) if promised is None else promised
        if share is None:
            say(f"{of.judge}, rubric {of.rubric}: nothing was promised (--promised, or compare --calibrate)")
        elif name in (None, of.judge):
            report = drift(votes, promised=share, tolerance=tolerance, false_alarms=false_alarms)
            reports.append(Drifting(judge=of.judge, rubric=of.rubric, drift=report, scored=votes))
    if not reports:
        what = "no judge has a promise to be held to" if scored else "no vote of a judge on any anchor"
        raise ConfigError(what, where=str(place), hint="ask about the anchors with --fresh, and give --promised")
    _say(reports, out or (), as_json=as_json)
    return 0


def _say(reports: Sequence[Drifting], out: Sequence[Path], *, as_json: bool) -> None:
    for path in out:
        write_whole(path, drift_page(reports) if path.suffix == ".html" else _json(reports))
    if as_json:
        print_json({"judges": reports})
        return
    for one in reports:
        print_lines(*drift_text(one))
        sys.stdout.write("\n")


async def _scored(place: Path, labels: Path | None) -> Mapping[Judging, tuple[Scored, ...]]:
    """Votes on anchors: on those of a file, else on those the ledger has labels of."""
    async with read_ledger(place) as reader:
        wanted = _said(labels) if labels is not None else await _known(reader)
        if not wanted:
            expected = "LABELS, a file of what people said, or labels in the ledger"
            raise ConfigError(
                "no anchors", where="judge drift", expected=expected, hint="deliberate labels import FILE"
            )
        return await rescored(reader, wanted)


def _json(reports: Sequence[Drifting]) -> str:
    return msgspec.json.format(msgspec.json.encode({"judges": reports}), indent=1).decode() + "\n"


def _promise(of: Judging, known: Sequence[Calibrated]) -> float | None:
    """The share right at the last calibration of this judge by this rubric, whatever version it was."""
    held = [one for one in known if (one.judge_digest, one.rubric_digest) == (of.judge_digest, of.rubric_digest)]
    return max(held, key=lambda one: one.at).exact if held else None


def _said(path: Path) -> dict[str, int]:
    """What people say, by case: rows with ``item``, and ``vote`` or ``score``."""
    found: dict[str, int] = {}
    for line, row in rows_in(path):
        try:
            vote = row.get("vote")
            bracket = bracket_named(str(vote)) if vote not in (None, "") else bracket_of(float(str(row.get("score"))))
        except ValueError as error:
            expected = '{"item": "a case\'s digest", "vote": "good"}'
            raise ConfigError(f"is no label: {error}", where=f"{path}:{line}", expected=expected) from None
        found[str(row.get("item") or "")] = int(bracket)
    return found


async def _known(reader: Reader) -> dict[str, int]:
    """What people say in the ledger: the lower median of their brackets."""
    brackets: dict[str, list[Bracket]] = {}
    for one in await reader.labels():
        brackets.setdefault(one.case_digest, []).append(Bracket(one.bracket))
    return {case: int(sorted(found)[(len(found) - 1) // 2]) for case, found in brackets.items()}
