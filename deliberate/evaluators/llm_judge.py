"""One model gives a number by free criteria."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from deliberate.evaluators._panel import by_panel
from deliberate.runtime import Runtime
from deliberate.types import Ballot, Case, Evaluation, Form, Judge, Panel, Record, Scored, Seat

__all__ = ["LLMJudge"]

_TEMPLATE = """\
You are an expert code evaluator. Evaluate the output based on: {criteria}

Give a score from 0 to {scale} and brief feedback.

## Task
{task}

{reference}{evidence}## Output
{output}

{shown}Format:
SCORE: <number>
FEEDBACK: <explanation>"""


class LLMJudge(Record, frozen=True, kw_only=True):
    """A panel of one, asked in text for a number from 0 to ``scale``.

    Args:
        criteria: What to judge by.
        model: The model; None means the session's judge.
        scale: The highest number it may give; the lowest is 0.
    """

    name: ClassVar[str] = "llm_judge"
    spends_tokens: ClassVar[bool] = True

    criteria: str = "correctness and quality"
    model: str | None = None
    scale: float = 10

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,
        previous: Evaluation | None = None,  # noqa: ARG002  what was asked before is read back
    ) -> Evaluation:
        """The model's number as a score.

        Raises:
            ConfigError: Neither this evaluator nor the session names a model.
        """
        form = Form(name=self.name, template=_TEMPLATE, reply=Ballot, wire="score", scale=f"0..{self.scale:g}")
        judge = Judge(model=runtime.model_for(self.model, where=f"{self.name}.model"))
        panel = Panel(seats=(Seat(name="judge", judge=judge),), rubric=None, criteria=self.criteria, form=form.name)
        found = await by_panel(self, panel, case=case, runtime=runtime, forms=(form,))
        outcome = found.outcome
        if isinstance(outcome, Scored) and found.verdict is not None:
            raw = round(outcome.score / 100 * self.scale, 9)
            outcome = msgspec.structs.replace(outcome, raw=raw, scale=form.scale)
        reasons = [] if found.verdict is None else [v.ballot.reason for v in found.verdict.votes if v.ballot]
        return msgspec.structs.replace(found, outcome=outcome, reason=(reasons or [found.reason])[0])
