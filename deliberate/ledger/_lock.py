"""The lock on a run: two processes must not pay for the same plan at the same time.

It is held on the file (``flock``), so a killed holder leaves none behind; the contents only say who it is. Different
runs share a ledger.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import sys
from pathlib import Path

import msgspec

from deliberate.errors import LedgerError
from deliberate.ledger._schema import now
from deliberate.types import Record

if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    def _lock(handle: int) -> None:
        os.lseek(handle, 1 << 20, os.SEEK_SET)  # locked bytes cannot be read there: not those that say who it is
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


__all__ = ["Holder", "RunLock"]


class Holder(Record, frozen=True, kw_only=True):
    """Who executes a run."""

    run: str
    plan_digest: str
    pid: int
    host: str
    boot: str
    since: str


class RunLock:
    """The lock on one run of one plan, taken when made.

    Raises:
        LedgerError: Somebody else has it; the message says who.
        OSError: No lock can be held there.
    """

    def __init__(self, path: str, plan_digest: str) -> None:
        digest = hashlib.sha256(plan_digest.encode()).hexdigest()
        self._file = Path(f"{path}.{digest[:16]}.lock")
        self._plan_digest = plan_digest
        self._handle = self._take()

    def sign(self, run: str) -> None:
        """Writes into it who holds it."""
        holder = Holder(
            run=run,
            plan_digest=self._plan_digest,
            pid=os.getpid(),
            host=platform.node(),
            boot=_boot(),
            since=now(),
        )
        os.ftruncate(self._handle, 0)
        os.lseek(self._handle, 0, os.SEEK_SET)
        os.write(self._handle, msgspec.json.encode(holder))

    def release(self) -> None:
        """Gives it back; the file goes with it."""
        with contextlib.suppress(OSError):  # where open files cannot be removed it stays, and says nothing
            if self._is_ours(self._handle):
                self._file.unlink()
        os.close(self._handle)

    def _take(self) -> int:
        while True:
            handle = os.open(self._file, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
            try:
                _lock(handle)
                if self._is_ours(handle):
                    return handle
            except (BlockingIOError, PermissionError) as error:
                os.close(handle)
                raise self._held() from error
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)  # its holder removed it between our opening and our locking it

    def _is_ours(self, handle: int) -> bool:
        try:
            return os.path.samestat(os.fstat(handle), self._file.stat())
        except FileNotFoundError:
            return False

    def _held(self) -> LedgerError:
        hint = "wait for it to end, or stop it and run the same command again: what it finished is read back"
        try:
            holder = msgspec.json.decode(self._file.read_bytes(), type=Holder)
        except (OSError, msgspec.DecodeError):
            return LedgerError(f"a run of the plan {self._plan_digest} is being executed by another process", hint=hint)
        return LedgerError(
            f"run {holder.run} is being executed by process {holder.pid} on host {holder.host} since {holder.since}",
            hint=hint,
        )


def _boot() -> str:
    """The id of this start of the machine, "" where it has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
