from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from deliberate.errors import LedgerError
from deliberate.ledger import open_ledger, verify
from deliberate.types import Key

pytestmark = pytest.mark.anyio

RECORDS = 20


async def fill(place: Path, *, records: int = RECORDS) -> None:
    async with open_ledger(place) as ledger:
        ledger.put_blob(b"a blob")
        for number in range(records):
            ledger.put(Key(f"key {number}"), "Answer", f"body {number}".encode())


def change(place: Path, statement: str) -> None:
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute(statement)


async def keep_log(place: Path, records: int) -> None:
    """Leaves the ledger as a killed process leaves it: records in the write-ahead log, anchor up to date."""
    await fill(place, records=0)
    copy = place.parent / "copy"
    copy.mkdir()
    async with open_ledger(place) as ledger:
        for number in range(records):
            ledger.put(Key(f"key {number}"), "Answer", b"x" * 500)
            await ledger.committed()
        for ending in ("", "-wal"):
            shutil.copy(f"{place}{ending}", copy)
    shutil.copy(f"{place}.anchor", copy)
    place.unlink()
    for file in copy.iterdir():
        file.rename(place.parent / file.name)


async def test_a_ledger_nobody_touched_is_sound(place: Path) -> None:
    await fill(place)
    audit = await verify(place)
    assert audit.sound
    assert (audit.records, audit.anchored, audit.missing, audit.broken_at) == (RECORDS, RECORDS, 0, None)
    assert len(audit.head) == 64


async def test_an_empty_ledger_is_sound(place: Path) -> None:
    await fill(place, records=0)
    audit = await verify(place)
    assert audit.sound
    assert (audit.records, audit.anchored) == (0, 0)


async def test_a_ledger_that_is_being_written_is_sound(place: Path) -> None:
    async with open_ledger(place) as ledger:
        for number in range(30):
            ledger.put(Key(f"key {number}"), "Answer", b"x" * 500)
            await ledger.committed()
            audit = await verify(place)
            assert audit.sound
            assert audit.records == number + 1


@pytest.mark.parametrize(
    ("statement", "broken_at", "problem"),
    [
        ("UPDATE step SET body = 'other' WHERE seq = 7", 7, "record 7 was changed"),
        ("UPDATE step SET kind = 'Note' WHERE seq = 7", 7, "record 7 was changed"),
        ("UPDATE step SET key = 'other' WHERE seq = 7", 7, "record 7 was changed"),
        ("UPDATE step SET prev = hash WHERE seq = 7", 7, "record 7 does not follow from the one before it"),
        ("UPDATE step SET hash = prev WHERE seq = 7", 7, "record 7 was changed"),
        ("UPDATE step SET body = 'Ym9keSA2' WHERE seq = 7", 7, "record 7 was changed"),
        ("UPDATE step SET kind = 9e999 WHERE seq = 7", 7, "record 7 was changed"),
        ("DELETE FROM step WHERE seq = 1", 1, "record 1 is missing"),
        ("DELETE FROM step WHERE seq = 7", 7, "record 7 is missing"),
        ("UPDATE step SET seq = 99 WHERE seq = 20", 20, "record 20 is missing"),
        ("INSERT INTO step SELECT 0, 'x', kind, body, prev, hash FROM step WHERE seq = 1", 1, "record 1 is missing"),
    ],
)
async def test_the_first_broken_record_is_named(place: Path, statement: str, broken_at: int, problem: str) -> None:
    await fill(place)
    change(place, statement)
    audit = await verify(place)
    assert not audit.sound
    assert (audit.broken_at, audit.problem, audit.records) == (broken_at, problem, broken_at - 1)


async def test_a_lost_tail_is_seen_by_the_anchor_and_refused(place: Path) -> None:
    await fill(place)
    change(place, "DELETE FROM step WHERE seq > 17")
    audit = await verify(place)
    assert audit.problem == "3 of the 20 records its anchor knows are missing"
    assert (audit.missing, audit.records, audit.broken_at) == (3, 17, None)
    with pytest.raises(
        LedgerError, match=r"3 of the 20 records its anchor knows are missing; restore it from a backup"
    ):
        async with open_ledger(place):
            raise AssertionError
    Path(f"{place}.anchor").unlink()
    async with open_ledger(place) as ledger:
        assert await ledger.read(Key("key 16")) == b"body 16"


async def test_a_rewritten_tail_is_seen_by_the_anchor(place: Path, tmp_path: Path) -> None:
    await fill(place)
    kept = Path(f"{place}.anchor").read_bytes()
    shutil.copy(place, tmp_path / "forged.db")
    change(tmp_path / "forged.db", "DELETE FROM step WHERE seq > 17")
    async with open_ledger(tmp_path / "forged.db") as ledger:
        for number in range(10):
            ledger.put(Key(f"forged {number}"), "Answer", b"excellent")
    shutil.copy(tmp_path / "forged.db", place)
    assert Path(f"{place}.anchor").read_bytes() == kept
    audit = await verify(place)
    assert audit.problem == "record 20 is not the one its anchor knows"
    assert (audit.missing, audit.records) == (0, 27)
    with pytest.raises(LedgerError, match="record 20 is not the one its anchor knows"):
        async with open_ledger(place):
            raise AssertionError


