"""What a plan will ask, found without asking: its panels."""

from __future__ import annotations

from collections.abc import Iterator

from deliberate.evaluators import Evaluator
from deliberate.evaluators.composite import Composite
from deliberate.evaluators.deliberation import Deliberation
from deliberate.evaluators.llm_judge import LLMJudge
from deliberate.types import Judge, Panel, Seat

__all__ = ["panels_of"]


def panels_of(evaluator: Evaluator, *, judge: str) -> Iterator[Panel]:
    """Every panel in an evaluator and its parts; ``judge`` is the session's model."""
    if isinstance(evaluator, Composite):
        for member in evaluator.members:
            yield from panels_of(member.evaluator, judge=judge)
    elif isinstance(evaluator, Deliberation):
        yield evaluator.panel
    elif isinstance(evaluator, LLMJudge):
        model = evaluator.model or judge
        yield Panel(seats=(Seat(name="judge", judge=Judge(model=model)),), rubric=None, criteria=evaluator.criteria)
