"""Where documents lie: our own folder, the workspace, and what came with the package.

A shelf is one folder of one source. Sources rank as they are listed, highest first.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import platformdirs

from deliberate.errors import ConfigError
from deliberate.types import Record

__all__ = [
    "SOURCES",
    "Shelf",
    "bundled",
    "bundled_beside",
    "card_shelves",
    "home_folder",
    "panel_shelves",
    "rubric_shelves",
]

SOURCES = ("extra", "user", "workspace", "proposed", "managed", "bundled")
"""Where a document may come from, highest rank first; ``extra`` are folders the operator named."""

_PACKAGE = Path(__file__).parent.parent


class Shelf(Record, frozen=True, kw_only=True):
    """One folder of one source. Only in what came with the package may files be links: an installer put them there."""

    source: str
    folder: Path

    @property
    def links(self) -> bool:
        """Whether its files may be symbolic links."""
        return self.source == "bundled"


def home_folder() -> Path:
    """Our own folder: ``DELIBERATE_HOME``, else the user's data folder of this system."""
    stated = os.environ.get("DELIBERATE_HOME", "")
    return Path(stated).expanduser() if stated else Path(platformdirs.user_data_dir("deliberate", appauthor=False))


def bundled(kind: Literal["agents", "rubrics"]) -> Path:
    """The folder of the agent cards and panels, or of the rubrics, that came with the package.

    Raises:
        ConfigError: The installation lacks it.
    """
    return bundled_beside(_PACKAGE, kind)


def bundled_beside(package: Path, kind: str) -> Path:
    """The same for the package in a given folder: inside it once installed, beside it in a checkout.

    Raises:
        ConfigError: It is in neither place.
    """
    for folder in (package / "_bundled" / kind, package.parent / kind):
        if folder.is_dir():
            return folder
    raise ConfigError(f"the installation lacks its {kind}", where=str(package), hint="install deliberate-eval again")


def rubric_shelves(*, home: Path, workspace: Path, extra: Iterable[Path]) -> tuple[Shelf, ...]:
    """The shelves of rubrics, highest rank first; an extra folder may hold them or have them in ``rubrics/``."""
    own = home / "evaluators"
    return (
        *(Shelf(source="extra", folder=place) for folder in extra for place in (folder, folder / "rubrics")),
        Shelf(source="user", folder=own / "user"),
        Shelf(source="workspace", folder=workspace / ".agents" / "evaluators"),
        Shelf(source="proposed", folder=own / "proposed"),
        Shelf(source="managed", folder=own / "managed"),
        Shelf(source="bundled", folder=bundled("rubrics")),
    )


def panel_shelves(*, home: Path, workspace: Path, extra: Iterable[Path]) -> tuple[Shelf, ...]:
    """The shelves of panels, highest rank first; an extra folder may hold them or have them in ``agents/``."""
    extra = tuple(extra)
    return (
        *(Shelf(source="extra", folder=folder) for folder in extra),
        *card_shelves(home=home, workspace=workspace, extra=extra),
    )


def card_shelves(*, home: Path, workspace: Path, extra: Iterable[Path]) -> tuple[Shelf, ...]:
    """The shelves of agent cards, highest rank first; an extra folder has them in ``agents/``."""
    return (
        *(Shelf(source="extra", folder=folder / "agents") for folder in extra),
        Shelf(source="user", folder=home / "agents"),
        Shelf(source="workspace", folder=workspace / ".agents" / "agents"),
        Shelf(source="bundled", folder=bundled("agents")),
    )
