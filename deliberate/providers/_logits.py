"""What a local judge needs of a model: the next token's probabilities after a text it has read.

This is the seam between thinking (``local.py``: questions, probabilities, replies) and a model in memory
(``_llama.py``). What a real model said can be recorded and played back behind it; that is how all above it is tested
without weights.
"""

from __future__ import annotations

import threading
from typing import Literal
from typing import Protocol as Contract

from deliberate.types import Record

__all__ = ["Head", "Layout", "Logits", "Next", "Written"]

Layout = Literal["reference", "draft", "plain"]
"""What the model sees beside the output: the case's reference, its own draft of an answer, or neither."""


class Head(Record, frozen=True, kw_only=True):
    """What is read first and then shared by all that is asked: a system message, and how the user's message begins."""

    system: str
    text: str


class Next(Record, frozen=True, kw_only=True):
    """The next token: ``top`` are the likeliest, best first, with their natural-log probabilities.

    ``tokens`` is the length of what was asked, without the head; ``exact`` says that nothing but the head was in the
    model's memory before it.
    """

    top: tuple[tuple[str, float], ...]
    tokens: int
    exact: bool


class Written(Record, frozen=True, kw_only=True):
    """What a model wrote; ``whole`` if it stopped by itself."""

    text: str
    whole: bool
    tokens_in: int
    tokens_out: int


class Logits(Contract):
    """A model in memory. Its calls block, and belong into a worker thread; whoever calls holds the ``lane``.

    ``weights`` is the sha256 of its file, ``runtime`` what runs it, ``threads`` how many it uses.
    """

    lane: threading.Lock
    weights: str
    runtime: str
    threads: int

    def read(self, head: Head) -> int | None:
        """One step of reading a head: its length in tokens once it is in memory, None while there is more to read.

        A head that is in memory already costs nothing.

        Raises:
            RefusedError: It is longer than the model can take.
        """
        ...

    def next(self, head: Head, said: tuple[str, ...], *, begun: str) -> Next:
        """The next token after a head that was read, the rest of the talk, and the reply's beginning.

        Args:
            head: What was read.
            said: The rest of the user's message, then the model's reply, the user's next message, and so on.
            begun: How the reply begins.

        Raises:
            RefusedError: Together they are longer than the model can take.
        """
        ...

    def write(
        self, head: Head, said: tuple[str, ...], *, most_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> Written:
        """The likeliest reply, token by token; with a temperature one that is drawn, the same for the same seed.

        Raises:
            RefusedError: Together they are longer than the model can take.
        """
        ...
