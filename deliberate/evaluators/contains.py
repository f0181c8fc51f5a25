"""The output contains words or phrases, or does not."""

from __future__ import annotations

import re
from typing import ClassVar, Literal

from deliberate.errors import ConfigError
from deliberate.evaluators._base import passed
from deliberate.runtime import Runtime
from deliberate.types import Case, Evaluation, Record

__all__ = ["Contains"]


class Contains(Record, frozen=True, kw_only=True):
    """100 if enough of ``expected`` occur and none of ``absent`` does, otherwise 0.

    Args:
        expected: Phrases to look for; where ``absent`` is empty too, the case's reference.
        require: How many must occur: ``all``, ``any``, or at least that many.
        absent: Phrases that must not occur.
        ignore_case: Whether letter case is ignored.
        whole_words: Whether a phrase must stand between word boundaries.
    """

    name: ClassVar[str] = "contains"
    spends_tokens: ClassVar[bool] = False

    expected: tuple[str, ...] = ()
    require: int | Literal["all", "any"] = "all"
    absent: tuple[str, ...] = ()
    ignore_case: bool = False
    whole_words: bool = False

    def __post_init__(self) -> None:
        """Checks the phrases.

        Raises:
            ValueError: An empty phrase, which would always occur.
        """
        if any(not phrase for phrase in (*self.expected, *self.absent)):
            msg = "an empty phrase always occurs: leave it out"
            raise ValueError(msg)

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,  # noqa: ARG002  a free part opens no door
        previous: Evaluation | None = None,  # noqa: ARG002
    ) -> Evaluation:
        """Looks for the phrases.

        Raises:
            ConfigError: There is nothing to look for.
        """
        expected = self.expected
        if not expected and not self.absent and case.reference:
            expected = (case.reference,)
        if not expected and not self.absent:
            raise ConfigError("nothing to look for", where="contains.expected", expected="a list of phrases")
        found = [phrase for phrase in expected if self._occurs(phrase, case.output)]
        unwanted = [phrase for phrase in self.absent if self._occurs(phrase, case.output)]
        least = {"all": len(expected), "any": min(1, len(expected))}.get(str(self.require), self.require)
        ok = len(found) >= int(least) and not unwanted
        reason = f"{len(found)} of {len(expected)} phrases occur" if expected else "none of the phrases occurs"
        if unwanted:
            reason = f"unwanted: {', '.join(unwanted)}"
        return passed(self, ok, reason, found=tuple(found), unwanted=tuple(unwanted))

    def _occurs(self, phrase: str, text: str) -> bool:
        if self.ignore_case:
            phrase, text = phrase.casefold(), text.casefold()
        if self.whole_words:
            return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text) is not None
        return phrase in text
