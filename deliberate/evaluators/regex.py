"""The output matches a pattern, or does not."""

from __future__ import annotations

from typing import ClassVar

from deliberate.evaluators._base import passed
from deliberate.evaluators._pattern import check_time, compiled, search
from deliberate.runtime import Runtime
from deliberate.types import Case, Evaluation, Record

__all__ = ["Regex"]


class Regex(Record, frozen=True, kw_only=True):
    """100 if the pattern occurs in the output (or, with ``absent``, if it does not), otherwise 0.

    A search that takes longer than ``timeout_seconds`` is a failed reading, never a score; the event loop runs on.
    """

    name: ClassVar[str] = "regex"
    spends_tokens: ClassVar[bool] = False

    pattern: str
    absent: bool = False
    ignore_case: bool = False
    multiline: bool = False
    timeout_seconds: float = 1.0

    def __post_init__(self) -> None:
        """Checks the pattern.

        Raises:
            ConfigError: It does not compile, or has no time.
        """
        compiled(self.pattern, ignore_case=self.ignore_case, multiline=self.multiline, where="regex.pattern")
        check_time(self.timeout_seconds, part="regex")

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,  # noqa: ARG002  a free part opens no door
        previous: Evaluation | None = None,  # noqa: ARG002  as the contract has it
    ) -> Evaluation:
        """Searches, in a thread and with a time limit.

        Raises:
            EvaluatorError: The search took too long.
        """
        pattern = compiled(self.pattern, ignore_case=self.ignore_case, multiline=self.multiline)
        match = await search(pattern, case.output, timeout_seconds=self.timeout_seconds)
        reason = "the pattern does not occur" if match is None else f"the pattern occurs at character {match.start()}"
        return passed(self, (match is None) == self.absent, reason)
