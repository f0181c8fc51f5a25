"""All judge actors of a session, behind the ``Judges`` door."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anyio.abc import TaskGroup

from deliberate.judging._actor import JudgeActor, Latch, Letter
from deliberate.judging._ask import Doors
from deliberate.judging._limit import Limit
from deliberate.judging._purse import Purse
from deliberate.providers._base import Provider
from deliberate.runtime import Ledger, Post, Steps
from deliberate.types import Answer, Judge, Later

__all__ = ["JudgeActors"]


class JudgeActors:
    """Sends posts to the actors of their judges and waits for one latch a wave.

    Args:
        tasks: The session's task group: workers live and end with it.
        provider: The provider of a model; called when a judge is first asked.
        ledger: The session's ledger.
        steps: Single flight over it.
        secret: What nonces are made of.
        purse: The session's budget.
        most_in_flight: The most calls in flight at one provider and key; None lets the limit find out.
    """

    def __init__(
        self,
        *,
        tasks: TaskGroup,
        provider: Callable[[str], Provider],
        ledger: Ledger,
        steps: Steps,
        secret: bytes,
        purse: Purse,
        most_in_flight: int | None = None,
    ) -> None:
        self._tasks = tasks
        self._provider = provider
        self._ledger = ledger
        self._steps = steps
        self._secret = secret
        self._purse = purse
        self._most_in_flight = most_in_flight
        self._actors: dict[Judge, JudgeActor] = {}
        self._limits: dict[str, Limit] = {}

    async def ask(self, posts: Sequence[Post]) -> tuple[Answer | Later, ...]:
        """An answer or a ``Later`` for each post, in their order; never raises for one seat.

        If the caller is cancelled, its asks are withdrawn, and no others.
        """
        latch = Latch(len(posts))
        letters = [Letter(post, latch=latch) for post in posts]
        try:
            for letter in letters:
                self._post(letter)
            await latch.wait_open()
        finally:
            for letter in letters:
                letter.withdraw()
        return tuple(letter.answer for letter in letters)

    def close(self) -> None:
        """No more letters."""
        for actor in self._actors.values():
            actor.close()

    def _post(self, letter: Letter) -> None:
        judge = letter.post.judge
        if judge.human:
            letter.settle(Later(waits_for=judge.model))
            return
        actor = self._actors.get(judge)
        if actor is None:
            actor = self._actors[judge] = self._hired(judge)
        actor.post(letter, self._tasks)

    def _hired(self, judge: Judge) -> JudgeActor:
        provider = self._provider(judge.model)
        key = provider.limit_key(judge.model)
        limit = self._limits.get(key)
        if limit is None:
            limit = self._limits[key] = self._new_limit(provider)
        doors = Doors(provider=provider, limit=limit, purse=self._purse, ledger=self._ledger, secret=self._secret)
        return JudgeActor(judge, doors=doors, steps=self._steps)

    def _new_limit(self, provider: Provider) -> Limit:
        lanes = provider.most_in_flight
        if lanes is None and self._most_in_flight is None:
            return Limit()
        most = min(lanes or self._most_in_flight or 1, self._most_in_flight or lanes or 1)
        return Limit(start=most, most=most)
