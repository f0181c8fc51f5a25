"""What a tier really holds back on this machine: found out by a program that tries."""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import msgspec
from anyio import to_thread

from deliberate.errors import EvaluatorError
from deliberate.sandbox._confined import run_confined
from deliberate.sandbox._tiers import TierName
from deliberate.types import Record

__all__ = ["Probed", "probe"]

_NEEDED = ("works", "our_environment", "files_read", "files_written", "network")


class Probed(Record, frozen=True, kw_only=True):
    """One tier here: ``works`` if a program runs in it, and then what is kept from the program (True: it is kept).

    ``our_environment`` is that of our own process, where keys are; ``files_read`` and ``files_written`` are files it
    was not given; ``network`` is this machine's own; ``signals`` go to our process; ``daemons`` are processes it
    leaves behind.
    """

    tier: TierName | None
    works: bool = True
    our_environment: bool = False
    files_read: bool = False
    files_written: bool = False
    network: bool = False
    signals: bool = False
    daemons: bool = False
    why: str = ""

    @property
    def holds(self) -> bool:
        """Whether code that nobody vouched for may run in it."""
        return all(getattr(self, name) for name in _NEEDED)

    @property
    def lets(self) -> tuple[str, ...]:
        """What it does not keep from a program, as people read it."""
        if not self.works:
            return ()
        names = self.__struct_fields__[2:-1]
        return tuple(name.replace("_", " ") for name in names if not getattr(self, name))


async def probe(tier: TierName | None) -> Probed:
    """Runs a program in the tier that tries what it should not be able to do."""
    mark = f"deliberate-probe-{secrets.token_hex(8)}"
    with tempfile.TemporaryDirectory(prefix="deliberate-") as folder, closing(socket.socket()) as listening:
        secret = Path(folder, "secret")
        await to_thread.run_sync(secret.write_text, mark)
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        order = {"pid": os.getpid(), "secret": str(secret), "port": listening.getsockname()[1]}
        # Its own two files, and nothing of the place they lie in, may be read.
        command = [sys.executable, "-I", "-S", "-c", _PROGRAM, json.dumps(order), mark]
        try:
            done = await run_confined(tier, command, timeout_seconds=10.0)
            found = msgspec.json.decode(done.stdout, type=dict[str, bool])
            kept = {name: not done for name, done in found.items()}
            whole = await to_thread.run_sync(secret.read_text) == mark
        except (EvaluatorError, msgspec.DecodeError, msgspec.ValidationError) as error:
            return Probed(tier=tier, works=False, why=str(error))
    left = await to_thread.run_sync(_left, mark)
    return msgspec.convert({**kept, "tier": tier, "files_written": whole, "daemons": not left}, Probed)


def _left(mark: str) -> list[int]:
    """Processes that run with a word on their command line."""
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


_PROGRAM = """
import json, os, socket, sys, time
order = json.loads(sys.argv[1])
def can(run):
    try:
        run()
    except OSError:
        return False
    return True
def environment():
    with open("/proc/%d/environ" % order["pid"], "rb") as file:
        file.read()
def read():
    with open(order["secret"]) as file:
        file.read()
def write():
    with open(order["secret"], "w") as file:
        file.write("written")
def connect():
    socket.create_connection(("127.0.0.1", order["port"]), timeout=1).close()
found = {
    "our_environment": can(environment),
    "files_read": can(read),
    "files_written": can(write),
    "network": can(connect),
    "signals": can(lambda: os.kill(order["pid"], 0)),
}
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for handle in range(3):
            os.close(handle)
        time.sleep(5)
    os._exit(0)
os.wait()
print(json.dumps(found), flush=True)
"""
