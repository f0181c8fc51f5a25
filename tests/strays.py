"""What tests may not leave behind: a process, a socket, a file outside their own folders, a key that they were given.

The driver gives every section an environment with a home and a temporary folder of its own, a mark, and a made-up key,
and looks around when the section is over. The folders lie in the system's temporary folder, not in the repository,
whose settings must not reach what tests do, and are gone after the look.
"""

from __future__ import annotations

import base64
import os
import re
import secrets
import shutil
import subprocess
import tempfile
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MARK = "DELIBERATE_SUITE"
KEYS = ("OPENAI_API_KEY", "PLANTED_API_KEY")
TOOLS = {"RUSTUP_HOME": ".rustup", "CARGO_HOME": ".cargo"}
"""What belongs to tools that tests call, and lies in the real home folder."""

CACHING = {"PYTHONDONTWRITEBYTECODE": ""}
"""Hundreds of tests start the program: each would compile all of it anew where the developer keeps no byte code."""

CACHES = re.compile(r"(^|/)(__pycache__|\.\w+_cache|\.hypothesis|\.coverage[^/]*|build|dist|\.venv)(/|$)")


@dataclass(frozen=True, kw_only=True)
class Ground:
    """Where a section may write, and what it is known by.

    ``pytest`` is for tests, ``tmp`` and ``home`` must be left empty; ``before`` is what lay untracked in ``root``.
    """

    root: Path
    folder: Path
    mark: str
    key: str
    before: frozenset[str]

    @property
    def pytest(self) -> Path:
        """Where tests get their folders."""
        return self.folder / "pytest"

    def environment(self, *, home: bool = True) -> dict[str, str]:
        """What a section's environment has besides ours; with a home of its own, or not."""
        ours = {"TMPDIR": str(self.folder / "tmp"), MARK: self.mark, **dict.fromkeys(KEYS, self.key), **CACHING}
        if not home:
            return ours
        xdg = [name for name in os.environ if re.fullmatch(r"XDG_\w+_HOME", name)]
        tools = {name: os.environ.get(name, str(Path.home() / place)) for name, place in TOOLS.items()}
        theirs = {name: place for name, place in tools.items() if Path(place).is_dir()}
        return {**ours, **theirs, "HOME": str(self.folder / "home"), **dict.fromkeys(xdg, str(self.folder / "home"))}


def laid(root: Path) -> Ground:
    """New ground for the tests of the repository at ``root``."""
    folder = Path(tempfile.mkdtemp(prefix="suite-")).resolve()
    folder.chmod(0o755)  # some tests become another user
    for name in ("home", "tmp"):
        (folder / name).mkdir()
    key = f"sk-planted/{secrets.token_urlsafe(12)}+{secrets.token_hex(4)}="
    return Ground(root=root, folder=folder, mark=secrets.token_hex(8), key=key, before=frozenset(untracked(root)))


def left(ground: Ground, *, artifacts: tuple[Path, ...] = (), said: str = "", seconds: float = 5.0) -> list[str]:
    """What was left behind, a line each: processes with their sockets, files, and places where the key stands.

    Args:
        ground: What the section was given; its folders are removed.
        artifacts: What else it wrote.
        said: What it printed.
        seconds: How long what is ending may take to be gone.
    """
    ends = time.monotonic() + seconds
    while (running := list(processes(ground))) and time.monotonic() < ends:
        time.sleep(0.1)  # noqa: TID251  the driver is no test, and nothing tells it that a process is gone
    found = [f"process {line}" for line in running]
    found += [f"file {path}" for name in ("home", "tmp") for path in files(ground.folder / name)]
    found += [f"file {line}, new in the repository" for line in sorted(untracked(ground.root) - ground.before)]
    found += [f"the planted key stands in {path}" for path in with_key(ground.key, (ground.folder, *artifacts))]
    if any(form in said.encode() for form in forms(ground.key)):
        found.append("the planted key stands in what was printed")
    shutil.rmtree(ground.folder, ignore_errors=True)
    return found


def processes(ground: Ground) -> Iterator[str]:
    """Processes that carry the mark, or work in the ground's folders, with the ports that they listen at."""
    mark = f"{MARK}={ground.mark}".encode()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # gone meanwhile, or another user's
            words = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            cwd = os.readlink(place / "cwd")  # noqa: PTH115  that of a process may be gone: no path
            if words and (mark in (place / "environ").read_bytes().split(b"\0") or cwd.startswith(str(ground.folder))):
                ports = ", ".join(map(str, listening(place)))
                yield f"{place.name} ({words[:120]}){f', listening at {ports}' if ports else ''}"


def listening(place: Path) -> list[int]:
    """The TCP ports at which a process listens, given its folder in ``/proc``."""
    held = set[str]()
    for handle in (place / "fd").iterdir():
        with suppress(OSError):
            held.add(os.readlink(handle).removeprefix("socket:[").removesuffix("]"))  # noqa: PTH115  no path
    ports = set[int]()
    for table in ("tcp", "tcp6"):
        for line in (place / "net" / table).read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and words[9] in held:  # 0A: it listens
                ports.add(int(words[1].rpartition(":")[2], 16))
    return sorted(ports)


def files(folder: Path) -> list[str]:
    """Whatever lies in a folder, its own folders only if they are empty."""
    found = sorted(folder.rglob("*"))
    return [str(path) for path in found if not path.is_dir() or path.is_symlink() or not any(path.iterdir())]


def untracked(root: Path) -> set[str]:
    """Files of a repository that git does not keep, caches left out; nothing where there is no repository."""
    listing = ["status", "--porcelain", "--untracked-files=all", "--ignored=matching"]
    with suppress(OSError):
        command = ["git", "-C", str(root), *listing]  # whichever git the developer has
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = [line for line in done.stdout.splitlines() if line[:2] in {"??", "!!"}]
        return {line[3:] for line in lines if not CACHES.search(line[3:])}
    return set()


def forms(key: str) -> set[bytes]:
    """A key as it is, in JSON, in a URL, and in base64 at any offset."""
    raw = key.encode()
    quoted = {urllib.parse.quote(key, safe="").encode(), urllib.parse.quote_plus(key).encode()}
    in_base64 = {base64.b64encode(b"x" * shift + raw)[4:-4] for shift in range(3)}
    return {raw, raw.replace(b"/", b"\\/"), *quoted, *in_base64}


def with_key(key: str, places: tuple[Path, ...]) -> Iterator[str]:
    """Files at or under the places in which the key stands, in any form."""
    for place in places:
        for path in place.rglob("*") if place.is_dir() else (place,):
            with suppress(OSError):
                if path.is_file() and not path.is_symlink() and _holds(path, forms(key)):
                    yield str(path)


def _holds(path: Path, wanted: set[bytes]) -> bool:
    longest = max(map(len, wanted))
    tail = b""
    with path.open("rb") as file:
        while block := file.read(1 << 22):
            if any(form in tail + block for form in wanted):
                return True
            tail = block[-longest:]
    return False
