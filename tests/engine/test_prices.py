"""What a dry run says beforehand holds for real runs of every protocol."""

from __future__ import annotations

import pytest

from deliberate import Case, Panel, Session
from deliberate.library import Library
from deliberate.plugins import names
from deliberate.types import Judge, Param, Rules, Seat, Spec

pytestmark = pytest.mark.anyio

PARAMS: dict[str, dict[str, Param]] = {"rounds": {"rounds": 3}}
MORE = {
    "verify": Seat(name="checker", judge=Judge(model="scripted/seeded:1"), duty="verify"),
    "chair": Seat(name="head", judge=Judge(model="scripted/seeded:2"), duty="chair"),
}


def panel(protocol: str) -> Panel:
    seats = tuple(
        Seat(name=name, judge=Judge(model=f"scripted/seeded:{ord(name)}"), stage=int(name == "d")) for name in "abcd"
    )
    return Panel(
        name="p",
        seats=(*seats, *((MORE[protocol],) if protocol in MORE else ())),
        protocol=Spec(type=protocol, params=PARAMS.get(protocol, {})),
        criteria="Is it right?",
        rules=Rules(tie=("round", "lower")),
    )


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # counted alike on any loop
@pytest.mark.parametrize("protocol", names("protocols"))
async def test_ten_runs_take_as_many_calls_as_the_dry_run_said(protocol: str) -> None:
    taken: list[int] = []
    async with Session(ledger=":memory:", env={}, library=Library(home="nowhere", workspace="nowhere")) as session:
        told = await session.estimate(Case(output="number 000", task="Count."), panel(protocol))
        for number in range(10):
            case = Case(output=f"number {number:03}", task="Count.")
            found = await session.evaluate(case, panel(protocol))
            assert found.verdict is not None
            taken.append(found.usage.calls)
            assert found.verdict.counts["voted"] >= 3
    assert told.least_calls <= told.expected_calls <= told.most_calls
    assert all(told.least_calls <= calls <= told.most_calls for calls in taken), (told, taken)
