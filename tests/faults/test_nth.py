"""Every statement, flush, rename, write to the disk and request of a run fails once: it stops clearly, and goes on."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NoReturn

import anyio
import pytest

from deliberate import Case, Panel, Session
from deliberate.errors import LedgerError, RefusedError, TransientProviderError
from deliberate.ledger import open_ledger, read_ledger, verify
from deliberate.ledger._rows import Rows
from deliberate.ledger._schema import connect
from deliberate.library import Library
from deliberate.providers._base import Request, Response
from deliberate.providers.scripted import Scripted

pytestmark = pytest.mark.anyio

ALL = os.environ.get("DELIBERATE_ALL") == "1" or os.environ.get("DELIBERATE_CHECK") == "all"
EVERY = 1 if ALL else 8
CASES = tuple(Case(id=f"q{at}", output=str(2 * at), task=f"{at} + {at}?") for at in range(3))
PANEL = Panel.of("scripted/good:70", "scripted/fair:40", "scripted/good:60", rubric=None, criteria="Right?")


class Counter:
    """Fails at the n-th operation, and only then."""

    def __init__(self, at: int, kind: str) -> None:
        self.left = at
        self.kind = kind
        self.fired = False

    def tick(self, kind: str) -> bool:
        """One operation; whether it is the one that fails."""
        if kind != self.kind:
            return False
        self.left -= 1
        self.fired = self.fired or self.left == 0
        return self.left == 0


@contextmanager
def failing(counter: Counter, code: int) -> Iterator[None]:
    """The system as it is, but for one operation."""

    class Connection(sqlite3.Connection):
        def execute(self, *arguments: Any) -> sqlite3.Cursor:  # noqa: ANN401  as it is there
            if counter.tick("statement"):
                _raise(code)
            return super().execute(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        plain = sqlite3.connect
        patch.setattr(sqlite3, "connect", lambda *given, **named: plain(*given, **named, factory=Connection))
        for owner, name, kind in ((os, "fsync", "fsync"), (Path, "replace", "rename")):
            patch.setattr(owner, name, _ticking(getattr(owner, name), counter, kind))
        yield


def _ticking(inner: Any, counter: Counter, kind: str) -> Any:  # noqa: ANN401  a function of the system
    def ticking(*arguments: Any) -> Any:  # noqa: ANN401  whatever it takes
        if counter.tick(kind):
            raise OSError(errno.EIO, "input/output error")
        return inner(*arguments)

    return ticking


def _raise(code: int) -> NoReturn:
    error = sqlite3.OperationalError("told to fail")
    error.sqlite_errorcode = code
    error.sqlite_errorname = {sqlite3.SQLITE_FULL: "SQLITE_FULL", sqlite3.SQLITE_IOERR: "SQLITE_IOERR"}[code]
    raise error


async def judged(folder: Path, found: dict[str, str], provider: Scripted | None = None) -> None:
    """The run to its end, or to the error; what was given out by then is in ``found``."""
    library = Library(home=folder / "home", workspace=folder)
    options = {"ledger": folder / "runs.db", "library": library, "env": {}, "exclusive": True, "source": "nth"}
    options["providers"] = {} if provider is None else {"scripted": provider}
    async with Session(**options) as session, session.stream(CASES, PANEL) as stream:  # type: ignore[arg-type]
        async for case, evaluation in stream:
            assert evaluation.verdict is not None
            found[case.id] = evaluation.verdict.digest


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    found: dict[str, str] = {}
    anyio.run(judged, tmp_path_factory.mktemp("calm"), found)
    return found


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", ["statement", "fsync", "rename"])
@pytest.mark.parametrize("code", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR], ids=["full", "io"])
async def test_whatever_operation_fails_nothing_given_out_is_lost_and_it_goes_on(
    tmp_path: Path,
    undisturbed: dict[str, str],
    kind: str,
    code: int,
    record_property: Callable[[str, object], None],
) -> None:
    step = EVERY if kind == "statement" else 1
    stopped = 0
    for at in itertools.count(1, step):
        folder = tmp_path / str(at)
        folder.mkdir()
        counter = Counter(at, kind)
        given: dict[str, str] = {}
        try:
            with anyio.fail_after(20), failing(counter, code):
                await judged(folder, given)
        except LedgerError:
            stopped += 1  # anything else would be a defect of ours
        if not counter.fired:
            assert given == undisturbed
            break
        assert given.items() <= undisturbed.items()
        if given:
            async with read_ledger(folder / "runs.db") as reader:
                (run,) = await reader.runs()
                assert {f"{name}/result" for name in given} <= {one.path for one in await reader.results(run.run)}
        again: dict[str, str] = {}
        await judged(folder, again)
        assert again == undisturbed
        assert (await verify(folder / "runs.db")).sound
    assert stopped > 0
    record_property("sampled", f"{kind}: {at - 1} operations at steps of {step}, {stopped} stopped the run")


class FailsAt(Scripted):
    """The n-th request of all fails."""

    def __init__(self, at: int, error: Exception) -> None:
        super().__init__()
        self.left = at
        self._error = error

    async def complete(self, request: Request) -> Response:
        self.left -= 1
        if self.left == 0:
            raise self._error
        return await super().complete(request)


@pytest.mark.parametrize(
    "error",
    [
        TransientProviderError("reset", retry_after=0.001),
        RefusedError("not today"),
        OSError(errno.EPIPE, "broken pipe"),
    ],
    ids=["passing", "lasting", "unforeseen"],
)
async def test_whatever_request_fails_it_is_asked_again_now_or_when_it_goes_on(
    tmp_path: Path, undisturbed: dict[str, str], error: Exception
) -> None:
    for at in itertools.count(1, 1 if ALL else 4):
        folder = tmp_path / str(at)
        folder.mkdir()
        given: dict[str, str] = {}
        provider = FailsAt(at, error)
        await judged(folder, given, provider)
        assert len(given) == len(CASES)  # two of three are a quorum
        if provider.left > 0:
            break
        changed = {name for name in given if given[name] != undisturbed[name]}
        assert len(changed) == (0 if isinstance(error, TransientProviderError) else 1)
        again: dict[str, str] = {}
        await judged(folder, again)
        assert again == undisturbed
        assert (await verify(folder / "runs.db")).sound
    assert at > len(CASES) * len(PANEL.seats)


PAGE = 4096


@pytest.mark.timeout(900)
async def test_whatever_page_finds_no_room_nothing_given_out_is_lost_and_it_goes_on(
    small_disk: Path, undisturbed: dict[str, str], record_property: Callable[[str, object], None]
) -> None:
    step = 1 if ALL else 12
    stopped = 0
    for pages in itertools.count(1, step):
        resized(small_disk, pages)
        given: dict[str, str] = {}
        try:
            with anyio.fail_after(20):
                await judged(small_disk, given)
        except LedgerError as error:
            assert "full" in str(error) or "No space left" in str(error), error  # noqa: PT017  which of the errors
            stopped += 1
        else:
            assert given == undisturbed
            break
        assert given.items() <= undisturbed.items()
        resized(small_disk, 1000)
        again: dict[str, str] = {}
        await judged(small_disk, again)
        assert again == undisturbed
        assert (await verify(small_disk / "runs.db")).sound
        for left in list(small_disk.iterdir()):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
    assert stopped > 0
    record_property("sampled", f"disks of 1 to {pages} pages in steps of {step}, {stopped} stopped the run")


def resized(disk: Path, pages: int) -> None:
    """Gives the disk so many pages, and room for what lies on it already."""
    size = f"remount,size={pages * PAGE}"
    subprocess.run(["/bin/mount", "-o", size, str(disk)], check=True)


OPENS = """
import resource, sys, time
import anyio
from deliberate.ledger import open_ledger

async def main(path):
    began = time.perf_counter()
    async with open_ledger(path) as ledger:
        assert await ledger.read("key 77") == b"body"
        print(time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)

anyio.run(main, sys.argv[1])
"""


@pytest.mark.thorough
@pytest.mark.timeout(900)
def test_a_ledger_of_a_million_records_opens_in_seconds_and_reads_no_bodies(tmp_path: Path) -> None:
    path = tmp_path / "large.db"
    with closing(connect(str(path), busy_seconds=1.0)) as connection:
        rows = Rows(connection)
        connection.execute("BEGIN")
        for number in range(1_000_000):
            rows.step(f"key {number}", "Answer", b"body")
            rows._landing.clear()  # noqa: SLF001  nobody waits
        connection.execute("COMMIT")

    async def anchored() -> None:
        async with open_ledger(path):
            pass

    anyio.run(anchored)
    done = subprocess.run([sys.executable, "-c", OPENS, str(path)], capture_output=True, check=True, text=True)
    seconds, kilobytes = map(float, done.stdout.split())
    assert seconds < 5
    assert kilobytes < 300 * 1024
