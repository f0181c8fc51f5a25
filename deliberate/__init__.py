"""Deciding, defensibly, whether an output is good enough.

Judges vote, deterministic checks bear witness, and one weighted score from 0 to 100 comes out, together with the
dissent, the evidence, the cost and a record that can be replayed. Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deliberate._lazy import on_first_use

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

__getattr__, __dir__ = on_first_use(
    __name__,
    {
        "deliberate.engine": ("Session", "evaluate", "judge"),
        "deliberate.errors": ("DeliberateError",),
        "deliberate.evaluators": ("combine", "evaluator"),
        "deliberate.gates": ("require",),
        "deliberate.protocols": ("redecide",),
        "deliberate.studies.live": ("compare",),
        "deliberate.types": ("Bracket", "Case", "Evaluation", "Gate", "Judge", "Panel", "Rules", "Seat", "Verdict"),
    },
)
