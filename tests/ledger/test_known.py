from __future__ import annotations

import sys
import threading

from hypothesis import given
from hypothesis import strategies as st

from deliberate.ledger._known import Known


@given(st.lists(st.text()), st.lists(st.text()))
def test_a_key_that_was_added_is_never_forgotten(first: list[str], second: list[str]) -> None:
    known = Known()
    for key in first:
        known.add(key)
    known.update(second)
    assert all(key in known for key in (*first, *second))


def test_nothing_is_known_before_it_is_added() -> None:
    known = Known()
    assert not [key for key in map(str, range(100)) if key in known]


def test_it_grows_by_a_few_bytes_a_key_and_rarely_errs() -> None:
    known = Known()
    keys = [f"key {number}" for number in range(100_000)]
    known.update(keys)
    assert all(key in known for key in keys)
    assert known.bytes <= 8 * len(keys)
    wrong = sum(f"other {number}" in known for number in range(20_000))
    assert wrong <= 20_000 * 0.03


def test_where_the_number_is_known_two_bytes_a_key_do() -> None:
    known = Known(1 << 17)
    known.update(str(number) for number in range(1 << 17))
    assert known.bytes == 2 << 17
    wrong = sum(f"other {number}" in known for number in range(20_000))
    assert wrong <= 20_000 * 0.015


def test_two_threads_forget_nothing_of_each_other() -> None:
    known = Known()
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [
            threading.Thread(target=known.update, args=([f"{name} {number}" for number in range(30_000)],))
            for name in "ab"
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert all(f"{name} {number}" in known for name in "ab" for number in range(30_000))
