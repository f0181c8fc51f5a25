"""``labels import``: what people say of cases that were judged, into the ledger."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import msgspec

from deliberate.cli._exits import say
from deliberate.errors import ConfigError
from deliberate.gates import verdicts_of
from deliberate.ledger import Label, Reader, default_path, open_ledger, read_ledger
from deliberate.studies.votes import rows_in
from deliberate.types import Evaluation, bracket_named, bracket_of, finite

__all__ = ["import_labels"]

_SHORTEST = 8


async def import_labels(
    *, file: Path, item: str, rater: str, vote: str, score: str, reason: str, ledger: Path | None
) -> int:
    """Puts every label of a file into the ledger, or none of them."""
    path = Path(ledger or default_path(os.environ))
    if not path.exists():
        raise ConfigError("there is no ledger yet", where=str(path), hint="deliberate ask makes one")
    async with read_ledger(path) as reader:
        judged = await _judged(reader)
    names = {"item": item, "rater": rater, "vote": vote, "score": score, "reason": reason}
    found = list(_labels(file, names, judged))
    async with open_ledger(path) as written:
        for one in found:
            written.label(one)
        await written.committed()
    cases = len({one.case_digest for one in found})
    say(f"{len(found)} labels of {cases} judged cases are in {path}")
    return 0


async def _judged(reader: Reader) -> tuple[str, ...]:
    """The digests of all cases that were judged."""
    found: dict[str, None] = {}
    for run in await reader.runs():
        after = ""
        while steps := await reader.results(run.run, after=after):
            for step in steps:
                if step.kind == "Evaluation":
                    for verdict in verdicts_of(msgspec.json.decode(step.body or b"", type=Evaluation)):
                        found[verdict.digests["case"]] = None
            after = steps[-1].path
    return tuple(found)


def _labels(file: Path, names: Mapping[str, str], judged: tuple[str, ...]) -> Iterator[Label]:
    with closing(rows_in(file)) as rows:
        for line, row in rows:
            where = f"{file}:{line}"
            said = {name: row.get(column) for name, column in names.items()}
            case, who = str(said["item"] or ""), str(said["rater"] or "")
            fits = [digest for digest in judged if len(case) >= _SHORTEST and digest.startswith(case)]
            if len(fits) != 1:
                what = f"{len(fits)} judged cases have a digest that begins with {case!r}"
                expected = f"one: its digest, or the first {_SHORTEST} signs or more of it"
                raise ConfigError(what, where=where, expected=expected, hint="deliberate show RUN --json names it")
            if not who:
                raise ConfigError(f"no {names['rater']!r}", where=where, expected="who says so", hint="--rater COLUMN")
            yield _label(fits[0], who, said, where=where)


def _label(case: str, who: str, said: Mapping[str, object], *, where: str) -> Label:
    try:
        score = None if said["score"] in (None, "") else finite(float(str(said["score"])), low=0.0, high=100.0)
        if said["vote"] not in (None, ""):
            bracket = bracket_named(str(said["vote"]))
        elif score is not None:
            bracket = bracket_of(score)
        else:
            raise ValueError("neither a vote nor a score")  # noqa: TRY301  caught just below, with where
    except ValueError as error:
        expected = "poor, fair, good or excellent, or a score from 0 to 100"
        raise ConfigError(f"is no label: {error}", where=where, expected=expected) from None
    return Label(case_digest=case, rater=who, bracket=int(bracket), score=score, reason=str(said["reason"] or ""))
