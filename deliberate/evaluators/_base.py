"""What an evaluator is: case -> evaluation.

A frozen ``Record`` whose fields are its parameters, so that Python, YAML and schema say the same. Nothing is stored
on it. ``spends_tokens`` False means free: free parts of a plan run first. To add one: a file in this room whose name
is the evaluator's name and whose ``__all__`` holds just its class; nothing is registered, and no evaluator imports
another. One that asks judges is a panel and a call of ``_panel.by_panel``.

Besides, an evaluator may have ``unscaled`` (true: what it reads is on no declared scale, so that it is reported and no
aggregate takes it), ``made_of()`` (what its fingerprint is made of, where that is not just its parameters), and a
parameter ``command`` (a shell command: in a plan file, a script it begins with must be there).
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import ClassVar
from typing import Protocol as Contract

import msgspec

from deliberate.errors import ConfigError, EvaluatorError, LedgerError
from deliberate.runtime import Runtime
from deliberate.types import (
    Case,
    Evaluation,
    Param,
    Scored,
    Unscored,
    UnscoredWhy,
    digest_of,
    finite,
    parse_scale,
    to_score,
)

__all__ = ["Evaluator", "assess", "checked_scale", "fingerprint_of", "measured", "passed", "unscaled", "unscored"]


class Evaluator(Contract):
    """Anything that scores a case."""

    name: ClassVar[str]
    spends_tokens: ClassVar[bool]

    async def evaluate(self, case: Case, *, runtime: Runtime, previous: Evaluation | None = None) -> Evaluation:
        """What it says of the case; ``previous`` is what it said of an earlier one.

        Raises:
            EvaluatorError: The instrument broke; the part becomes ``Unscored(failed)``.
            ConfigError: It is set up wrongly; nothing was spent.
        """
        ...


async def assess(
    evaluator: Evaluator, case: Case, *, runtime: Runtime, previous: Evaluation | None = None
) -> Evaluation:
    """The evaluator's evaluation with its duration and fingerprint; a broken instrument is ``Unscored(failed)``.

    Raises:
        ConfigError: Set up wrongly.
        LedgerError: The record cannot be written: nothing may go on.
    """
    started = time.perf_counter()
    try:
        found = await evaluator.evaluate(case, runtime=runtime, previous=previous)
    except (ConfigError, LedgerError):
        raise
    except EvaluatorError as error:
        found = unscored(evaluator, "failed", str(error))
    except Exception as error:  # noqa: BLE001  all: an evaluator of another package may raise anything, and none of it is a number
        found = unscored(evaluator, "failed", f"{type(error).__name__}: {error}")
    return msgspec.structs.replace(
        found,
        duration_seconds=round(time.perf_counter() - started, 6),
        fingerprint=found.fingerprint or fingerprint_of(evaluator),
    )


def fingerprint_of(evaluator: Evaluator) -> str:
    """Sha-256 of the evaluator's name and parameters: scores compare only within one fingerprint."""
    frozen = isinstance(evaluator, msgspec.Struct) and evaluator.__struct_config__.frozen
    return (_fingerprint if frozen else _fingerprint.__wrapped__)(_Same(evaluator))


class _Same:
    """An evaluator by identity, for what it holds may have no hash."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.evaluator is self.evaluator

    def __hash__(self) -> int:
        return id(self.evaluator)


@lru_cache(maxsize=64)
def _fingerprint(same: _Same) -> str:
    evaluator = same.evaluator
    made_of = getattr(evaluator, "made_of", None)
    params: object = evaluator if isinstance(evaluator, msgspec.Struct) else repr(evaluator)
    return digest_of({"evaluator": evaluator.name, "params": params if made_of is None else made_of()})


def passed(evaluator: Evaluator, ok: bool, reason: str, **details: Param) -> Evaluation:  # noqa: FBT001  the subject
    """100 or 0, with its reason."""
    score = 100.0 if ok else 0.0
    outcome = Scored(score=score, raw=score)
    return Evaluation(evaluator=evaluator.name, outcome=outcome, reason=reason, details=details)


def measured(
    evaluator: Evaluator,
    raw: float,
    *,
    scale: str | None,
    reason: str = "",
    defaulted: bool = False,
    **details: Param,
) -> Evaluation:
    """A number on its declared scale; one outside of it is a failed reading, never clamped.

    A scale is written ``"0..1"``; ``"30..0"`` where less is better. A count without a bound is its counter's to cap. On
    no declared scale (None) the number is reported, and is no score.
    """
    flags = ("defaulted",) if defaulted else ()
    outcome: Scored | Unscored
    if scale is None:
        outcome = Unscored(why="unscaled", detail=f"read {raw:g}, on no declared scale", raw=raw)
    else:
        try:
            score = to_score(raw, scale=scale)
        except ValueError as error:
            return unscored(evaluator, "failed", f"outside its scale {scale}: {error}")
        outcome = Scored(score=score, raw=raw, scale=scale, origin="defaulted" if defaulted else "measured")
    return Evaluation(evaluator=evaluator.name, outcome=outcome, reason=reason, details=details, flags=flags)


def unscored(evaluator: Evaluator, why: UnscoredWhy, detail: str) -> Evaluation:
    """No score, and why."""
    return Evaluation(evaluator=evaluator.name, outcome=Unscored(why=why, detail=detail), reason=detail)


def unscaled(evaluator: Evaluator) -> bool:
    """Whether what it reads is on no declared scale, so that no aggregate may take it."""
    return bool(getattr(evaluator, "unscaled", False))


def checked_scale(scale: str | None, default_score: float | None, *, part: str) -> None:
    """Checks a declared scale, and the number that stands in where none can be read.

    Raises:
        ConfigError: The scale is none, or the number is not finite or not on it.
    """
    try:
        if scale is not None:
            parse_scale(scale)
    except ValueError as error:
        raise ConfigError(str(error), where=f"{part}.scale") from None
    if default_score is None:
        return
    try:
        finite(default_score)
        if scale is not None:
            to_score(default_score, scale=scale)
    except ValueError as error:
        raise ConfigError(
            str(error), where=f"{part}.default_score", expected=f"a number on its scale, {scale or 'a finite one'}"
        ) from None
