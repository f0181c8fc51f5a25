"""Whatever happens becomes one message and one exit code: Ctrl-C, ledgers that cannot be used, our own defects."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

import anyio
import pytest

from deliberate.cli._exits import wait_for
from tests.cli.conftest import THREE, Cli, Here, attempts, check_one_line, command, environment

SLOW = ("--judge", "scripted/good:70", "--judge", "scripted/good:60", "--judge", "scripted/hang")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def recorded(folder: Path, kind: str) -> int:
    """How many records of a kind the ledger holds; none while there is no ledger."""
    try:
        with closing(sqlite3.connect(f"file:{folder}/home/ledger.db?mode=ro", uri=True)) as connection:
            (count,) = connection.execute("SELECT count(*) FROM step WHERE kind = ?", (kind,)).fetchone()
    except sqlite3.OperationalError:
        return 0
    return int(count)


async def wait_recorded(folder: Path, kind: str, *, count: int) -> None:
    while recorded(folder, kind) < count:
        await anyio.sleep(0.02)


@asynccontextmanager
async def running(folder: Path, *arguments: object) -> AsyncIterator[anyio.abc.Process]:
    """The program while it runs."""
    async with await anyio.open_process(command(*arguments), cwd=folder, env=environment(folder)) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                process.kill()


async def read(stream: anyio.abc.ByteReceiveStream | None) -> str:
    assert stream is not None
    return b"".join([chunk async for chunk in stream]).decode()


@pytest.mark.anyio
async def test_ctrl_c_keeps_what_was_heard_and_the_same_command_goes_on(folder: Path, cli: Cli) -> None:
    async with running(folder, "ask", "answer.txt", *SLOW) as process:
        await wait_recorded(folder, "Answer", count=2)
        process.send_signal(signal.SIGINT)
        assert await process.wait() == 130
        assert await read(process.stdout) == ""
        said = await read(process.stderr)
    check_one_line(said, 130, "interrupted")
    assert "the same command goes on from there" in said
    assert "interrupted" in cli("show").out
    again = cli("ask", "answer.txt", *SLOW, "--deadline", "1")
    assert (again.code, "2 of 2 votes read back" in " ".join(again.out.split())) == (0, True)
    assert attempts(folder) == 4  # two that voted, two of the third that were cut off


@pytest.mark.anyio
async def test_the_same_ask_in_another_process_is_refused_and_its_holder_named(folder: Path, cli: Cli) -> None:
    (folder / "old.html").write_text("of yesterday", encoding="utf-8")
    written = ("-o", "old.html", "-o", "new.html")
    async with running(folder, "ask", "answer.txt", *SLOW, *written) as process:
        await wait_recorded(folder, "Answer", count=2)
        second = cli("ask", "answer.txt", *SLOW)
        check_one_line(second.err, 2, "usage")
        assert f"is being executed by process {process.pid} on host " in second.err
        assert "run the same command again" in second.err
        other = cli("ask", "answer.txt", *THREE)
        assert other.code == 0
        process.send_signal(signal.SIGINT)
        assert await process.wait() == 130
        _, old = (await read(process.stderr)).splitlines()
    assert old == "old.html is of an earlier run: it was not written"
    assert (folder / "old.html").read_text(encoding="utf-8") == "of yesterday"


def test_a_ledger_locked_by_another_program_is_refused_before_anybody_is_asked(here: Here, folder: Path) -> None:
    here("ask", "answer.txt", *THREE)
    with closing(sqlite3.connect(folder / "home/ledger.db", isolation_level=None)) as browser:
        browser.execute("BEGIN IMMEDIATE")
        refused = here("ask", "answer.txt", "--judge", "scripted/poor")
    check_one_line(refused.err, 2, "usage")
    assert "another program holds it locked" in refused.err
    assert "close that program" in refused.err
    assert attempts(folder) == 3


def test_a_disk_that_is_full_from_the_start_is_refused(here: Here, small_disk: Path) -> None:
    (small_disk / "ballast").write_bytes(b"x" * (1024 * 1024 - 8192))
    refused = here("ask", "answer.txt", *THREE, "--ledger", small_disk / "l.db")
    check_one_line(refused.err, 2, "usage")
    assert f"ledger {small_disk}/l.db: the disk is full" in refused.err
    assert "make room and run the same command again" in refused.err


def test_a_disk_that_fills_up_later_leaves_it_incomplete_and_it_goes_on(
    here: Here, folder: Path, small_disk: Path
) -> None:
    (folder / "long.txt").write_text("four " * 100_000, encoding="utf-8")
    (small_disk / "ballast").write_bytes(b"x" * 700_000)
    arguments = ("ask", "long.txt", *THREE, "--ledger", small_disk / "l.db")
    full = here(*arguments)
    check_one_line(full.err, 5, "incomplete")
    assert "the disk is full" in full.err
    assert full.out == ""
    (small_disk / "ballast").unlink()
    small = here("ask", "answer.txt", *THREE, "--ledger", small_disk / "l.db")
    assert small.code == 0


def test_a_report_that_cannot_be_written_loses_nothing(here: Here, folder: Path, small_disk: Path) -> None:
    (small_disk / "ballast").write_bytes(b"x" * (1024 * 1024))
    found = here("ask", "answer.txt", *THREE, "-o", small_disk / "r.html", "-o", "kept.html")
    check_one_line(found.err, 5, "incomplete")
    assert (folder / "kept.html").is_file()
    assert "VERDICT" in found.out
    run = found.result.partition("run ")[2].split()[0]
    assert f"nothing is lost: deliberate show {run} -o FILE writes it again" in found.err
    assert [path.name for path in small_disk.iterdir()] == ["ballast"]
    assert here("show", run, "-o", "r.html").code == 0


LIMITED = """
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.argv = ["deliberate", *sys.argv[2:]]
runpy.run_module("deliberate", run_name="__main__")
"""


def unmeasured(env: dict[str, str]) -> dict[str, str]:
    """Without coverage, whose own files could not grow either."""
    return {name: value for name, value in env.items() if not name.startswith("COVERAGE")}


@pytest.mark.parametrize(("most_bytes", "code", "name"), [(8192, 2, "usage"), (250_000, 5, "incomplete")])
def test_a_file_that_may_not_grow_is_told_like_a_full_disk(folder: Path, most_bytes: int, code: int, name: str) -> None:
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    (folder / "long.txt").write_text("four " * 100_000, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(most_bytes), "ask", "long.txt", *THREE],
        cwd=folder,
        env=unmeasured(environment(folder, PYTHONDONTWRITEBYTECODE="1")),
        capture_output=True,
        text=True,
        check=False,
    )
    check_one_line(done.stderr, code, name)
    assert (done.returncode, done.stdout) == (code, "")
    assert f"ledger {folder}/home/ledger.db: " in done.stderr


@pytest.fixture
def read_only(folder: Path) -> Iterator[Callable[[], Path]]:
    """A folder nobody can write into from the moment this is called."""
    place = folder / "fixed"
    place.mkdir()
    mount = shutil.which("mount")
    mounted = False

    def close() -> Path:
        nonlocal mounted
        if os.getuid() != 0:
            place.chmod(0o555)
            return place
        if mount is None or subprocess.run([mount, "-t", "tmpfs", "tmpfs", str(place)], check=False).returncode:
            pytest.skip("root can write everywhere, and nothing can be mounted here")
        mounted = True
        subprocess.run([mount, "-o", "remount,ro", str(place)], check=True)
        return place

    yield close
    if mounted:
        subprocess.run(["/bin/umount", str(place)], check=True)
    else:
        place.chmod(0o755)


def test_a_folder_that_cannot_be_written_is_refused(here: Here, read_only: Callable[[], Path]) -> None:
    place = read_only()
    refused = here("ask", "answer.txt", *THREE, DELIBERATE_HOME=str(place))
    check_one_line(refused.err, 2, "usage")
    assert f"ledger {place}/ledger.db: cannot be written here" in refused.err
    assert "choose another place with --ledger FILE or DELIBERATE_HOME" in refused.err


def test_our_own_defect_is_one_line_and_its_trace_is_in_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    async def broken() -> int:
        return 1 // 0

    with pytest.raises(SystemExit, match="1"):
        wait_for(broken)
    said = capsys.readouterr().err
    check_one_line(said, 1, "crash")
    assert "ZeroDivisionError" in said
    file = Path(said.split()[-1])
    assert "return 1 // 0" in file.read_text(encoding="utf-8")
    file.unlink()


def test_files_that_stay_from_an_earlier_run_are_named_and_those_written_are_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / name for name in ("a.html", "b.json", "c.md", "none.csv", "pipe.md")]
    for path in files[:3]:
        path.write_text("old", encoding="utf-8")
    os.mkfifo(files[-1])

    async def stopped() -> int:
        files[1].write_text("new", encoding="utf-8")
        raise KeyboardInterrupt

    async def ended() -> int:
        return 4

    with pytest.raises(SystemExit, match="130"):
        wait_for(stopped, out=files)
    _, old = capsys.readouterr().err.splitlines()
    assert old == f"{files[0]}, {files[2]} are of an earlier run: they were not written"
    with pytest.raises(SystemExit, match="4"):
        wait_for(ended, out=files)
    assert capsys.readouterr().err == ""


CRASHES = """
import os
from deliberate.cli._exits import wait_for

async def work():
    raise RuntimeError("Incorrect API key provided: " + os.environ["OPENAI_API_KEY"])

wait_for(work)
"""


def test_a_key_that_a_defect_tells_is_struck_out_of_message_and_file(folder: Path) -> None:
    key = "sk-planted/0a1b+2c3d="
    env = {**environment(folder), "OPENAI_API_KEY": key, "TMPDIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", CRASHES], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    (kept,) = folder.glob("deliberate-crash-*.txt")
    assert done.returncode == 1
    for text in (done.stderr, kept.read_text(encoding="utf-8")):
        assert "Incorrect API key provided: ***" in text
        assert key not in text


def test_a_reader_who_has_gone_is_no_error(folder: Path) -> None:
    for arguments in (("rubric", "show", "general"), ("ask", "answer.txt", *THREE, "--json")):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            command(*arguments),
            cwd=folder,
            env=environment(folder),
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        os.close(writing)
        assert done.returncode == 0
        assert "BrokenPipe" not in done.stderr
        assert "Traceback" not in done.stderr
