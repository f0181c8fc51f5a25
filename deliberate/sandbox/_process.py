"""The plain tier: a process group of its own, an environment made from nothing, a deadline, two capped streams.

It keeps a program from outstaying its time, from filling our memory and from being handed our environment. It keeps
it from nothing else: files, network and ``/proc`` are open to it, and a process that leaves the group (``setsid``)
lives on. Hence ``trust_code``.

Rules for whoever edits this file: the pipes are ours, not the event loop's, and are closed without waiting for their
end, because a grandchild may hold one for as long as it likes; everything after the deadline is bounded; what the
program can read lies in a file, so nothing has to be fed and nothing can break.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Self

import anyio
from anyio import CancelScope, move_on_after, to_thread
from anyio.abc import Process

from deliberate.errors import ConfigError, EvaluatorError
from deliberate.types import Finished

__all__ = ["ProcessRunner"]

GRACE_SECONDS = 0.4
"""How long a killed group may take to be gone, and then the streams to end."""

_CHUNK = 64 * 1024
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}


class ProcessRunner:
    """Runs programs as plain processes, on POSIX systems.

    Args:
        trust_code: The operator said that code may run here unprotected.
    """

    def __init__(self, *, trust_code: bool) -> None:
        self._trust_code = trust_code

    async def run(
        self,
        command: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        stdin: bytes = b"",
        timeout_seconds: float = 60.0,
        most_bytes: int = 1024 * 1024,
    ) -> Finished:
        """Runs it to its end or its deadline; its process group is gone then.

        Args:
            command: The program and its arguments; no shell.
            cwd: The folder it runs in.
            env: Its environment, on top of a PATH, a LANG, and an empty folder as HOME and TMPDIR that is gone
                afterwards.
            stdin: What it can read.
            timeout_seconds: Its deadline, from its start; the call returns within a second of it.
            most_bytes: How much of each of its streams is kept: their heads.

        Raises:
            ConfigError: Code may not be run here without ``--trust-code``, or not at all.
            EvaluatorError: It cannot be started.
        """
        self._refuse()
        if not command:
            raise EvaluatorError("no program was named to run")
        with _explained(command):
            home, given = await to_thread.run_sync(_prepare, stdin)
        try:
            with given, _Stream(most_bytes) as out, _Stream(most_bytes) as err:
                began = anyio.current_time()
                process = await _start(
                    command,
                    cwd=cwd,
                    env={**_ENVIRONMENT, "HOME": home, "TMPDIR": home, **env},
                    stdin=given,
                    out=out,
                    err=err,
                )
                in_time = await _watch(process, (out, err), timeout_seconds)
                return Finished(
                    exit_code=process.returncode if in_time else None,
                    stdout=bytes(out.kept),
                    stderr=bytes(err.kept),
                    timed_out=not in_time,
                    truncated=out.truncated or err.truncated,
                    seconds=anyio.current_time() - began,
                )
        finally:
            with CancelScope(shield=True):
                await to_thread.run_sync(_remove, home)

    def _refuse(self) -> None:
        if not self._trust_code:
            raise ConfigError(
                "running code needs --trust-code",
                hint="give it (Session(trust_code=True)) if you trust the program and what it is run on",
            )
        if os.name != "posix":  # pragma: no cover
            raise ConfigError("running code needs a POSIX system", hint="run it in a container, or on Linux or macOS")


class _Stream:
    """A pipe of ours: its head is kept; the rest is read and dropped, so that the program can go on."""

    def __init__(self, most_bytes: int) -> None:
        self.kept = bytearray()
        self.truncated = False
        self._most_bytes = most_bytes
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        self._reading = os.fdopen(reading, "rb", buffering=0)
        self.writing = os.fdopen(writing, "wb", buffering=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._reading.close()
        self.writing.close()

    async def gather(self) -> None:
        """Reads until nobody can write any more."""
        while True:
            await anyio.wait_readable(self._reading)
            chunk = os.read(self._reading.fileno(), _CHUNK)
            if not chunk:
                return
            room = self._most_bytes - len(self.kept)
            self.kept += chunk[:room]
            self.truncated = self.truncated or len(chunk) > room


async def _start(
    command: Sequence[str], *, cwd: str, env: Mapping[str, str], stdin: IO[bytes], out: _Stream, err: _Stream
) -> Process:
    """The program, started, in a group of its own."""
    # Shielded: a program that has started must be one that we hold.
    with _explained(command), CancelScope(shield=True):
        process = await anyio.open_process(
            list(command), stdin=stdin, stdout=out.writing, stderr=err.writing, cwd=cwd, env=env, start_new_session=True
        )
    out.writing.close()  # the streams end when the program's own copies are closed
    err.writing.close()
    return process  # pyright: ignore[reportPossiblyUnboundVariable]  the scope swallows nothing but its own cancel


async def _watch(process: Process, streams: Sequence[_Stream], timeout_seconds: float) -> bool:
    """Reads along until the program ends or its time is up, and kills its group; whether it ended by itself."""
    limit = CancelScope(deadline=anyio.current_time() + timeout_seconds)
    async with anyio.create_task_group() as readers:
        for stream in streams:
            readers.start_soon(stream.gather)
        try:
            with limit:
                await process.wait()
        finally:
            with suppress(ProcessLookupError, PermissionError):  # all gone; on macOS that may be a lack of permission
                os.killpg(process.pid, signal.SIGKILL)
            with move_on_after(GRACE_SECONDS, shield=True):
                await process.wait()
        readers.cancel_scope.deadline = anyio.current_time() + GRACE_SECONDS
    return not limit.cancelled_caught


def _prepare(stdin: bytes) -> tuple[str, IO[bytes]]:
    """An empty folder, and a file without a name to read from."""
    home = tempfile.mkdtemp(prefix="deliberate-")
    try:
        given = tempfile.TemporaryFile()  # noqa: SIM115  closed by the caller
        given.write(stdin)
        given.seek(0)
    except BaseException:
        _remove(home)
        raise
    return home, given


def _remove(folder: str) -> None:
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):  # thousands of nested folders, made on purpose: too deep for us, not for this
        subprocess.run(["/bin/rm", "-rf", folder], check=False, capture_output=True)  # noqa: S603  a folder of ours


@contextmanager
def _explained(command: Sequence[str]) -> Generator[None]:
    """Raises what starting a program can raise (not found, not allowed, too long, NUL inside) as ``EvaluatorError``."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise EvaluatorError(f"the program {command[0][:200]!r} cannot be started: {str(error)[:300]}") from error
