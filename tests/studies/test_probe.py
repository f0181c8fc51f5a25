"""Probes from Python: shares that moved, with intervals, and one figure a judge."""

from __future__ import annotations

from pathlib import Path

import pytest

from deliberate import Case, Judge, Session
from deliberate.errors import ConfigError, UnknownName
from deliberate.studies.probe import probe

pytestmark = pytest.mark.anyio


async def test_a_judge_is_summed_up_in_one_figure(tmp_path: Path) -> None:
    async with Session(ledger=tmp_path / "runs.db") as session:
        cases = [Case(output=f"output {at}") for at in range(3)]
        found = await probe(Judge(model="scripted/good:70"), cases, session=session, probes=("repeat", "author"))
    assert found.judge == "scripted/good:70"
    assert found.unmoved == 1
    assert [(one.probe, one.n, one.moved, one.shift) for one in found.probes] == [
        ("repeat", 3, 0, 0),
        ("author", 3, 0, 0),
    ]


async def test_a_judge_that_cannot_be_read_has_no_figure(tmp_path: Path) -> None:
    async with Session(ledger=tmp_path / "runs.db") as session:
        found = await probe("scripted/unreadable", [Case(output="x")], session=session, probes=("author",))
    assert found.unmoved is None
    assert found.probes[0].unread == 1


async def test_nothing_to_probe_with_and_unknown_probes_are_named(tmp_path: Path) -> None:
    async with Session(ledger=tmp_path / "runs.db") as session:
        with pytest.raises(ConfigError, match="no outputs to probe with"):
            await probe("scripted/good:70", [], session=session)
        with pytest.raises(UnknownName, match="unknown probe"):
            await probe("scripted/good:70", [Case(output="x")], session=session, probes=("paddding",))