async def test_the_anchor_of_another_ledger_is_refused(place: Path, tmp_path: Path) -> None:
    await fill(place)
    await fill(tmp_path / "other.db")
    shutil.copy(tmp_path / "other.db.anchor", f"{place}.anchor")
    audit = await verify(place)
    assert audit.problem.startswith("its anchor belongs to another ledger")
    assert audit.missing == 0
    with pytest.raises(LedgerError, match="belongs to another ledger"):
        async with open_ledger(place):
            raise AssertionError


async def test_a_missing_anchor_is_a_fault_until_somebody_writes_and_a_note_then(place: Path) -> None:
    await fill(place)
    Path(f"{place}.anchor").unlink()
    audit = await verify(place)
    assert audit.problem.startswith("its anchor is missing")
    async with open_ledger(place):
        pass
    audit = await verify(place)
    assert audit.sound
    assert "with 20 records there" in audit.notes[0]


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff", b'{"ledger":"a","count":"3","head":"b"}'])
async def test_a_damaged_anchor_is_refused(place: Path, damage: bytes) -> None:
    await fill(place)
    Path(f"{place}.anchor").write_bytes(damage)
    audit = await verify(place)
    assert "anchor" in audit.problem
    assert "is damaged" in audit.problem
    with pytest.raises(LedgerError, match="delete the anchor to go on"):
        async with open_ledger(place):
            raise AssertionError


async def test_records_behind_the_anchor_are_not_missing(place: Path) -> None:
    await fill(place, records=10)
    before = Path(f"{place}.anchor").read_bytes()
    await fill(place, records=20)
    Path(f"{place}.anchor").write_bytes(before)
    audit = await verify(place)
    assert audit.sound
    assert (audit.records, audit.anchored) == (20, 10)


async def test_a_log_as_a_killed_process_leaves_it_is_sound(place: Path) -> None:
    await keep_log(place, 20)
    audit = await verify(place)
    assert audit.sound
    assert audit.records == 20


def _truncate(log: Path) -> None:
    with log.open("r+b") as file:
        file.truncate(log.stat().st_size * 3 // 4)


def _flip(log: Path) -> None:
    with log.open("r+b") as file:
        file.seek(log.stat().st_size * 3 // 4)
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ 0x10]))


@pytest.mark.parametrize("damage", [_truncate, _flip, Path.unlink])
async def test_a_damaged_log_loses_records_without_a_word_and_the_anchor_tells(
    place: Path, damage: Callable[[Path], None]
) -> None:
    await keep_log(place, 20)
    damage(Path(f"{place}-wal"))
    audit = await verify(place)
    assert audit.records < 20
    assert audit.missing == 20 - audit.records
    assert audit.problem == f"{audit.missing} of the 20 records its anchor knows are missing"
    with pytest.raises(LedgerError, match="records its anchor knows are missing"):
        async with open_ledger(place):
            raise AssertionError


async def test_a_changed_blob_is_found(place: Path) -> None:
    await fill(place)
    change(place, "UPDATE blob SET body = 'other'")
    audit = await verify(place)
    assert audit.problem.startswith("blob ")
    assert audit.problem.endswith("was changed")


async def test_an_index_that_lost_a_key_is_found(place: Path) -> None:
    await fill(place)
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("DELETE FROM sqlite_master WHERE name = 'attempt_key'")
        connection.commit()
    audit = await verify(place)
    assert "damaged" in audit.problem


async def test_pages_full_of_noise_are_found(place: Path) -> None:
    await fill(place, records=1000)
    with place.open("r+b") as file:
        file.seek(20 * 4096)
        file.write(b"\xa5" * (place.stat().st_size - 20 * 4096))
    audit = await verify(place)
    assert audit.problem.startswith("it cannot be read to its end")
    assert audit.records < 1000


async def test_what_is_no_ledger_is_not_audited(place: Path, tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="there is no ledger at"):
        await verify(place)
    text = tmp_path / "notes.txt"
    text.write_text("not a database at all, but long enough to have a header" * 20)
    with pytest.raises(LedgerError, match="this file is not a ledger"):
        await verify(text)


async def test_an_audit_beside_a_busy_writer_never_sees_a_false_fault(place: Path) -> None:
    async with open_ledger(place) as ledger, anyio.create_task_group() as tasks:
        done = anyio.Event()

        async def write() -> None:
            for number in range(2000):
                ledger.put(Key(f"key {number}"), "Answer", b"x" * 100)
                if number % 50 == 0:
                    await ledger.committed()
            done.set()

        tasks.start_soon(write)
        while not done.is_set():
            assert (await verify(place)).sound
