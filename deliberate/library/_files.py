"""Files people wrote, read under guard: regular, small, UTF-8 text.

Whoever adds a kind of document reads it by ``read_text``: a link, a device, a pipe, ten megabytes or a picture must
never be more than a clear error.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from deliberate.errors import ConfigError

__all__ = ["MOST_BYTES", "listed", "names_a_path", "path_of", "read_text"]

MOST_BYTES = 1024 * 1024
"""Of one file."""

_SHOWN = 200  # characters of a path that is none

# Opened without following a link and without waiting for a pipe's other end; flags a system lacks are 0.
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def read_text(path: Path, *, error: type[ConfigError] = ConfigError, links: bool = False) -> str:
    """The text of a file, without byte order mark, its line ends made line feeds.

    Args:
        path: The file.
        error: What is raised if it cannot be read.
        links: Whether the file itself may be a symbolic link. Folders above it always may.

    Raises:
        ConfigError: It is missing, a link, no regular file, larger than 1 MiB, or not UTF-8 text; as ``error``.
    """
    where = str(path)
    if not links and path.is_symlink():
        raise error("is a symbolic link", where=where, expected="a file", hint="put the file itself here")
    try:
        content = _content(path, _FLAGS if not links else _FLAGS & ~getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        raise error("there is no such file", where=where) from None
    except (OSError, ValueError) as reason:
        raise error(_said(reason), where=where, expected="a file that can be read") from None
    if len(content) > MOST_BYTES:
        raise error("is larger than 1 MiB", where=where, expected="a text of at most 1 MiB")
    return _text(content, where=where, error=error)


def names_a_path(name: str) -> bool:
    """Whether what stands for a document is its place rather than its name: ``./x``, ``a/b``, ``x.md``, ``x.yaml``."""
    return any(sign in name for sign in "/\\") or name.endswith((".md", ".yaml", ".yml")) or name in {".", "..", "~"}


def path_of(name: str | Path, *, beside: Path | None = None) -> Path:
    """The path a person wrote, ``~`` made their home; the absolute one if it is meant from a certain folder.

    Raises:
        ConfigError: No path can be that.
    """
    try:
        path = Path(name).expanduser()
        path = path if beside is None else (beside / path).absolute()
        path.is_dir()  # too long, or on no disk: said here
    except (OSError, RuntimeError) as reason:
        raise ConfigError(f"is no path: {_said(reason)}", where=str(name)[:_SHOWN]) from None
    return path


def listed(folder: Path) -> tuple[Path, ...]:
    """What is in a folder, sorted; nothing if there is no such folder.

    Raises:
        ConfigError: It is there, but cannot be listed.
    """
    try:
        return tuple(sorted(folder.iterdir()))
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as reason:
        raise ConfigError(f"cannot be listed: {_said(reason)}", where=str(folder)) from None


def _content(path: Path, flags: int) -> bytes:
    handle = os.open(path, flags)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "is not a regular file")
        found = bytearray()
        while len(found) <= MOST_BYTES and (piece := os.read(handle, MOST_BYTES + 1 - len(found))):
            found += piece
        return bytes(found)
    finally:
        os.close(handle)


def _text(content: bytes, *, where: str, error: type[ConfigError]) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        line = content.count(b"\n", 0, reason.start) + 1
        raise error("is not UTF-8", where=f"{where}:{line}", expected="UTF-8 text") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise error("is a binary file", where=f"{where}:{line}", expected="UTF-8 text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _said(reason: Exception) -> str:
    return str(getattr(reason, "strerror", None) or reason)
