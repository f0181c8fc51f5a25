"""What may still be spent: reserved before a call, settled after it."""

from __future__ import annotations

import anyio

__all__ = ["Purse"]


class Purse:
    """A budget in US dollars; None is none.

    A call is let through only if what was spent, what is reserved and its own worst cost stay within the budget. A
    call whose price is unknown cannot be promised: with a budget it is refused.
    """

    def __init__(self, most_usd: float | None = None) -> None:
        self._most = most_usd
        self._reserved = 0.0
        self._settled: anyio.Event | None = None
        self.spent = 0.0

    def reserve(self, worst_usd: float | None) -> float | None:
        """The reservation to hand back to ``settle``; None if the call may not be made."""
        if self._most is None:
            return 0.0
        if worst_usd is None or self.spent + self._reserved + worst_usd > self._most + 1e-12:
            return None
        self._reserved += worst_usd
        return worst_usd

    def could_fit(self, worst_usd: float | None) -> bool:
        """Whether it would be let through if the calls under way turned out to cost nothing."""
        return self._most is None or (worst_usd is not None and self.spent + worst_usd <= self._most + 1e-12)

    async def wait_settled(self) -> None:
        """Waits until a call under way has ended, and with it the reservation for the worst it could have cost."""
        if self._settled is None:
            self._settled = anyio.Event()
        await self._settled.wait()

    def settle(self, reserved: float, spent_usd: float | None) -> None:
        """Gives a reservation back for what was really spent; an unknown cost counts as all that was reserved."""
        if self._most is not None:
            self._reserved -= reserved
            self.spent += reserved if spent_usd is None else spent_usd
            if self._settled is not None:
                self._settled.set()
                self._settled = None
