"""How well each rubric agreed with what people said later, kept in our own folder: read by the selection.

Never the mean score a rubric gave: a rubric that flatters would win then.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec

from deliberate.errors import ConfigError
from deliberate.library._files import read_text
from deliberate.library._select import Effect

__all__ = ["effects_file", "read_effects", "write_effects"]


def effects_file(home: Path) -> Path:
    """Where they are kept: by a rubric's digest, its agreement 0–1 and the number of cases."""
    return home / "evaluators" / "effectiveness.json"


def read_effects(home: Path) -> Mapping[str, Effect]:
    """What is known; nothing where nothing was measured.

    Raises:
        ConfigError: The file is not what we wrote.
    """
    path = effects_file(home)
    if not path.exists():
        return {}
    try:
        found = msgspec.json.decode(read_text(path), type=dict[str, tuple[float, int]])
    except msgspec.DecodeError as error:
        raise ConfigError(f"cannot be read: {error}", where=str(path), hint="delete it, and measure anew") from None
    return {digest: Effect(*pair) for digest, pair in found.items()}


def write_effects(home: Path, effects: Mapping[str, Effect]) -> None:
    """Keeps what was measured, beside what was known of other rubrics."""
    path = effects_file(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    known = {**read_effects(home), **effects}
    text = json.dumps({digest: list(known[digest]) for digest in sorted(known)}, indent=1)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")
