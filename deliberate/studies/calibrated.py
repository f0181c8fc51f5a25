"""What a study says of each judge, as a calibration: judge × rubric × model version."""

from __future__ import annotations

from collections.abc import Callable

from deliberate.errors import ConfigError
from deliberate.library import Calibrated, judge_digest
from deliberate.studies._study import Study
from deliberate.studies.votes import VoteTable
from deliberate.types import Judge, Rubric

__all__ = ["calibrated"]


def calibrated(table: VoteTable, study: Study, *, rubric: Callable[[str], Rubric], at: str) -> tuple[Calibrated, ...]:
    """One calibration a judge, of the votes a study was made of.

    Args:
        table: The votes.
        study: From ``compare_votes``.
        rubric: A rubric by its name.
        at: When this is: UTC, ISO 8601.

    Raises:
        ConfigError: The votes of a judge do not say by which rubric and version they were cast, or were cast by
            several, or by a rubric that is another by now.
    """
    counts = study.base_rates
    found: list[Calibrated] = []
    for row in study.judges:
        origins = table.origins.get(row.name, frozenset())
        if len(origins) != 1:
            what = f"votes of {row.name} were cast by several rubrics or versions"
            if not origins:
                what = f"votes of {row.name} do not say by which rubric and version of the model they were cast"
            expected = "one of each: votes asked live (--judge), from one run (--ledger, --run), or columns of the file"
            raise ConfigError(what, where="--calibrate", expected=expected)
        (origin,) = origins
        if not origin.rubric:
            raise ConfigError(f"{row.name} judged by no rubric", where="--calibrate", expected="a rubric by name")
        now = rubric(origin.rubric)
        if origin.rubric_digest not in ("", now.digest):
            what = f"rubric {now.name!r} has changed since {row.name} judged by it"
            raise ConfigError(what, where="--calibrate", hint="ask anew: compare LABELS --judge MODEL --rubric NAME")
        found.append(
            Calibrated(
                judge=row.name,
                judge_digest=origin.judge or judge_digest(Judge(model=row.name)),
                rubric=now.name,
                rubric_digest=now.digest,
                version=origin.version,
                n=row.n,
                kappa=row.kappa.value,
                low=row.kappa.low,
                high=row.kappa.high,
                weights=study.weights,
                exact=row.exact,
                base_rates=counts,
                at=at,
            )
        )
    return tuple(found)
