from __future__ import annotations

import threading
from pathlib import Path

import anyio
import pytest

from deliberate.errors import LedgerError
from deliberate.ledger import Ledger, default_path, open_ledger, read_ledger, verify
from deliberate.runtime import Ledger as Contract
from deliberate.types import Absent, Attempt, Key, Usage

pytestmark = pytest.mark.anyio

KEY = Key("a" * 64)
OTHER = Key("b" * 64)


async def wait_body(ledger: Ledger, key: Key, body: bytes) -> None:
    """Waits until that body is on disk, with nobody waiting for the commit."""
    with anyio.fail_after(10):
        while await ledger.reader.body(key) != body:
            await anyio.sleep(0.005)


def writers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("ledger ")]


async def test_it_is_the_ledger_that_the_runtime_wants(place: Path) -> None:
    async with open_ledger(place) as ledger:
        contract: Contract = ledger
        assert await contract.read(KEY) is None


async def test_a_new_ledger_and_its_folder_are_for_the_owner_only(place: Path) -> None:
    async with open_ledger(place) as ledger:
        await ledger.begin("plan", {})
        files = {file.name: file.stat().st_mode & 0o777 for file in place.parent.iterdir()}
    assert place.parent.stat().st_mode & 0o777 == 0o700
    assert set(files.values()) == {0o600}
    assert {"ledger.db", "ledger.db-wal", "ledger.db.anchor"} < set(files)


async def test_what_is_put_is_read_back_before_and_after_the_commit(place: Path) -> None:
    async with open_ledger(place) as ledger:
        ledger.put(KEY, "Answer", b"one")
        assert await ledger.read(KEY) == b"one"
        await ledger.committed()
        assert await ledger.read(KEY) == b"one"
        assert await ledger.read(OTHER) is None


async def test_it_is_still_there_after_closing(place: Path) -> None:
    async with open_ledger(place) as ledger:
        ledger.put(KEY, "Answer", b"one")
    async with open_ledger(str(place)) as ledger:
        assert await ledger.read(KEY) == b"one"
    assert sorted(file.name for file in place.parent.iterdir()) == ["ledger.db", "ledger.db.anchor"]


async def test_the_first_body_under_a_key_stays(place: Path) -> None:
    async with open_ledger(place) as ledger:
        ledger.put(KEY, "Answer", b"one")
        ledger.put(KEY, "Answer", b"two")
        assert await ledger.read(KEY) == b"one"
        await ledger.committed()
        ledger.put(KEY, "Answer", b"one")
        await ledger.committed()
        assert ledger.superseded == frozenset()
        ledger.put(KEY, "Answer", b"three")
        await ledger.committed()
        assert await ledger.read(KEY) == b"one"
        assert ledger.superseded == {KEY}
    assert (await verify(place)).records == 1


async def test_two_that_append_share_one_chain_and_the_first_body(place: Path) -> None:
    async with open_ledger(place) as one, open_ledger(place) as two:
        one.put(KEY, "Answer", b"of one")
        await one.committed()
        two.put(KEY, "Answer", b"of two")
        two.put(OTHER, "Answer", b"also of two")
        await two.committed()
        assert await two.read(KEY) == b"of one"
        assert two.superseded == {KEY}
        assert await one.read(OTHER) is None  # it has not looked since
        one.put(Key("c"), "Answer", b"")
        await one.committed()
        assert await one.read(OTHER) == b"also of two"
        assert one.superseded == frozenset()
    audit = await verify(place)
    assert audit.sound
    assert audit.records == 3


