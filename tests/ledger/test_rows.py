from __future__ import annotations

from contextlib import closing

from deliberate.ledger._chain import START
from deliberate.ledger._rows import Rows
from deliberate.ledger._schema import MEMORY, connect


def begun(rows: Rows, plan_digest: str) -> str:
    told: list[str] = []
    rows.begin(plan_digest, b"{}", go_on=False, told=told)
    return told[0]


def test_a_run_id_that_is_taken_grows_and_then_counts_on() -> None:
    with closing(connect(MEMORY, busy_seconds=1)) as connection:
        rows = Rows(connection)
        first = begun(rows, "plan")
        assert len(first) == 4
        lengths: list[int] = []
        for _ in range(4):  # another plan takes each id that this one would get
            connection.execute("UPDATE run SET plan_digest = 'another' WHERE plan_digest = 'plan'")
            lengths.append(len(begun(rows, "plan")))
        assert lengths == [5, 6, 4, 5]


def test_the_anchor_follows_the_chain() -> None:
    with closing(connect(MEMORY, busy_seconds=1)) as connection:
        rows = Rows(connection)
        assert (rows.anchor.count, rows.anchor.head) == (0, START)
        rows.step("a", "Answer", b"1")
        rows.step("a", "Answer", b"2")
        rows.step("b", "Answer", b"3")
        assert rows.anchor.count == 2
        assert Rows(connection).anchor == rows.anchor
        assert rows.superseded == {"a"}


def test_what_is_known_is_learnt_from_what_is_there() -> None:
    with closing(connect(MEMORY, busy_seconds=1)) as connection:
        rows = Rows(connection)
        later = Rows(connection)
        for key in "abc":
            rows.step(key, "Answer", b"")
        later.catch_up()
        assert [key for key in "abcd" if key in later.known] == ["a", "b", "c"]
        again = Rows(connection)
        assert not [key for key in "abcd" if key in again.known]
        again.learn_keys()
        assert [key for key in "abcd" if key in again.known] == ["a", "b", "c"]
