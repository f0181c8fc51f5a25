"""One program: a process group of its own, a deadline, two capped streams.

It keeps a program from outstaying its time and from filling our memory. It keeps it from nothing else: files, network
and ``/proc`` are open to it, and a process that leaves the group (``setsid``) lives on. What more is wanted, a
supervisor does (``_supervisor``).

Rules for whoever edits this file: the pipes are ours, not the event loop's, and are closed without waiting for their
end, because a grandchild may hold one for as long as it likes; everything after the deadline is bounded; what the
program can read lies in a file, so nothing has to be fed and nothing can break.
"""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Self

import anyio
from anyio import CancelScope, move_on_after, to_thread
from anyio.abc import Process

from deliberate.errors import EvaluatorError
from deliberate.types import Finished

__all__ = ["BASE_ENVIRONMENT", "GRACE_SECONDS", "Supervised", "run_process"]

GRACE_SECONDS = 0.4
"""How long a killed group may take to be gone, and then the streams to end."""

_CHUNK = 64 * 1024
BASE_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
"""What every environment starts from."""

Supervised = Callable[[int], Sequence[str]]


async def run_process(
    command: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    stdin: bytes = b"",
    timeout_seconds: float = 60.0,
    most_bytes: int = 1024 * 1024,
    supervised: Supervised | None = None,
) -> Finished:
    """Runs a program to its end or its deadline; its process group is gone then. POSIX only.

    Args:
        command: The program and its arguments; no shell.
        cwd: The folder it runs in.
        env: Its whole environment.
        stdin: What it can read.
        timeout_seconds: Its deadline, from its start; the call returns within a second of it.
        most_bytes: How much of each of its streams is kept: their heads.
        supervised: Makes the command that starts it under a supervisor, from a handle: when that reads as ended, the
            supervisor kills what it holds and ends. None runs it as it is.

    Raises:
        EvaluatorError: It cannot be started.
    """
    if not command:
        raise EvaluatorError("no program was named to run")
    with _explained(command):
        given = await to_thread.run_sync(_readable, stdin)
    with given, _Stream(most_bytes) as out, _Stream(most_bytes) as err, _Life() as life:
        began = anyio.current_time()
        process = await _start(
            command if supervised is None else supervised(life.watched.fileno()),
            cwd=cwd,
            env=env,
            stdin=given,
            out=out,
            err=err,
            pass_fds=() if supervised is None else (life.watched.fileno(),),
        )
        in_time = await _watch(process, (out, err), timeout_seconds, None if supervised is None else life)
        return Finished(
            exit_code=process.returncode if in_time else None,
            stdout=bytes(out.kept),
            stderr=bytes(err.kept),
            timed_out=not in_time,
            truncated=out.truncated or err.truncated,
            seconds=anyio.current_time() - began,
        )


class _Life:
    """A pipe that nothing is written to: its other end reads as ended when we end it, or when we are gone."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        self.watched = os.fdopen(reading, "rb", buffering=0)
        self._ours = os.fdopen(writing, "wb", buffering=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self.watched.close()

    def end(self) -> None:
        self._ours.close()


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
    command: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    stdin: IO[bytes],
    out: _Stream,
    err: _Stream,
    pass_fds: Sequence[int],
) -> Process:
    """The program, started, in a group of its own."""
    # Shielded: a program that has started must be one that we hold.
    with _explained(command), CancelScope(shield=True):
        process = await anyio.open_process(
            list(command),
            stdin=stdin,
            stdout=out.writing,
            stderr=err.writing,
            cwd=cwd,
            env=env,
            start_new_session=True,
            pass_fds=pass_fds,
        )
    out.writing.close()  # the streams end when the program's own copies are closed
    err.writing.close()
    return process  # pyright: ignore[reportPossiblyUnboundVariable]  the scope swallows nothing but its own cancel


async def _watch(process: Process, streams: Sequence[_Stream], timeout_seconds: float, life: _Life | None) -> bool:
    """Reads along until the program ends or its time is up, and kills its group; whether it ended by itself.

    A supervisor is first given the time to kill what has left the group.
    """
    limit = CancelScope(deadline=anyio.current_time() + timeout_seconds)
    async with anyio.create_task_group() as readers:
        for stream in streams:
            readers.start_soon(stream.gather)
        try:
            with limit:
                await process.wait()
        finally:
            if life is not None and process.returncode is None:
                life.end()
                with move_on_after(GRACE_SECONDS, shield=True):
                    await process.wait()
            with suppress(ProcessLookupError, PermissionError):  # all gone; on macOS that may be a lack of permission
                os.killpg(process.pid, signal.SIGKILL)
            with move_on_after(GRACE_SECONDS, shield=True):
                await process.wait()
        readers.cancel_scope.deadline = anyio.current_time() + GRACE_SECONDS
    return not limit.cancelled_caught


def _readable(data: bytes) -> IO[bytes]:
    """A file without a name to read from."""
    given = tempfile.TemporaryFile()  # noqa: SIM115  closed by the caller
    try:
        given.write(data)
        given.seek(0)
    except BaseException:
        given.close()
        raise
    return given


@contextmanager
def _explained(command: Sequence[str]) -> Generator[None]:
    """Raises what starting a program can raise (not found, not allowed, too long, NUL inside) as ``EvaluatorError``."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise EvaluatorError(f"the program {command[0][:200]!r} cannot be started: {str(error)[:300]}") from error