async def test_a_fresh_ledger_reads_back_only_what_is_put_into_it(place: Path) -> None:
    async with open_ledger(place) as ledger:
        ledger.put(KEY, "Answer", b"old")
        for key in (KEY, OTHER):
            ledger.attempted(Attempt(key=key, number=1, outcome="old"))
    async with open_ledger(place, fresh=True) as ledger:
        assert await ledger.read(KEY) is None
        ledger.put(KEY, "Answer", b"new")
        ledger.attempted(Attempt(key=KEY, number=1, outcome="new"))
        run = await ledger.begin("plan", {})
        ledger.place("q1", KEY)
        await ledger.committed()
        assert await ledger.read(KEY) == b"new"
        (step,) = await ledger.reader.steps(run)
        assert step.body == b"new"
        assert step.key.startswith(KEY + "@")
        for key, outcome in ((KEY, "new"), (step.key, "new"), (OTHER, "old")):
            assert [attempt.outcome for attempt in await ledger.reader.attempts(key)] == [outcome]
    async with open_ledger(place) as ledger:
        assert await ledger.read(KEY) == b"old"
        assert [attempt.outcome for attempt in await ledger.reader.attempts(KEY)] == ["old"]
    assert (await verify(place)).records == 2


async def test_places_tell_what_a_run_used(place: Path) -> None:
    why = Absent(reason="deadline", detail="120 s \ud800")
    async with open_ledger(place) as ledger:
        run = await ledger.begin("plan", {"seed": 1})
        ledger.put(KEY, "Answer", b"one")
        ledger.place("q1/0.ballot..a", KEY)
        ledger.place("q1/0.ballot..b", OTHER, absent=why)
        ledger.place("q\ud800", OTHER)
        await ledger.committed()
        first, second, third = await ledger.reader.steps(run)
        assert (first.key, first.kind, first.body, first.absent) == (KEY, "Answer", b"one", None)
        assert (second.key, second.body, second.absent) == (OTHER, None, Absent(reason="deadline", detail="120 s ?"))
        assert (third.path, third.kind, third.body) == ("q?", "", None)
        ledger.put(OTHER, "Answer", b"two")
        ledger.place("q1/0.ballot..b", OTHER)
        await ledger.committed()
        assert [step.body for step in await ledger.reader.steps(run)] == [b"one", b"two", b"two"]


async def test_a_place_needs_a_run_that_was_begun(place: Path) -> None:
    async with open_ledger(place) as ledger:
        with pytest.raises(LedgerError, match=r"run unnamed was not begun here \(begun: none\)"):
            ledger.place("q1", KEY)
        one = await ledger.begin("plan", {})
        two = await ledger.begin("other plan", {})
        with pytest.raises(LedgerError, match="not begun here"):
            ledger.place("q1", KEY)
        with pytest.raises(LedgerError, match="run zzzz was not begun here"):
            ledger.place("q1", KEY, run="zzzz")
        ledger.place("q1", KEY, run=one)
        ledger.place("q2", KEY, run=two)
        await ledger.committed()
        assert [step.path for step in await ledger.reader.steps(two)] == ["q2"]


async def test_attempts_are_kept_whatever_became_of_them(place: Path) -> None:
    paid = Usage(calls=1, tokens_in=10, tokens_out=5, cost_usd=None)
    one = Attempt(
        key=KEY, number=1, outcome="failed", cause="reset \ud800", latency_seconds=0.25, at="2026-11-02T09:30:00Z"
    )
    two = Attempt(key=KEY, number=2, outcome="stop", requested={"n": "1"}, effective={"é": "\udfff"}, usage=paid)
    async with open_ledger(place) as ledger:
        ledger.attempted(one)
        ledger.attempted(two)
        await ledger.committed()
        first, second = await ledger.reader.attempts(KEY)
    assert (first.number, first.cause, first.latency_seconds, first.at) == (1, "reset ?", 0.25, "2026-11-02T09:30:00Z")
    assert (second.effective, second.usage, second.requested) == ({"é": "?"}, paid, {"n": "1"})
    assert second.at.endswith("Z")


async def test_blobs_are_kept_under_their_digest(place: Path) -> None:
    async with open_ledger(place) as ledger:
        digest = ledger.put_blob(b"big")
        assert ledger.put_blob(b"big") == digest
        assert await ledger.blob(digest) == b"big"
        await ledger.committed()
        assert await ledger.blob(digest) == b"big"
        assert ledger.put_blob(b"big") == digest
        await ledger.committed()
        assert await ledger.blob("0" * 64) is None


