"""The output contains words or phrases."""

from __future__ import annotations

from typing import ClassVar, Literal

from deliberate.errors import ConfigError
from deliberate.evaluators._base import passed
from deliberate.evaluators._phrases import occurring, phrases_of
from deliberate.runtime import Runtime
from deliberate.types import Case, Evaluation, Record

__all__ = ["Contains"]


class Contains(Record, frozen=True, kw_only=True):
    """100 if enough of ``expected`` occur, otherwise 0.

    Args:
        expected: A phrase, or several; none: the case's reference.
        require: How many of them must occur: ``all``, ``any``, or at least that many.
        ignore_case: Whether letter case is ignored.
        whole_words: Whether a phrase must stand between word boundaries.
    """

    name: ClassVar[str] = "contains"
    spends_tokens: ClassVar[bool] = False

    expected: str | tuple[str, ...] = ()
    require: int | Literal["all", "any"] = "all"
    ignore_case: bool = False
    whole_words: bool = False

    def __post_init__(self) -> None:
        """Checks the phrases and how many must occur.

        Raises:
            ConfigError: A phrase is empty, or more or fewer must occur than can.
        """
        phrases = phrases_of(self.expected, where="contains.expected")
        if isinstance(self.require, str):
            return
        most = len(phrases) or 1
        if isinstance(self.require, bool) or not 1 <= self.require <= most:
            raise ConfigError(
                f"{self.require!r} of {most} phrases", where="contains.require", expected=f"all, any, or 1 to {most}"
            )

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,  # noqa: ARG002  a free part opens no door
        previous: Evaluation | None = None,  # noqa: ARG002  as the contract has it
    ) -> Evaluation:
        """Looks for the phrases.

        Raises:
            ConfigError: There is nothing to look for.
        """
        expected = phrases_of(self.expected, where="contains.expected") or ((case.reference,) if case.reference else ())
        if not expected:
            raise ConfigError("nothing to look for", where="contains.expected", expected="a phrase, or a reference")
        found = await occurring(expected, case.output, ignore_case=self.ignore_case, whole_words=self.whole_words)
        least = {"all": len(expected), "any": 1}[self.require] if isinstance(self.require, str) else self.require
        reason = f"{len(found)} of {len(expected)} phrases occur, {least} must"
        lacking = tuple(phrase for phrase in expected if phrase not in found)
        return passed(self, len(found) >= least, reason, found=found, lacking=lacking)
