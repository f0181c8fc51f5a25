"""The tables, and how a connection to them is opened.

A change of the tables is a new ``VERSION`` and the statements that lead there from the one before in ``MIGRATIONS``.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from deliberate.errors import LedgerError

__all__ = ["MEMORY", "MIGRATIONS", "VERSION", "connect", "connect_reader", "meta", "now", "prepare", "undo"]

MEMORY = ":memory:"
"""The path of a ledger that is kept nowhere."""

VERSION = 1

MIGRATIONS: Mapping[int, tuple[str, ...]] = {}
"""From each older version the statements that lead to the next."""

_TABLES = (
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE run(run TEXT PRIMARY KEY, plan_digest TEXT NOT NULL, config TEXT NOT NULL, status TEXT NOT NULL,
    started_at TEXT NOT NULL, ended_at TEXT)""",
    """CREATE TABLE step(seq INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, body BLOB NOT NULL,
    prev TEXT NOT NULL, hash TEXT NOT NULL)""",
    """CREATE TABLE run_step(run TEXT NOT NULL, path TEXT NOT NULL, key TEXT NOT NULL, absent TEXT,
    PRIMARY KEY(run, path)) WITHOUT ROWID""",
    """CREATE TABLE attempt(id INTEGER PRIMARY KEY, key TEXT NOT NULL, n INTEGER NOT NULL, at TEXT NOT NULL,
    outcome TEXT NOT NULL, cause TEXT NOT NULL, requested TEXT NOT NULL, effective TEXT NOT NULL, usage TEXT NOT NULL,
    cost_usd REAL, latency_ms REAL NOT NULL, reply TEXT NOT NULL)""",
    "CREATE INDEX attempt_key ON attempt(key)",
    "CREATE TABLE blob(digest TEXT PRIMARY KEY, body BLOB NOT NULL)",
    """CREATE TABLE label(case_digest TEXT NOT NULL, rater TEXT NOT NULL, bracket INTEGER, score REAL, reason TEXT,
    at TEXT NOT NULL)""",
    "CREATE INDEX label_case ON label(case_digest)",
)


def now() -> str:
    """This moment, UTC, ISO 8601 with milliseconds; for people: nothing is decided by it."""
    milliseconds = time.time_ns() // 1_000_000
    return f"{_second(milliseconds // 1000)}.{milliseconds % 1000:03}Z"


@lru_cache(maxsize=2)
def _second(since_1970: int) -> str:
    return datetime.fromtimestamp(since_1970, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def connect(path: str, *, busy_seconds: float) -> sqlite3.Connection:
    """The writing connection, its tables made or brought up to date.

    Raises:
        LedgerError: Not a ledger, or one of a newer version.
        sqlite3.Error: It cannot be opened.
        OSError: Its folder or file cannot be made.
    """
    if path != MEMORY:
        _make(Path(path))
    connection = _open(path, busy_seconds=busy_seconds)
    try:
        _set_up(connection, path)
        prepare(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_reader(path: str, *, busy_seconds: float) -> sqlite3.Connection:
    """A connection that cannot write; the file must be there.

    Raises:
        LedgerError: No ledger there, or none of this version.
        sqlite3.Error: It cannot be opened.
    """
    if not Path(path).exists():
        raise LedgerError(f"there is no ledger at {path}", hint="nothing was recorded yet, or --ledger names another")
    address = Path(path).absolute().as_uri()
    connection = _open(f"{address}?mode=ro", busy_seconds=busy_seconds)
    try:
        try:
            found = _version(connection, path)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_READONLY:
                raise
            # In a folder that cannot be written there is no room for the shared index of a write-ahead log: nobody
            # can be writing then, so the file may be taken as it stands.
            connection.close()
            connection = _open(f"{address}?mode=ro&immutable=1", busy_seconds=busy_seconds)
            found = _version(connection, path)
        _refuse_old(found, path)
    except BaseException:
        connection.close()
        raise
    return connection


def prepare(
    connection: sqlite3.Connection,
    path: str,
    *,
    version: int = VERSION,
    migrations: Mapping[int, tuple[str, ...]] = MIGRATIONS,
) -> None:
    """Makes the tables, or brings them up to ``version``, keeping a copy as they were (``<path>.v<old>``).

    Raises:
        LedgerError: Not a ledger, or one of a newer version.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            _create(connection)
        found = _version(connection, path, newest=version)
        if found < version:
            _copy(path, f"{path}.v{found}")
            for step in range(found, version):
                for statement in migrations[step]:
                    connection.execute(statement)
            _set(connection, "schema", str(version))
        connection.execute("COMMIT")
    except BaseException:
        undo(connection)
        raise


def meta(connection: sqlite3.Connection) -> dict[str, str]:
    """Everything in the table ``meta``."""
    return dict(connection.execute("SELECT key, value FROM meta"))


def undo(connection: sqlite3.Connection) -> None:
    """Rolls back what is open; SQLite may have done so itself (disk full), and then ROLLBACK would hide the cause."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _make(file: Path) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # SQLite gives its other files the rights of the first.
    os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))


def _open(address: str, *, busy_seconds: float) -> sqlite3.Connection:
    # Threads hand connections on, never share them without a lock.
    return sqlite3.connect(
        address,
        uri=address.startswith("file:"),
        timeout=busy_seconds,
        isolation_level=None,
        check_same_thread=False,
    )


def _set_up(connection: sqlite3.Connection, path: str) -> None:
    (mode,) = connection.execute("PRAGMA journal_mode=WAL").fetchone()
    if path != MEMORY and mode != "wal":
        raise LedgerError(
            f"ledger {path}: no write-ahead log can be kept there",
            hint="keep the ledger on a local disk: --ledger FILE",
        )
    connection.execute("PRAGMA synchronous=FULL")


def _version(connection: sqlite3.Connection, path: str, *, newest: int = VERSION) -> int:
    """The format of a ledger that this version can understand."""
    found = ""
    if [row[1] for row in connection.execute("PRAGMA table_info(meta)")] == ["key", "value"]:
        found = meta(connection).get("schema", "")
    if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise LedgerError(f"nothing was recorded in {path} yet", hint="whoever made it was stopped; any run goes on")
    if not found.isdecimal():
        raise LedgerError(f"{path} is a database, but not a ledger", hint="name another file with --ledger FILE")
    if int(found) > newest:
        raise LedgerError(
            f"ledger {path} was written by a newer deliberate (format {found}; this one knows {newest})",
            hint="update deliberate, or name another file with --ledger FILE",
        )
    return int(found)


def _refuse_old(found: int, path: str) -> None:
    if found < VERSION:
        raise LedgerError(
            f"ledger {path} has the format {found} of an older version", hint="any run that writes to it updates it"
        )


def _create(connection: sqlite3.Connection) -> None:
    for statement in _TABLES:
        connection.execute(statement)
    _set(connection, "schema", str(VERSION))
    _set(connection, "ledger", secrets.token_hex(8))
    _set(connection, "secret", secrets.token_hex(32))
    _set(connection, "created_at", now())


def _set(connection: sqlite3.Connection, key: str, value: str) -> None:
    connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", (key, value))


def _copy(path: str, copy: str) -> None:
    Path(copy).unlink(missing_ok=True)
    _make(Path(copy))
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