async def test_a_record_is_written_without_anybody_waiting(place: Path) -> None:
    async with open_ledger(place) as ledger:
        ledger.put(KEY, "Answer", b"one")
        await wait_body(ledger, KEY, b"one")
        for number in range(200):
            ledger.put(Key(f"key {number}"), "Answer", b"body")
        await wait_body(ledger, Key("key 199"), b"body")


async def test_whoever_waits_for_a_step_that_never_comes_is_not_forgotten(place: Path) -> None:
    async with open_ledger(place) as ledger:
        assert await ledger.read(OTHER) is None  # expected from now on; and then its caller was cancelled
        for number in range(3):
            ledger.put(Key(f"key {number}"), "Answer", b"body")
            with anyio.fail_after(10):
                await ledger.committed()


async def test_an_idle_ledger_commits_at_once(place: Path) -> None:
    async with open_ledger(place) as ledger:
        with anyio.fail_after(5):  # a hundred windows would take ten seconds
            for number in range(100):
                key = Key(f"key {number}")
                assert await ledger.read(key) is None
                ledger.put(key, "Answer", b"body")
                await ledger.committed()


async def test_many_wait_at_once(place: Path) -> None:
    seen = 0

    async def one(ledger: Ledger, number: int) -> None:
        nonlocal seen
        key = Key(f"key {number}")
        assert await ledger.read(key) is None
        await anyio.sleep(0.001 * (number % 7))
        ledger.put(key, "Answer", b"body")
        await ledger.committed()
        assert await ledger.reader.body(key) == b"body"
        seen += 1

    async with open_ledger(place) as ledger, anyio.create_task_group() as tasks:
        for number in range(300):
            tasks.start_soon(one, ledger, number)
    assert seen == 300


async def test_a_cancelled_wait_loses_nothing(place: Path) -> None:
    async with open_ledger(place) as ledger:
        ledger.put(KEY, "Answer", b"one")
        with anyio.CancelScope() as scope:
            scope.cancel()
            await ledger.committed()
        assert scope.cancelled_caught
        await ledger.committed()
        assert await ledger.reader.body(KEY) == b"one"


