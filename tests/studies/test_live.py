"""Judges asked live from Python, and compared."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from deliberate import Session, compare
from deliberate.errors import ConfigError

pytestmark = pytest.mark.anyio

ROWS = b"\n".join(
    msgspec.json.encode({"item": f"q{at}", "rater": "ann", "kind": "human", "vote": vote, "output": f"o{at}"})
    for at, vote in enumerate(["poor", "good"] * 4)
)


async def test_a_study_comes_out_and_its_rows_are_found_by_name(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_bytes(ROWS)
    async with Session(ledger=tmp_path / "runs.db") as session:
        study = await compare(["scripted/good:70", "scripted/poor:10"], items=path, session=session)
    assert study.n == 8
    assert study["scripted/good:70"].exact == 0.5
    assert study["scripted/poor:10"].kappa.value == 0
    assert study.labels == ("poor", "fair", "good", "excellent")


async def test_nobody_to_ask_is_named_before_anything_is_spent(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nobody to ask"):
        await compare([], items=tmp_path / "labels.jsonl")
