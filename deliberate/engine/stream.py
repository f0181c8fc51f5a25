"""Many cases: bounded workers over an iterator, results as they finish."""

from __future__ import annotations

import math
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, ExitStack, suppress
from types import TracebackType
from typing import Literal, Self

import anyio
from anyio.streams.memory import MemoryObjectSendStream

from deliberate.runtime import task_group
from deliberate.types import Case, Evaluation, Event

__all__ = ["Stream"]

_Result = tuple[Case, Evaluation]


class Stream:
    """An ``async with`` object that gives ``(case, evaluation)`` pairs as they finish.

    Args:
        cases: Where cases come from; they are pulled one at a time, when a worker is free.
        begin: Begins the run.
        evaluate: Evaluates one case.
        end: Ends the run, told how.
        width: Cases open at once.

    ``stop`` takes no further case: those under way come to their end, and the run can go on another time.

    What happens meanwhile is in ``events``; read it in a task beside the one that takes the results, for results wait
    until they are taken.
    """

    def __init__(
        self,
        cases: Iterable[Case] | AsyncIterable[Case],
        *,
        begin: Callable[[], Awaitable[str]],
        evaluate: Callable[[Case], Awaitable[Evaluation]],
        end: Callable[[Literal["ok", "incomplete", "interrupted"]], Awaitable[None]],
        width: int,
    ) -> None:
        self._cases = _Source(cases)
        self._begin = begin
        self._evaluate = evaluate
        self._end = end
        self._width = width
        self._stack = AsyncExitStack()
        self._heard = ExitStack()
        self._finished = False
        self._working = 0
        self._listeners: list[MemoryObjectSendStream[Event]] = []
        self.run = ""

    @property
    def events(self) -> AsyncIterator[Event]:
        """Every event from now on, until the last case is done: cases, votes, absences, rounds, results."""
        send, receive = anyio.create_memory_object_stream[Event](math.inf)
        self._listeners.append(send)
        self._heard.callback(receive.close)
        return aiter(receive)

    def stop(self) -> None:
        """Takes no further case."""
        self._cases.stopped = True

    def tell(self, event: Event) -> None:
        """Passes an event on to whoever listens."""
        for listener in self._listeners:
            with suppress(anyio.BrokenResourceError):  # it no longer listens
                listener.send_nowait(event)

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            stack.enter_context(self._heard)
            stack.callback(self._close_events)
            self.run = await self._begin()
            stack.push_async_callback(self._ended)
            send, self._results = anyio.create_memory_object_stream[_Result](0)
            stack.callback(self._results.close)
            tasks = await stack.enter_async_context(task_group())
            stack.callback(tasks.cancel_scope.cancel)
            async with send:
                self._working = self._width
                for number in range(self._width):
                    tasks.start_soon(self._work, send.clone(), name=f"case worker {number}")
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stack.__aexit__(kind, error, trace)

    def __aiter__(self) -> AsyncIterator[_Result]:
        return self

    async def __anext__(self) -> _Result:
        try:
            with suppress(anyio.WouldBlock):
                return self._results.receive_nowait()  # not through the loop where one is there
            return await self._results.receive()
        except anyio.EndOfStream:
            self._finished = True
            raise StopAsyncIteration from None

    def _close_events(self) -> None:
        for listener in self._listeners:
            listener.close()

    async def _ended(self) -> None:
        with anyio.CancelScope(shield=True):
            await self._end("interrupted" if not self._finished else "incomplete" if self._cases.stopped else "ok")

    async def _work(self, results: MemoryObjectSendStream[_Result]) -> None:
        try:
            async with results:
                while True:
                    case = await self._cases.next()
                    if case is None:
                        return
                    result = case, await self._evaluate(case)
                    try:
                        results.send_nowait(result)
                    except anyio.WouldBlock:  # nobody is there to take it
                        await results.send(result)
        finally:
            self._working -= 1
            if not self._working:
                self._close_events()


class _Source:
    """Cases one at a time, from an iterable of either kind; None when there are no more, or it was ``stopped``."""

    def __init__(self, cases: Iterable[Case] | AsyncIterable[Case]) -> None:
        self._later = aiter(cases) if isinstance(cases, AsyncIterable) else None
        self._now = None if isinstance(cases, AsyncIterable) else iter(cases)
        self._turn = anyio.Lock(fast_acquire=True)
        self.stopped = False

    async def next(self) -> Case | None:
        if self._now is not None:
            return None if self.stopped else next(self._now, None)
        async with self._turn:  # of an asynchronous one, one at a time
            return None if self.stopped or self._later is None else await anext(self._later, None)
