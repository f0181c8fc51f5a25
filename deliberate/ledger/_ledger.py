"""The door to the record: ``open_ledger``, and what it gives."""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import sqlite3
import threading
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Literal

import structlog
from anyio import CancelScope, to_thread
from anyio.lowlevel import current_token

from deliberate.errors import LedgerError
from deliberate.ledger._audit import check_anchor
from deliberate.ledger._chain import Anchor, anchor_path, read_anchor, write_anchor
from deliberate.ledger._errors import explained
from deliberate.ledger._lock import RunLock
from deliberate.ledger._reader import Reader
from deliberate.ledger._records import Label
from deliberate.ledger._rows import Rows
from deliberate.ledger._schema import MEMORY, connect, connect_reader, now
from deliberate.ledger._writer import Writer
from deliberate.types import Absent, Attempt, Key, Param, canonical

__all__ = ["Ledger", "default_path", "open_ledger"]

# Through the standard library, so that a program which configures nothing has nothing printed into its output.
_log: structlog.stdlib.BoundLogger = structlog.wrap_logger(
    logging.getLogger("deliberate"),
    wrapper_class=structlog.stdlib.BoundLogger,
    processors=[structlog.stdlib.filter_by_level, structlog.stdlib.render_to_log_kwargs],
)


class Ledger:
    """The open record; made by ``open_ledger``, used on one event loop.

    Attributes:
        path: Where it lies.
        reader: Its reading side, for reports; it sees what is committed.
        secret: 32 bytes of this ledger, for nonces.
        fresh: What stands behind the keys of what was asked anew; "" where nothing was.
    """

    def __init__(
        self, rows: Rows, writer: Writer, reader: Reader, *, path: str, fresh: str, go_on: bool = True
    ) -> None:
        self.path = path
        self.reader = reader
        self.secret = rows.secret
        self._rows = rows
        self._writer = writer
        self.fresh = fresh
        self._go_on = go_on
        self._runs: dict[str, RunLock | None] = {}

    @property
    def superseded(self) -> frozenset[Key]:
        """Keys under which another process put another body first: ours was dropped, ``read`` gives theirs."""
        return frozenset(map(Key, self._rows.superseded))

    async def read(self, key: Key) -> bytes | None:
        """The body under a key, committed or queued; None if there is none (fresh: if none was put here)."""
        own = self._own(key)
        body = self._rows.pending.get(own)
        if body is None and own in self._rows.known:
            body = await self.reader.body(own)
        if body is None:
            self._writer.expected.add(hash(own))
        return body

    def put(self, key: Key, kind: str, body: bytes) -> None:
        """Queues a terminal record. The first body under a key stays; a second is dropped.

        Raises:
            LedgerError: Nothing can be written any more.
        """
        own = self._own(key)
        self._writer.expected.discard(hash(own))
        if own in self._rows.pending:
            self._writer.raise_if_broken()
            return
        self._writer.add(partial(self._rows.step_with_group, own, kind, body))
        self._rows.pending[own] = body
        self._rows.known.add(own)

    def attempted(self, attempt: Attempt) -> None:
        """Queues one attempt.

        Raises:
            LedgerError: Nothing can be written any more.
        """
        own = self._own(attempt.key)
        self._writer.add(partial(self._rows.attempt, attempt, own, at=attempt.at or now()), beside=True)

    def place(self, path: str, key: Key, *, absent: Absent | None = None, run: str | None = None) -> None:
        """Queues where in a run a key was used; an absence of ours stands here, never under the key.

        Args:
            path: Where, in words of the engine; one line a path, the last word stands.
            key: What was used there.
            absent: Why there was nothing.
            run: Which run; None = the one that was begun here, if it is only one.

        Raises:
            LedgerError: No run was begun, or several; nothing can be written any more.
        """
        own = self._own(key)
        self._writer.expected.discard(hash(own))
        self._writer.add(partial(self._rows.place, self._begun(run), path, own, absent), beside=True)

    def label(self, label: Label) -> None:
        """Queues what a person says of a case, in place of what the same person said of it before.

        Raises:
            LedgerError: Nothing can be written any more.
        """
        self._writer.add(partial(self._rows.label, label))

    async def committed(self) -> None:
        """Waits until everything queued so far is on disk.

        Raises:
            LedgerError: It cannot be written.
        """
        await self._writer.wait_written()

    def put_blob(self, body: bytes) -> str:
        """Queues a blob and gives its digest: sha256, hex.

        Raises:
            LedgerError: Nothing can be written any more.
        """
        digest = hashlib.sha256(body).hexdigest()
        if digest not in self._rows.blobs:
            self._writer.add(partial(self._rows.blob, digest, body))
            self._rows.blobs[digest] = body
        return digest

    async def blob(self, digest: str) -> bytes | None:
        """The blob with that digest, committed or queued; None if there is none."""
        body = self._rows.blobs.get(digest)
        return await self.reader.blob(digest) if body is None else body

    async def begin(self, plan_digest: str, config: Mapping[str, Param], *, alone: bool = True) -> str:
        """Begins a run and gives its id: it goes on with the plan's last run if that did not end well.

        The run is locked, not the ledger: different plans share a ledger.

        Args:
            plan_digest: What is executed.
            config: What to keep of how.
            alone: Whether to lock it; a digest that nobody else can have needs no lock.

        Raises:
            LedgerError: Another process executes that plan; the message says which.
        """
        settled = canonical(config)
        lock = await to_thread.run_sync(self._lock, plan_digest) if alone and self.path != MEMORY else None
        told: list[str] = []
        try:
            # A run that began must be known here, or nobody would ever end it: cancelling waits for its one commit.
            with CancelScope(shield=True):
                self._writer.add(partial(self._rows.begin, plan_digest, settled, go_on=self._go_on, told=told))
                await self._writer.wait_written()
                if lock is not None:
                    await to_thread.run_sync(self._sign, lock, told[0])
        except BaseException:
            await _release(lock)
            raise
        self._runs[told[0]] = lock
        return told[0]

    def is_open(self, run: str) -> bool:
        """Whether it was begun here and has not ended."""
        return run in self._runs

    async def end(self, run: str, status: Literal["ok", "incomplete", "interrupted"]) -> None:
        """Sets how a run ended, on disk, and gives its lock back.

        Raises:
            LedgerError: It was not begun here, or it cannot be written.
        """
        lock = self._runs.pop(self._begun(run))
        try:
            self._writer.add(partial(self._rows.end, run, status))
            with CancelScope(shield=True):
                await self._writer.wait_written()
        finally:
            await _release(lock)

    async def aclose(self) -> None:
        """Writes what is queued and closes; runs still open are ``interrupted``. Cancellation waits for it.

        Raises:
            LedgerError: Something could not be written.
        """
        with CancelScope(shield=True):
            try:
                for run in tuple(self._runs):
                    await self.end(run, "interrupted")
            finally:
                await self._shut()
        self._writer.raise_if_broken()

    async def _shut(self) -> None:
        for lock in self._runs.values():
            await _release(lock)
        self._runs.clear()
        self._writer.stop()
        await to_thread.run_sync(self._writer.join)
        # The last connection to be closed folds the log into the ledger, and only one that writes can.
        await self.reader.aclose()
        await to_thread.run_sync(self._rows.close)

    def _own(self, key: Key) -> Key:
        return Key(key + self.fresh)

    def _begun(self, run: str | None) -> str:
        if run is None and len(self._runs) == 1:
            return next(iter(self._runs))
        if run is None or run not in self._runs:
            begun = ", ".join(self._runs) or "none"
            raise LedgerError(f"run {run or 'unnamed'} was not begun here (begun: {begun})")
        return run

    def _lock(self, plan_digest: str) -> RunLock:
        with explained(self.path):
            return RunLock(self.path, plan_digest)

    def _sign(self, lock: RunLock, run: str) -> None:
        with explained(self.path):
            lock.sign(run)


