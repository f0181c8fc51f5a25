"""The doors in one frozen bundle, and ``step``: what costs money or time happens once.

Everything below this line thinks or opens one door; everything above is handed these doors, never looks them up.
``step`` is the one durable primitive. Rules for whoever edits it: it returns what it stored (decode of encode), never
what it just heard; it queues and does not wait for the commit (verdicts are released after it); one
key is in flight once.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar, cast
from typing import Protocol as Contract

import anyio
import msgspec
from anyio.abc import TaskGroup

from deliberate.errors import ConfigError, DeliberateError
from deliberate.types import (
    Absent,
    Answer,
    Ask,
    AskId,
    Attempt,
    Case,
    Choice,
    Event,
    Finished,
    Form,
    Judge,
    Key,
    Later,
    Panel,
    Record,
    Reply,
    Rubric,
)

__all__ = ["Judges", "Ledger", "Library", "Post", "Runtime", "Sandbox", "Steps", "task_group"]

T = TypeVar("T", bound=msgspec.Struct)

_encode = msgspec.json.Encoder().encode  # made once: takes half the time of ``msgspec.json.encode``


class Post(Record, frozen=True, kw_only=True):
    """One ask on its way to a judge, with everything its prompt is made from.

    ``shown`` are the peers' replies in the order this seat sees them. ``deadline_seconds`` is the total for the ask,
    all attempts together, from when it first has a place at its provider; ``session_seconds`` is what the session has
    left.
    """

    key: Key
    ask: Ask
    judge: Judge
    sample: int
    case: Case
    rubric: Rubric | None
    form: Form
    criteria: str = ""
    shown: tuple[tuple[AskId, Reply], ...] = ()
    deadline_seconds: float = 120.0
    session_seconds: float | None = None


class Ledger(Contract):
    """The record: content keys to bodies, attempts, runs."""

    @property
    def superseded(self) -> frozenset[Key]:
        """Keys under which another process put another body first: ours was dropped."""
        ...

    async def read(self, key: Key) -> bytes | None:
        """The body under a key, committed or queued; None if there is none (or if asked anew)."""
        ...

    def put(self, key: Key, kind: str, body: bytes) -> None:
        """Queues a terminal record. The first body under a key stays; a second is dropped."""
        ...

    def attempted(self, attempt: Attempt) -> None:
        """Queues one attempt."""
        ...

    def place(self, path: str, key: Key, *, absent: Absent | None = None, run: str | None = None) -> None:
        """Queues where in a run a key was used; an absence of ours stands here, never under the key."""
        ...

    async def committed(self) -> None:
        """Waits until everything queued so far is on disk.

        Raises:
            LedgerError: It cannot be written.
        """
        ...


class Judges(Contract):
    """Local actors, or leases on a cluster; never raises for one seat."""

    async def ask(self, posts: Sequence[Post]) -> tuple[Answer | Later, ...]:
        """An answer or a ``Later`` for each post, in their order."""
        ...


class Library(Contract):
    """Documents, read and checked: rubrics, agent cards, panels."""

    def rubric(self, name: str) -> Rubric:
        """The rubric of that name."""
        ...

    def rubrics(self) -> tuple[Rubric, ...]:
        """All rubrics that can be selected, highest source first."""
        ...

    def choose(self, case: Case, *, files: Sequence[str] = ()) -> Choice:
        """The rubric that judges a case, where none is named; ``files`` name what its output lies in."""
        ...

    def panel(self, name: str) -> Panel:
        """The panel of that name, or in that file."""
        ...

    def judge(self, name: str, *, model: str, where: str = "") -> Judge:
        """The judge that the agent card of that name makes; ``model`` is asked where the card names none."""
        ...


class Sandbox(Contract):
    """Runs a program on files it is given."""

    @property
    def trusts_code(self) -> bool:
        """Whether the operator vouched for the code that is run (``--trust-code``)."""
        ...

    async def run(
        self,
        command: Sequence[str],
        *,
        workspace: str = "",
        env: Mapping[str, str] = {},
        readable: Sequence[str] = (),
        writable: Sequence[str] = (),
        network: bool = False,
        stdin: bytes = b"",
        timeout_seconds: float = 60.0,
        most_bytes: int = 1024 * 1024,
    ) -> Finished:
        """Runs it to its end or its deadline; nothing of it is left running.

        Args:
            command: The program and its arguments; no shell.
            workspace: A folder that it may read at its own path. It runs in a copy of it (``""``: in an empty folder)
                that it may change, and that is gone afterwards.
            env: Variables on top of a PATH, a LANG, and a new folder as HOME and TMPDIR (empty but for links to what
                package managers fetched earlier). Of ours it has no other.
            readable: Further folders and files it may read.
            writable: Further folders it may change.
            network: Whether it may use the network.
            stdin: What it can read.
            timeout_seconds: Its deadline, from its start; the call returns within a second or so of it.
            most_bytes: How much of each of its streams is kept: their heads.

        Raises:
            ConfigError: No sandbox works here, and running code without one needs ``--trust-code``.
            EvaluatorError: It cannot be started, or the workspace cannot be copied, or holds the home folder.
        """
        ...


class Steps:
    """Single flight over a ledger: a finished step is read back, not done again."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._flights: dict[Key, _Flight] = {}
        self._read_back: set[Key] = set()

    def in_flight(self, key: Key) -> bool:
        """Whether a step under this key is under way."""
        return key in self._flights

    def was_read_back(self, key: Key) -> bool:
        """Whether the last step under this key was found in the ledger; says so once."""
        found = key in self._read_back
        self._read_back.discard(key)
        return found

    async def step(
        self,
        key: Key,
        run: Callable[[], Awaitable[T | Later]],
        *,
        record: type[T],
        keep: Callable[[T], bool] | None = None,
    ) -> T | Later:
        """The record under this key; ``run`` is awaited only if there is none.

        Callers of one key at one time wait for one ``run``; if that one is cancelled, the next takes over. ``Later``
        passes through unstored, and so does a record that ``keep`` refuses (those who wait share it).
        """
        while (flight := self._flights.get(key)) is not None:
            await flight.wait_done()
            if flight.passing is not None:
                passing: T = flight.passing
                return passing
        # The look into the ledger is part of the flight: whoever looks meanwhile waits, and cannot start another.
        flight = self._flights[key] = _Flight()
        try:
            body = await self._ledger.read(key)
            if body is not None:
                self._read_back.add(key)
                return msgspec.json.decode(body, type=record)
            value = await run()
            if isinstance(value, Later):
                return value
            body = _encode(value)
            stored = msgspec.json.decode(body, type=record)
            if keep is None or keep(value):
                self._ledger.put(key, record.__name__, body)
            else:
                flight.passing = stored
            return stored
        finally:
            del self._flights[key]
            flight.end()


