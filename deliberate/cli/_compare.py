"""``compare``: judges held against people, from a file of votes, from a ledger, or asked live."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import msgspec

from deliberate.cli._exits import say
from deliberate.cli._gather import gather
from deliberate.cli._table import print_json
from deliberate.errors import ConfigError
from deliberate.library import Library, write_calibrations
from deliberate.studies._arrays import Choice
from deliberate.studies._further import Asked, further
from deliberate.studies._page import page
from deliberate.studies._study import Study
from deliberate.studies._tables import as_csv, markdown, text
from deliberate.studies._truth import cut_in_two
from deliberate.studies._weights import Weights
from deliberate.studies.alt_test import EPSILON
from deliberate.studies.calibrated import calibrated
from deliberate.studies.compare import compare_votes
from deliberate.studies.votes import Columns, Gathered, VoteTable, table_of_rows

__all__ = ["compare", "write_whole"]

_FORMS: Mapping[str, Callable[[Study], str]] = {
    ".csv": as_csv,
    ".html": page,
    ".json": lambda study: msgspec.json.format(msgspec.json.encode(study), indent=1).decode() + "\n",
    ".md": markdown,
}
_COLUMNS = tuple(name for name in Columns.__struct_fields__ if name != "human")


async def compare(
    *,
    votes: Path | None,
    ledger: Path | None,
    run: list[str] | None,
    panels: bool,
    stand_in: str | None,
    rate: str | None,
    abstain: float | None,
    anchors: bool,
    dawid_skene: bool,
    calibrate: bool,
    scale: str | None,
    swap: bool,
    human: list[str] | None,
    humans: str,
    weights: str | None,
    rule: str,
    cut: float | None,
    draws: int,
    seed: int,
    out: list[Path] | None,
    as_json: bool,
    **flags: Any,  # noqa: ANN401  columns, and those of asking: as `_verbs` declares them
) -> int:
    """Reads votes, compares, prints and writes."""
    for path in out or []:
        if path.suffix not in _FORMS:
            raise ConfigError(f"unknown ending {path.suffix!r}", where=f"-o {path}", expected=", ".join(_FORMS))
    asked = Asked(
        panels=panels,
        stand_in=_one_of(stand_in, "--stand-in", tuple(EPSILON)) or "",
        rate=rate or "",
        abstain=abstain,
        anchors=anchors,
        dawid_skene=dawid_skene,
    )
    chosen = cast("Choice", _one_of(rule, "--rule", ("plurality", "median", "mean")))
    weighted = cast("Weights | None", _one_of(weights, "--weights", ("none", "linear", "quadratic")))
    gathered = Gathered(
        msgspec.convert({"human": humans, **{name: flags.pop(name) for name in _COLUMNS}}, Columns),
        where=str(votes or ledger),
        humans=tuple(human or ()),
    )
    if not await gather(gathered, votes, ledger=ledger, run=run or (), swap=swap, scale=scale, **flags):
        return 0
    table = cut_in_two(table_of_rows(gathered, scale=scale or ("pairwise" if swap else None)), cut)
    study = further(table, compare_votes(table, weights=weighted, rule=chosen, draws=draws, seed=seed), asked)
    if calibrate:
        _calibrate(table, study)
    for path in out or []:
        write_whole(path, _FORMS[path.suffix](study))
    if as_json:
        print_json(study)
    else:
        sys.stdout.write(text(study))
    return 0


def _calibrate(table: VoteTable, study: Study) -> None:
    """Keeps what the study says of each judge, for ``--require-calibration``."""
    library = Library(workspace=Path.cwd())
    at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    found = calibrated(table, study, rubric=library.rubric, at=at)
    path = write_calibrations(library.home, found)
    for one in found:
        kappa = "undefined" if one.kappa is None else f"{one.kappa:.2f}"
        say(f"calibrated: {one.judge} as {one.version}, rubric {one.rubric}: kappa {kappa} on {one.n} items")
    say(f"wrote {path}")


def _one_of(value: str | None, flag: str, known: tuple[str, ...]) -> str | None:
    if value is not None and value not in known:
        raise ConfigError(f"{value!r}", where=flag, expected=f"one of: {', '.join(known)}")
    return value


def write_whole(path: Path, made: str) -> None:
    """The old file or the new one, never half of one."""
    spare = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        spare.write_text(made, encoding="utf-8")
        spare.replace(path)
    except OSError as error:
        spare.unlink(missing_ok=True)
        raise ConfigError(f"cannot be written: {error.strerror}", where=f"-o {path}") from None
    say(f"wrote {path}")
