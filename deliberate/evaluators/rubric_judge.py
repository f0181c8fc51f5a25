"""One model judges all dimensions of a rubric in one call."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from deliberate.evaluators._panel import alone, by_judge
from deliberate.protocols import BALLOT
from deliberate.runtime import Runtime
from deliberate.types import Case, Evaluation, Judge, Panel, Record

__all__ = ["RubricJudge"]


class RubricJudge(Record, frozen=True, kw_only=True):
    """A panel of one on a rubric: a score for each dimension, findings, and what to do next.

    Asked for a structured reply; of a judge that writes ``SCORES:``, ``FINDINGS:`` and ``SUGGESTION:`` instead, these
    are read, dimension by dimension. A panel judges a rubric as ``deliberation``.

    Args:
        rubric: The rubric's name, folder or file.
        model: The model; None means the session's judge.
    """

    name: ClassVar[str] = "rubric_judge"
    spends_tokens: ClassVar[bool] = True

    rubric: str = "general"
    model: str | None = None

    def seated(self, runtime: Runtime) -> Panel:
        """One seat for the model."""
        judge = Judge(model=runtime.model_for(self.model, where=f"{self.name}.model"))
        return alone(judge, form=_FORM, rubric=self.rubric)

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,
        previous: Evaluation | None = None,  # noqa: ARG002  what was asked before is read back
    ) -> Evaluation:
        """The rubric's evaluation: dimensions, findings, suggestion.

        Raises:
            UnknownName: There is no such rubric.
            ConfigError: Neither this evaluator nor the session names a model.
        """
        found = await by_judge(self, self.seated(runtime), _FORM, case=case, runtime=runtime)
        return msgspec.structs.replace(found, details={**found.details, "rubric": self.rubric})


_FORM = msgspec.structs.replace(BALLOT, name=RubricJudge.name, fallback="sections")
