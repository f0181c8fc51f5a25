"""Holds one program: started as a script of its own, confines a child, becomes that program there, and sweeps after it.

    python -I -S _supervisor.py ORDER PROGRAM ARGUMENT…

``ORDER`` is a JSON object, as ``_tiers`` makes it. The supervisor adopts whatever the program leaves behind, and ends
it all when the program ends, when the handle ``life`` reads as ended (our deadline, or our own death), whatever comes
first; then it ends as the program did. What it cannot do it tells on stderr behind ``token``, and does not run the
program.

Rules for whoever edits this file: standard library only, no import of ours (it runs with none on its path, and in a
blink); confine in the child, so that what is confined cannot signal the supervisor; refuse rather than confine less.

Landlock: https://docs.kernel.org/userspace-api/landlock.html. Its interface, like that of seccomp, is numbers; they
are those of ``linux/landlock.h``, ``linux/seccomp.h``, ``linux/filter.h`` and ``linux/prctl.h``.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import resource
import select
import signal
import struct
import sys
import time
from pathlib import Path
from typing import Any

FAILED = 121
"""The exit code of a supervisor that did not run the program."""

LEAST_ABI = 3
"""Before it, landlock did not keep a file from being cut to nothing."""

SWEEP_SECONDS = 2.0

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_FILE_RIGHTS = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15  # execute, write, read, truncate, ioctl on devices
_READ_RIGHTS = 1 << 0 | 1 << 2 | 1 << 3  # execute, read files, list folders
_NET_RIGHTS = 1 << 0 | 1 << 1  # bind, connect (TCP)
_SCOPES = 1 << 0 | 1 << 1  # abstract sockets, signals
_PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_SECUREBITS = 22, 24, 28
_PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _PR_SET_PDEATHSIG = 36, 38, 47, 1

_MACHINES = {"x86_64": (0xC000003E, 41, 126), "aarch64": (0xC00000B7, 198, 91)}
"""By machine: its name to the kernel, and the numbers of ``socket`` and ``capset``."""

_FAMILIES = (2, 10, 16)  # IPv4, IPv6, and the kernel's own: what looking up a name needs


def main() -> None:  # pragma: no cover - runs in a process of its own
    """Holds the program that the arguments name."""
    order, command = json.loads(sys.argv[1]), sys.argv[2:]
    _libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    program = os.fork()
    if program == 0:
        try:
            os.close(order["life"])
            _limit(order["limits"])
            _libc().prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if order["confine"] is not None:
                _confine(order["confine"])
            os.execvp(command[0], command)  # noqa: S606  a shell is what a caller names, if it wants one
        except BaseException as error:  # noqa: BLE001  all: nothing may run that is not confined
            os.write(2, f"{order['token']}{error}".encode("utf-8", "replace"))
        os._exit(FAILED)
    ended = os.pidfd_open(program)
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    poll.register(order["life"], select.POLLIN | select.POLLHUP)
    while not poll.poll():
        pass
    status = _sweep(program)
    if os.WIFSIGNALED(status):
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status) & 255)


def _sweep(program: int) -> int:  # pragma: no cover - runs in a process of its own
    """Kills all descendants, adopted ones too, until there are none; how the program ended."""
    status = int(signal.SIGKILL)
    until = time.monotonic() + SWEEP_SECONDS
    while time.monotonic() < until:
        try:
            while (reaped := os.waitpid(-1, os.WNOHANG))[0]:
                if reaped[0] == program:
                    status = reaped[1]
        except ChildProcessError:
            break
        for pid in descendants(_parents(), of=os.getpid()):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        time.sleep(0.001)  # noqa: TID251  no event loop here
    return status


def descendants(parents: dict[int, int], *, of: int) -> list[int]:
    """All processes below one, nearest first, from each process's parent."""
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    found = [of]
    for pid in found:  # it grows meanwhile
        found += children.get(pid, [])
    return found[1:]


def _parents() -> dict[int, int]:  # pragma: no cover - runs in a process of its own
    """The parent of each process that can be seen."""
    found: dict[int, int] = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            told = (process / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        found[int(process.name)] = int(told.rpartition(")")[2].split()[1])
    return found


def _limit(limits: dict[str, int]) -> None:  # pragma: no cover - runs in a process of its own
    for name, number in limits.items():
        which = getattr(resource, f"RLIMIT_{name.upper()}")
        most = number + (_tasks() if name == "nproc" else 0)
        hard = resource.getrlimit(which)[1]
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (bound, bound))


def _tasks() -> int:  # pragma: no cover - runs in a process of its own
    """How many tasks our user runs already: the limit counts them."""
    found = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.stat().st_uid == os.getuid():
                found += sum(1 for _ in (process / "task").iterdir())
        except OSError:
            continue
    return found