@asynccontextmanager
async def open_ledger(
    path: str | os.PathLike[str], *, fresh: bool | str = False, busy_seconds: float = 10.0
) -> AsyncGenerator[Ledger]:
    """The ledger at that path, to write and read; made if there is none.

    Args:
        path: A file, or ``":memory:"`` for one that is kept nowhere.
        fresh: Read back only what is put from here on. Such records stand under keys of their own (the key, ``@`` and
            a token), so what is in the ledger already stays, and stays what is read back otherwise. The ``fresh`` of
            an earlier ledger goes on with what was put into that one.
        busy_seconds: How long to wait for another program that holds the file locked.

    Raises:
        LedgerError: It cannot be opened or written, or it lost records its anchor knows. On leaving: something could
            not be written.
    """
    place = os.fspath(path)
    rows, reading = await to_thread.run_sync(partial(_open, place, fresh=fresh is True, busy_seconds=busy_seconds))
    own = fresh if isinstance(fresh, str) else f"@{secrets.token_hex(4)}" if fresh else ""
    lock = threading.Lock()
    writer = Writer(rows, path=place, token=current_token(), lock=lock)
    reader = Reader(reading, path=place, lock=lock if reading is rows.connection else threading.Lock(), fresh=own)
    ledger = Ledger(rows, writer, reader, path=place, fresh=own, go_on=fresh is not True)
    writer.start()
    try:
        yield ledger
    except BaseException:
        with suppress(LedgerError):  # what stopped the work is the news
            await ledger.aclose()
        raise
    await ledger.aclose()


