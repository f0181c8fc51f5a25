"""The folder a program works in: a copy of the workspace, an empty home, and both gone afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from deliberate.errors import EvaluatorError
from deliberate.types import Record

__all__ = ["MOST_BYTES", "MOST_FILES", "Scratch", "remove", "scratch_of"]

MOST_BYTES = 2 * 2**30
MOST_FILES = 300_000
"""A workspace with more than this is not copied."""

_PREFIX = "deliberate-"


class Scratch(Record, frozen=True, kw_only=True):
    """``root`` holds ``work``, where the program runs, and ``home``, its HOME and TMPDIR."""

    root: str
    work: str
    home: str


def scratch_of(
    workspace: str, *, links: Mapping[str, str] = {}, most_bytes: int = MOST_BYTES, most_files: int = MOST_FILES
) -> Scratch:
    """A new scratch folder with a copy of the workspace (``""``: nothing) in it, and in its home only those links.

    Links are copied as links, never followed; pipes, sockets and devices are left out. So are scratch folders, where
    the workspace holds the folder for temporary files: none is copied into itself, or while another process removes it.

    Raises:
        EvaluatorError: The workspace is not a folder that can be read, or is too large.
    """
    root = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
    try:
        work, home = root / "work", root / "home"
        work.mkdir()
        home.mkdir()
        for name, target in links.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).symlink_to(target)
        if workspace:
            with _explained(workspace):
                _copy(workspace, str(work), [most_bytes, most_files], scratches=str(root.parent))
    except BaseException:
        remove(str(root))
        raise
    return Scratch(root=str(root), work=str(work), home=str(home))


def _copy(folder: str, into: str, left: list[int], *, scratches: str) -> None:
    """Copies what is in a folder; ``left`` is how many bytes and entries there may still be.

    ``scratches`` is where scratch folders lie, all links of the path resolved.
    """
    pending = [(os.path.realpath(folder), into)]
    while pending:
        source, target = pending.pop()
        with os.scandir(source) as entries:
            for entry in entries:
                if source == scratches and entry.name.startswith(_PREFIX):
                    continue
                place = os.path.join(target, entry.name)  # noqa: PTH118  this runs for every file there is
                left[1] -= 1
                if entry.is_symlink():
                    os.symlink(os.readlink(entry.path), place)  # noqa: PTH115, PTH211  same
                elif entry.is_dir():
                    os.mkdir(place)  # noqa: PTH102  same
                    pending.append((entry.path, place))
                elif entry.is_file():
                    left[0] -= entry.stat().st_size
                    _within(left, folder)
                    shutil.copyfile(entry.path, place, follow_symlinks=False)
                    shutil.copystat(entry.path, place, follow_symlinks=False)
                _within(left, folder)


def _within(left: list[int], folder: str) -> None:
    if min(left) < 0:
        msg = (
            f"the workspace {folder!r} is too large to copy (more than {MOST_BYTES // 2**30} GiB or {MOST_FILES} "
            "entries); name a smaller folder"
        )
        raise EvaluatorError(msg)


@contextmanager
def _explained(workspace: str) -> Generator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise EvaluatorError(f"the workspace {workspace[:200]!r} cannot be copied: {str(error)[:300]}") from error


def remove(folder: str) -> None:
    """Removes a folder of ours, whatever a program did in it."""
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):  # made unreadable, or thousands of nested folders, on purpose: this gets further
        subprocess.run(["/bin/chmod", "-R", "u+rwx", folder], check=False, capture_output=True)  # noqa: S603  a folder of ours
        subprocess.run(["/bin/rm", "-rf", folder], check=False, capture_output=True)  # noqa: S603  same
