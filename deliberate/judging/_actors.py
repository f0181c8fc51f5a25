"""Judges at work: one actor per distinct judge and session, behind the ``Judges`` door.

An actor has an inbox, workers on it, health, and its provider's limit. It holds no protocol state, sends to no other
actor, and nothing that matters for the outcome lives only in it. One letter per seat, case and round; one latch per
round. Errors become ``Absent`` here and nowhere later.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Literal, NamedTuple

import anyio
import structlog
from anyio.abc import TaskGroup

from deliberate.errors import DeliberateError
from deliberate.judging._ask import Doors, Standing, Withdrawn, absent_answer, ask
from deliberate.judging._limit import Limit
from deliberate.judging._pace import Pace
from deliberate.judging._purse import Purse
from deliberate.providers._base import Provider
from deliberate.runtime import Ledger, Post, Steps
from deliberate.types import Absent, Answer, Judge, Later

__all__ = ["JudgeActors", "UnderWay"]

_is_lasting = attrgetter("lasting")
_MOST_FAILURES = 5
"""Failed asks in a row after which a judge is parked for the session."""


class UnderWay(NamedTuple):
    """An ask that is not answered yet: waiting for a place, asked, or waiting ``seconds`` more to be asked again."""

    case: str
    seat: str
    model: str
    state: Literal["queued", "asked", "waiting"]
    why: str
    seconds: float


class Latch:
    """Opens when it was counted down as often as it was told."""

    def __init__(self, count: int) -> None:
        self._left = count
        self._opened = anyio.Event()
        if not count:
            self._opened.set()

    def count_down(self) -> None:
        """One fewer to wait for."""
        self._left -= 1
        if self._left == 0:
            self._opened.set()

    async def wait_open(self) -> None:
        """Waits until it opens."""
        await self._opened.wait()


class Letter:
    """A post on its way through an actor, with its caller's hand on it, latch and logging context."""

    def __init__(self, post: Post, *, latch: Latch, context: Mapping[str, Any]) -> None:
        self.post = post
        self.standing = Standing()
        self.answered = False
        self.answer: Answer | Later | None = None
        self.context = context
        self._latch = latch

    def close(self) -> None:
        """It has been answered, or never will be: its caller need not wait for it."""
        self.answered = True
        self._latch.count_down()


