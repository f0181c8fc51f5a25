from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from deliberate.errors import LedgerError
from deliberate.ledger import open_ledger, read_ledger, verify
from deliberate.ledger._chain import Anchor, read_anchor, write_anchor
from deliberate.ledger._errors import explain, explained
from deliberate.types import Key

pytestmark = pytest.mark.anyio

FILLS = """
import resource, sys
import anyio
from deliberate.errors import LedgerError
from deliberate.ledger import open_ledger

async def main(path, most_bytes):
    async with open_ledger(path) as ledger:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(most_bytes), int(most_bytes)))
        for number in range(10_000):
            ledger.put(f"key {number}", "Answer", b"x" * 500)
            await ledger.committed()
            print(number, flush=True)

try:
    anyio.run(main, *sys.argv[1:])
except LedgerError as error:
    print(error, file=sys.stderr)
"""

READS_AS_NOBODY = """
import os, sys
import anyio
from deliberate.errors import LedgerError
from deliberate.ledger import open_ledger, read_ledger, verify

async def main(path):
    async with read_ledger(path) as reader:
        print(await reader.body("k"))
    print((await verify(path)).sound)
    async with open_ledger(path):
        print("opened")

anyio.run(main, sys.argv[1])  # loads all there is to load, with every right
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    anyio.run(main, sys.argv[2])
except LedgerError as error:
    print(error)
"""


def fill_up(disk: Path) -> None:
    with (disk / "ballast").open("wb", buffering=0) as ballast, pytest.raises(OSError, match="No space left"):
        while True:
            ballast.write(b"x" * 4096)


async def test_on_a_full_disk_everything_acknowledged_is_there_and_it_goes_on_after_room_is_made(
    small_disk: Path,
) -> None:
    place = small_disk / "ledger.db"
    (small_disk / "ballast").write_bytes(b"x" * 500_000)
    acknowledged: list[Key] = []
    with pytest.raises(LedgerError, match=r"the disk is full .*; make room and run the same command again"):
        async with open_ledger(place) as ledger:
            while True:
                key = Key(f"key {len(acknowledged)}")
                ledger.put(key, "Answer", b"x" * 500)
                await ledger.committed()
                acknowledged.append(key)
    assert acknowledged
    (small_disk / "ballast").unlink()
    async with open_ledger(place) as ledger:
        for key in acknowledged:
            assert await ledger.read(key) == b"x" * 500
        ledger.put(Key("one more"), "Answer", b"x")
    audit = await verify(place)
    assert audit.sound
    assert audit.records in {len(acknowledged) + 1, len(acknowledged) + 2}


async def test_after_an_error_everything_is_refused_with_its_cause(small_disk: Path) -> None:
    with pytest.raises(LedgerError, match="the disk is full"):
        async with open_ledger(small_disk / "ledger.db") as ledger:
            ledger.put(Key("big"), "Answer", b"x" * 3_000_000)
            for _ in range(3):
                with pytest.raises(LedgerError, match="the disk is full") as caught:
                    await ledger.committed()
                assert caught.value.hint.startswith("make room")
            with pytest.raises(LedgerError, match="the disk is full"):
                ledger.put(Key("small"), "Answer", b"x")
            with pytest.raises(LedgerError, match="the disk is full"):
                ledger.put(Key("big"), "Answer", b"x")
            with pytest.raises(LedgerError, match="the disk is full"):
                await ledger.begin("plan", {})
    assert not list(small_disk.glob("*.lock"))


async def test_a_disk_that_is_full_from_the_start_is_refused_before_anything_is_paid(small_disk: Path) -> None:
    place = small_disk / "ledger.db"
    async with open_ledger(place):
        pass
    fill_up(small_disk)
    with pytest.raises(LedgerError, match="the disk is full"):
        async with open_ledger(place):
            raise AssertionError


def test_an_anchor_that_finds_no_room_leaves_the_one_before(small_disk: Path) -> None:
    path = str(small_disk / "ledger.db")
    before = Anchor(ledger="a", count=1, head="1")
    write_anchor(path, before)
    fill_up(small_disk)
    with pytest.raises(OSError, match="No space left"):
        write_anchor(path, Anchor(ledger="a", count=2, head="2"))
    assert read_anchor(path) == before
    assert {file.name for file in small_disk.iterdir()} == {"ledger.db.anchor", "ballast"}


async def test_a_run_that_could_not_be_ended_gives_its_lock_back(small_disk: Path) -> None:
    place = small_disk / "ledger.db"
    with pytest.raises(LedgerError, match="the disk is full"):
        async with open_ledger(place) as ledger:
            run = await ledger.begin("plan", {})
            await ledger.begin("other plan", {})
            ledger.put(Key("big"), "Answer", b"x" * 3_000_000)
            with pytest.raises(LedgerError, match="the disk is full"):
                await ledger.end(run, "ok")
    assert not list(small_disk.glob("*.lock"))


