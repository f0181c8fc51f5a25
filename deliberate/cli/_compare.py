"""``compare``: judges held against people, from a file of votes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

import msgspec

from deliberate.cli._exits import say
from deliberate.cli._table import print_json
from deliberate.errors import ConfigError
from deliberate.studies._arrays import Choice
from deliberate.studies._page import page
from deliberate.studies._study import Study, Weights
from deliberate.studies._tables import as_csv, markdown, text
from deliberate.studies.compare import compare_votes
from deliberate.studies.votes import Columns, read_votes

__all__ = ["compare"]

_FORMS: Mapping[str, Callable[[Study], str]] = {
    ".csv": as_csv,
    ".html": page,
    ".json": lambda study: msgspec.json.format(msgspec.json.encode(study), indent=1).decode() + "\n",
    ".md": markdown,
}


async def compare(
    *,
    votes: Path,
    scale: str | None,
    human: list[str] | None,
    humans: str,
    weights: str | None,
    rule: str,
    cut: float | None,
    draws: int,
    seed: int,
    out: list[Path] | None,
    as_json: bool,
    **columns: str,
) -> int:
    """Reads votes, compares, prints and writes."""
    for path in out or []:
        if path.suffix not in _FORMS:
            raise ConfigError(f"unknown ending {path.suffix!r}", where=f"-o {path}", expected=", ".join(_FORMS))
    table = read_votes(votes, columns=Columns(human=humans, **columns), scale=scale, humans=tuple(human or ()))
    study = compare_votes(
        table,
        weights=cast("Weights | None", _one_of(weights, "--weights", ("none", "linear", "quadratic"))),
        rule=cast("Choice", _one_of(rule, "--rule", ("plurality", "median", "mean"))),
        cut=cut,
        draws=draws,
        seed=seed,
    )
    for path in out or []:
        _write(path, _FORMS[path.suffix](study))
    if as_json:
        print_json(study)
    else:
        sys.stdout.write(text(study))
    return 0


def _one_of(value: str | None, flag: str, known: tuple[str, ...]) -> str | None:
    if value is not None and value not in known:
        raise ConfigError(f"{value!r}", where=flag, expected=f"one of: {', '.join(known)}")
    return value


def _write(path: Path, made: str) -> None:
    """The old file or the new one, never half of one."""
    spare = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        spare.write_text(made, encoding="utf-8")
        spare.replace(path)
    except OSError as error:
        spare.unlink(missing_ok=True)
        raise ConfigError(f"cannot be written: {error.strerror}", where=f"-o {path}") from None
    say(f"wrote {path}")
