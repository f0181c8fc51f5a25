"""Laws of ``step`` on both event loops: once is once, whoever comes, whoever is cancelled, whatever it brings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import anyio
import msgspec
import pytest
from anyio import CancelScope
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from deliberate.runtime import Steps
from deliberate.types import Absent, Attempt, Key, Later, Record

End = Literal["stored", "passed", "later", "error"]
ENDS: tuple[End, ...] = ("stored", "passed", "later", "error")


class Reading(Record, frozen=True, kw_only=True):
    """What going through the record changes: whole numbers become floats, lists tuples."""

    values: tuple[float, ...]


class Notebook:
    """A ledger in memory whose answers take a while."""

    def __init__(self) -> None:
        self.bodies: dict[Key, bytes] = {}
        self.puts: list[Key] = []

    @property
    def superseded(self) -> frozenset[Key]:
        """Nobody else writes here."""
        return frozenset()

    async def read(self, key: Key) -> bytes | None:
        """The body under a key, looked up when it is told."""
        await checkpoint()
        return self.bodies.get(key)

    def put(self, key: Key, kind: str, body: bytes) -> None:  # noqa: ARG002  the contract's
        """Keeps the first body under a key."""
        self.puts.append(key)
        self.bodies.setdefault(key, body)

    def attempted(self, attempt: Attempt) -> None:
        """Not asked for here."""
        raise NotImplementedError

    def place(self, path: str, key: Key, *, absent: Absent | None = None, run: str | None = None) -> None:
        """Not asked for here."""
        raise NotImplementedError

    async def committed(self) -> None:
        """Nobody waits for the commit in a step."""
        raise NotImplementedError


class Caller(NamedTuple):
    """Who asks for which key, and whether it is cancelled while it waits."""

    key: Key
    cancelled: bool


class Seen(NamedTuple):
    """What came of it all."""

    ledger: Notebook
    found: dict[int, Reading | Later | OSError]
    begun: list[Key]
    ended: list[Key]


CALLERS = st.lists(st.builds(Caller, st.sampled_from([Key("k"), Key("l")]), st.booleans()), min_size=1, max_size=6)


async def wait_until_all_wait() -> None:
    """Lets everybody go as far as they can: a step takes a handful of turns (and no clock is waited for)."""
    for _ in range(12):
        await checkpoint()


async def watched(callers: Sequence[Caller], end: End) -> Seen:
    """All callers at once; the call is held up until those to be cancelled are."""
    seen = Seen(Notebook(), {}, [], [])
    steps, free = Steps(seen.ledger), anyio.Event()
    scopes = [CancelScope() for _ in callers]

    async def call(at: int, key: Key) -> None:
        async def run() -> Reading | Later:
            seen.begun.append(key)
            await free.wait()
            seen.ended.append(key)
            if end == "error":
                raise OSError(key)
            if end == "later":
                return Later(waits_for="maria")
            return Reading(values=[len(seen.begun)])  # type: ignore[arg-type]

        with scopes[at]:
            try:
                seen.found[at] = await steps.step(key, run, record=Reading, keep=lambda _: end == "stored")
            except OSError as error:
                seen.found[at] = error

    async with anyio.create_task_group() as tasks:
        for at, caller in enumerate(callers):
            tasks.start_soon(call, at, caller.key)
        await wait_until_all_wait()
        for scope, caller in zip(scopes, callers, strict=True):
            if caller.cancelled:
                scope.cancel()
                await wait_until_all_wait()
        free.set()
    return seen


@given(callers=CALLERS, end=st.sampled_from(ENDS))
def test_whoever_is_not_cancelled_is_answered_and_nobody_else(
    anyio_backend: str, callers: list[Caller], end: End
) -> None:
    seen = anyio.run(watched, callers, end, backend=anyio_backend)
    assert set(seen.found) == {at for at, caller in enumerate(callers) if not caller.cancelled}
    kinds = {"stored": Reading, "passed": Reading, "later": Later, "error": OSError}
    assert all(isinstance(value, kinds[end]) for value in seen.found.values())


@given(callers=CALLERS)
def test_what_is_stored_is_done_once_and_stored_once(anyio_backend: str, callers: list[Caller]) -> None:
    seen = anyio.run(watched, callers, "stored", backend=anyio_backend)
    wanted = {caller.key for caller in callers if not caller.cancelled}
    assert sorted(seen.ledger.puts) == sorted(wanted)
    assert sorted(seen.ended) == sorted(wanted)
    for at, value in seen.found.items():
        assert value == msgspec.json.decode(seen.ledger.bodies[callers[at].key], type=Reading)
        assert isinstance(value, Reading)
        assert [type(one) for one in value.values] == [float], "never what was just heard"


@given(callers=CALLERS)
def test_what_is_passed_on_is_shared_and_never_stored(anyio_backend: str, callers: list[Caller]) -> None:
    seen = anyio.run(watched, callers, "passed", backend=anyio_backend)
    assert not seen.ledger.bodies
    for key in {caller.key for caller in callers}:
        shared = {msgspec.json.encode(value) for at, value in seen.found.items() if callers[at].key == key}
        assert len(shared) <= 1
        assert seen.ended.count(key) == len(shared)


@pytest.mark.parametrize("end", ["later", "error"])
@given(callers=CALLERS)
def test_what_brought_nothing_is_never_stored(anyio_backend: str, end: End, callers: list[Caller]) -> None:
    seen = anyio.run(watched, callers, end, backend=anyio_backend)
    assert not seen.ledger.bodies


@given(callers=CALLERS)
def test_one_key_is_begun_again_only_where_its_caller_was_cancelled(anyio_backend: str, callers: list[Caller]) -> None:
    seen = anyio.run(watched, callers, "stored", backend=anyio_backend)
    for key in {caller.key for caller in callers}:
        cancelled = sum(caller.cancelled for caller in callers if caller.key == key)
        assert seen.begun.count(key) <= 1 + cancelled
