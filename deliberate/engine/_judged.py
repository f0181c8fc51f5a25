"""What a plan will ask and run, found without asking or running: its panels, its code."""

from __future__ import annotations

from collections.abc import Iterator

from deliberate.evaluators import Evaluator
from deliberate.evaluators.composite import Composite
from deliberate.runtime import Runtime
from deliberate.types import Panel

__all__ = ["code_of", "panels_of"]


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


def code_of(evaluator: Evaluator, *, name: str = "") -> Iterator[tuple[str, bool]]:
    """Every part that runs a program in the sandbox: its name, and whether that may use the network.

    Args:
        evaluator: An evaluator, or a plan's.
        name: What to call it; a part of a plan has its own name.
    """
    if isinstance(evaluator, Composite):
        for member in evaluator.members:
            yield from code_of(member.evaluator, name=f"{name}.{member.name}" if name else member.name)
    elif isinstance(network := getattr(evaluator, "network", None), bool):
        yield name or evaluator.name, network
