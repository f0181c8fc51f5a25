from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from deliberate.errors import LedgerError
from deliberate.ledger import open_ledger
from deliberate.ledger._lock import RunLock

HOLDS = """
import sys
import anyio
from deliberate.ledger import open_ledger

async def main(path, plan):
    async with open_ledger(path) as ledger:
        print(await ledger.begin(plan, {}), flush=True)
        await anyio.sleep_forever()

anyio.run(main, *sys.argv[1:])
"""


@pytest.mark.anyio
async def test_a_second_process_is_told_who_executes_the_run_and_takes_over_when_that_is_killed(place: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDS, str(place), "plan"], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        run = holder.stdout.readline().decode().strip()
        async with open_ledger(place) as ledger:
            with pytest.raises(LedgerError, match=rf"run {run} is being executed by process {holder.pid} on host"):
                await ledger.begin("plan", {})
            await ledger.begin("other plan", {})
        holder.kill()
        holder.wait()
    async with open_ledger(place) as ledger:
        assert await ledger.begin("plan", {}) == run


def test_a_lock_file_without_a_holder_is_taken(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.db")
    lock = RunLock(path, "plan")
    lock.sign("abcd")
    (file,) = tmp_path.iterdir()
    left = file.read_bytes()
    lock.release()
    assert not file.exists()
    file.write_bytes(left + b"of a longer one that was killed")
    lock = RunLock(path, "plan")
    lock.sign("efgh")
    with pytest.raises(LedgerError, match="run efgh is being executed"):
        RunLock(path, "plan")
    lock.release()


def test_a_holder_that_has_not_signed_yet_holds_it_all_the_same(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.db")
    lock = RunLock(path, "plan")
    with pytest.raises(LedgerError, match="a run of the plan plan is being executed by another process; wait"):
        RunLock(path, "plan")
    lock.release()


def test_whoever_lost_its_file_does_not_take_anothers_along(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.db")
    one = RunLock(path, "plan")
    (file,) = tmp_path.iterdir()
    file.unlink()
    two = RunLock(path, "plan")
    one.release()
    with pytest.raises(LedgerError):
        RunLock(path, "plan")
    two.release()


def test_only_one_has_it_however_many_come_and_go(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.db")
    holding = 0
    most = 0
    taken = 0

    def come_and_go(_: int) -> None:
        nonlocal holding, most, taken
        for _ in range(300):
            try:
                lock = RunLock(path, "plan")
            except LedgerError:
                continue
            holding += 1
            most = max(most, holding)
            taken += 1
            holding -= 1
            lock.release()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(come_and_go, range(8)))
    assert most == 1
    assert taken > 0
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.db")
    lock = RunLock(path, "plan")
    (file,) = tmp_path.iterdir()
    lock.release()
    target = tmp_path / "target"
    file.symlink_to(target)
    with pytest.raises(OSError, match="symbolic link"):
        RunLock(path, "plan")
    assert not target.exists()
