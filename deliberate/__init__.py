"""Deciding, defensibly, whether an output is good enough.

Judges vote, deterministic checks bear witness, and one weighted score from 0 to 100 comes out, together with the
dissent, the evidence, the cost and a record that can be replayed. Names are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deliberate.engine import Session, evaluate, judge
    from deliberate.errors import DeliberateError
    from deliberate.evaluators import combine, evaluator
    from deliberate.gates import require
    from deliberate.protocols import redecide
    from deliberate.studies.live import compare
    from deliberate.types import Bracket, Case, Evaluation, Gate, Judge, Panel, Rules, Seat, Verdict

__all__ = [
    "Bracket",
    "Case",
    "DeliberateError",
    "Evaluation",
    "Gate",
    "Judge",
    "Panel",
    "Rules",
    "Seat",
    "Session",
    "Verdict",
    "combine",
    "compare",
    "evaluate",
    "evaluator",
    "judge",
    "redecide",
    "require",
]

_HOMES = {
    "deliberate.engine": ("Session", "evaluate", "judge"),
    "deliberate.errors": ("DeliberateError",),
    "deliberate.evaluators": ("combine", "evaluator"),
    "deliberate.gates": ("require",),
    "deliberate.protocols": ("redecide",),
    "deliberate.studies.live": ("compare",),
    "deliberate.types": ("Bracket", "Case", "Evaluation", "Gate", "Judge", "Panel", "Rules", "Seat", "Verdict"),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted(__all__)
