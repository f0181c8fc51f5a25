"""A panel votes."""

from __future__ import annotations

from typing import ClassVar

from deliberate.evaluators._panel import by_panel
from deliberate.runtime import Runtime
from deliberate.types import Case, Evaluation, Panel, Record

__all__ = ["Deliberation"]


class Deliberation(Record, frozen=True, kw_only=True):
    """A panel as an evaluator: its bracket gives the score.

    Args:
        panel: Who judges, by which rules; in a plan, the name of a panel or its file.
    """

    name: ClassVar[str] = "deliberation"
    spends_tokens: ClassVar[bool] = True

    panel: Panel

    def seated(self, runtime: Runtime) -> Panel:  # noqa: ARG002  its panel is its own
        """The panel."""
        return self.panel

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,
        previous: Evaluation | None = None,  # noqa: ARG002  a panel judges anew; what was asked before is read back
    ) -> Evaluation:
        """The panel's verdict as an evaluation."""
        return await by_panel(self, self.panel, case=case, runtime=runtime)
