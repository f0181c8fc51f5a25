"""What is allowed in a suite, and weakens what it says."""

from __future__ import annotations

from collections.abc import Iterator

from deliberate.types import Suite, Task

__all__ = ["lint"]

_FEW, _MANY = 5, 10


def lint(suite: Suite) -> tuple[str, ...]:
    """Warnings, in the order of the tasks."""
    found = [warning for task in suite.tasks for warning in _task(task)]
    count = len(suite.tasks)
    if count < _FEW:
        found.append(f"{count} tasks: with fewer than {_FEW} one flip moves the pass rate by {1 / count:.2f}")
    if count > _MANY:
        found.append(f"{count} tasks: every run asks each of them twice; 5 to {_MANY} are usual")
    if all(task.judge.type == "contains" for task in suite.tasks):
        found.append("every task is judged by contains: naming a word is enough to pass")
    return tuple(found)


def _task(task: Task) -> Iterator[str]:
    expected = task.judge.params.get("expected") if task.judge.type == "contains" else None
    for phrase in expected if isinstance(expected, tuple) else ():
        if str(phrase).casefold() in task.prompt.casefold():
            yield f"task {task.id!r}: its prompt says {phrase!r} itself, which the output is expected to contain"
    if not task.description:
        yield f"task {task.id!r} has no description"
