"""What SQLite and the system say, told as what happened, where, and what to do next."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager

from deliberate.errors import LedgerError

__all__ = ["explain", "explained"]

_FULL = ("the disk is full", "make room and run the same command again: what was committed is read back")
_CLOSED = ("cannot be written here", "choose another place with --ledger FILE or DELIBERATE_HOME")
_LOCKED = (
    "another program holds it locked",
    "close that program (a database browser, a copy in progress) and run the same command again",
)
_LOCKLESS = ("cannot be locked there", "keep the ledger on a local disk: --ledger FILE")
_FOREIGN = ("this file is not a ledger", "name another file with --ledger FILE")
_DAMAGED = ("the file is damaged", "`deliberate audit --verify` tells how far it can be read; go on with a backup")
_FAULTY = (
    "the disk reported an error",
    "nothing after the last commit was acknowledged; check the disk, then run again",
)

_SQLITE = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_IOERR_SHMSIZE: _FULL,  # no room for the index of the write-ahead log
    sqlite3.SQLITE_READONLY: _CLOSED,
    sqlite3.SQLITE_CANTOPEN: _CLOSED,
    sqlite3.SQLITE_PERM: _CLOSED,
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_PROTOCOL: _LOCKLESS,
    sqlite3.SQLITE_IOERR_LOCK: _LOCKLESS,
    sqlite3.SQLITE_NOTADB: _FOREIGN,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_IOERR: _FAULTY,
}
_SYSTEM = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EACCES: _CLOSED,
    errno.EPERM: _CLOSED,
    errno.EROFS: _CLOSED,
    errno.EISDIR: _CLOSED,
    errno.ENOTDIR: _CLOSED,
    errno.EEXIST: _CLOSED,
    errno.ENOLCK: _LOCKLESS,
    errno.EOPNOTSUPP: _LOCKLESS,
    errno.EIO: _FAULTY,
}


def explain(error: Exception, path: str) -> LedgerError:
    """The error as ours: what happened to the ledger at ``path``, and what to do next."""
    if isinstance(error, LedgerError):
        return error
    what, hint = _told(error)
    return LedgerError(f"ledger {path}: {what} ({_name(error)}{error})", hint=hint)


@contextmanager
def explained(path: str) -> Generator[None]:
    """Raises what SQLite and the system raise as ``LedgerError``."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise explain(error, path) from error


def _told(error: Exception) -> tuple[str, str]:
    if isinstance(error, OSError):
        return _SYSTEM.get(error.errno or 0, ("the system refused", ""))
    code = getattr(error, "sqlite_errorcode", 0)
    # The extended code says more where we know it; its low byte is the plain one.
    return _SQLITE.get(code) or _SQLITE.get(code & 0xFF) or ("it could not be used", "")


def _name(error: Exception) -> str:
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    return f"{name}: "
