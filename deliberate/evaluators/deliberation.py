"""A panel votes."""

from __future__ import annotations

from typing import ClassVar

from deliberate.evaluators._panel import by_panel
from deliberate.runtime import Runtime
from deliberate.types import Carry, Case, Evaluation, Panel, Record

__all__ = ["Deliberation"]


class Deliberation(Record, frozen=True, kw_only=True):
    """A panel as an evaluator: its bracket gives the score.

    Args:
        panel: Who judges, by which rules; in a plan, the name of a panel or its file.
        files: Names of files the output lies in, for choosing a rubric.
        carry: When what it said of an earlier iteration may stand.
    """

    name: ClassVar[str] = "deliberation"
    spends_tokens: ClassVar[bool] = True

    panel: Panel
    files: tuple[str, ...] = ()
    carry: Carry = Carry()

    def seated(self, runtime: Runtime) -> Panel:  # noqa: ARG002  its panel is its own
        """The panel."""
        return self.panel

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,
        previous: Evaluation | None = None,
    ) -> Evaluation:
        """The panel's verdict as an evaluation; of an earlier one, what no change can have moved stands."""
        return await by_panel(
            self, self.panel, case=case, runtime=runtime, previous=previous, carry=self.carry, files=self.files
        )
