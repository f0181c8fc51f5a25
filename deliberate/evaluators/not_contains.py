"""The output contains none of some words or phrases."""

from __future__ import annotations

from typing import ClassVar

from deliberate.errors import ConfigError
from deliberate.evaluators._base import passed
from deliberate.evaluators._phrases import occurring, phrases_of
from deliberate.runtime import Runtime
from deliberate.types import Case, Evaluation, Record

__all__ = ["NotContains"]


class NotContains(Record, frozen=True, kw_only=True):
    """100 if none of ``unwanted`` occurs, otherwise 0.

    Args:
        unwanted: A phrase, or several.
        ignore_case: Whether letter case is ignored.
        whole_words: Whether a phrase counts only between word boundaries.
    """

    name: ClassVar[str] = "not_contains"
    spends_tokens: ClassVar[bool] = False

    unwanted: str | tuple[str, ...]
    ignore_case: bool = False
    whole_words: bool = False

    def __post_init__(self) -> None:
        """Checks the phrases.

        Raises:
            ConfigError: There is none, or one is empty.
        """
        if not phrases_of(self.unwanted, where="not_contains.unwanted"):
            raise ConfigError("nothing to look for", where="not_contains.unwanted", expected="a phrase, or several")

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,  # noqa: ARG002  a free part opens no door
        previous: Evaluation | None = None,  # noqa: ARG002  as the contract has it
    ) -> Evaluation:
        """Looks for the phrases."""
        unwanted = phrases_of(self.unwanted, where="not_contains.unwanted")
        found = await occurring(unwanted, case.output, ignore_case=self.ignore_case, whole_words=self.whole_words)
        reason = f"unwanted: {', '.join(found)}" if found else f"none of {len(unwanted)} unwanted phrases occurs"
        return passed(self, not found, reason, found=found)
