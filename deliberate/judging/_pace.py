"""How many requests and tokens a minute: never more in any window of that length, wherever it is laid."""

from __future__ import annotations

from collections import deque

import anyio

__all__ = ["Pace"]


class Pace:
    """What may be sent within a time; one at a time waits for its turn, in order.

    Args:
        requests: The most requests in any window; None = as many as there are.
        tokens: The most tokens in any window: sent, and the most that may come back, until it is known what came.
        seconds: How long a window is.

    A request that alone takes more tokens than a window has goes out in a window of its own.

    Attributes:
        unbounded: Whether there is nothing to wait for.
    """

    def __init__(self, *, requests: int | None = None, tokens: int | None = None, seconds: float = 60.0) -> None:
        self.unbounded = requests is None and tokens is None
        self._requests = requests
        self._tokens = tokens
        self._seconds = seconds
        self._turn = anyio.Lock()
        self._sent: deque[list[float]] = deque()  # [when, tokens] of what still counts

    def seconds_left(self, tokens: int) -> float:
        """How long a request of that many tokens has to wait right now, if nobody is before it."""
        now = anyio.current_time()
        while self._sent and self._sent[0][0] <= now - self._seconds:
            self._sent.popleft()
        if not self._sent:
            return 0.0
        wait = 0.0
        if self._requests is not None and len(self._sent) >= self._requests:
            wait = self._sent[len(self._sent) - self._requests][0] + self._seconds - now
        if self._tokens is not None:
            there = sum(used for _, used in self._sent)
            for when, used in self._sent:
                if there + tokens <= self._tokens:
                    break
                there -= used
                wait = max(wait, when + self._seconds - now)
        return max(0.0, wait)

    async def wait_turn(self, tokens: int) -> list[float]:
        """Waits until a request of that many tokens may go out, and counts it; what it gives goes to ``settle``."""
        async with self._turn:
            while (wait := self.seconds_left(tokens)) > 0:  # noqa: ASYNC110  the time is known
                await anyio.sleep(wait)
            entry = [anyio.current_time(), float(tokens)]
            if not self.unbounded:
                self._sent.append(entry)
            return entry

    @staticmethod
    def settle(entry: list[float], tokens: int) -> None:
        """Counts what was really used instead of what was reserved."""
        entry[1] = float(tokens)