@asynccontextmanager
async def task_group() -> AsyncGenerator[TaskGroup, None]:
    """A task group that raises what went wrong, not a group of it.

    What users catch are our errors by their own names; of several at once the first of ours is raised, and the rest
    hang on it as its cause.
    """
    try:
        async with anyio.create_task_group() as tasks:
            yield tasks
    except BaseExceptionGroup as group:
        leaves = list(_leaves(group))
        first = next((error for error in leaves if isinstance(error, DeliberateError)), leaves[0])
        raise first from first.__cause__ or (None if len(leaves) == 1 else group)


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(cast("BaseExceptionGroup[BaseException]", error))
        else:
            yield error


class _Flight:
    """One key in the air; ``passing`` is a result that is shared but not stored."""

    def __init__(self) -> None:
        self.passing: Any = None
        self._done: anyio.Event | None = None  # nobody waits for most of them

    async def wait_done(self) -> None:
        if self._done is None:
            self._done = anyio.Event()
        await self._done.wait()

    def end(self) -> None:
        if self._done is not None:
            self._done.set()


class Runtime(Record, frozen=True, kw_only=True):
    """The doors, handed down to every evaluator.

    ``run`` is the ledger's name of this execution. ``default_judge`` gives the model that evaluators without one of
    their own ask. ``call_seconds`` is the total deadline of one call; ``ends`` is when the session ends, on the event
    loop's monotonic clock.
    """

    judges: Judges
    ledger: Ledger
    library: Library
    sandbox: Sandbox
    steps: Steps
    emit: Callable[[Event], None]
    run: str | None = None
    default_judge: Callable[[], str] = str
    call_seconds: float = 120.0
    ends: float | None = None

    @property
    def judge(self) -> str:
        """The model that evaluators without one of their own ask; "" if there is none. Looked up when it is needed."""
        return self.default_judge()

    def model_for(self, model: str | None, *, where: str) -> str:
        """The model to ask: the one named, else the session's.

        Raises:
            ConfigError: There is neither.
        """
        found = model or self.judge
        if not found:
            raise ConfigError(
                "no model is named", where=where, expected="a model such as openai/NAME", hint="or give the session one"
            )
        return found

    async def step(self, key: Key, run: Callable[[], Awaitable[T | Later]], *, record: type[T]) -> T | Later:
        """The record under this key, made at most once (``Steps.step``)."""
        return await self.steps.step(key, run, record=record)
