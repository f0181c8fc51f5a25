"""An ask that is killed: the same command asks only what is missing, and decides as if nothing had happened."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import aiohttp
import anyio
import msgspec
import pytest

from deliberate.ledger import verify
from deliberate.providers._base import Request, Response
from deliberate.providers.scripted import Scripted
from deliberate.testing.endpoint import Endpoint
from tests.faults.conftest import killed, laid, seen, serving

pytestmark = pytest.mark.anyio

LATENCY = ("--latency", "0.25", "--jitter", "0.6", "--seed", "3")
"""Three replies, spread over about half a second."""

ALL = os.environ.get("DELIBERATE_ALL") == "1" or os.environ.get("DELIBERATE_CHECK") == "all"
MOMENTS = 200 if ALL else 8


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.mark.timeout(1200)
async def test_after_a_kill_only_missing_votes_are_asked_and_the_decision_is_the_same(
    tmp_path: Path, client: aiohttp.ClientSession, record_property: Callable[[str, object], None]
) -> None:
    chance = random.Random(11)
    kept: list[int] = []
    async with serving(*LATENCY) as address:
        undisturbed = await laid(tmp_path / "undisturbed", address).ask()
        assert undisturbed["counts"]["voted"] == 3
        for moment in range(MOMENTS):
            table = laid(tmp_path / str(moment), address)
            before = (await seen(client, address)).requests
            delay = chance.uniform(0.0, 0.7)
            async with table.running() as process:
                if moment % 6:  # every sixth falls where it may while the program starts
                    while (await seen(client, address)).requests == before and process.returncode is None:
                        await anyio.sleep(0.005)
                await anyio.sleep(delay)
                await killed(process)
            while (now := await seen(client, address)).in_flight:
                await anyio.sleep(0.005)
            asked = now.requests - before
            held = len(table.held())
            again = await table.ask()
            total = (await seen(client, address)).requests - before
            assert again["digest"] == undisturbed["digest"]
            assert total - asked == 3 - held
            assert (await verify(table.folder / "home/ledger.db")).sound
            kept.append(held)
    assert len(set(kept)) > 1  # the moments really fell at different places
    record_property("sampled", f"{MOMENTS} moments of a kill, {kept.count(3)} after all three votes")


class Changing(Scripted):
    """Answers when it is let, and otherwise than before."""

    def __init__(self) -> None:
        super().__init__()
        self.told = 0
        self.let = anyio.Event()

    async def complete(self, request: Request) -> Response:
        await self.let.wait()
        self.told += 1
        reply = {"reasoning": f"reply {self.told}", "findings": [], "suggestion": ""}
        share = 0.2 + self.told / 20
        reply["dimensions"] = dict.fromkeys(("relevance", "quality", "completeness"), share)  # type: ignore[assignment]
        return Response(text=msgspec.json.encode(reply).decode(), finish="stop", model=request.model)


async def test_a_reply_that_was_heard_but_not_written_down_is_never_shown(tmp_path: Path) -> None:
    judge = Changing()
    async with Endpoint(judge=judge) as endpoint:
        table = laid(tmp_path / "table", endpoint.address)
        ledger = tmp_path / "table/home/ledger.db"
        async with table.running() as process:
            while endpoint.stats.in_flight < 3:
                await anyio.sleep(0.01)
            with closing(sqlite3.connect(ledger, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")  # from here on nothing can be committed
                judge.let.set()
                await endpoint.wait_idle()
                await anyio.sleep(0.3)
                await killed(process)
        assert judge.told == 3
        assert table.held() == []
        again = await table.ask()
        assert judge.told == 6
        said = [vote["reason"] for vote in again["votes"]]
        assert sorted(said) == ["reply 4", "reply 5", "reply 6"]
        assert sorted(said) == sorted(one["reply"]["reason"] for one in table.held())
        assert (await verify(ledger)).sound


@pytest.mark.parametrize("seed", range(8 if ALL else 3))
async def test_what_the_verdict_shows_is_in_the_ledger_whenever_it_was_killed(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    judge = Changing()
    judge.let.set()
    async with Endpoint(judge=judge, latency_seconds=0.1, jitter=1.0, seed=seed) as endpoint:
        table = laid(tmp_path / "table", endpoint.address)
        async with table.running() as process:
            wanted = chance.randint(1, 3)
            while judge.told < wanted:
                await anyio.sleep(0.001)
            await anyio.sleep(chance.uniform(0.0, 0.03))
            await killed(process)
        await endpoint.wait_idle()
        written = {one["reply"]["reason"] for one in table.held()}
        again = await table.ask()
    said = {vote["reason"] for vote in again["votes"]}
    assert written <= said
    assert said == {one["reply"]["reason"] for one in table.held()}
    assert [vote["score"] for vote in again["votes"]] == [
        pytest.approx(20 + 5 * int(vote["reason"].split()[1])) for vote in again["votes"]
    ]
