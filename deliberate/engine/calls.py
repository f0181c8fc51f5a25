"""What a script awaits: one evaluation in a session of its own."""

from __future__ import annotations

from typing import Unpack

from deliberate.engine._options import SessionOptions
from deliberate.engine.session import Session
from deliberate.evaluators import Evaluator
from deliberate.types import Case, Evaluation, Judge, Panel, Plan

__all__ = ["evaluate", "judge"]


async def evaluate(
    case: Case,
    plan: Evaluator | Panel | Plan | None = None,
    *,
    previous: Evaluation | None = None,
    **session: Unpack[SessionOptions],
) -> Evaluation:
    """The evaluation of one case, in a session of its own.

    Args:
        case: What is judged.
        plan: An evaluator, a panel or a plan; None means tests, static analysis, and the judge the environment names
            (else the local panel) by the rubric that fits the case.
        previous: What was said of an earlier iteration, on the same ledger: what no change can have moved stands.
        **session: Arguments of ``Session``.

    Raises:
        ConfigError: The plan cannot be run as it is; nothing was spent.
        LedgerError: It cannot be written down.
    """
    async with Session(**session) as opened:
        return await opened.evaluate(case, plan, previous=previous)


async def judge(
    output: str,
    *models: str | Judge,
    task: str = "",
    reference: str | None = None,
    rubric: str | None = "general",
    criteria: str = "",
    **session: Unpack[SessionOptions],
) -> Evaluation:
    """One output before a panel of the models named; one model is a panel of one.

    Args:
        output: What is judged.
        *models: Models such as ``"openai/gpt-x"``; none means the judge the environment names.
        task: What was asked for.
        reference: What was expected.
        rubric: How to judge; ignored where ``criteria`` are given.
        criteria: Free text instead of a rubric.
        **session: Arguments of ``Session``.

    Raises:
        ConfigError: Nothing is named and there is no default, or a key is missing; nothing was spent.
        LedgerError: It cannot be written down.
    """
    async with Session(**session) as opened:
        panel = Panel.of(*models, rubric=rubric, criteria=criteria) if models else opened.default_panel()
        return await opened.evaluate(Case(output=output, task=task, reference=reference), panel)
