"""Whatever happens becomes one message and one exit code (``gates.EXIT``)."""

from __future__ import annotations

import importlib.util
import os
import stat
import sys
import tempfile
import traceback
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import NoReturn

import anyio

from deliberate.errors import ConfigError, DeliberateError, LedgerError, ReportError
from deliberate.gates import EXIT
from deliberate.judging import visible
from deliberate.providers._secrets import secrets_of

__all__ = ["say", "stop", "wait_for"]


def wait_for(
    work: Callable[[], Awaitable[int]], *, out: Sequence[Path] = (), profile: Path | None = None, many: bool = False
) -> NoReturn:
    """Runs a verb to its end and exits with the code it gives.

    Args:
        work: The verb.
        out: The files it writes at its end; one of an earlier run that stays when it stops before is named.
        profile: Where to write what its time went to; None = nowhere.
        many: Whether it asks about many cases: uvloop is then used, where it is installed and no profile is asked for.
            It would hide its waiting in whatever waited.

    A mistake of the user's exits 2; a ledger that cannot be used exits 2 while nothing was spent and 5 after; a report
    that cannot be written exits 5, for its verdict stands and all that is missing is the file; Ctrl-C exits 130 after
    what was heard is written down; anything else is a defect of ours and exits 1, with the traceback in a file.
    """
    code = EXIT["crash"]
    before = {path: seen for path in out if (seen := _seen(path)) is not None}
    try:
        with _profiled(profile):
            code = anyio.run(_waited, work, backend_options=_faster() if many and profile is None else {})
        sys.stdout.flush()
    except ConfigError as error:
        code = stop("usage", str(error))
    except LedgerError as error:
        code = stop("incomplete" if error.spent else "usage", str(error))
    except ReportError as error:
        code = stop("incomplete", str(error))
    except DeliberateError as error:
        code = stop("usage", str(error))
    except KeyboardInterrupt:
        code = stop("interrupted", "what was heard is in the ledger; the same command goes on from there")
    except BrokenPipeError:
        # Whoever read our output has gone; there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0 if code == EXIT["crash"] else code
    except Exception as error:  # noqa: BLE001  all: the last place that can name it
        code = _crash(error)
    if code in _STOPPED:
        _tell_old([path for path, seen in before.items() if _seen(path) == seen])
    sys.exit(code)


_STOPPED = (EXIT["crash"], EXIT["incomplete"], EXIT["interrupted"])
"""Ends that come before the files are written, or may."""


def _seen(path: Path) -> tuple[int, ...] | None:
    """What tells a file from one that was written since; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_ino, found.st_mtime_ns, found.st_size) if stat.S_ISREG(found.st_mode) else None


def _tell_old(files: Sequence[Path]) -> None:
    if files:
        one = len(files) == 1
        told = f"{'is' if one else 'are'} of an earlier run: {'it was' if one else 'they were'} not written"
        say(f"{', '.join(map(str, files))} {told}")


def _profiled(file: Path | None) -> AbstractContextManager[None]:
    if file is None:
        return nullcontext()
    from deliberate.cli._profile import profiled  # noqa: PLC0415  only where it is asked for

    return profiled(file)


def _faster() -> dict[str, bool]:
    """Whether uvloop is there; it takes longer to import than it saves on a few cases."""
    return {"use_uvloop": sys.platform != "win32" and importlib.util.find_spec("uvloop") is not None}


async def _waited(work: Callable[[], Awaitable[int]]) -> int:
    return await work()


def stop(name: str, message: str) -> int:
    """Says why, and gives the exit code of that name."""
    say(f"{EXIT[name]} {name}: {message}")
    return EXIT[name]


def say(text: str) -> None:
    """Writes a line for people, on standard error; what could command a terminal is shown instead."""
    sys.stderr.write(visible(text) + "\n")
    sys.stderr.flush()


def _crash(error: BaseException) -> int:
    struck = secrets_of(os.environ).strike  # whoever raised it may have told a key
    handle, path = tempfile.mkstemp(prefix="deliberate-crash-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(struck("".join(traceback.format_exception(error))))
    return stop("crash", f"{type(error).__name__}: {struck(str(error))}; please report it with {Path(path)}")
