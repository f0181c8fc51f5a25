"""Names of a room that are imported when they are first used (PEP 562).

The front door of a room that is costly to open says where its names live; whoever asks for one pays for that one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

__all__ = ["on_first_use"]


def on_first_use(
    room: str, homes: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """A module's ``__getattr__`` and ``__dir__``.

    Args:
        room: The module's own name, ``__name__``.
        homes: Module -> the names it is home to.
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def found(name: str) -> object:
        if name not in home_of:
            msg = f"module {room!r} has no attribute {name!r}"
            raise AttributeError(msg)
        return getattr(import_module(home_of[name]), name)

    return found, lambda: sorted(home_of)
