from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from anyio.lowlevel import current_token

from deliberate.errors import LedgerError
from deliberate.ledger import open_ledger, verify
from deliberate.ledger._rows import Rows
from deliberate.ledger._schema import connect
from deliberate.ledger._writer import GROUP, WINDOW_SECONDS, Writer, pause_seconds
from deliberate.types import Key

pytestmark = pytest.mark.anyio


async def test_records_that_come_together_are_committed_together(place: Path) -> None:
    rows = Rows(connect(str(place), busy_seconds=1))
    writer = Writer(rows, path=str(place), token=current_token(), lock=threading.Lock())
    begun: list[str] = []
    rows.connection.set_trace_callback(lambda said: begun.append(said) if said.startswith("BEGIN") else None)
    for number in range(GROUP):
        writer.add(partial(rows.step, f"key {number}", "Answer", b"body"))
    writer.start()
    await writer.wait_written()
    assert begun == ["BEGIN IMMEDIATE"]
    writer.stop()
    await to_thread.run_sync(writer.join)
    rows.close()


async def test_the_window_is_what_was_decided() -> None:
    assert 0.1 <= WINDOW_SECONDS <= 0.2
    assert GROUP == 64


def test_who_waits_alone_waits_for_the_disk_only_and_many_share_a_commit() -> None:
    assert pause_seconds(0) == pause_seconds(1) == 0.0
    assert 0.0 < pause_seconds(2) < pause_seconds(10) < WINDOW_SECONDS
    assert pause_seconds(100) == pause_seconds(10_000) < WINDOW_SECONDS


async def test_those_who_wait_for_an_error_are_all_told(place: Path) -> None:
    refused = 0

    async def wait(writer: Writer) -> None:
        nonlocal refused
        with pytest.raises(LedgerError, match="ZeroDivisionError: gone"):
            await writer.wait_written()
        refused += 1

    def fail() -> None:
        raise ZeroDivisionError("gone")

    rows = Rows(connect(str(place), busy_seconds=1))
    writer = Writer(rows, path=str(place), token=current_token(), lock=threading.Lock())
    writer.add(partial(rows.step, "k", "Answer", b"body"))
    writer.add(fail)
    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(wait, writer)
        writer.start()
    assert refused == 5
    with pytest.raises(LedgerError, match="ZeroDivisionError: gone"):
        writer.add(fail)
    assert not rows.connection.in_transaction
    assert rows.connection.execute("SELECT count(*) FROM step").fetchone() == (0,)
    rows.close()


async def test_the_anchor_follows_within_about_a_second(place: Path) -> None:
    async with open_ledger(place) as ledger:
        ledger.put(Key("k"), "Answer", b"body")
        await ledger.committed()
        with anyio.fail_after(10):
            while (await verify(place)).anchored != 1:
                await anyio.sleep(0.02)


def test_a_loop_that_is_gone_stops_the_writer_which_writes_what_it_has(place: Path) -> None:
    async def token() -> object:
        return current_token()

    gone = anyio.run(token)
    rows = Rows(connect(str(place), busy_seconds=1))
    writer = Writer(rows, path=str(place), token=gone, lock=threading.Lock())  # type: ignore[arg-type]

    async def wait() -> None:
        writer.add(partial(rows.step, "k", "Answer", b"body"))
        writer.start()
        with anyio.move_on_after(0.5):
            await writer.wait_written()
        with anyio.fail_after(10):
            await to_thread.run_sync(writer.join)

    anyio.run(wait)
    assert rows.connection.execute("SELECT key FROM step").fetchall() == [("k",)]
    with pytest.raises(LedgerError, match="is closed"):
        writer.add(rows.learn_keys)
    rows.close()
