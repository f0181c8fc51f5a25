"""What a plan will ask, found without asking: its panels."""

from __future__ import annotations

from collections.abc import Iterator

from deliberate.evaluators import Evaluator
from deliberate.evaluators.composite import Composite
from deliberate.runtime import Runtime
from deliberate.types import Panel

__all__ = ["panels_of"]


def panels_of(evaluator: Evaluator, *, runtime: Runtime) -> Iterator[Panel]:
    """Every panel in an evaluator and its parts.

    Raises:
        ConfigError: A part that asks a model names none, and the session has none.
    """
    if isinstance(evaluator, Composite):
        for member in evaluator.members:
            yield from panels_of(member.evaluator, runtime=runtime)
    elif (seated := getattr(evaluator, "seated", None)) is not None and (panel := seated(runtime)) is not None:
        yield panel