class JudgeActor:
    """One judge of one session.

    Args:
        judge: Whose actor it is.
        doors: Its provider, the limit shared by all judges of one provider and key, the budget and the ledger.
        steps: Single flight over the ledger.
    """

    def __init__(self, judge: Judge, *, doors: Doors, steps: Steps) -> None:
        self._judge = judge
        self._doors = doors
        self._steps = steps
        self._failures = 0
        self._workers = 0
        self._letters = 0
        self._inbox: deque[Letter] = deque()
        self._idle: list[anyio.Event] = []
        self._closed = False

    @property
    def parked(self) -> bool:
        """Whether it failed too often in a row to be asked again in this session."""
        return self._failures >= _MOST_FAILURES

    def post(self, letter: Letter, tasks: TaskGroup) -> None:
        """Puts a letter into the inbox; there are as many workers as open letters, and no more than the limit."""
        self._letters += 1
        self._inbox.append(letter)
        if self._idle:
            self._idle.pop().set()
        elif self._workers < min(self._letters, self._doors.limit.most):
            self._workers += 1
            tasks.start_soon(self._work, name=f"judge {self._judge.model}")

    def close(self) -> None:
        """No more letters: workers end when the inbox is empty."""
        self._closed = True
        for bell in self._idle:
            bell.set()
        self._idle.clear()

    async def _work(self) -> None:
        context: Mapping[str, Any] = {}  # of the last letter: it stays bound until the next one's takes its place
        try:
            while self._inbox or not self._closed:
                if self._inbox:
                    letter = self._inbox.popleft()
                    _bind(letter.context, instead_of=context)
                    context = letter.context
                    await self._deliver(letter)
                    del letter  # whoever is idle holds on to no case
                else:
                    bell = anyio.Event()
                    self._idle.append(bell)
                    await bell.wait()
        finally:
            self._workers -= 1

    async def _deliver(self, letter: Letter) -> None:
        try:
            if not letter.standing.withdrawn:
                letter.answer = await self._answer(letter)
        finally:
            self._letters -= 1
            letter.close()

    async def _answer(self, letter: Letter) -> Answer | Later | None:
        """The answer, or None if it was withdrawn before there was one."""
        key, run = letter.post.key, partial(self._ask, letter)
        try:
            if not self._steps.in_flight(key):
                return await self._steps.step(key, run, record=Answer, keep=_is_lasting)
            # It waits for somebody else's ask of the same, and no longer than its own caller does.
            with anyio.CancelScope() as letter.standing.scope:
                return await self._steps.step(key, run, record=Answer, keep=_is_lasting)
        except Withdrawn:
            return None
        return None

    async def _ask(self, letter: Letter) -> Answer:
        post = letter.post
        if self.parked:
            return absent_answer(post, "transport", f"parked after {_MOST_FAILURES} failures in a row")
        try:
            answer = await ask(post, self._doors, standing=letter.standing)
        except Withdrawn:
            raise
        except DeliberateError as error:
            answer = absent_answer(post, "transport", str(error))
        except Exception as error:  # noqa: BLE001  all: one seat must never take the panel with it; the cause stays on the vote
            answer = absent_answer(post, "crashed", f"{type(error).__name__}: {error}")
        failed = isinstance(answer.reply, Absent) and answer.reply.state == "failed"
        self._failures = self._failures + 1 if failed else 0
        return answer


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
        requests_per_minute: The most requests a minute there.
        tokens_per_minute: The most tokens a minute there.
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
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
    ) -> None:
        self._tasks = tasks
        self._provider = provider
        self._ledger = ledger
        self._steps = steps
        self._secret = secret
        self._purse = purse
        self._most_in_flight = most_in_flight
        self._per_minute = (requests_per_minute, tokens_per_minute)
        self._actors: dict[Judge, JudgeActor] = {}
        self._limits: dict[str, Limit] = {}
        self._open: set[Letter] = set()

    @property
    def under_way(self) -> tuple[UnderWay, ...]:
        """What is not answered yet, by case and seat."""
        now = anyio.current_time()
        found = [
            UnderWay(
                letter.post.case.id or letter.post.case.digest[:8],
                letter.post.ask.seat,
                letter.post.judge.model,
                letter.standing.state,
                letter.standing.why,
                max(0.0, letter.standing.until - now) if letter.standing.state == "waiting" else 0.0,
            )
            for letter in self._open
            if not letter.answered
        ]
        return tuple(sorted(found))

    async def ask(self, posts: Sequence[Post]) -> tuple[Answer | Later, ...]:
        """An answer or a ``Later`` for each post, in their order; never raises for one seat.

        If the caller is cancelled, its asks are withdrawn, and no others.
        """
        latch, context = Latch(len(posts)), structlog.contextvars.get_contextvars()
        letters = [Letter(post, latch=latch, context=context) for post in posts]
        self._open.update(letters)
        try:
            for letter in letters:
                if letter.post.judge.human:
                    await self._put_off(letter)
                else:
                    self._actor(letter.post.judge).post(letter, self._tasks)
            await latch.wait_open()
        finally:
            self._open.difference_update(letters)
            for letter in letters:
                if not letter.answered:
                    letter.standing.withdraw()
        return tuple([letter.answer or _withdrawn(letter.post) for letter in letters])

    def close(self) -> None:
        """No more letters."""
        for actor in self._actors.values():
            actor.close()

    async def wind_down(self, seconds: float) -> None:
        """No call begins from here on; those in flight get that long to be answered."""
        with anyio.move_on_after(seconds):
            async with anyio.create_task_group() as tasks:
                for limit in self._limits.values():
                    tasks.start_soon(limit.wait_empty)

    async def _put_off(self, letter: Letter) -> None:
        waits = partial(_waits_for, letter.post.judge)
        letter.answer = await self._steps.step(letter.post.key, waits, record=Answer)
        letter.close()

    def _actor(self, judge: Judge) -> JudgeActor:
        actor = self._actors.get(judge)
        if actor is None:
            actor = self._actors[judge] = self._hired(judge)
        return actor

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
        pace = Pace(requests=self._per_minute[0], tokens=self._per_minute[1])
        if lanes is None and self._most_in_flight is None:
            return Limit(pace=pace)
        most = min(lanes or self._most_in_flight or 1, self._most_in_flight or lanes or 1)
        return Limit(start=most, most=most, pace=pace)


def _bind(context: Mapping[str, Any], *, instead_of: Mapping[str, Any]) -> None:
    """Gives this task a logging context in place of another."""
    if gone := instead_of.keys() - context.keys():
        structlog.contextvars.unbind_contextvars(*gone)
    structlog.contextvars.bind_contextvars(**context)


def _withdrawn(post: Post) -> Answer:
    return absent_answer(post, "crashed", "the ask was withdrawn")


async def _waits_for(person: Judge) -> Later:
    """A person's vote comes into the ledger by another way; until then it is awaited, and nothing is stored."""
    return Later(waits_for=person.model)
