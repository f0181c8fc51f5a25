"""What a plan will ask, found without asking: its panels."""

from __future__ import annotations

from collections.abc import Iterator

from deliberate.evaluators import Evaluator
from deliberate.evaluators.composite import Composite
from deliberate.evaluators.deliberation import Deliberation
from deliberate.evaluators.llm_judge import LLMJudge
from deliberate.runtime import Runtime
from deliberate.types import Judge, Panel, Seat

__all__ = ["panels_of"]


def panels_of(evaluator: Evaluator, *, runtime: Runtime) -> Iterator[Panel]:
    """Every panel in an evaluator and its parts.

    Raises:
        ConfigError: A part that asks a model names none, and the session has none.
    """
    if isinstance(evaluator, Composite):
        for member in evaluator.members:
            yield from panels_of(member.evaluator, runtime=runtime)
    elif isinstance(evaluator, Deliberation):
        yield evaluator.panel
    elif isinstance(evaluator, LLMJudge):
        judge = Judge(model=runtime.model_for(evaluator.model, where=f"{evaluator.name}.model"))
        yield Panel(seats=(Seat(name="judge", judge=judge),), rubric=None, criteria=evaluator.criteria)
