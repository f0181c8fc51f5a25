"""The audit: walks the chain, compares the anchor, asks SQLite, re-hashes the blobs."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import msgspec
from anyio import to_thread

from deliberate.errors import LedgerError
from deliberate.ledger._chain import START, Anchor, link, read_anchor
from deliberate.ledger._errors import explained
from deliberate.ledger._records import Audit
from deliberate.ledger._schema import connect_reader, meta

__all__ = ["check_anchor", "verify", "walk"]


async def verify(path: str | os.PathLike[str], *, busy_seconds: float = 10.0) -> Audit:
    """Whether the ledger at that path is what was written: the first broken record, the missing tail, or nothing.

    Raises:
        LedgerError: There is no ledger, or it cannot be opened.
    """
    return await to_thread.run_sync(_verify, os.fspath(path), busy_seconds)


def check_anchor(connection: sqlite3.Connection, anchor: Anchor, *, ledger: str) -> str:
    """What is wrong between a ledger and an anchor that was read before it; "" if nothing is.

    The anchor must be read first: others may append between the two.
    """
    if anchor.ledger != ledger:
        return f"its anchor belongs to another ledger ({anchor.ledger}; this one is {ledger})"
    (count,) = connection.execute("SELECT count(*) FROM step WHERE seq <= ?", (anchor.count,)).fetchone()
    if count < anchor.count:
        return f"{anchor.count - count} of the {anchor.count} records its anchor knows are missing"
    row = connection.execute("SELECT hash FROM step WHERE seq = ?", (anchor.count,)).fetchone()
    if anchor.count and row[0] != anchor.head:
        return f"record {anchor.count} is not the one its anchor knows"
    return ""


def walk(connection: sqlite3.Connection) -> Iterator[tuple[int, str, str]]:
    """Number, hash and problem of each record; the first with a problem is the last given."""
    head = START
    due = 1
    for seq, key, kind, body, prev, own in connection.execute(
        "SELECT seq, key, kind, body, prev, hash FROM step ORDER BY seq"
    ):
        if seq != due:
            yield due, head, f"record {due} is missing"
        elif prev != head:
            yield seq, head, f"record {seq} does not follow from the one before it"
        elif not _is(key, kind, body) or own != link(prev, seq, key, kind, body):
            yield seq, head, f"record {seq} was changed"
        else:
            yield seq, own, ""
        head = own
        due = seq + 1


def _verify(path: str, busy_seconds: float) -> Audit:
    with explained(path):
        try:
            anchor = read_anchor(path)
            unreadable = ""
        except LedgerError as error:
            anchor, unreadable = None, str(error)
        with closing(connect_reader(path, busy_seconds=busy_seconds)) as connection:
            connection.execute("BEGIN")  # one state of it, whoever else is writing
            return _audit(connection, path, anchor, unreadable)


def _audit(connection: sqlite3.Connection, path: str, anchor: Anchor | None, unreadable: str) -> Audit:
    told = meta(connection)
    audit = Audit(
        path=path,
        records=0,
        head=START,
        anchored=None if anchor is None else anchor.count,
        notes=(told["anchor_lost"],) if "anchor_lost" in told else (),
    )
    try:
        for seq, head, problem in walk(connection):
            if problem:
                return msgspec.structs.replace(audit, problem=problem, broken_at=seq)
            audit = msgspec.structs.replace(audit, records=seq, head=head)
        missing = max(0, anchor.count - audit.records) if anchor and anchor.ledger == told["ledger"] else 0
        problem = unreadable or _around(connection, audit, anchor, told["ledger"])
    except sqlite3.DatabaseError as error:
        return msgspec.structs.replace(audit, problem=f"it cannot be read to its end ({error})")
    return msgspec.structs.replace(audit, problem=problem, missing=missing)


def _is(key: object, kind: object, body: object) -> bool:
    """Whether they are of the types that were written: SQLite takes any, and text could pass for its own base64."""
    return isinstance(key, str) and isinstance(kind, str) and isinstance(body, bytes)


def _around(connection: sqlite3.Connection, audit: Audit, anchor: Anchor | None, ledger: str) -> str:
    """What is wrong outside the chain, which holds together."""
    if anchor is None and audit.records:
        return "its anchor is missing, so nobody can say whether there were more records"
    problem = check_anchor(connection, anchor, ledger=ledger) if anchor else ""
    if problem:
        return problem
    for digest, body in connection.execute("SELECT digest, CAST(body AS BLOB) FROM blob"):
        if hashlib.sha256(body).hexdigest() != digest:
            return f"blob {digest} was changed"
    (state,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    return "" if state == "ok" else f"the file is damaged: {state}"
