"""Probes from Python: shares that moved, with intervals, and one figure a judge."""

from __future__ import annotations

from pathlib import Path

import pytest

from deliberate import Case, Judge, Session
from deliberate.errors import ConfigError, UnknownName
from deliberate.providers._base import Request, Response
from deliberate.providers.scripted import Scripted
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


class ByLength(Scripted):
    """Names the longer of two answers, or, where it is partial, the one shown first."""

    def __init__(self, *, partial: bool) -> None:
        super().__init__(self._said)
        self.partial = partial

    def _said(self, request: Request) -> Response:
        shown = request.messages[-1].content.partition("Answer A:\n")[2]
        first, _, second = shown.partition("\n\nAnswer B:\n")
        better = self.partial or len(first.strip()) > len(second.partition("\n</")[0].strip())
        text = '{"bracket": "good", "score": 70}' if better else '{"bracket": "fair", "score": 30}'
        return Response(text=text, model=request.model, finish="stop")


async def test_which_of_two_is_better_must_not_hang_on_their_order(tmp_path: Path) -> None:
    cases = [
        Case(output="a long answer, and then some", context={"other": "short"}),
        Case(output="its own first half is the other answer"),
    ]
    for partial, moved, shift in ((False, 0.0, 0.0), (True, 1.0, 40.0)):
        own = {"own": ByLength(partial=partial)}
        async with Session(ledger=tmp_path / f"{partial}.db", providers=own) as session:
            found = await probe("own/m", cases, session=session, probes=("order",))
        assert [(one.moved, one.shift, one.n) for one in found.probes] == [(moved, shift, 2)]
