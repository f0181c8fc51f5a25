"""How alike the output and a reference are, by their letters or by their words."""

from __future__ import annotations

from typing import ClassVar, Literal

import anyio.to_thread

from deliberate.errors import ConfigError
from deliberate.evaluators._base import measured
from deliberate.evaluators._embedding import BLIND, cosine
from deliberate.runtime import Runtime
from deliberate.types import Case, Evaluation, Record

__all__ = ["Similarity"]


class Similarity(Record, frozen=True, kw_only=True):
    """How alike the output is to ``expected`` (else the case's reference).

    ``ratio`` compares letters (normalized indel similarity, 0..1). ``embedding`` compares words by a static embedding
    (cosine, -1..1; extra ``local``): it catches what is off topic, and sees neither negation nor word order: "running"
    and "not running" are nearly the same to it.

    Args:
        expected: What to compare with.
        by: What to compare.
    """

    name: ClassVar[str] = "similarity"
    spends_tokens: ClassVar[bool] = False

    expected: str | None = None
    by: Literal["ratio", "embedding"] = "ratio"

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,  # noqa: ARG002  a free part opens no door
        previous: Evaluation | None = None,  # noqa: ARG002  as the contract has it
    ) -> Evaluation:
        """Compares, in a thread.

        Raises:
            ConfigError: There is nothing to compare with.
            MissingExtra: ``embedding`` without the extra ``local``.
        """
        expected = case.reference if self.expected is None else self.expected
        if expected is None:
            raise ConfigError("nothing to compare with", where="similarity.expected", expected="a text, or a reference")
        if self.by == "embedding":
            value = await cosine(case.output, expected, need="similarity by embedding")
            return measured(self, value, scale="-1..1", reason=BLIND)
        value = await anyio.to_thread.run_sync(_ratio, case.output, expected)
        return measured(self, value, scale="0..1", reason="share of letters in common, in order")


def _ratio(one: str, other: str) -> float:
    from rapidfuzz.fuzz import ratio  # noqa: PLC0415  only where it is asked for

    return round(ratio(one, other) / 100, 9)
