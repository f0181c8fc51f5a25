from __future__ import annotations

import hashlib
import json
import sqlite3
from base64 import b64encode
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.errors import LedgerError
from deliberate.ledger._audit import walk
from deliberate.ledger._chain import START, Anchor, anchor_path, link, read_anchor, write_anchor
from deliberate.ledger._rows import Rows
from deliberate.ledger._schema import MEMORY, connect
from deliberate.types import canonical

keys = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
records = st.lists(st.tuples(keys, keys, st.binary(max_size=20)), min_size=1, max_size=12, unique_by=lambda r: r[0])


def chained(rows: list[tuple[str, str, bytes]]) -> sqlite3.Connection:
    connection = connect(MEMORY, busy_seconds=1)
    chain = Rows(connection)
    for row in rows:
        chain.step(*row)
    return connection


def first_problem(connection: sqlite3.Connection) -> int | None:
    return next((seq for seq, _, problem in walk(connection) if problem), None)


def test_the_hash_can_be_computed_with_nothing_of_ours() -> None:
    prev = "ab" * 32
    plain = json.dumps([1, "é", "Answer", b64encode(b"\xff{}").decode()], separators=(",", ":"), ensure_ascii=False)
    assert plain.encode() == canonical((1, "é", "Answer", b"\xff{}"))
    assert link(prev, 1, "é", "Answer", b"\xff{}") == hashlib.sha256(prev.encode() + plain.encode()).hexdigest()


@given(records)
def test_an_untouched_chain_holds(rows: list[tuple[str, str, bytes]]) -> None:
    with closing(chained(rows)) as connection:
        assert [(seq, problem) for seq, _, problem in walk(connection)] == [(n + 1, "") for n in range(len(rows))]


@given(records, st.data())
def test_whatever_is_changed_the_chain_breaks_there(rows: list[tuple[str, str, bytes]], data: st.DataObject) -> None:
    with closing(chained(rows)) as connection:
        seq = data.draw(st.integers(1, len(rows)))
        key, kind, body = rows[seq - 1]
        column, value = data.draw(
            st.one_of(
                st.tuples(st.just("key"), keys.filter(lambda new: new not in {row[0] for row in rows})),
                st.tuples(st.just("kind"), keys.filter(lambda new: new != kind)),
                st.tuples(st.just("body"), st.binary(max_size=20).filter(lambda new: new != body)),
                st.tuples(st.just("hash"), st.just(link(START, seq, key, kind, body + b"x"))),
                st.tuples(st.just("prev"), st.just("f" * 64)),
            )
        )
        connection.execute(f"UPDATE step SET {column} = ? WHERE seq = ?", (value, seq))  # noqa: S608
        assert first_problem(connection) == seq


@given(records.filter(lambda rows: len(rows) > 1), st.data())
def test_two_records_cannot_change_places(rows: list[tuple[str, str, bytes]], data: st.DataObject) -> None:
    with closing(chained(rows)) as connection:
        one, two = sorted(data.draw(st.lists(st.integers(1, len(rows)), min_size=2, max_size=2, unique=True)))
        for old, new in ((one, -1), (two, one), (-1, two)):
            connection.execute("UPDATE step SET seq = ? WHERE seq = ?", (new, old))
        assert first_problem(connection) == one


def test_an_anchor_is_replaced_in_one_step(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.db")
    assert read_anchor(path) is None
    for count in range(3):
        anchor = Anchor(ledger="a", count=count, head=str(count))
        write_anchor(path, anchor)
        assert read_anchor(path) == anchor
    assert [file.name for file in tmp_path.iterdir()] == ["ledger.db.anchor"]
    assert anchor_path(path).stat().st_mode & 0o777 == 0o600


def test_an_anchor_that_knows_more_stays(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.db")
    more = Anchor(ledger="a", count=9, head="9")
    write_anchor(path, more)
    write_anchor(path, Anchor(ledger="a", count=8, head="8"))
    assert read_anchor(path) == more
    write_anchor(path, Anchor(ledger="b", count=1, head="1"))
    assert read_anchor(path) == Anchor(ledger="b", count=1, head="1")


def test_an_anchor_that_cannot_be_put_leaves_nothing_behind(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.db")
    anchor_path(path).mkdir()
    with pytest.raises(OSError, match="directory"):
        write_anchor(path, Anchor(ledger="a", count=1, head="1"))
    (tmp_path / "ledger.db.anchor").rmdir()
    (tmp_path / "ledger.db.anchor").write_bytes(b"[]")
    with pytest.raises(LedgerError, match="is damaged"):
        write_anchor(path, Anchor(ledger="a", count=1, head="1"))
    assert [file.name for file in tmp_path.iterdir()] == ["ledger.db.anchor"]
