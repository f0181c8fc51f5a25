"""How alike the output and a reference are, by their letters or by their words."""

from __future__ import annotations

import importlib
import importlib.util
import logging
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

import anyio.to_thread

from deliberate.errors import ConfigError, MissingExtra
from deliberate.evaluators._base import measured
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
        previous: Evaluation | None = None,  # noqa: ARG002
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
            if importlib.util.find_spec("wordllama") is None:
                raise MissingExtra("local", need="similarity by embedding")
            value = await anyio.to_thread.run_sync(_cosine, case.output, expected)
            return measured(
                self, value, scale="-1..1", reason="cosine of word embeddings; blind to negation and word order"
            )
        value = await anyio.to_thread.run_sync(_ratio, case.output, expected)
        return measured(self, value, scale="0..1", reason="share of letters in common, in order")


def _ratio(one: str, other: str) -> float:
    from rapidfuzz.fuzz import ratio  # noqa: PLC0415  only where it is asked for

    return round(ratio(one, other) / 100, 9)


def _cosine(one: str, other: str) -> float:
    return round(min(1.0, max(-1.0, float(_embedding().similarity(one, other)))), 6)


@cache
def _embedding() -> Any:  # noqa: ANN401  the package has no types
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    package: Any = importlib.import_module("wordllama")  # it has no types; loads 16 MB
    # Importing it configures the root logger, which is for the program to do.
    root.setLevel(level)
    root.handlers[:] = handlers
    # It looks for its tokenizer in a folder its wheel does not have, unless it is told where the wheel is.
    return package.WordLlama.load(cache_dir=Path(package.__file__).parent, disable_download=True)
