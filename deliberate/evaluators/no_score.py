"""No score is wanted: always 0."""

from __future__ import annotations

from typing import ClassVar

from deliberate.evaluators._base import measured
from deliberate.runtime import Runtime
from deliberate.types import Case, Evaluation, Record

__all__ = ["NoScore"]


class NoScore(Record, frozen=True, kw_only=True):
    """Always 0, whatever the output: for runs whose outputs are wanted, and no score.

    In a plan it belongs at weight 0: with a greater one it counts as a 0.
    """

    name: ClassVar[str] = "no_score"
    spends_tokens: ClassVar[bool] = False

    async def evaluate(
        self,
        case: Case,  # noqa: ARG002  the same for every case
        *,
        runtime: Runtime,  # noqa: ARG002  a free part opens no door
        previous: Evaluation | None = None,  # noqa: ARG002  as the contract has it
    ) -> Evaluation:
        """0, and says that nothing was measured."""
        return measured(self, 0.0, scale="0..1", reason="no score was asked for: 0 by definition, nothing was measured")
