"""The tiers of confinement, best first: what each makes of a program and of what it may do. Pure.

=============  =====================================================================================
bubblewrap     namespaces of its own: files, processes, network, users; nothing outlives it
landlock       files by path, TCP, signals; capabilities dropped; no sockets; what is left is swept
none           only for code that is trusted
=============  =====================================================================================
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from deliberate.types import Record

__all__ = ["TIERS", "Bounds", "TierName", "supervised"]

TierName = Literal["bubblewrap", "landlock"]
TIERS: tuple[TierName, ...] = ("bubblewrap", "landlock")

_MEMORY_BYTES = 4 * 2**30
_FILE_BYTES = 2**30
_TASKS = 512
_TMP_BYTES = 256 * 2**20
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
_FACTS = ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems", "/proc/version")
_SUPERVISOR = str(Path(__file__).with_name("_supervisor.py"))


class Bounds(Record, frozen=True, kw_only=True):
    """What a program may do: folders and files by path, network, seconds of processor time for each process."""

    readable: tuple[str, ...]
    writable: tuple[str, ...]
    cwd: str
    network: bool = False
    timeout_seconds: float = 60.0


def supervised(tier: TierName | None, command: Sequence[str], bounds: Bounds, *, life: int, token: str) -> list[str]:
    """The command that starts a program under the supervisor, in a tier.

    Args:
        tier: The tier; None only sweeps and limits.
        command: The program and its arguments.
        bounds: What it may do.
        life: The handle that reads as ended when the program shall end.
        token: What the supervisor puts before its own words on stderr; the program does not know it.
    """
    confine = None
    if tier == "landlock":
        confine = {
            "read": [*bounds.readable, *_FACTS],
            "write": [*bounds.writable, *_DEVICES],
            "network": bounds.network,
        }
    elif tier == "bubblewrap":
        command = [*_bubblewrap(bounds), *command]
    limits = {
        "data": _MEMORY_BYTES,
        "fsize": _FILE_BYTES,
        "nproc": _TASKS,
        "cpu": math.ceil(bounds.timeout_seconds) + 1,
        "core": 0,
    }
    order = {"life": life, "token": token, "limits": limits, "confine": confine}
    return [sys.executable, "-I", "-S", _SUPERVISOR, json.dumps(order), *command]


def _bubblewrap(bounds: Bounds) -> list[str]:
    """``bwrap`` and its arguments, up to the program."""
    words = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    words += ["--share-net"] if bounds.network else []
    words += ["--proc", "/proc", "--dev", "/dev", "--size", str(_TMP_BYTES), "--tmpfs", "/tmp"]  # noqa: S108  its own
    # Shorter paths first: what lies inside another is laid over it.
    for path in sorted(bounds.readable, key=lambda path: (len(path), path)):
        words += ["--ro-bind-try", path, path]
    for path in bounds.writable:
        words += ["--bind", path, path]
    return [*words, "--chdir", bounds.cwd, "--"]
