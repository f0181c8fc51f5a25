"""How many calls may be in flight at one provider and key: found out, not guessed.

Slow start doubles while the limit is used, until the first 429; after that it grows by a twentieth. A 429 cuts by a
fifth, once an episode; during an episode nothing grows. Replies that came at the second try are no evidence. Until a
time that an endpoint named, nobody sends; once its quota is used up, or while the session winds down, nobody does.
"""

from __future__ import annotations

from collections import deque
from types import TracebackType

import anyio

from deliberate.judging._pace import Pace

__all__ = ["Limit"]

_CUT = 0.8
_GROWTH = 1.05
_EPISODE_SECONDS = 15.0
_USED_SHARE = 0.8


class Limit:
    """An adaptive limit; ``async with limit`` holds one place.

    Args:
        start: Places at first.
        most: Places at the most; equal to ``start`` means fixed.
        pace: How many requests and tokens a minute.

    Attributes:
        places: Places right now.
        used_up: Why nothing will be answered there in this session (its quota is used up); "" while it may be.
    """

    def __init__(self, *, start: int = 8, most: int = 256, pace: Pace | None = None) -> None:
        self.places = min(start, most)
        self.most = most
        self.pace = Pace() if pace is None else pace
        self.used_up = ""
        self._not_before = 0.0
        self._closed = False
        self._empty = anyio.Event()
        self._taken = 0
        self._queue: deque[anyio.Event] = deque()
        self._slow_start = True
        self._quiet_until = 0.0
        self._good = 0
        self._peak = 0

    @property
    def was_closed(self) -> bool:
        """Whether the endpoint ever said when to come back."""
        return self._not_before > 0.0

    def seconds_closed(self, now: float) -> float:
        """How long nobody may send, because the endpoint said so."""
        return max(0.0, self._not_before - now)

    async def wait_empty(self) -> None:
        """Takes nobody in any more, and waits until all who have a place are answered."""
        self._closed = True
        if self._taken:
            await self._empty.wait()

    async def __aenter__(self) -> None:
        if self._taken < self.places:  # nobody waits while there is a place
            self._taken += 1
        else:
            await self._wait_turn()
        if self._closed:
            self._leave()
            await anyio.sleep_forever()  # until whoever asks is cancelled
        self._peak = max(self._peak, self._taken)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    async def _wait_turn(self) -> None:
        turn = anyio.Event()
        self._queue.append(turn)
        try:
            await turn.wait()
        except BaseException:
            if turn.is_set():  # a place came just before the cancellation
                self._leave()
            else:
                self._queue.remove(turn)
            raise

    def _leave(self) -> None:
        self._taken -= 1
        if self._queue:
            self._admit()  # at once: a place is empty only when nobody waits
        if self._closed and not self._taken:
            self._empty.set()

    def _admit(self) -> None:
        while self._queue and self._taken < self.places:
            self._taken += 1
            self._queue.popleft().set()

    def went_well(self, now: float) -> None:
        """A first attempt was answered: after a round of these, with the places really used, there are more."""
        self._good += 1
        if self._good < self.places or now < self._quiet_until:
            return
        if self._peak >= self.places * _USED_SHARE and self.places < self.most:
            grown = self.places * 2 if self._slow_start else max(self.places + 1, int(self.places * _GROWTH))
            self.places = min(self.most, grown)
            self._admit()
        self._good = self._peak = 0

    def was_told_to_wait(self, now: float, *, retry_after: float | None) -> None:
        """A 429 came: fewer places, once an episode of 15 s or as long as it asked for; until then nobody sends."""
        self._not_before = max(self._not_before, now + (retry_after or 0.0))
        if now < self._quiet_until:
            return
        self._quiet_until = now + max(_EPISODE_SECONDS, retry_after or 0.0)
        self._slow_start = False
        self._good = self._peak = 0
        self.places = max(1, int(self.places * _CUT))