async def test_leaving_by_an_error_writes_what_is_queued(place: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with open_ledger(place) as ledger:
            ledger.put(KEY, "Answer", b"one")
            raise ZeroDivisionError
    with anyio.CancelScope() as scope:
        async with open_ledger(place) as ledger:
            assert await ledger.read(KEY) == b"one"
            ledger.put(OTHER, "Answer", b"two")
            scope.cancel()
            await anyio.sleep(10)
    async with read_ledger(place) as reader:
        assert await reader.body(OTHER) == b"two"


async def test_no_thread_outlives_it(place: Path) -> None:
    async with open_ledger(place):
        assert len(writers()) == 1
    assert writers() == []
    with pytest.raises(LedgerError):
        async with open_ledger(place.parent):
            raise AssertionError
    assert writers() == []


async def test_a_closed_ledger_takes_nothing_more(place: Path) -> None:
    async with open_ledger(place) as ledger:
        pass
    with pytest.raises(LedgerError, match="is closed"):
        ledger.put(KEY, "Answer", b"one")
    await ledger.committed()


async def test_a_ledger_in_memory_does_all_of_this() -> None:
    async with open_ledger(":memory:") as ledger:
        run = await ledger.begin("plan", {})
        ledger.put(KEY, "Evaluation", b"one")
        ledger.place("q1", KEY)
        await ledger.committed()
        assert await ledger.read(KEY) == b"one"
        assert [step.body for step in await ledger.reader.results(run)] == [b"one"]
        await ledger.end(run, "ok")
        assert (await ledger.reader.run(run)).status == "ok"
    async with open_ledger(":memory:") as ledger:
        assert await ledger.read(KEY) is None


async def test_every_ledger_has_a_secret_of_its_own(place: Path) -> None:
    async with open_ledger(place) as ledger, open_ledger(":memory:") as other:
        secret = ledger.secret
        assert len(secret) == 32
        assert other.secret != secret
    async with open_ledger(place) as ledger:
        assert ledger.secret == secret


async def test_a_run_gets_a_short_id_that_no_other_has(place: Path) -> None:
    ids: list[str] = []
    async with open_ledger(place) as ledger:
        for _ in range(40):
            ids.append(await ledger.begin("plan", {}))
            await ledger.end(ids[-1], "ok")
    assert len(set(ids)) == 40
    assert all(4 <= len(run) <= 6 and set(run) <= set("0123456789abcdefghjkmnpqrstvwxyz") for run in ids)


async def test_run_ids_need_no_chance(place: Path, tmp_path: Path) -> None:
    async with open_ledger(place) as one, open_ledger(tmp_path / "two.db") as two:
        assert await one.begin("plan", {}) == await two.begin("plan", {})


async def test_a_run_that_did_not_end_well_goes_on(place: Path) -> None:
    async with open_ledger(place) as ledger:
        run = await ledger.begin("plan", {"limit": 1})
        await ledger.end(run, "incomplete")
        assert await ledger.begin("plan", {"limit": 2}) == run
    async with open_ledger(place) as ledger:
        there = await ledger.reader.run(run)
        assert (there.status, there.config) == ("interrupted", {"limit": 2})
        assert there.ended_at is not None
        assert await ledger.begin("plan", {}) == run
        going_on = await ledger.reader.run(run)
        assert (going_on.status, going_on.ended_at, going_on.started_at) == ("running", None, there.started_at)
        await ledger.end(run, "ok")
        assert await ledger.begin("plan", {}) != run


async def test_a_fresh_run_never_goes_on(place: Path) -> None:
    async with open_ledger(place) as ledger:
        run = await ledger.begin("plan", {})
    async with open_ledger(place, fresh=True) as ledger:
        assert await ledger.begin("plan", {}) != run


async def test_a_run_is_begun_once_at_a_time(place: Path) -> None:
    async with open_ledger(place) as ledger:
        run = await ledger.begin("plan", {})
        with pytest.raises(LedgerError, match=rf"run {run} is being executed by process \d+ on host .+ since 2"):
            await ledger.begin("plan", {})
        await ledger.begin("other plan", {})
        await ledger.end(run, "incomplete")
        assert await ledger.begin("plan", {}) == run
    assert not list(place.parent.glob("*.lock"))


async def test_a_run_of_a_name_that_nobody_else_has_takes_no_lock(place: Path) -> None:
    async with open_ledger(place) as ledger:
        run = await ledger.begin("plan of this process", {}, alone=False)
        assert not list(place.parent.glob("*.lock"))
        assert ledger.is_open(run)
        await ledger.end(run, "ok")
        assert not ledger.is_open(run)
        assert (await ledger.reader.run(run)).status == "ok"


async def test_a_run_that_cannot_be_begun_leaves_no_lock(place: Path) -> None:
    async with open_ledger(place) as ledger:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await ledger.begin("plan", {})
        await ledger.begin("plan", {})
        with pytest.raises(ValueError, match="not a finite number"):
            await ledger.begin("other plan", {"limit": float("nan")})


async def test_only_a_run_that_was_begun_can_be_ended(place: Path) -> None:
    async with open_ledger(place) as ledger:
        with pytest.raises(LedgerError, match="not begun here"):
            await ledger.end("zzzz", "ok")


def test_the_operator_says_where_it_lies(tmp_path: Path) -> None:
    assert default_path({"DELIBERATE_HOME": str(tmp_path)}) == tmp_path / "ledger.db"
    assert default_path({"DELIBERATE_HOME": "~/state"}) == Path.home() / "state" / "ledger.db"


def test_it_lies_in_the_users_data_folder_else() -> None:
    path = default_path({})
    assert path.name == "ledger.db"
    assert path.parent.name == "deliberate"
    assert path.is_absolute()