def test_a_file_that_may_not_grow_loses_nothing_acknowledged(place: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FILLS, str(place), "200000"], capture_output=True, text=True, check=True
    )
    assert "the disk reported an error" in done.stderr
    acknowledged = done.stdout.split()
    assert 10 < len(acknowledged) < 10_000
    with closing(sqlite3.connect(place)) as connection:
        keys = {key for (key,) in connection.execute("SELECT key FROM step")}
    assert {f"key {number}" for number in acknowledged} <= keys


async def test_a_folder_that_cannot_be_written_can_be_read_and_is_refused_to_writers(place: Path) -> None:
    async with open_ledger(place) as ledger:
        ledger.put(Key("k"), "Answer", b"body")
    with tempfile.TemporaryDirectory() as folder:  # where others may look
        copy = Path(folder) / "ledger.db"
        for ending in ("", ".anchor"):
            shutil.copy(f"{place}{ending}", f"{copy}{ending}")
            Path(f"{copy}{ending}").chmod(0o444)
        Path(folder).chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", READS_AS_NOBODY, str(place), str(copy)], capture_output=True, text=True, check=True
        )
        Path(folder).chmod(0o700)
    body, sound, refused = done.stdout.splitlines()[-3:]
    assert (body, sound) == ("b'body'", "True")
    assert "cannot be written here" in refused
    assert "choose another place with --ledger FILE or DELIBERATE_HOME" in refused


async def test_a_ledger_locked_by_another_program_is_refused_at_the_start(place: Path) -> None:
    async with open_ledger(place):
        pass
    with closing(sqlite3.connect(place, isolation_level=None)) as browser:
        browser.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match=r"another program holds it locked .*; close that program"):
            async with open_ledger(place, busy_seconds=0.1):
                raise AssertionError


async def test_a_ledger_locked_for_too_long_ends_the_run(place: Path) -> None:
    with pytest.raises(LedgerError, match="holds it locked"):
        async with open_ledger(place, busy_seconds=0.1) as ledger:
            with closing(sqlite3.connect(place, isolation_level=None)) as browser:
                browser.execute("BEGIN IMMEDIATE")
                ledger.put(Key("k"), "Answer", b"body")
                with pytest.raises(LedgerError, match="another program holds it locked"):
                    await ledger.committed()


async def test_a_short_lock_is_waited_for(place: Path) -> None:
    async with open_ledger(place) as ledger:
        with closing(sqlite3.connect(place, isolation_level=None)) as browser:
            browser.execute("BEGIN IMMEDIATE")
            ledger.put(Key("k"), "Answer", b"body")
            browser.execute("ROLLBACK")
        await ledger.committed()


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database at all, but long enough to have a header" * 20)
    before = text.read_bytes()
    with pytest.raises(LedgerError, match=r"this file is not a ledger .*; name another file with --ledger FILE"):
        async with open_ledger(text):
            raise AssertionError
    with pytest.raises(LedgerError, match="this file is not a ledger"):
        async with read_ledger(text):
            raise AssertionError
    assert text.read_bytes() == before


async def test_a_folder_in_its_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="cannot be written here"):
        async with open_ledger(tmp_path):
            raise AssertionError
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(LedgerError, match="cannot be written here"):
        async with open_ledger(tmp_path / "file" / "ledger.db"):
            raise AssertionError


async def test_a_record_that_cannot_be_one_stops_the_writer_and_says_so(place: Path) -> None:
    with pytest.raises(LedgerError, match="TypeError"):
        async with open_ledger(place) as ledger:
            ledger.put(Key("k"), "Answer", object())  # type: ignore[arg-type]
            with pytest.raises(LedgerError, match="TypeError"):
                await ledger.committed()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (sqlite3.SQLITE_FULL, "the disk is full"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, "cannot be written here"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "another program holds it locked"),
        (sqlite3.SQLITE_IOERR_LOCK, "cannot be locked there"),
        (sqlite3.SQLITE_IOERR_FSYNC, "the disk reported an error"),
        (sqlite3.SQLITE_CORRUPT_INDEX, "the file is damaged"),
        (sqlite3.SQLITE_MISUSE, "it could not be used"),
    ],
)
def test_what_sqlite_says_is_told_with_what_to_do(code: int, said: str) -> None:
    error = sqlite3.OperationalError("a message")
    error.sqlite_errorcode = code
    error.sqlite_errorname = "A_NAME"
    told = str(explain(error, "ledger.db"))
    assert told.startswith(f"ledger ledger.db: {said} (A_NAME: a message)")


def test_what_the_system_says_is_told_with_what_to_do() -> None:
    for number, said in (
        (errno.ENOSPC, "is full"),
        (errno.ENOLCK, "cannot be locked"),
        (errno.EMFILE, "the system refused"),
    ):
        with pytest.raises(LedgerError, match=said), explained("ledger.db"):
            raise OSError(number, os.strerror(number))


def test_what_is_ours_already_is_left_as_it_is() -> None:
    error = LedgerError("said already")
    assert explain(error, "ledger.db") is error
