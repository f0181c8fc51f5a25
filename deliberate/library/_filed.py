"""What documents are called where they lie, and which may be used: known without reading one.

Apart from the readers, which need pydantic: who has no document has no use for them.
"""

from __future__ import annotations

import os
from pathlib import Path

from deliberate.errors import ConfigError, RubricError
from deliberate.library._files import listed, read_text
from deliberate.types import Rubric

__all__ = [
    "APPROVED",
    "PANEL_SUFFIX",
    "RUBRIC_FILE",
    "RUBRIC_SUFFIX",
    "NotAnEvaluator",
    "card_files",
    "is_approved",
    "panel_files",
    "pinned_name",
    "rubric_files",
]

RUBRIC_FILE = "SKILL.md"
RUBRIC_SUFFIX = ".SKILL.md"
PANEL_SUFFIX = ".panel.yaml"
APPROVED = "approved"
"""The file that holds the digest of a proposed rubric which may be used."""


class NotAnEvaluator(RubricError):
    """A SKILL.md of another kind: a skill for doing a task, not for judging one."""


def rubric_files(folder: Path) -> tuple[tuple[str, Path], ...]:
    """The rubrics that lie in a folder, as (name they go by, file): ``<name>/SKILL.md`` and ``<name>.SKILL.md``."""
    found: list[tuple[str, Path]] = []
    for child in listed(folder):
        if child.name.endswith(RUBRIC_SUFFIX) and child.name != RUBRIC_SUFFIX:
            found.append((child.name.removesuffix(RUBRIC_SUFFIX), child))
        elif os.path.lexists(child / RUBRIC_FILE):
            found.append((child.name, child / RUBRIC_FILE))
    return tuple(found)


def card_files(folder: Path) -> tuple[Path, ...]:
    """The files of agent cards in a folder, sorted; a README is none."""
    return tuple(path for path in listed(folder) if path.suffix == ".md" and path.name != "README.md")


def panel_files(folder: Path) -> tuple[Path, ...]:
    """The files of panels in a folder, sorted."""
    return tuple(path for path in listed(folder) if path.name.endswith(PANEL_SUFFIX) and path.name != PANEL_SUFFIX)


def is_approved(file: Path, rubric: Rubric) -> bool:
    """Whether a proposed rubric was approved as it stands: the file ``approved`` beside it holds its digest.

    A proposal that was changed after its approval is not approved.
    """
    try:
        return read_text(file.parent / APPROVED).split()[:1] == [rubric.digest]
    except ConfigError:
        return False


def pinned_name(rubric: Rubric) -> str:
    """The name that stands for just this content, wherever it lies: ``code-review@1a2b3c4d5e6f``."""
    return f"{rubric.name}@{rubric.digest[:12]}"
