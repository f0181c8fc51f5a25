"""Where the time of a verb goes: ``--profile FILE``.

What runs on the event loop is counted, by the standard library's profiler; worker threads (the ledger's writer, local
models) are not. While the loop waits for judges nothing is counted but ``waiting``.
"""

from __future__ import annotations

import cProfile
import io
import pstats
import sysconfig
from collections import defaultdict
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from deliberate.errors import ConfigError

__all__ = ["Share", "profiled", "shares", "text_of"]

_HOME = Path(__file__).resolve().parents[1]
_TEXTS = (".txt", ".md")
_WAITS = ("poll", "select", "kevent", "control", "run_until_complete", "run_forever")
_BUILT_IN = "~"
_MOST_FUNCTIONS = 40


class Share(NamedTuple):
    """What one room of ours, or one package, took: seconds of its own, and how often its functions were called."""

    name: str
    seconds: float
    calls: int


@contextmanager
def profiled(file: Path | None) -> Generator[None]:
    """Profiles what happens inside and writes it to the file, however it ends; None profiles nothing.

    A name that ends in ``.txt`` or ``.md`` gets tables to read; any other what ``python -m pstats FILE`` and the
    viewers of such files read.

    Raises:
        ConfigError: Its folder is not there, or it is a folder itself.
    """
    if file is None:
        yield
        return
    if not file.parent.is_dir():
        what = f"there is no folder {str(file.parent)!r}"
        raise ConfigError(what, where="--profile", expected="a file in a folder that exists")
    if file.is_dir():
        what = f"{str(file)!r} is a folder"
        raise ConfigError(what, where="--profile", expected="a file")
    profile = cProfile.Profile()
    profile.enable()
    try:
        yield
    finally:
        profile.disable()
        stats = pstats.Stats(profile)
        if file.suffix in _TEXTS:
            file.write_text(text_of(stats), encoding="utf-8")
        else:
            stats.dump_stats(file)


def shares(stats: pstats.Stats) -> tuple[Share, ...]:
    """Own time by room of ours and by package of others, the largest first.

    What is written in C is counted to whoever called it, so that encoding a request stands with the room that sends
    it. Waiting for the network is one line of its own.
    """
    seconds: defaultdict[str, float] = defaultdict(float)
    calls: defaultdict[str, int] = defaultdict(int)
    table: dict[tuple[str, int, str], Any] = vars(stats)["stats"]
    for (path, _, name), (_, count, own, _, callers) in table.items():
        if path != _BUILT_IN:
            seconds[_room(path)] += own
            calls[_room(path)] += count
        elif any(f"method '{word}'" in name or f"method {word}" in name for word in _WAITS):
            seconds["waiting"] += own
            calls["waiting"] += count
        else:
            for (caller, _, _), (_, _, of_it, _) in callers.items():
                seconds[_room(caller)] += of_it
    found = (Share(name, took, calls[name]) for name, took in seconds.items())
    return tuple(sorted(found, key=lambda one: (-one.seconds, one.name)))


def text_of(stats: pstats.Stats) -> str:
    """Two tables: shares by room and package, and the functions with the most time of their own."""
    found = shares(stats)
    busy = sum(one.seconds for one in found if one.name != "waiting") or 1.0
    lines = ["| room or package | seconds | share of what was not waiting | calls |", "|---|---|---|---|"]
    for one in found:
        share = "–" if one.name == "waiting" else f"{one.seconds / busy:.1%}"
        lines.append(f"| {one.name} | {one.seconds:.3f} | {share} | {one.calls:,} |")
    sink = io.StringIO()
    vars(stats)["stream"] = sink
    stats.strip_dirs().sort_stats("tottime").print_stats(_MOST_FUNCTIONS)
    return "\n".join(lines) + "\n\n```\n" + sink.getvalue().strip() + "\n```\n"


@cache
def _room(path: str) -> str:
    """The room of a file of ours, else its package, else ``importing`` or ``python``."""
    if path.startswith("<frozen importlib"):
        return "importing"
    if path == _BUILT_IN or path.startswith("<"):
        return "python"
    file = Path(path)
    if file.is_relative_to(_HOME):
        return f"deliberate.{file.relative_to(_HOME).parts[0].removesuffix('.py')}"
    for kind in ("purelib", "platlib"):
        place = Path(sysconfig.get_path(kind))
        if file.is_relative_to(place):
            return file.relative_to(place).parts[0].removesuffix(".py")
    standard = Path(sysconfig.get_path("stdlib"))
    if file.is_relative_to(standard):
        part = file.relative_to(standard).parts[0].removesuffix(".py")
        return part if part in {"asyncio", "json", "sqlite3", "logging"} else "python"
    return file.parts[-2] if len(file.parts) > 1 else "python"
