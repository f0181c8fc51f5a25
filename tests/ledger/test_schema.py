from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from deliberate.errors import LedgerError
from deliberate.ledger import open_ledger, read_ledger
from deliberate.ledger._schema import VERSION, connect, connect_reader, meta, prepare
from deliberate.types import Key

pytestmark = pytest.mark.anyio


def set_version(place: Path, version: str) -> None:
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (version,))


async def fill(place: Path) -> None:
    async with open_ledger(place) as ledger:
        ledger.put(Key("k"), "Answer", b"body")


async def test_a_newer_ledger_is_refused(place: Path) -> None:
    await fill(place)
    set_version(place, str(VERSION + 1))
    message = rf"written by a newer deliberate \(format {VERSION + 1}; this one knows {VERSION}\); update deliberate"
    with pytest.raises(LedgerError, match=message):
        async with open_ledger(place):
            raise AssertionError
    with pytest.raises(LedgerError, match=message):
        async with read_ledger(place):
            raise AssertionError


async def test_an_older_ledger_is_migrated_and_a_copy_is_kept(place: Path) -> None:
    await fill(place)
    path = str(place)
    with closing(connect(path, busy_seconds=1)) as connection:
        prepare(
            connection,
            path,
            version=VERSION + 2,
            migrations={
                VERSION: ("ALTER TABLE label ADD COLUMN why TEXT",),
                VERSION + 1: ("UPDATE label SET why = ''", "CREATE TABLE more(a)"),
            },
        )
        assert meta(connection)["schema"] == str(VERSION + 2)
        assert connection.execute("SELECT count(*) FROM more").fetchone() == (0,)
        assert connection.execute("SELECT body FROM step").fetchone() == (b"body",)
    copy = Path(f"{place}.v{VERSION}")
    assert copy.stat().st_mode & 0o777 == 0o600
    async with read_ledger(copy) as reader:
        assert await reader.body(Key("k")) == b"body"


async def test_a_migration_that_fails_changes_nothing(place: Path) -> None:
    await fill(place)
    path = str(place)
    with closing(connect(path, busy_seconds=1)) as connection:
        with pytest.raises(sqlite3.OperationalError, match="no such table: nowhere"):
            prepare(
                connection,
                path,
                version=VERSION + 1,
                migrations={VERSION: ("CREATE TABLE more(a)", "UPDATE nowhere SET a = 1")},
            )
        assert meta(connection)["schema"] == str(VERSION)
    await fill(place)


async def test_an_older_ledger_is_not_read_as_it_is(place: Path) -> None:
    await fill(place)
    set_version(place, "0")
    with pytest.raises(LedgerError, match="has the format 0 of an older version"):
        connect_reader(str(place), busy_seconds=1)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE meta(a, b, c)",
        "CREATE TABLE notes(text)",
        "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT)",
        "CREATE TABLE meta AS SELECT 'schema' AS key, 'one' AS value",
    ],
)
async def test_the_database_of_another_program_is_refused_and_left_alone(place: Path, statement: str) -> None:
    place.parent.mkdir()
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute(statement)
    with pytest.raises(LedgerError, match="is a database, but not a ledger; name another file"):
        async with open_ledger(place):
            raise AssertionError
    with pytest.raises(LedgerError, match="is a database, but not a ledger"):
        async with read_ledger(place):
            raise AssertionError
    with closing(sqlite3.connect(place)) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'step'").fetchone() == (0,)


async def test_a_ledger_whose_making_was_cut_short_is_made_by_the_next(place: Path) -> None:
    place.parent.mkdir()
    place.write_bytes(b"")
    with pytest.raises(LedgerError, match=r"nothing was recorded in .* yet"):
        async with read_ledger(place):
            raise AssertionError
    await fill(place)
    async with read_ledger(place) as reader:
        assert await reader.body(Key("k")) == b"body"


def test_many_can_make_it_at_once(place: Path) -> None:
    def make(_: int) -> str:
        with closing(connect(str(place), busy_seconds=10)) as connection:
            return meta(connection)["ledger"]

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(make, range(32)))) == 1
