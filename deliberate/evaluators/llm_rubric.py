"""One model scores an output against a rubric in free text; a threshold says what passes."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from deliberate.evaluators._base import measured
from deliberate.evaluators._panel import alone, by_number
from deliberate.runtime import Runtime
from deliberate.types import Ballot, Case, Evaluation, Form, Judge, Panel, Record, Scored, finite

__all__ = ["LLMRubric"]


_TEMPLATE = """\
You score an output against a rubric.

## Rubric
{criteria}

## Task
{task}

{reference}{evidence}## Output
{output}

Give a score from 0.0 (meets nothing of the rubric) to 1.0 (meets all of it), and the reasoning behind it.
Reply with one JSON object: {{"reasoning": "...", "score": 0.0-1.0}}"""


class LLMRubric(Record, frozen=True, kw_only=True):
    """A panel of one that scores 0.0–1.0 against ``rubric``; the details say whether that ``passed``.

    Where a word or a format decides, prefer ``contains``, ``regex`` or ``pytest``: they cost nothing and never waver.

    Args:
        rubric: What to score against, in free text.
        pass_threshold: The least score that passes, 0–1.
        model: The model; None means the session's judge.
        mock: Whether it passes with full marks and asks nobody, so that a suite can be tried without a model. The
            result is flagged ``mock``, and its score is no measurement.
    """

    name: ClassVar[str] = "llm_rubric"
    spends_tokens: ClassVar[bool] = True

    rubric: str
    pass_threshold: float = 0.7
    model: str | None = None
    mock: bool = False

    def __post_init__(self) -> None:
        """Checks the rubric and the threshold.

        Raises:
            ValueError: The rubric is empty, or the threshold is no number from 0 to 1.
        """
        if not self.rubric.strip():
            msg = "rubric is empty: expected what to score against"
            raise ValueError(msg)
        try:
            finite(self.pass_threshold, low=0.0, high=1.0)
        except ValueError as error:
            msg = f"pass_threshold: {error}"
            raise ValueError(msg) from None

    def seated(self, runtime: Runtime) -> Panel | None:
        """One seat for the model; a mock asks nobody."""
        return None if self.mock else self._panel(runtime)

    def _panel(self, runtime: Runtime) -> Panel:
        model = runtime.model_for(self.model, where=f"{self.name}.model")
        return alone(Judge(model=model), form=_FORM, criteria=self.rubric)

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,
        previous: Evaluation | None = None,  # noqa: ARG002  what was asked before is read back
    ) -> Evaluation:
        """The model's number as a score, and whether it passed: without a score, it did not.

        Raises:
            ConfigError: Neither this evaluator nor the session names a model.
        """
        if self.mock:
            found = measured(self, 1.0, scale="0..1", reason="mock: nobody was asked", defaulted=True)
            found = msgspec.structs.replace(found, flags=tuple(sorted({*found.flags, "mock"})))
        else:
            found = await by_number(self, self._panel(runtime), _FORM, case=case, runtime=runtime)
        ok = isinstance(found.outcome, Scored) and found.outcome.raw >= self.pass_threshold
        details = {**found.details, "passed": ok, "pass_threshold": self.pass_threshold}
        return msgspec.structs.replace(found, details=details)


_FORM = Form(name=LLMRubric.name, template=_TEMPLATE, reply=Ballot, wire="number", scale="0..1")
