"""The page about this room names all there is in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from deliberate.testing.faults import FAULTS
from deliberate.testing.judges import DEGRADED, TRIALS

PAGE = (Path(__file__).parents[2] / "docs" / "testing.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("names", [FAULTS, DEGRADED, TRIALS], ids=["faults", "judges", "trials"])
def test_every_name_stands_on_the_page(names: dict[str, object]) -> None:
    assert [name for name in names if f"`{name}`" not in PAGE] == []