# --- landlock, capabilities, seccomp -----------------------------------------------------------------


def abi() -> int:
    """The version of landlock here; 0 or less: none."""
    if not sys.platform.startswith("linux") or platform.machine() not in _MACHINES:
        return 0  # pragma: no cover - the machine decides
    return int(_libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1)))


def _confine(order: dict[str, Any]) -> None:  # pragma: no cover - runs in a process of its own
    version, network = abi(), bool(order["network"])
    if version < LEAST_ABI:
        raise OSError(f"landlock {version} is here, and {LEAST_ABI} is needed")
    handled = rights(version)
    ruleset = _done(_syscall(_CREATE_RULESET, attributes(version, network=network), None, 0), "landlock")
    for paths, allowed in ((order["read"], _READ_RIGHTS), (order["write"], handled)):
        for path in paths:
            _allow(ruleset, path, allowed & handled)
    _drop_capabilities()
    _done(_libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _done(int(_libc().syscall(_RESTRICT_SELF, ruleset, 0)), "landlock")
    os.close(ruleset)
    code = seccomp(platform.machine(), network=network)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    _done(_libc().prctl(_PR_SET_SECCOMP, 2, ctypes.create_string_buffer(program, len(program)), 0, 0), "seccomp")


def rights(version: int) -> int:
    """Every right to files that this version of landlock can withhold."""
    return (1 << 15) - 1 | (1 << 15 if version >= 5 else 0)  # noqa: PLR2004  the version that knows ioctl


def attributes(version: int, *, network: bool) -> bytes:
    """What a ruleset withholds: files, TCP unless there may be a network, signals and abstract sockets."""
    fields = [rights(version), 0 if network else _NET_RIGHTS, _SCOPES]
    known = 3 if version >= 6 else 2 if version >= 4 else 1  # noqa: PLR2004  the versions that know each
    return struct.pack(f"{known}Q", *fields[:known])


def seccomp(machine: str, *, network: bool) -> bytes:
    """A filter of system calls: no sockets (with a network: none but for it), no io_uring, no foreign numbering.

    Landlock knows TCP alone; without this, UDP and the sockets of other programs (a container engine's, say) are open.
    """
    architecture, socket, _ = _MACHINES[machine]
    wrong, no, unknown, yes = 0x80000000, 0x00050000 | 13, 0x00050000 | 38, 0x7FFF0000
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    families = [(equal, 0, 0, family) for family in (_FAMILIES if network else ())]
    code = [
        (load, 0, 0, 4),
        (equal, 1, 0, architecture),
        (give, 0, 0, wrong),
        (load, 0, 0, 0),
        (at_least, 0, 1, 0x40000000),
        (give, 0, 0, unknown),
        (equal, 0, 1, 425),  # io_uring_setup
        (give, 0, 0, unknown),
        (equal, 0, 2 + len(families), socket),
        (load, 0, 0, 16),
        *((kind, len(families) - at, no_match, family) for at, (kind, _, no_match, family) in enumerate(families)),
        (give, 0, 0, no),
        (give, 0, 0, yes),
    ]
    return b"".join(struct.pack("HBBI", *one) for one in code)


def _allow(ruleset: int, path: str, allowed: int) -> None:  # pragma: no cover - runs in a process of its own
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # not there, or not for us: then it is not for the program either
        return
    try:
        if not Path(path).is_dir():
            allowed &= _FILE_RIGHTS
        _done(_syscall(_ADD_RULE, None, struct.pack("=Qi", allowed, handle), ruleset), f"landlock: {path}")
    finally:
        os.close(handle)


def _drop_capabilities() -> None:  # pragma: no cover - runs in a process of its own
    """From every set, for good: also the user ``root`` gains none by starting a program."""
    libc = _libc()
    libc.prctl(_PR_CAP_AMBIENT, 4, 0, 0, 0)
    for capability in range(64):
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    libc.prctl(_PR_SET_SECUREBITS, 0b101111, 0, 0, 0)
    header = ctypes.create_string_buffer(struct.pack("Ii", 0x20080522, 0))
    _done(int(libc.syscall(_MACHINES[platform.machine()][2], header, ctypes.create_string_buffer(24))), "capabilities")


def _syscall(number: int, data: bytes | None, rule: bytes | None, ruleset: int) -> int:  # pragma: no cover
    """The two calls of landlock that take a record."""
    if data is not None:
        return int(_libc().syscall(number, data, ctypes.c_size_t(len(data)), ctypes.c_uint32(0)))
    return int(_libc().syscall(number, ruleset, 1, rule, ctypes.c_uint32(0)))


def _done(result: int, what: str) -> int:  # pragma: no cover - runs in a process of its own
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


if __name__ == "__main__":  # pragma: no cover
    main()
