"""The doors, and ``step``: a finished step is read back, one key is in flight once, and nothing heard is trusted."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType

import anyio
import msgspec
import pytest
from anyio import CancelScope
from anyio.lowlevel import checkpoint

from deliberate.errors import ConfigError
from deliberate.runtime import Judges, Library, Post, Runtime, Sandbox, Steps, task_group
from deliberate.types import (
    Absent,
    Answer,
    Attempt,
    Case,
    Choice,
    Event,
    Finished,
    Judge,
    Key,
    Later,
    Panel,
    Record,
    Rubric,
)

KEY, OTHER = Key("k"), Key("other")


class Reading(Record, frozen=True, kw_only=True):
    """What going through the record changes: whole numbers become floats, lists tuples."""

    values: tuple[float, ...]
    name: str = ""


class Notebook:
    """A ledger in memory."""

    def __init__(self) -> None:
        self.bodies: dict[Key, bytes] = {}
        self.queued: list[tuple[Key, str, bytes]] = []

    @property
    def superseded(self) -> frozenset[Key]:
        """Nobody else writes here."""
        return frozenset()

    async def read(self, key: Key) -> bytes | None:
        """The body under a key."""
        await checkpoint()
        return self.bodies.get(key)

    def put(self, key: Key, kind: str, body: bytes) -> None:
        """Keeps the first body under a key."""
        self.queued.append((key, kind, body))
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


class SlowNotebook(Notebook):
    """Looks at once, and tells later: what was put in between is not in its answer."""

    def __init__(self) -> None:
        super().__init__()
        self.tells = anyio.Event()

    async def read(self, key: Key) -> bytes | None:
        """What stood there when it was asked."""
        body = self.bodies.get(key)
        if body is None:
            await self.tells.wait()
        return body


class Work:
    """A paid call that can be held up, and counts how often it was begun and ended."""

    def __init__(self, *values: float, held: bool = False) -> None:
        self.values = values
        self.begun = self.ended = 0
        self.free = anyio.Event()
        if not held:
            self.free.set()

    async def __call__(self) -> Reading | Later:
        """One reading."""
        self.begun += 1
        await self.free.wait()
        self.ended += 1
        return Reading(values=self.values or (float(self.begun),))


async def wait_until_all_wait() -> None:
    """Lets everybody go as far as they can: a step takes a handful of turns (and no clock is waited for)."""
    for _ in range(12):
        await checkpoint()


async def test_what_is_returned_is_what_was_stored_and_not_what_was_heard() -> None:
    ledger = Notebook()
    heard = Reading(values=[1, 2], name="n")  # type: ignore[arg-type]

    async def run() -> Reading:
        return heard

    found = await Steps(ledger).step(KEY, run, record=Reading)
    assert found is not heard
    assert isinstance(found, Reading)
    assert found == Reading(values=(1.0, 2.0), name="n")
    assert [type(value) for value in found.values] == [float, float]
    assert found == msgspec.json.decode(ledger.bodies[KEY], type=Reading)


async def test_what_the_record_cannot_say_is_not_returned_either() -> None:
    async def run() -> Reading:
        return Reading(values=(math.nan,))

    with pytest.raises(msgspec.ValidationError):
        await Steps(ledger := Notebook()).step(KEY, run, record=Reading)
    assert not ledger.bodies


async def test_a_finished_step_is_read_back_and_not_done_again() -> None:
    ledger, work = Notebook(), Work(1.0)
    first = await Steps(ledger).step(KEY, work, record=Reading)
    assert await Steps(ledger).step(KEY, work, record=Reading) == first
    assert (work.begun, len(ledger.queued)) == (1, 1)


async def test_it_is_queued_under_its_key_with_its_kind() -> None:
    ledger = Notebook()
    await Steps(ledger).step(KEY, Work(1.0), record=Reading)
    assert ledger.queued == [(KEY, "Reading", b'{"values":[1.0],"name":""}')]


async def test_another_key_is_another_step() -> None:
    steps, work = Steps(Notebook()), Work()
    assert await steps.step(KEY, work, record=Reading) == Reading(values=(1.0,))
    assert await steps.step(OTHER, work, record=Reading) == Reading(values=(2.0,))


async def gather(*calls: Callable[[], Awaitable[Reading | Later]]) -> list[Reading | Later]:
    """What all calls give, begun in this order and run together."""
    found: dict[int, Reading | Later] = {}

    async def one(at: int, call: Callable[[], Awaitable[Reading | Later]]) -> None:
        found[at] = await call()

    async with anyio.create_task_group() as tasks:
        for at, call in enumerate(calls):
            tasks.start_soon(one, at, call)
    return [found[at] for at in range(len(calls))]


async def test_one_key_is_in_flight_once() -> None:
    steps, work = Steps(ledger := Notebook()), Work(1.0, held=True)

    async def release() -> Later:
        await wait_until_all_wait()
        work.free.set()
        return Later(waits_for="nobody")

    *found, _ = await gather(*[lambda: steps.step(KEY, work, record=Reading)] * 7, release)
    assert found == [Reading(values=(1.0,))] * 7
    assert (work.begun, len(ledger.queued)) == (1, 1)


async def test_different_keys_do_not_wait_for_each_other() -> None:
    steps, held = Steps(Notebook()), Work(1.0, held=True)

    async def other() -> Reading | Later:
        await wait_until_all_wait()
        found = await steps.step(OTHER, Work(2.0), record=Reading)
        held.free.set()
        return found

    found = await gather(lambda: steps.step(KEY, held, record=Reading), other)
    assert found == [Reading(values=(1.0,)), Reading(values=(2.0,))]


async def test_whoever_looked_before_it_was_put_does_not_do_it_again() -> None:
    ledger = SlowNotebook()
    steps, work = Steps(ledger), Work(1.0, held=True)

    async def first() -> Reading | Later:
        return await steps.step(KEY, work, record=Reading)

    async def conduct() -> Later:
        await wait_until_all_wait()  # both have looked, or one waits for the other
        work.free.set()
        ledger.tells.set()
        return Later(waits_for="nobody")

    first_two = await gather(first, first, conduct)
    assert first_two[:2] == [Reading(values=(1.0,))] * 2
    assert work.begun == 1


async def test_a_slow_look_that_ends_after_the_flight_has_landed_does_not_start_another() -> None:
    """One caller is in flight; another looks, and hears "nothing there" only when the first has landed."""
    ledger = SlowNotebook()
    steps, work = Steps(ledger), Work(1.0, held=True)
    ledger.tells.set()
    found: list[Reading | Later] = []

    async def call() -> None:
        found.append(await steps.step(KEY, work, record=Reading))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        await wait_until_all_wait()  # in flight
        ledger.tells = anyio.Event()
        tasks.start_soon(call)
        await wait_until_all_wait()  # looking, or waiting
        work.free.set()
        await wait_until_all_wait()  # landed
        ledger.tells.set()
    assert found == [Reading(values=(1.0,))] * 2
    assert work.begun == 1


@pytest.mark.parametrize("gone", [1, 2, 3])
async def test_if_the_first_is_cancelled_the_next_takes_over(gone: int) -> None:
    ledger = Notebook()
    steps, work = Steps(ledger), Work(held=True)
    scopes = [CancelScope() for _ in range(4)]
    found: dict[int, Reading | Later] = {}

    async def call(at: int) -> None:
        with scopes[at]:
            found[at] = await steps.step(KEY, work, record=Reading)

    async with anyio.create_task_group() as tasks:
        for at in range(4):
            tasks.start_soon(call, at)
        await wait_until_all_wait()
        for _ in range(gone):
            # Whoever is in flight now; asyncio and trio may wake waiters in another order.
            flying = next(at for at in range(4) if not scopes[at].cancel_called)
            scopes[flying].cancel()
            await wait_until_all_wait()
        work.free.set()
    assert len(found) == 4 - gone
    assert len({msgspec.json.encode(value) for value in found.values()}) == 1
    assert (work.ended, len(ledger.queued)) == (1, 1)


async def test_cancelling_one_who_waits_cancels_nobody_else() -> None:
    steps, work = Steps(Notebook()), Work(1.0, held=True)
    found: list[Reading | Later] = []
    scope = CancelScope()

    async def first() -> None:
        found.append(await steps.step(KEY, work, record=Reading))

    async def waiter() -> None:
        with scope:
            found.append(await steps.step(KEY, work, record=Reading))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(first)
        await wait_until_all_wait()
        tasks.start_soon(waiter)
        await wait_until_all_wait()
        scope.cancel()
        await wait_until_all_wait()
        work.free.set()
    assert found == [Reading(values=(1.0,))]
    assert work.begun == 1


async def test_an_error_flies_and_the_next_caller_tries_anew() -> None:
    steps = Steps(ledger := Notebook())

    async def broken() -> Reading:
        raise OSError

    with pytest.raises(OSError):  # noqa: PT011  it is the very one
        await steps.step(KEY, broken, record=Reading)
    assert not ledger.bodies
    assert await steps.step(KEY, Work(1.0), record=Reading) == Reading(values=(1.0,))


async def test_those_who_wait_for_a_flight_that_fails_take_over() -> None:
    steps = Steps(Notebook())
    free = anyio.Event()
    begun = 0

    async def first_breaks() -> Reading:
        nonlocal begun
        begun += 1
        await free.wait()
        if begun == 1:
            raise OSError
        return Reading(values=(2.0,))

    async def call() -> Reading | Later:
        try:
            return await steps.step(KEY, first_breaks, record=Reading)
        except OSError:
            return Later(waits_for="another try")

    async def release() -> Later:
        await wait_until_all_wait()
        free.set()
        return Later(waits_for="nobody")

    *found, _ = await gather(call, call, call, release)
    assert sorted(type(one).__name__ for one in found) == ["Later", "Reading", "Reading"]
    assert begun == 2


async def test_later_passes_through_unstored_and_is_asked_again() -> None:
    steps = Steps(ledger := Notebook())

    async def later() -> Later:
        return Later(waits_for="maria")

    assert await steps.step(KEY, later, record=Reading) == Later(waits_for="maria")
    assert not ledger.queued
    assert await steps.step(KEY, Work(1.0), record=Reading) == Reading(values=(1.0,))


async def test_what_keep_refuses_is_shared_by_those_who_wait_and_never_stored() -> None:
    steps, work = Steps(ledger := Notebook()), Work(held=True)

    def call() -> Awaitable[Reading | Later]:
        return steps.step(KEY, work, record=Reading, keep=lambda _: False)

    async def release() -> Later:
        await wait_until_all_wait()
        work.free.set()
        return Later(waits_for="nobody")

    *found, _ = await gather(call, call, call, release)
    assert found == [Reading(values=(1.0,))] * 3
    assert work.begun == 1
    assert not ledger.queued
    assert await call() == Reading(values=(2.0,)), "the next to come asks anew"


async def test_what_is_shared_has_been_through_the_record_too() -> None:
    async def run() -> Reading:
        return Reading(values=[1])  # type: ignore[arg-type]

    found = await Steps(Notebook()).step(KEY, run, record=Reading, keep=lambda _: False)
    assert isinstance(found, Reading)
    assert found.values == (1.0,)


@pytest.mark.parametrize("kept", [True, False])
async def test_keep_is_asked_about_the_very_answer(*, kept: bool) -> None:
    steps = Steps(ledger := Notebook())
    asked: list[Reading] = []

    def keep(value: Reading) -> bool:
        asked.append(value)
        return kept

    await steps.step(KEY, Work(1.0), record=Reading, keep=keep)
    assert asked == [Reading(values=(1.0,))]
    assert bool(ledger.queued) is kept


async def test_nothing_stays_behind() -> None:
    steps = Steps(Notebook())

    async def broken() -> Reading:
        raise OSError

    with pytest.raises(OSError):  # noqa: PT011  it is the very one
        await steps.step(KEY, broken, record=Reading)
    await steps.step(KEY, Work(1.0), record=Reading)
    assert not steps._flights  # noqa: SLF001  a leak of one flight a key is a leak of memory


# --- the bundle ------------------------------------------------------------------------------------


class Nobody:
    """Doors that are not opened here."""

    async def ask(self, posts: Sequence[Post]) -> tuple[Answer | Later, ...]:
        """Nobody is asked."""
        raise NotImplementedError

    def rubric(self, name: str) -> Rubric:
        """There is none."""
        raise NotImplementedError

    def choose(self, case: Case, *, files: Sequence[str] = ()) -> Choice:
        """Nothing can be chosen."""
        raise NotImplementedError

    def rubrics(self) -> tuple[Rubric, ...]:
        """There are none."""
        raise NotImplementedError

    def panel(self, name: str) -> Panel:
        """There is none."""
        raise NotImplementedError

    def judge(self, name: str, *, model: str, where: str = "") -> Judge:
        """There is none."""
        raise NotImplementedError

    @property
    def trusts_code(self) -> bool:
        """Nothing is run."""
        raise NotImplementedError

    async def run(
        self,
        command: Sequence[str],
        *,
        workspace: str = "",
        env: Mapping[str, str] = MappingProxyType({}),
        readable: Sequence[str] = (),
        writable: Sequence[str] = (),
        network: bool = False,
        stdin: bytes = b"",
        timeout_seconds: float = 60.0,
        most_bytes: int = 1024 * 1024,
    ) -> Finished:
        """Nothing is run."""
        raise NotImplementedError


def runtime(judge: str = "") -> Runtime:
    """A runtime whose doors lead nowhere."""
    ledger, nobody = Notebook(), Nobody()
    judges: Judges = nobody
    library: Library = nobody
    sandbox: Sandbox = nobody

    def emit(event: Event) -> None:
        raise NotImplementedError

    return Runtime(
        judges=judges,
        ledger=ledger,
        library=library,
        sandbox=sandbox,
        steps=Steps(ledger),
        emit=emit,
        default_judge=lambda: judge,
    )


async def test_a_step_of_the_runtime_is_a_step_of_its_ledger() -> None:
    doors, work = runtime(), Work(1.0)
    assert await doors.step(KEY, work, record=Reading) == Reading(values=(1.0,))
    assert await doors.step(KEY, work, record=Reading) == Reading(values=(1.0,))
    assert await doors.ledger.read(KEY) == b'{"values":[1.0],"name":""}'
    assert work.begun == 1


def test_the_model_named_is_asked_else_the_sessions() -> None:
    assert runtime("openai/gpt-x").model_for(None, where="--model") == "openai/gpt-x"
    assert runtime("openai/gpt-x").model_for("local/m", where="--model") == "local/m"
    assert runtime().model_for("local/m", where="--model") == "local/m"


@pytest.mark.parametrize("model", [None, ""])
def test_with_no_model_at_all_it_says_so_before_anything_is_spent(model: str | None) -> None:
    with pytest.raises(ConfigError, match=r"parts\.jury: no model is named; expected a model") as caught:
        runtime().model_for(model, where="parts.jury")
    assert caught.value.where == "parts.jury"


def test_a_runtime_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        runtime().judge = "other"  # type: ignore[misc]


async def test_what_was_found_in_the_ledger_is_said_once() -> None:
    ledger = Notebook()
    steps = Steps(ledger)
    await steps.step(KEY, Work(1.0), record=Reading)
    assert not steps.was_read_back(KEY)
    await steps.step(KEY, Work(1.0), record=Reading)
    assert steps.was_read_back(KEY)
    assert not steps.was_read_back(KEY)
    assert not steps.was_read_back(OTHER)


# --- task groups -----------------------------------------------------------------------------------


async def failing(*errors: BaseException) -> None:
    """A task group in which each of these is raised, and none waits for another."""
    begun = anyio.Event()

    async def one(error: BaseException) -> None:
        with CancelScope(shield=True):
            await begun.wait()
        raise error

    async with task_group() as tasks:
        for error in errors:
            tasks.start_soon(one, error)
        begun.set()


async def test_a_task_group_in_which_nothing_goes_wrong_says_nothing() -> None:
    done: list[int] = []

    async def one() -> None:
        await checkpoint()
        done.append(1)

    async with task_group() as tasks:
        tasks.start_soon(one)
    assert done == [1]


async def test_one_error_comes_out_as_itself() -> None:
    error = ConfigError("no model")
    with pytest.raises(ConfigError) as caught:
        await failing(error)
    assert caught.value is error


async def test_of_several_errors_ours_comes_out_and_the_rest_hang_on_it() -> None:
    ours = ConfigError("no model")
    with pytest.raises(ConfigError) as caught:
        await failing(OSError("disk"), ours, KeyError("x"))
    assert caught.value is ours
    assert isinstance(caught.value.__cause__, BaseExceptionGroup)
    assert {type(error) for error in caught.value.__cause__.exceptions} == {OSError, ConfigError, KeyError}


async def test_of_several_that_are_not_ours_one_comes_out_and_the_rest_hang_on_it() -> None:
    with pytest.raises((OSError, KeyError)) as caught:
        await failing(OSError("disk"), KeyError("x"))
    assert isinstance(caught.value.__cause__, BaseExceptionGroup)


async def test_groups_in_groups_are_opened() -> None:
    ours = ConfigError("no model")
    with pytest.raises(ConfigError) as caught:
        await failing(BaseExceptionGroup("outer", [ExceptionGroup("inner", [ours])]))
    assert caught.value is ours


async def test_what_is_raised_in_the_body_comes_out_as_itself() -> None:
    with pytest.raises(ConfigError, match="no model"):
        async with task_group():
            raise ConfigError("no model")


async def test_an_error_keeps_the_cause_it_was_raised_from() -> None:
    cause = OSError("disk")
    error = ConfigError("no model")
    error.__cause__ = cause
    with pytest.raises(ConfigError) as caught:
        await failing(error)
    assert caught.value.__cause__ is cause
