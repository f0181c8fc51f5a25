"""One ask to its end: attempts, retries, one repair, a total deadline.

The only retry layer there is. Per ask: at most 5 attempts, Retry-After honored, one repair ask for a reply that
cannot be read, one attempt with a larger cap for a reply that was cut. Whatever happens, an ``Answer`` comes out, and
every attempt is in the ledger with what it cost.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Mapping
from typing import Literal, NamedTuple

import anyio
import msgspec

from deliberate.errors import ProviderError, QuotaError, ReplyError, TransientProviderError
from deliberate.judging._fence import SLOT, filled, nonce_of
from deliberate.judging._limit import Limit
from deliberate.judging._pace import Pace
from deliberate.judging._prompt import digest_of_prompt, repair_of, request_of
from deliberate.judging._purse import Purse
from deliberate.judging._read import read
from deliberate.providers._base import Message, Provider, Request, Response
from deliberate.runtime import Ledger, Post
from deliberate.types import Absent, AbsentReason, Answer, Attempt, Reply, Usage

__all__ = ["MOST_ATTEMPTS", "Doors", "Standing", "Withdrawn", "absent_answer", "ask"]

MOST_ATTEMPTS = 5
_FIRST_WAIT_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 8.0
_LARGER_CAP = 2
_CHARACTERS_A_TOKEN = 4


class Doors(NamedTuple):
    """What an ask needs besides its post: where it is asked, and what holds it back."""

    provider: Provider
    limit: Limit
    purse: Purse
    ledger: Ledger
    secret: bytes


class Withdrawn(Exception):
    """Whoever asked is gone, and the ask ended without a reply."""


class Standing:
    """Where an ask is right now, told to whoever watches; and its caller's hand on it.

    ``until`` is when a wait ends, on the event loop's clock, and ``why`` what it waits for. ``scope`` is where the ask
    runs: it ends at its deadline, or when it is withdrawn.
    """

    def __init__(self) -> None:
        self.state: Literal["queued", "asked", "waiting"] = "queued"
        self.until = 0.0
        self.why = ""
        self.scope: anyio.CancelScope | None = None
        self.withdrawn = False

    def withdraw(self) -> None:
        """The caller is gone: the ask ends wherever it is."""
        self.withdrawn = True
        if self.scope is not None:
            self.scope.cancel()


async def ask(post: Post, doors: Doors, *, standing: Standing | None = None) -> Answer:
    """The judge's answer to a post, or its absence with the real cause; never raises for what a provider does.

    Raises:
        Withdrawn: Nobody waits for it any more.
    """
    standing = standing or Standing()
    if standing.withdrawn:
        raise Withdrawn
    asking = _Asking(post, doors, standing)
    started = time.perf_counter()
    reply: Reply | None = None
    with anyio.move_on_after(post.session_seconds) as scope:
        standing.scope = scope
        reply = await asking.run(scope)
    standing.scope = None
    if reply is None:
        if standing.withdrawn:
            raise Withdrawn
        reply = Absent(reason="deadline", detail=f"no reply within {post.deadline_seconds:g} s")
    return Answer(
        key=post.key,
        reply=reply,
        model=asking.effective.get("model", ""),
        requested=asking.requested,
        effective=asking.effective,
        prompt_sha256=asking.prompt_sha256,
        usage=asking.usage,
        latency_seconds=round(time.perf_counter() - started, 6),
        attempts=asking.number,
    )


class _Asking:
    """The state of one ask: what was tried, what it took."""

    def __init__(self, post: Post, doors: Doors, standing: Standing) -> None:
        self._post = post
        self._standing = standing
        self._doors = doors
        self._request = request_of(post)
        self._ends = 0.0
        self._enlarged = False
        self._unread: str | None = None
        self._lost_usd: float | None = None  # what a call that was cut off may have cost
        left = post.session_seconds
        self._session_ends = math.inf if left is None else anyio.current_time() + left
        self.number = 0
        self.usage = Usage()
        self.effective: Mapping[str, str] = {}
        self.prompt_sha256 = digest_of_prompt(self._request)
        self.requested: Mapping[str, str] = {
            "model": self._request.model,
            "temperature": "" if self._request.temperature is None else f"{self._request.temperature:g}",
            "max_tokens": str(self._request.max_tokens),
            "schema": "json" if self._request.schema else "text",
        }

    async def run(self, scope: anyio.CancelScope) -> Reply:
        """The reply, or its absence; ``scope`` gets its deadline when the ask first has a place."""
        while True:
            try:
                reply = await self._in_place(scope)
            except TransientProviderError as error:
                wait = self._wait(error)
                if wait is None:
                    return Absent(reason="transport", detail=str(error))
                await self._pause(wait, "rate limit" if error.status == 429 else "retry")  # noqa: PLR2004  too many
            except ProviderError as error:
                if isinstance(error, QuotaError):
                    self._doors.limit.used_up = str(error)
                return Absent(reason="transport", detail=str(error))
            else:
                if reply is not None:
                    return reply

    async def _in_place(self, scope: anyio.CancelScope) -> Reply | None:
        """What came of one place at the provider; None to try once more."""
        limit = self._doors.limit
        self._standing.state = "queued"
        async with limit:
            if limit.used_up:
                return Absent(reason="transport", detail=limit.used_up)
            closed = limit.seconds_closed(anyio.current_time()) if limit.was_closed else 0.0
            if not closed:
                worst = await self._doors.provider.worst_cost_usd(self._request)
                reserved = self._doors.purse.reserve(worst)
                if reserved is not None:
                    self._lost_usd = 0.0 if worst == 0.0 else None
                    return await self._in_turn(scope, reserved)
                if not self._doors.purse.could_fit(worst):
                    return Absent(reason="budget", detail="the call could have passed the budget")
        # Waited for outside: whoever waits holds no place.
        if not closed:
            await self._budget(scope)
            return None
        ends = self._ends or anyio.current_time() + self._post.deadline_seconds
        if anyio.current_time() + closed >= min(ends, scope.deadline):
            return Absent(reason="transport", detail=f"its provider asked to wait for {closed:.0f} s more")
        await self._pause(closed, "rate limit")
        return None

    async def _in_turn(self, scope: anyio.CancelScope, reserved: float) -> Reply | None:
        before = self.usage.cost_usd
        pace = self._doors.limit.pace
        turn: list[float] | None = None
        try:
            if not pace.unbounded:
                turn = await self._turn(scope, pace)
            self._standing.state = "asked"
            now = anyio.current_time()
            if not self.number:
                scope.deadline = self._ends = min(self._session_ends, now + self._post.deadline_seconds)
            response = await self._attempt(now)
        finally:
            after = self.usage.cost_usd
            self._doors.purse.settle(reserved, None if after is None else after - (before or 0.0))
        if turn is not None:
            pace.settle(turn, response.usage.tokens_in + response.usage.tokens_out)
        return self._understood(response)

    async def _budget(self, scope: anyio.CancelScope) -> None:
        """Waits for what is set aside for calls under way; the ask's own time does not run meanwhile."""
        before, ends = anyio.current_time(), scope.deadline
        self._standing.why, self._standing.until, self._standing.state = "the budget", before, "waiting"
        scope.deadline = self._session_ends
        await self._doors.purse.wait_settled()
        if self.number:
            waited = anyio.current_time() - before
            self._ends += waited
            scope.deadline = min(ends + waited, self._session_ends)

    async def _turn(self, scope: anyio.CancelScope, pace: Pace) -> list[float]:
        """Waits for its turn within the pace; the ask's own time does not run meanwhile."""
        tokens = sum(len(one.content) for one in self._request.messages) // _CHARACTERS_A_TOKEN
        tokens += self._request.max_tokens
        before, ends = anyio.current_time(), scope.deadline
        self._standing.why, self._standing.until = "pace", before + pace.seconds_left(tokens)
        self._standing.state = "waiting"
        scope.deadline = self._session_ends
        turn = await pace.wait_turn(tokens)
        if self.number:
            waited = anyio.current_time() - before
            self._ends += waited
            scope.deadline = min(ends + waited, self._session_ends)
        return turn

    async def _pause(self, seconds: float, why: str) -> None:
        self._standing.until, self._standing.why = anyio.current_time() + seconds, why
        self._standing.state = "waiting"
        await anyio.sleep(seconds)

    async def _attempt(self, now: float) -> Response:
        self.number += 1
        request = self._sent(now)
        started = time.perf_counter()
        try:
            response = await self._doors.provider.complete(request)
        except ProviderError as error:
            self.usage += Usage(calls=1)
            if isinstance(error, TransientProviderError) and error.status == 429:  # noqa: PLR2004  too many requests
                self._doors.limit.was_told_to_wait(anyio.current_time(), retry_after=error.retry_after)
            self._note("failed", cause=str(error), seconds=time.perf_counter() - started, usage=Usage(calls=1))
            raise
        except BaseException:
            # Cancelled or past its deadline: the call may have been paid, so the attempt must be on record.
            self.usage += Usage(calls=1, cost_usd=self._lost_usd)
            self._note(
                "cut off",
                cause="cancelled or past its deadline",
                seconds=time.perf_counter() - started,
                usage=Usage(calls=1, cost_usd=self._lost_usd),
            )
            raise
        seconds = time.perf_counter() - started
        if self.number == 1:
            self._doors.limit.went_well(now + seconds)
        self.usage += response.usage
        self.effective = {**response.effective, "model": response.model, "finish": response.finish}
        self._note(
            response.finish,
            seconds=seconds,
            usage=response.usage,
            reply=response.text,
        )
        return response

    def _sent(self, now: float) -> Request:
        nonce = nonce_of(self._doors.secret, self._post.key, self.number)
        messages = tuple(
            [Message(role=message.role, content=filled(message.content, nonce)) for message in self._request.messages]
        )
        return msgspec.structs.replace(
            self._request,
            messages=messages,
            preface=filled(self._request.preface, nonce),
            deadline_seconds=max(0.001, self._ends - now),
        )

    def _understood(self, response: Response) -> Reply | None:
        """The reply, or None to try once more."""
        if response.finish == "refused":
            return Absent(reason="refused", detail=response.detail or response.text[:200])
        if response.finish == "length":
            return self._again_larger()
        try:
            return read(response.text, self._post, before=self._unread or "")
        except ReplyError as error:
            if self._unread is not None:
                return Absent(reason="unreadable", detail=str(error))
            self._unread = response.text
            nonce = nonce_of(self._doors.secret, self._post.key, self.number)
            said = response.text[:4000].replace(nonce, SLOT)
            self._request = msgspec.structs.replace(
                self._request,
                messages=repair_of(self._request, reply=said, why=str(error)),
                key=f"{self._post.key}#repair",
            )
            return None

    def _again_larger(self) -> Absent | None:
        if self._enlarged:
            return Absent(reason="truncated", detail=f"cut at {self._request.max_tokens} tokens")
        self._enlarged = True
        self._request = msgspec.structs.replace(self._request, max_tokens=self._request.max_tokens * _LARGER_CAP)
        return None

    def _wait(self, error: TransientProviderError) -> float | None:
        """Seconds to wait before the next attempt; None if there is none to be had."""
        if self.number >= MOST_ATTEMPTS:
            return None
        wait = error.retry_after
        if wait is None:
            spread = int(hashlib.sha256(f"{self._post.key}#{self.number}".encode()).hexdigest()[:4], 16) / 0xFFFF
            wait = min(_LONGEST_WAIT_SECONDS, _FIRST_WAIT_SECONDS * 2 ** (self.number - 1)) * (0.5 + spread / 2)
        return wait if anyio.current_time() + wait < self._ends else None

    def _note(
        self,
        outcome: Literal["failed", "cut off", "stop", "length", "refused", "other"],
        *,
        seconds: float,
        usage: Usage,
        cause: str = "",
        reply: str = "",
    ) -> None:
        self._doors.ledger.attempted(
            Attempt(
                key=self._post.key,
                number=self.number,
                outcome=outcome,
                cause=cause,
                requested=self.requested,
                effective=self.effective,
                usage=usage,
                latency_seconds=round(seconds, 6),
                reply=reply if reply.isascii() else reply.encode("utf-8", "replace").decode("utf-8"),
            )
        )


def absent_answer(post: Post, reason: AbsentReason, detail: str) -> Answer:
    """An answer that says only why there is none."""
    return Answer(key=post.key, reply=Absent(reason=reason, detail=detail))
