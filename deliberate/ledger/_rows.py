"""The appending side of one connection: what each record is in SQL.

Everything that appends runs on the writer thread, inside the transaction of its group. ``pending``, ``blobs``,
``known`` and ``superseded`` are shared with the event loop: each change is one operation on a dict or set, so they
need no lock; ``known`` has its own.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache

import msgspec

from deliberate.ledger._chain import START, Anchor, link
from deliberate.ledger._known import Known
from deliberate.ledger._records import Label
from deliberate.ledger._schema import meta, now
from deliberate.types import Absent, Attempt

__all__ = ["DIGITS", "Rows"]

DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32, for run ids: no letter that reads as a digit."""

SQLValue = str | bytes | int | float | None

_MANY = (1, 2, 4, 8, 16, 32, 64)
"""Rows a statement: few sizes, so that all of them stay prepared; what is too large is filled up with nothing."""

_encode = msgspec.json.Encoder(order="sorted").encode


class Rows:
    """Appends to one connection; ``step`` to ``end`` are what the event loop queues and a group runs.

    Attributes:
        pending: Bodies by key, queued and not committed yet.
        blobs: The same for blobs, by digest.
        known: The keys that are in the ledger or queued; a key that is not in it costs no look-up.
        superseded: Keys whose body of ours was dropped because another body was there first.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.pending: dict[str, bytes] = {}
        self.blobs: dict[str, bytes] = {}
        self.known = Known()
        self.superseded: set[str] = set()
        told = meta(connection)
        self.ledger = told["ledger"]
        self.secret = bytes.fromhex(told["secret"])
        self._seq, self._head = self._last()
        self._landing: list[tuple[dict[str, bytes], str]] = []
        self._steps: list[tuple[str, str, bytes]] = []
        self._attempts: list[SQLValue] = []
        self._places: list[SQLValue] = []

    @property
    def anchor(self) -> Anchor:
        """How far the ledger goes, as the last group left it."""
        return Anchor(ledger=self.ledger, count=self._seq, head=self._head)

    def learn_keys(self) -> None:
        """Learns all keys: a million take about 2 MB and no body is read."""
        self.known = Known(self._seq)
        self.known.update(key for (key,) in self.connection.execute("SELECT key FROM step"))

    def catch_up(self) -> None:
        """Re-reads the head inside the transaction: other processes append too."""
        seq, head = self._last()
        if seq > self._seq:
            theirs = self.connection.execute("SELECT key FROM step WHERE seq > ?", (self._seq,))
            self.known.update(key for (key,) in theirs)
        self._seq, self._head = seq, head

    def landed(self) -> None:
        """Forgets what was pending, after the commit: from now on it is read from the file."""
        for waiting, key in self._landing:
            waiting.pop(key, None)
        self._landing.clear()

    def close(self) -> None:
        """Closes the connection; on a broken disk too."""
        with suppress(sqlite3.Error):
            self.connection.close()

    def step(self, key: str, kind: str, body: bytes) -> None:
        """Appends a record, unless there is one under its key."""
        self._write_steps([(key, kind, body)])

    def step_with_group(self, key: str, kind: str, body: bytes) -> None:
        """The same, with the group."""
        self._steps.append((key, kind, body))

    def attempt(self, attempt: Attempt, key: str, *, at: str) -> None:
        """Appends an attempt that ended then under that key, with the group."""
        self._attempts += (
            key,
            attempt.number,
            at,
            _text(attempt.outcome),
            _text(attempt.cause),
            _pairs(attempt.requested),
            _pairs(attempt.effective),
            _encode(attempt.usage).decode(),
            attempt.usage.cost_usd,
            attempt.latency_seconds * 1000,
            _text(attempt.reply),
        )

    def place(self, run: str, path: str, key: str, absent: Absent | None) -> None:
        """Sets where in a run a key was used, with the group; the last word about a path stands."""
        why = None if absent is None else _encode(msgspec.structs.replace(absent, detail=_text(absent.detail))).decode()
        self._places += (run, _text(path), key, why)

    def flush(self) -> None:
        """Writes what waited for the end of its group: few statements, for each passes the interpreter's lock on."""
        self._write_steps(self._steps)
        self._steps.clear()
        self._write_many(
            "INSERT INTO attempt(key, n, at, outcome, cause, requested, effective, usage, cost_usd, latency_ms, reply)",
            self._attempts,
            columns=11,
        )
        self._write_many("INSERT OR REPLACE INTO run_step(run, path, key, absent)", self._places, columns=4)

    def _write_steps(self, steps: Sequence[tuple[str, str, bytes]]) -> None:
        there = self._bodies([key for key, _, _ in steps])
        values: list[SQLValue] = []
        for key, kind, body in steps:
            if key not in there:
                there[key] = body
                own = link(self._head, self._seq + 1, key, kind, body)
                values += (self._seq + 1, key, kind, body, self._head, own)
                self._seq, self._head = self._seq + 1, own
            elif there[key] != body:
                self.superseded.add(key)
            self._landing.append((self.pending, key))
        self._write_many("INSERT INTO step(seq, key, kind, body, prev, hash)", values, columns=6)

    def _bodies(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The bodies that are there under these keys."""
        found: dict[str, bytes] = {}
        for some, rows in _filled(keys, columns=1):
            found.update(self.connection.execute(_look_up(rows), some))
        return found

    def _write_many(self, insert: str, values: list[SQLValue], *, columns: int) -> None:
        for some, rows in _filled(values, columns=columns):
            self.connection.execute(_insert(insert, columns, rows), some)
        values.clear()

    def blob(self, digest: str, body: bytes) -> None:
        """Appends a blob, unless it is there."""
        self.connection.execute("INSERT OR IGNORE INTO blob(digest, body) VALUES (?, ?)", (digest, body))
        self._landing.append((self.blobs, digest))

    def label(self, label: Label) -> None:
        """Sets what a person says of a case; the last word of a person about a case stands."""
        of = (_text(label.case_digest), _text(label.rater))
        self.connection.execute("DELETE FROM label WHERE case_digest = ? AND rater = ?", of)
        self.connection.execute(
            "INSERT INTO label(case_digest, rater, bracket, score, reason, at) VALUES (?, ?, ?, ?, ?, ?)",
            (*of, label.bracket, label.score, _text(label.reason), label.at or now()),
        )

    def begin(self, plan_digest: str, config: bytes, *, go_on: bool, told: list[str]) -> None:
        """Begins a run, or goes on with the last one of that plan if it did not end well; its id is put on ``told``."""
        found = self.connection.execute(
            "SELECT run, status FROM run WHERE plan_digest = ? ORDER BY rowid DESC LIMIT 1", (plan_digest,)
        ).fetchone()
        if go_on and found is not None and found[1] != "ok":
            run = str(found[0])
            self.connection.execute(
                "UPDATE run SET status = 'running', config = ?, ended_at = NULL WHERE run = ?", (config.decode(), run)
            )
        else:
            run = self._new_run(plan_digest)
            self.connection.execute(
                "INSERT INTO run(run, plan_digest, config, status, started_at) VALUES (?, ?, ?, 'running', ?)",
                (run, plan_digest, config.decode(), now()),
            )
        told.append(run)

    def end(self, run: str, status: str) -> None:
        """Sets how a run ended."""
        self.connection.execute("UPDATE run SET status = ?, ended_at = ? WHERE run = ?", (status, now(), run))

    def _last(self) -> tuple[int, str]:
        row = self.connection.execute("SELECT seq, hash FROM step ORDER BY seq DESC LIMIT 1").fetchone()
        return (int(row[0]), str(row[1])) if row else (0, START)

    def _new_run(self, plan_digest: str) -> str:
        """Four to six digits made from the plan and the number of its runs, the shortest that no other run has."""
        (counter,) = self.connection.execute(
            "SELECT count(*) FROM run WHERE plan_digest = ?", (plan_digest,)
        ).fetchone()
        while True:
            number = int.from_bytes(hashlib.sha256(f"{plan_digest}/{counter}".encode()).digest()[:4])
            digits = "".join(DIGITS[number >> shift & 31] for shift in range(0, 30, 5))
            for run in (digits[:4], digits[:5], digits):
                if not self.connection.execute("SELECT 1 FROM run WHERE run = ?", (run,)).fetchone():
                    return run
            counter += 1


def _filled(values: Sequence[SQLValue], *, columns: int) -> Iterator[tuple[list[SQLValue], int]]:
    """Values for one statement after the other, filled up to a size that stays prepared, and its number of rows."""
    most = _MANY[-1] * columns
    for start in range(0, len(values), most):
        some = [*values[start : start + most]]
        rows = next(rows for rows in _MANY if rows * columns >= len(some))
        yield some + [None] * (rows * columns - len(some)), rows


@cache
def _insert(insert: str, columns: int, rows: int) -> str:
    """A statement for up to so many rows; always the same text, which the connection finds prepared."""
    one = f"({', '.join('?' * columns)})"
    return f"{insert} SELECT * FROM (VALUES {', '.join([one] * rows)}) WHERE column1 IS NOT NULL"  # noqa: S608  of question marks only


@cache
def _look_up(rows: int) -> str:
    return f"SELECT key, body FROM step WHERE key IN ({', '.join('?' * rows)})"  # noqa: S608  of question marks only


def _text(text: str) -> str:
    """The text without lone surrogates, which neither SQLite nor UTF-8 can hold: one must not stop the writer."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _pairs(pairs: Mapping[str, str]) -> str:
    try:
        return _encode(pairs).decode()
    except UnicodeEncodeError:
        return _encode({_text(name): _text(value) for name, value in pairs.items()}).decode()
