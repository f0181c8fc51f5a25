"""The output equals a target."""

from __future__ import annotations

from typing import ClassVar

from deliberate.errors import ConfigError
from deliberate.evaluators._base import passed
from deliberate.evaluators._phrases import same
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
        previous: Evaluation | None = None,  # noqa: ARG002  as the contract has it
    ) -> Evaluation:
        """Compares.

        Raises:
            ConfigError: There is neither ``expected`` nor a reference.
        """
        expected = case.reference if self.expected is None else self.expected
        if expected is None:
            raise ConfigError("nothing to compare with", where="exact.expected", expected="a text, or a reference")
        equal = await same(case.output, expected, trim=self.trim, ignore_case=self.ignore_case)
        return passed(self, equal, "equals the target" if equal else "differs from the target")
