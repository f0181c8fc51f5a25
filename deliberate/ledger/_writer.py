"""The one thread that writes: it commits in groups and tells those who wait.

The event loop never takes a lock: it appends to a deque and rings. A group is written when it has ``GROUP`` records
(steps: what stands beside them does not count, so that no more calls than that are lost at once), when the oldest of
them is ``WINDOW_SECONDS`` old, or at once when somebody waits and nothing more is expected (``expected``: steps that
were looked up, not found, and so are on their way), after a pause where many waited for the group before. Invariants:
``_done`` counts what is committed only; the first error ends the thread, and from then on everything is refused with
that error.
"""

from __future__ import annotations

import math
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio
from anyio.lowlevel import EventLoopToken, checkpoint

from deliberate.errors import LedgerError
from deliberate.ledger._chain import write_anchor
from deliberate.ledger._errors import explain
from deliberate.ledger._rows import Rows
from deliberate.ledger._schema import MEMORY, undo

__all__ = ["GROUP", "WINDOW_SECONDS", "Writer", "pause_seconds"]

GROUP = 64
WINDOW_SECONDS = 0.1
PAUSE_SECONDS = 0.001
MOST_PAUSE_SECONDS = 0.025
ANCHOR_SECONDS = 1.0


def pause_seconds(waited: int) -> float:
    """How long after a group for which so many waited the next one may be written because somebody waits.

    Under load more of them share a commit that way; who is alone waits for the disk only.
    """
    return min(MOST_PAUSE_SECONDS, PAUSE_SECONDS * max(0, waited - 1))


