"""The output equals a target."""

from __future__ import annotations

from typing import ClassVar

from deliberate.errors import ConfigError
from deliberate.evaluators._base import passed
from deliberate.runtime import Runtime
from deliberate.types import Case, Evaluation, Record

__all__ = ["Exact"]


class Exact(Record, frozen=True, kw_only=True):
    """100 if the output equals ``expected`` (else the case's reference), otherwise 0.

    Models often end with a newline: ``trim`` leaves out white space at both ends.
    """

    name: ClassVar[str] = "exact"
    spends_tokens: ClassVar[bool] = False

    expected: str | None = None
    trim: bool = False
    ignore_case: bool = False

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,  # noqa: ARG002  a free part opens no door
        previous: Evaluation | None = None,  # noqa: ARG002
    ) -> Evaluation:
        """Compares.

        Raises:
            ConfigError: There is neither ``expected`` nor a reference.
        """
        expected = case.reference if self.expected is None else self.expected
        if expected is None:
            raise ConfigError("nothing to compare with", where="exact.expected", expected="a text, or a reference")
        same = self._folded(case.output) == self._folded(expected)
        return passed(self, same, "equals the target" if same else "differs from the target")

    def _folded(self, text: str) -> str:
        text = text.strip() if self.trim else text
        return text.casefold() if self.ignore_case else text
