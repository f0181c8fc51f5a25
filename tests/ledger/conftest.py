from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where a ledger can be made; its folder is not there yet."""
    return tmp_path / "state" / "ledger.db"