class Writer:
    """Runs what is queued, in groups, on a thread of its own.

    The event loop calls what is public (``join`` blocks: from a worker thread); ``_run`` and what it calls is the
    thread's.

    Args:
        rows: What the records are in SQL; used by the thread alone once it runs.
        path: Where the ledger lies.
        token: The event loop on which ``wait_written`` is awaited.
        lock: Held during a group: with a ledger in memory, readers share its connection.
    """

    def __init__(self, rows: Rows, *, path: str, token: EventLoopToken, lock: threading.Lock) -> None:
        self.expected: set[int] = set()
        self._rows = rows
        self._path = path
        native: Any = token.native_token
        self._soon: Callable[[Callable[[], None]], object] = getattr(native, "call_soon_threadsafe", None) or (
            native.run_sync_soon
        )
        self._lock = lock
        self._inbox: deque[Callable[[], None]] = deque()
        self._waiters: list[tuple[int, anyio.Event]] = []
        self._added = 0
        self._done = 0
        self._records = 0
        self._taken = 0
        self._last_added = 0.0
        self._closing = False
        self._error: LedgerError | None = None
        self._anchor_due: float | None = None
        self._anchored = time.monotonic()
        self._soonest = 0.0  # when a group may be written because somebody waits
        self._bell = threading.Lock()  # held = silent; whoever rings releases it
        self._bell.acquire()
        self._rung = False
        self._wakes = 0.0  # when the thread looks again by itself; 0 while it is awake, or about to sleep
        # Not joined by the interpreter: a loop that died without closing must not keep the process alive.
        self._thread = threading.Thread(target=self._run, name=f"ledger {path}", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def add(self, append: Callable[[], None], *, beside: bool = False) -> None:
        """Queues what appends one record, or something ``beside`` the records.

        Raises:
            LedgerError: Nothing can be written any more.
        """
        if self._error is not None or self._closing:
            self.raise_if_broken()
            raise LedgerError(f"ledger {self._path} is closed")
        self._inbox.append(append)
        self._added += 1
        self._records += not beside
        self._last_added = time.monotonic()
        if self._records - self._taken >= GROUP:
            self._ring()
        elif self._waiters and not self.expected:
            self._ring(by=self._soonest)
        elif len(self._inbox) == 1:
            self._ring(by=self._last_added + WINDOW_SECONDS)

    async def wait_written(self) -> None:
        """Waits until everything queued so far is on disk.

        Raises:
            LedgerError: It cannot be written.
        """
        waiter = (self._added, anyio.Event())
        self._waiters.append(waiter)
        try:
            if self._done < waiter[0] and self._error is None:
                if not self.expected:
                    self._ring(by=self._soonest)
                await waiter[1].wait()
            else:
                await checkpoint()
        finally:
            self._waiters.remove(waiter)
        self.raise_if_broken()

    def raise_if_broken(self) -> None:
        """Refuses with the first error, if there was one.

        Raises:
            LedgerError: Nothing can be written any more.
        """
        if self._error is not None:
            again = LedgerError(str(self._error))  # a new one: an exception raised twice keeps two stories
            again.hint = self._error.hint
            raise again from self._error

    def stop(self) -> None:
        """Asks the thread to write what is queued and to end."""
        self._closing = True
        self._ring()

    def join(self) -> None:
        """Waits for the thread; blocks."""
        self._thread.join()

    def _ring(self, *, by: float = 0.0) -> None:
        """Has the thread look, at once or by that time; each look costs two changes of thread."""
        if not self._rung and not 0.0 < self._wakes <= by:  # else it has yet to look, or looks in time
            self._rung = True
            self._bell.release()

    def _tell(self) -> None:
        for count, event in self._waiters:
            if count <= self._done or self._error is not None:
                event.set()

    def _run(self) -> None:
        try:
            while self._wait_due():
                self._write_group()
            self._write_group()
            self._write_anchor()
        except Exception as error:  # noqa: BLE001  whatever it is, those who wait must hear of it
            with suppress(sqlite3.Error):
                undo(self._rows.connection)
            self._error = explain(error, self._path)
            self._inform()

    def _wait_due(self) -> bool:
        """Sleeps until a group is due; False when it is time to end."""
        oldest: float | None = None
        while not self._closing:
            self._wakes = 0.0  # before it looks: whoever adds from now on rings
            now = time.monotonic()
            wake: float | None = None
            if self._inbox:
                oldest = oldest or now
                wake = oldest + WINDOW_SECONDS
                if now >= wake:
                    self._forget_expected(now)
                    return True
                if self._records - self._taken >= GROUP:
                    return True
                if self._waiters and not self.expected:
                    if now >= self._soonest:
                        return True
                    wake = min(wake, self._soonest)
            elif self._anchor_due is not None:
                wake = self._anchor_due
                if now >= wake:
                    self._write_anchor()
                    continue
            self._wakes = math.inf if wake is None else wake
            if self._bell.acquire(timeout=-1 if wake is None else max(0.0, wake - now)):
                self._rung = False  # before it looks: who rings from now on is heard again
        return False

    def _forget_expected(self, now: float) -> None:
        """Gives up steps that were expected and did not come (cancelled, failed) while somebody waited for nothing."""
        if self._waiters and now - self._last_added > WINDOW_SECONDS / 2:
            self.expected.clear()

    def _write_group(self) -> None:
        self._taken = self._records
        group = [self._inbox.popleft() for _ in range(len(self._inbox))]
        if not group:
            return
        with self._lock:
            self._rows.connection.execute("BEGIN IMMEDIATE")
            self._rows.catch_up()
            for append in group:
                append()
            self._rows.flush()
            self._rows.connection.execute("COMMIT")
        self._rows.landed()
        self._done += len(group)
        now = time.monotonic()
        self._soonest = now + pause_seconds(len(self._waiters))
        self._inform()
        if self._anchor_due is None:
            self._anchor_due = self._anchored + ANCHOR_SECONDS
        if now >= self._anchor_due:
            self._write_anchor()

    def _write_anchor(self) -> None:
        if self._path != MEMORY and self._anchor_due is not None:
            write_anchor(self._path, self._rows.anchor)
        self._anchored = time.monotonic()
        self._anchor_due = None

    def _inform(self) -> None:
        if not self._waiters:
            return
        try:
            self._soon(self._tell)  # the thread goes on: it waits for nobody
        except RuntimeError:
            self._closing = True  # the loop is gone, and with it everybody who could wait or add
