"""Name -> part, in the open rooms.

A part is a file of an open room: the file's name is the part's name, and its ``__all__`` holds just that part. Other
packages bring parts by entry points ``deliberate.<room>``. Nothing is registered: this reads the installation, and
imports a part when it is first asked for. Ours win over theirs of the same name.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import pkgutil
from functools import cache
from typing import Any

from deliberate.errors import ConfigError, UnknownName

__all__ = ["KINDS", "ROOMS", "names", "part", "provider_of"]

ROOMS = ("evaluators", "protocols", "providers", "aggregation", "tallies", "agreement")

KINDS = {
    "evaluators": "evaluator",
    "protocols": "protocol",
    "providers": "provider",
    "aggregation": "aggregation rule",
    "tallies": "rule",
    "agreement": "statistic",
}
"""What people call a part of each room, in error messages."""


def names(room: str) -> tuple[str, ...]:
    """The names of all parts in a room, sorted."""
    return tuple(sorted({*_ours(room), *_theirs(room)}))


@cache
def part(room: str, name: str, *, where: str = "") -> Any:  # noqa: ANN401  each room has its own kind of part; callers cast
    """The part of that name.

    Args:
        room: One of ``ROOMS``.
        name: The part's name.
        where: File and key it was named in, for the message.

    Raises:
        UnknownName: The room has no such part; the message lists the nearest and all there are.
        ConfigError: Another package's part cannot be imported; the message names that package.
    """
    if name in _ours(room):
        module = importlib.import_module(f"deliberate.{room}.{name}")
        return getattr(module, module.__all__[0])
    entry = _theirs(room).get(name)
    if entry is None:
        raise UnknownName(KINDS[room], name, names(room), where=where)
    try:
        return entry.load()
    except Exception as error:  # all: whatever another package does at import is its own, and must be named
        owner = entry.dist.name if entry.dist is not None else "an unknown package"
        what = f"{KINDS[room]} {name!r} of package {owner!r} cannot be imported: {error}"
        raise ConfigError(what, where=where, hint=f"upgrade or remove {owner}") from error


def provider_of(model: str) -> str:
    """The name of the provider that serves a model's prefix; ``"litellm"`` where no other does."""
    prefix = model.split("/", 1)[0] if "/" in model else ""
    for name in _ours("providers"):
        if prefix in _prefixes(name):
            return name
    return prefix if prefix in _theirs("providers") else "litellm"


@cache
def _prefixes(name: str) -> tuple[str, ...]:
    found: tuple[str, ...] = part("providers", name).prefixes
    return found or (name,)


@cache
def _ours(room: str) -> tuple[str, ...]:
    package = importlib.import_module(f"deliberate.{room}")
    return tuple(sorted(one.name for one in pkgutil.iter_modules(package.__path__) if not one.name.startswith("_")))


@cache
def _theirs(room: str) -> dict[str, importlib.metadata.EntryPoint]:
    found = importlib.metadata.entry_points(group=f"deliberate.{room}")
    return {entry.name: entry for entry in sorted(found, key=lambda entry: entry.value, reverse=True)}