def default_path(env: Mapping[str, str]) -> Path:
    """Where the ledger lies when nobody says: in ``DELIBERATE_HOME``, else in the user's data folder."""
    home = env.get("DELIBERATE_HOME")
    if home:
        return Path(home).expanduser() / "ledger.db"
    from platformdirs import user_data_path  # noqa: PLC0415  only the default needs it

    return user_data_path("deliberate", appauthor=False) / "ledger.db"


def _open(path: str, *, fresh: bool, busy_seconds: float) -> tuple[Rows, sqlite3.Connection]:
    """The connections that write and that read; in memory they are one."""
    with explained(path):
        if path == MEMORY:
            rows = Rows(connect(path, busy_seconds=busy_seconds))
            return rows, rows.connection
        anchor = read_anchor(path)  # before the ledger: others may append between the two
        connection = connect(path, busy_seconds=busy_seconds)
        try:
            rows = Rows(connection)
            _compare(rows, path, anchor)
            # A disk that is full or read-only refuses here, before anything is paid for.
            connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES ('opened_at', ?)", (now(),))
            write_anchor(path, rows.anchor)
            if not fresh:
                rows.learn_keys()
            return rows, connect_reader(path, busy_seconds=busy_seconds)
        except BaseException:
            connection.close()
            raise


def _compare(rows: Rows, path: str, anchor: Anchor | None) -> None:
    """Refuses a ledger that is not what its anchor knows; a missing anchor is noted for the audit."""
    if anchor is None:
        if rows.anchor.count:
            note = f"its anchor was missing at {now()}, with {rows.anchor.count} records there"
            _log.warning("ledger_anchor_missing", ledger=path, records=rows.anchor.count)
            rows.connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES ('anchor_lost', ?)", (note,))
        return
    problem = check_anchor(rows.connection, anchor, ledger=rows.ledger)
    if problem:
        raise LedgerError(
            f"ledger {path}: {problem}",
            hint=f"restore it from a backup, or delete {anchor_path(path)} to go on with what is there",
        )


async def _release(lock: RunLock | None) -> None:
    if lock is not None:
        with CancelScope(shield=True):
            await to_thread.run_sync(lock.release)
