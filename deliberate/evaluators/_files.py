"""The files an evaluator is made of: part of its fingerprint, and not to change while it runs."""

from __future__ import annotations

import hashlib
import os
import shlex
import stat
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from anyio import to_thread

from deliberate.errors import ConfigError, EvaluatorError
from deliberate.evaluators._base import Evaluator, fingerprint_of
from deliberate.types import digest_of

__all__ = ["inside", "steady", "words_that_are_files"]

_CHUNK = 1024 * 1024


@asynccontextmanager
async def steady(evaluator: Evaluator, files: Sequence[Path]) -> AsyncGenerator[str]:
    """Gives the fingerprint of an evaluator with its files, and holds them to it until the end.

    Raises:
        EvaluatorError: A file changed meanwhile (what was measured, and by what?), or cannot be read.
    """
    before = await to_thread.run_sync(_digests, files)
    yield digest_of({"evaluator": fingerprint_of(evaluator), "files": before}) if before else fingerprint_of(evaluator)
    after = await to_thread.run_sync(_digests, files)
    changed = sorted(name for name in before if after.get(name) != before[name])
    if changed:
        raise EvaluatorError(f"the evaluator's own files changed while it ran: {', '.join(changed)}")


def words_that_are_files(command: str, folder: Path) -> tuple[Path, ...]:
    """The words of a shell command that name files in a folder."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    return tuple(dict.fromkeys(_files(words, folder)))


def inside(folder: Path, name: str, *, where: str) -> Path:
    """The file of that name in a folder, by its resolved path.

    Raises:
        ConfigError: It lies elsewhere, by ``..``, by an absolute path or by a link, or is no file.
    """
    try:
        path = (folder / name).resolve(strict=True)
        within, regular = path.is_relative_to(folder.resolve()), path.is_file()
    except (OSError, ValueError, RuntimeError) as error:
        raise ConfigError(f"{name!r} cannot be read: {error}", where=where, expected="a file") from None
    if not within:
        raise ConfigError(f"{name!r} leads out of its folder", where=where, expected=f"a file inside {folder}")
    if not regular:
        raise ConfigError(f"{name!r} is no file", where=where, expected="a file")
    return path


def _files(words: Sequence[str], folder: Path) -> Iterator[Path]:
    for word in words:
        if word and "\0" not in word and len(word) < 4096:  # noqa: PLR2004  the longest path there is
            path = folder / word
            try:
                if stat.S_ISREG(path.stat().st_mode) and path.resolve().is_relative_to(folder.resolve()):
                    yield path
            except OSError:
                continue


def _digests(files: Sequence[Path]) -> dict[str, str]:
    """Sha-256 of each file by its name; a folder stands for the files in it."""
    found: dict[str, str] = {}
    for path in files:
        for each in sorted(_all(path)):
            digest = hashlib.sha256()
            try:
                with each.open("rb") as file:
                    while chunk := file.read(_CHUNK):
                        digest.update(chunk)
            except OSError as error:
                raise EvaluatorError(f"the evaluator's file {each.name!r} cannot be read: {error}") from error
            found[str(each.relative_to(path.parent))] = digest.hexdigest()
    return found


def _all(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for root, folders, names in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
        for name in names:
            each = Path(root, name)
            if stat.S_ISREG(each.lstat().st_mode):
                yield each
