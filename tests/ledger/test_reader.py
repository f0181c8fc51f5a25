from __future__ import annotations

from pathlib import Path

import pytest

from deliberate.errors import ConfigError, LedgerError, UnknownName
from deliberate.ledger import open_ledger, read_ledger
from deliberate.types import Absent, Key

pytestmark = pytest.mark.anyio


async def test_reading_makes_nothing(place: Path) -> None:
    with pytest.raises(LedgerError, match="there is no ledger at"):
        async with read_ledger(place):
            raise AssertionError
    assert not place.parent.exists()


async def test_a_report_reads_beside_a_run(place: Path) -> None:
    async with open_ledger(place) as ledger, read_ledger(place) as reader:
        run = await ledger.begin("plan", {"seed": 7})
        ledger.put(Key("k"), "Answer", b"{}")
        await ledger.committed()
        assert await reader.body(Key("k")) == b"{}"
        assert [(each.run, each.status, each.config) for each in await reader.runs()] == [(run, "running", {"seed": 7})]


async def test_the_last_run_comes_first(place: Path) -> None:
    async with open_ledger(place) as ledger:
        ids = [await ledger.begin(f"plan {number}", {}) for number in range(5)]
        assert [each.run for each in await ledger.reader.runs()] == ids[::-1]


async def test_a_run_is_found_by_how_its_id_begins(place: Path) -> None:
    async with open_ledger(place) as ledger:
        ids = [await ledger.begin(f"plan {number}", {}) for number in range(40)]
        reader = ledger.reader
        for run in ids:
            assert (await reader.run(run)).run == run
            assert (await reader.run(f" {run.upper()} ")).run == run
        alone = [run for run in ids if sum(other[:3] == run[:3] for other in ids) == 1]
        assert (await reader.run(alone[0][:3])).run == alone[0]
        shared = next(run[0] for run in ids if sum(other[0] == run[0] for other in ids) > 1)
        with pytest.raises(ConfigError, match="several runs begin with"):
            await reader.run(shared)


async def test_letters_that_read_as_digits_are_taken_for_them(place: Path) -> None:
    async with open_ledger(place) as ledger:
        ids = [await ledger.begin(f"plan {number}", {}) for number in range(40)]
        run = next(each for each in ids if "0" in each or "1" in each)
        assert (await ledger.reader.run(run.replace("0", "O").replace("1", "l"))).run == run


@pytest.mark.parametrize("run", ["", "zzzz"])
async def test_an_unknown_run_is_told_with_those_there_are(place: Path, run: str) -> None:
    async with open_ledger(place) as ledger:
        known = await ledger.begin("plan", {})
        with pytest.raises(UnknownName, match=f"one of: {known}"):
            await ledger.reader.run(run)


async def test_results_are_the_records_of_cases(place: Path) -> None:
    async with open_ledger(place) as ledger:
        run = await ledger.begin("plan", {})
        for key, kind in (("a", "Answer"), ("e", "Evaluation"), ("f", "CaseFailed")):
            ledger.put(Key(key), kind, key.encode())
            ledger.place(f"q/{key}", Key(key))
        ledger.place("q/z", Key("z"), absent=Absent(reason="budget"))
        await ledger.committed()
        assert [step.kind for step in await ledger.reader.results(run)] == ["Evaluation", "CaseFailed"]
        assert [step.path for step in await ledger.reader.steps(run)] == ["q/a", "q/e", "q/f", "q/z"]
        assert [step.path for step in await ledger.reader.steps(run, kinds=("Answer",))] == ["q/a"]
        assert await ledger.reader.steps("none") == ()


async def test_steps_come_in_pages(place: Path) -> None:
    async with open_ledger(place) as ledger:
        run = await ledger.begin("plan", {})
        for number in range(25):
            ledger.place(f"q{number:02}", Key(str(number)))
        await ledger.committed()
        seen: list[str] = []
        while page := await ledger.reader.steps(run, after=seen[-1] if seen else "", most=10):
            assert len(page) <= 10
            seen += [step.path for step in page]
    assert seen == [f"q{number:02}" for number in range(25)]


async def test_an_absence_then_is_an_absence_whatever_came_later(place: Path) -> None:
    async with open_ledger(place) as ledger:
        one = await ledger.begin("plan", {})
        two = await ledger.begin("other plan", {})
        ledger.place("q", Key("k"), absent=Absent(reason="deadline"), run=one)
        ledger.put(Key("k"), "Answer", b"late")
        ledger.place("q", Key("k"), run=two)
        await ledger.committed()
        (then,) = await ledger.reader.steps(one)
        (later,) = await ledger.reader.steps(two)
    assert then.absent == Absent(reason="deadline")
    assert then.body is None
    assert later.body == b"late"


async def test_a_closed_reader_says_so(place: Path) -> None:
    async with open_ledger(place) as ledger:
        reader = ledger.reader
    with pytest.raises(LedgerError, match="closed database"):
        await reader.runs()
