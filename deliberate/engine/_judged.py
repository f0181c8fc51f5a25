"""What a plan will ask and run, found without asking or running: its panels, its code."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import anyio.to_thread

from deliberate.evaluators import Evaluator
from deliberate.evaluators.composite import Composite
from deliberate.library import Library
from deliberate.providers._base import Provider
from deliberate.runtime import Runtime
from deliberate.types import AUTO, Panel

__all__ = ["code_of", "make_ready", "panels_of"]


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


async def make_ready(
    evaluator: Evaluator, *, runtime: Runtime, library: Library, opened: Callable[[str], Provider]
) -> None:
    """Reads the documents of an evaluator and opens its providers, before anything is paid.

    Args:
        evaluator: What will judge.
        runtime: The doors.
        library: Where rubrics are.
        opened: Opens the provider of a model.

    Raises:
        ConfigError: A judge, a document or a model is not to be had.
    """
    for panel in panels_of(evaluator, runtime=runtime):
        if panel.rubric not in (None, AUTO):
            # Read in a thread, and then at hand: the first document takes tens of milliseconds.
            await anyio.to_thread.run_sync(library.rubric, panel.rubric)
        for seat in panel.seats:
            if not seat.judge.human:
                opened(seat.judge.model).limit_key(seat.judge.model)
