"""What came back, judged: passed or not, with a score from 0 to 1."""

from __future__ import annotations

import msgspec

from deliberate.evaluators import Evaluator, assess, evaluator_of
from deliberate.runtime import Runtime
from deliberate.suites.records import Attempted
from deliberate.types import Case, Evaluation, Panel, Scored, Spec, Task

__all__ = ["attempted", "judge_of", "judged"]


def judge_of(task: Task, *, mock: bool, where: str = "") -> Evaluator | None:
    """The evaluator of a task; None where a mock run gives a fixed passing score instead.

    In a mock run only judges that open no door really judge.

    Raises:
        UnknownName: There is no evaluator of that name.
        ConfigError: A parameter does not fit.
    """
    if mock and task.judge.type != "contains":
        return None
    return evaluator_of(task.judge, panel=_no_panel, where=where)


async def judged(task: Task, output: str, evaluator: Evaluator | None, *, folder: str, runtime: Runtime) -> Attempted:
    """The output of one attempt at a task, judged.

    Raises:
        ConfigError: The evaluator is set up wrongly.
        LedgerError: The record cannot be written.
    """
    if evaluator is None:
        return Attempted(passed=True, score=1.0, output=output)
    case = Case(output=output, task=task.prompt, id=task.id, workspace=folder)
    return attempted(task.judge, output, await assess(evaluator, case, runtime=runtime))


def attempted(judge: Spec, output: str, found: Evaluation) -> Attempted:
    """What an evaluation says of an attempt. Nothing measured is neither passed nor failed."""
    if not isinstance(found.outcome, Scored):
        return Attempted(
            passed=None, score=None, error=f"judge: {found.reason}", output=output, usage=found.usage, evaluation=found
        )
    said = found.details.get("passed", found.details.get("all_passed"))
    score = found.outcome.score / 100.0
    return Attempted(
        passed=said if isinstance(said, bool) else score == 1.0,
        score=_share(judge, found) if judge.type == "contains" else score,
        output=output,
        usage=found.usage,
        evaluation=found,
    )


def _share(judge: Spec, found: Evaluation) -> float:
    """How much of what ``contains`` needs was there, 0–1: half of the phrases are half of the score."""
    occurred = found.details.get("found")
    expected, require = judge.params.get("expected"), judge.params.get("require", "all")
    if not isinstance(occurred, tuple) or not isinstance(expected, tuple):
        return 0.0
    needed = require if isinstance(require, int) else 1 if require == "any" else len(expected)
    return min(1.0, len(occurred) / needed)


def _no_panel(name: str) -> Panel:
    msg = f"no judge of a suite takes a panel: {name}"
    raise msgspec.ValidationError(msg)
