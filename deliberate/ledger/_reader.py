"""The reading side, on a connection that cannot write: what reports are made from."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import msgspec
from anyio import CancelScope, CapacityLimiter, to_thread

from deliberate.errors import ConfigError, UnknownName
from deliberate.ledger._errors import explained
from deliberate.ledger._records import Label, Run, Step
from deliberate.ledger._schema import connect_reader
from deliberate.types import Absent, Attempt, Key, Usage

__all__ = ["RESULTS", "Reader", "read_ledger"]

T = TypeVar("T")

RESULTS = ("Evaluation", "CaseFailed")
"""The kinds of record that are the result of a case."""

_MOST_NAMED = 20

_STEPS = """SELECT r.path, r.key, s.kind, s.body, r.absent
    FROM run_step r LEFT JOIN step s ON s.key = r.key AND r.absent IS NULL
    WHERE r.run = ?1 AND r.path > ?2 AND (?3 = '[]' OR s.kind IN (SELECT value FROM json_each(?3)))
    ORDER BY r.path LIMIT ?4"""
_ATTEMPTS = """SELECT key, n, outcome, cause, requested, effective, usage, latency_ms, reply, at
    FROM attempt WHERE key = ? ORDER BY id"""
_HELD = """SELECT count(*) FROM run_step r JOIN step s ON s.key = r.key
    WHERE r.run = ? AND r.absent IS NULL AND s.kind = ?"""
_SPENT = """SELECT count(*), sum(json_extract(usage, '$.tokens_in')), sum(json_extract(usage, '$.tokens_out')),
    sum(cost_usd), coalesce(sum(cost_usd IS NULL), 0)
    FROM attempt WHERE key IN (SELECT key FROM run_step WHERE run = ?)"""
_LABELS = "SELECT case_digest, rater, bracket, score, reason, at FROM label ORDER BY case_digest, rater, rowid"
_RUN = "SELECT run, plan_digest, config, status, started_at, ended_at FROM run"


class Reader:
    """Reads one ledger; every look-up runs on a worker thread, one at a time.

    Args:
        connection: Where from.
        path: Where it lies, for messages.
        lock: Held during a look-up.
        fresh: What stands behind the keys of a fresh ledger, whose attempts come before older ones.
    """

    def __init__(self, connection: sqlite3.Connection, *, path: str, lock: threading.Lock, fresh: str = "") -> None:
        self._connection = connection
        self._fresh = fresh
        self._path = path
        self._lock = lock
        self._limiter = CapacityLimiter(1)  # of our own: it works when all other threads are taken

    async def body(self, key: Key) -> bytes | None:
        """The body under a key, None if there is none."""
        row = await self._one("SELECT body FROM step WHERE key = ?", key)
        return None if row is None else row[0]

    async def blob(self, digest: str) -> bytes | None:
        """The blob with that digest, None if there is none."""
        row = await self._one("SELECT body FROM blob WHERE digest = ?", digest)
        return None if row is None else row[0]

    async def runs(self) -> tuple[Run, ...]:
        """All runs, the one begun last first."""
        return tuple(map(_run, await self._all(f"{_RUN} ORDER BY rowid DESC")))

    async def run(self, run: str) -> Run:
        """The run of that id, or whose id begins so.

        Raises:
            UnknownName: There is none.
            ConfigError: There are several.
        """
        wanted = run.strip().lower().translate(str.maketrans("oil", "011"))
        rows = await self._all(f"{_RUN} WHERE ?1 <> '' AND substr(run, 1, length(?1)) = ?1 ORDER BY run", wanted)
        found = {each.run: each for each in map(_run, rows)}
        if wanted in found:
            return found[wanted]
        if len(found) > 1:
            raise ConfigError(f"several runs begin with {run!r}", expected=f"one of: {', '.join(found)}")
        if not found:
            last = (await self.runs())[:_MOST_NAMED]
            raise UnknownName("run", run, [each.run for each in last], hint="`deliberate show` lists them")
        return next(iter(found.values()))

    async def steps(
        self, run: str, *, kinds: Sequence[str] = (), after: str = "", most: int = 1000
    ) -> tuple[Step, ...]:
        """The steps of a run in the order of their paths, ``most`` at a time.

        Args:
            run: Its full id.
            kinds: Only records of these kinds; () = all, absences too.
            after: Only paths behind this one: the last path of the page before.
            most: The most steps to give.
        """
        rows = await self._all(_STEPS, run, after, msgspec.json.encode(kinds).decode(), most)
        return tuple(map(_step, rows))

    async def results(self, run: str, *, after: str = "", most: int = 1000) -> tuple[Step, ...]:
        """The steps of a run that hold the result of a case, ``most`` at a time (as ``steps``)."""
        return await self.steps(run, kinds=RESULTS, after=after, most=most)

    async def labels(self) -> tuple[Label, ...]:
        """What people say of cases, by case and person."""
        return tuple(Label(**dict(zip(Label.__struct_fields__, row, strict=True))) for row in await self._all(_LABELS))

    async def attempts(self, key: Key) -> tuple[Attempt, ...]:
        """Every attempt under a key, in the order they ended; in a fresh ledger those of its own, if there are any."""
        own = await self._all(_ATTEMPTS, key + self._fresh)
        return tuple(map(_attempt, own or await self._all(_ATTEMPTS, key)))

    async def held(self, run: str, *, kind: str) -> int:
        """How many steps of a run hold a record of that kind."""
        row = await self._one(_HELD, run, kind)
        return int(row[0]) if row else 0

    async def spent(self, run: str) -> Usage:
        """What all attempts at the steps of a run took, those whose vote was lost too."""
        row = await self._one(_SPENT, run)
        calls, tokens_in, tokens_out, cost, unknown = row or (0, 0, 0, 0.0, 0)
        return Usage(
            calls=calls,
            tokens_in=tokens_in or 0,
            tokens_out=tokens_out or 0,
            cost_usd=None if unknown else cost or 0.0,
        )

    async def aclose(self) -> None:
        """Closes the connection, once the look-up under way has ended."""
        with CancelScope(shield=True):
            await to_thread.run_sync(self._connection.close, limiter=self._limiter)

    async def _one(self, query: str, *values: object) -> tuple[Any, ...] | None:
        return await self._in_thread(lambda: self._connection.execute(query, values).fetchone())

    async def _all(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return await self._in_thread(lambda: self._connection.execute(query, values).fetchall())

    async def _in_thread(self, look: Callable[[], T]) -> T:
        return await to_thread.run_sync(self._guarded, look, limiter=self._limiter)

    def _guarded(self, look: Callable[[], T]) -> T:
        with self._lock, explained(self._path):
            return look()


@asynccontextmanager
async def read_ledger(path: str | os.PathLike[str], *, busy_seconds: float = 10.0) -> AsyncGenerator[Reader]:
    """The ledger at that path, to read; it is neither made nor changed nor locked.

    Raises:
        LedgerError: There is none, or it cannot be read.
    """
    place = os.fspath(path)

    def connect() -> sqlite3.Connection:
        with explained(place):
            return connect_reader(place, busy_seconds=busy_seconds)

    reader = Reader(await to_thread.run_sync(connect), path=place, lock=threading.Lock())
    try:
        yield reader
    finally:
        await reader.aclose()


def _run(row: tuple[Any, ...]) -> Run:
    run, plan_digest, config, status, started_at, ended_at = row
    return Run(
        run=run,
        plan_digest=plan_digest,
        config=msgspec.json.decode(config),
        status=status,
        started_at=started_at,
        ended_at=ended_at,
    )


def _step(row: tuple[Any, ...]) -> Step:
    path, key, kind, body, absent = row
    if absent is not None:
        return Step(path=path, key=key, absent=msgspec.json.decode(absent, type=Absent))
    return Step(path=path, key=key, kind=kind or "", body=body)


def _attempt(row: tuple[Any, ...]) -> Attempt:
    key, number, outcome, cause, requested, effective, usage, latency_ms, reply, at = row
    return Attempt(
        key=key,
        number=number,
        outcome=outcome,
        cause=cause,
        requested=msgspec.json.decode(requested, type=dict[str, str]),
        effective=msgspec.json.decode(effective, type=dict[str, str]),
        usage=msgspec.json.decode(usage, type=Usage),
        latency_seconds=latency_ms / 1000,
        reply=reply,
        at=at,
    )
