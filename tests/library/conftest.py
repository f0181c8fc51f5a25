"""Documents on disk, as people leave them there."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from deliberate.library import Library

Write = Callable[[str, str], Path]
"""``write(path, text)`` puts a text, its common indent taken off, below the test's own folder."""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return put


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """Our folder is ``home``, the workspace is ``work``; nothing is in either."""
    return Library(home=tmp_path / "home", workspace=tmp_path / "work")
