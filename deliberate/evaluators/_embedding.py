"""How near two texts lie to each other by a static word embedding, offline (extra ``local``)."""

from __future__ import annotations

import importlib
import importlib.util
import logging
from functools import cache
from pathlib import Path
from typing import Any

import anyio.to_thread

from deliberate.errors import MissingExtra

__all__ = ["BLIND", "cosine"]

BLIND = "cosine of word embeddings; blind to negation and word order"
"""What such a number is, and what it cannot see: said in every result."""


async def cosine(one: str, other: str, *, need: str) -> float:
    """The cosine of two texts, −1 to 1, worked out in a thread.

    Args:
        one: A text.
        other: Another.
        need: What it is for, in the message if the extra is missing.

    Raises:
        MissingExtra: The extra ``local`` is not installed.
    """
    if importlib.util.find_spec("wordllama") is None:
        raise MissingExtra("local", need=need)
    return await anyio.to_thread.run_sync(_cosine, one, other)


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
