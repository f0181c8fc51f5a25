"""What each tier holds back, tried on this machine, as the user who runs the tests and as one without any right."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import anyio
import msgspec
import pytest

import deliberate
from deliberate.errors import ConfigError, EvaluatorError
from deliberate.runtime import Sandbox
from deliberate.sandbox import TIERS, Probed, SandboxRunner, TierName, probe
from deliberate.sandbox._confined import _told, run_confined
from deliberate.sandbox._supervisor import abi
from deliberate.sandbox._tiers import Bounds, supervised
from deliberate.types import Finished
from tests.sandbox.test_process import lives, wait_gone

pytestmark = pytest.mark.anyio

TABLE = {
    "bubblewrap": {"our_environment", "files_read", "files_written", "network", "signals", "daemons"},
    "landlock": {"our_environment", "files_read", "files_written", "network", "daemons"}
    | ({"signals"} if abi() >= 6 else set()),
    None: set[str](),
}
"""What is kept from a program; landlock knows signals since its sixth version."""


@cache
def there(tier: TierName | None) -> str:
    """Why a tier cannot be tried here; empty if it can."""
    if tier == "bubblewrap" and shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    if tier == "landlock" and abi() < 3:
        return f"landlock {abi()}: this kernel has none, or too old a one"
    return ""


def need(tier: TierName | None) -> None:
    if why := there(tier):
        pytest.skip(why)


def best() -> TierName:
    """The best tier here; the test is skipped where there is none."""
    for tier in TIERS:
        if not there(tier):
            return tier
    pytest.skip("no sandbox on this machine")


def kept(found: Probed) -> set[str]:
    assert found.works, found.why
    return {name for name in TABLE["bubblewrap"] if getattr(found, name)}


@pytest.mark.parametrize("tier", [*TIERS, None])
async def test_the_table_of_tiers_holds(tier: TierName | None) -> None:
    need(tier)
    found = await probe(tier)
    assert kept(found) == TABLE[tier]
    assert found.holds is (tier is not None)
    assert set(found.lets) == {name.replace("_", " ") for name in TABLE["bubblewrap"] - TABLE[tier]}


_AS_NOBODY = """
import os, sys
import anyio, msgspec
from deliberate.sandbox import probe
from deliberate.sandbox._confined import run_confined
async def main():
    tier = sys.argv[1] if sys.argv[1] != "None" else None
    found = await probe(tier)
    seen = (await run_confined(tier, ["env"])).stdout
    assert os.environ["CANARY"] == "key" and b"CANARY" not in seen, seen
    print(msgspec.json.encode(found).decode())
assert os.getuid() == 65534
anyio.run(main)
"""


def as_nobody(tier: TierName | None) -> subprocess.CompletedProcess[str]:
    """The probe, run by a user without any right; the test is skipped where nobody can be one, or cannot run us."""
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    packages = Path(anyio.__file__).parents[1], Path(deliberate.__file__).parents[1]
    system = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    env = {"PATH": os.environ["PATH"], "CANARY": "key", "HOME": "/", "PYTHONPATH": ":".join(map(str, packages))}
    for python in (sys.executable, system):
        try:
            return subprocess.run(
                [python, "-c", _AS_NOBODY, str(tier)],
                env=env,
                user=65534,
                group=65534,
                extra_groups=[],
                cwd="/",
                capture_output=True,
                text=True,
                check=False,
            )
        except OSError:
            continue
    pytest.skip("the user nobody cannot read this Python, and /usr/bin has none of its version")


@pytest.mark.parametrize("tier", [*TIERS, None])
def test_the_table_of_tiers_holds_for_a_user_without_any_right(tier: TierName | None) -> None:
    need(tier)
    found = as_nobody(tier)
    assert found.returncode == 0, found.stderr
    assert kept(msgspec.json.decode(found.stdout, type=Probed)) == TABLE[tier]


async def test_a_tier_that_cannot_work_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("namespaces are Linux's")
    monkeypatch.setenv("PATH", str(tmp_path))
    found = await probe("bubblewrap")
    assert (found.works, found.holds, found.lets) == (False, False, ())
    assert "No such file or directory" in found.why
    assert await SandboxRunner(trust_code=False, tiers=("bubblewrap",)).tier() is None


# --- the door --------------------------------------------------------------------------------------


async def test_it_is_the_sandbox_that_the_runtime_wants_and_needs_no_trust() -> None:
    tier = best()
    runner = SandboxRunner(trust_code=False)
    sandbox: Sandbox = runner
    assert (await sandbox.run(["true"])).exit_code == 0
    assert await runner.tier() == tier
    assert not sandbox.trusts_code


async def test_without_a_sandbox_nothing_runs_without_trust(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="running code without one needs --trust-code; give it") as caught:
        await SandboxRunner(trust_code=False, tiers=()).run(["touch", "ran"], writable=[str(tmp_path)])
    assert "Session(trust_code=True)" in caught.value.hint
    assert "deliberate doctor" in caught.value.hint
    trusting = SandboxRunner(trust_code=True, tiers=())
    assert trusting.trusts_code
    assert (await trusting.run(["touch", str(tmp_path / "ran")])).exit_code == 0
    assert (tmp_path / "ran").exists()


async def test_the_tiers_are_tried_once() -> None:
    best()
    runner = SandboxRunner(trust_code=False)
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(runner.tier)
    began = anyio.current_time()
    await runner.tier()
    assert anyio.current_time() - began < 0.02


# --- what a program sees, in every tier ------------------------------------------------------------


EVERY = pytest.mark.parametrize("tier", [*TIERS, None])


async def shell(tier: TierName | None, script: str, **options: object) -> Finished:
    need(tier)
    return await run_confined(tier, ["sh", "-c", script], **options)  # type: ignore[arg-type]


@EVERY
async def test_the_environment_is_made_from_nothing(tier: TierName | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", "key")
    need(tier)
    done = await run_confined(tier, ["env"], env={"GIVEN": "é"})
    variables = dict(line.split("=", 1) for line in done.stdout.decode().splitlines())
    tools = {"RUSTUP_HOME", "PYENV_ROOT", "NVM_DIR", "VOLTA_HOME"}
    assert variables.keys() - tools - {"PWD"} == {"PATH", "LANG", "HOME", "TMPDIR", "GIVEN"}
    assert (variables["GIVEN"], variables["LANG"]) == ("é", "C.UTF-8")


@EVERY
async def test_it_works_in_a_copy_of_the_workspace_and_the_workspace_stays_as_it_was(
    tier: TierName | None, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/file").write_text("as it was")
    (tmp_path / "run").write_text("#!/bin/sh\necho ran\n")
    (tmp_path / "run").chmod(0o755)
    (tmp_path / "link").symlink_to("/etc/shadow")
    os.mkfifo(tmp_path / "pipe")
    script = f"cat {tmp_path}/folder/file folder/file; ./run; echo new > folder/file; cat folder/file; readlink link"
    done = await shell(tier, script, workspace=str(tmp_path))
    assert done.stdout == b"as it wasas it wasran\nnew\n/etc/shadow\n"
    assert (tmp_path / "folder/file").read_text() == "as it was"


@pytest.mark.parametrize("tier", TIERS)
async def test_the_workspace_itself_cannot_be_changed(tier: TierName, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("as it was")
    done = await shell(
        tier, f"echo new > {tmp_path}/file; rm {tmp_path}/file; : > {tmp_path}/more", workspace=str(tmp_path)
    )
    assert done.exit_code != 0
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "as it was"


@pytest.mark.parametrize("tier", TIERS)
async def test_what_it_was_not_given_is_not_there_and_what_it_was_given_is(tier: TierName, tmp_path: Path) -> None:
    for name in ("secret", "readable", "writable"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    done = await shell(
        tier,
        f"cd {tmp_path}; cat secret/file; for each in readable writable; do cat $each/file; echo new >$each/file; done",
        readable=[str(tmp_path / "readable")],
        writable=[str(tmp_path / "writable")],
    )
    assert done.stdout == b"readablewritable"
    assert [(tmp_path / name / "file").read_text() for name in ("readable", "writable")] == ["readable", "new\n"]


@EVERY
async def test_home_is_an_empty_folder_that_goes_with_the_program(tier: TierName | None) -> None:
    ours = {"PATH": os.environ["PATH"]}
    done = await shell(tier, "ls -A $HOME | wc -l; echo left > $HOME/file; mkdir -p $TMPDIR/a/b; echo $HOME", ours=ours)
    number, home = done.stdout.decode().split()
    assert number == "0"
    assert not Path(home).exists()


@EVERY
async def test_what_package_managers_fetched_earlier_is_in_its_home(tier: TierName | None, tmp_path: Path) -> None:
    for name in (".cargo/registry", ".cargo/git", "go/pkg/mod"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").write_text("here\n")
    (tmp_path / ".cargo/credentials.toml").write_text("secret\n")
    ours = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    look = "cat $HOME/.cargo/registry/file $HOME/.cargo/git/file $HOME/go/pkg/mod/file; ls $HOME/.cargo"
    done = await shell(tier, look, ours=ours)
    assert done.stdout.split() == [b"here", b"here", b"here", b"git", b"registry"], done.stderr
    if tier is not None:
        told = await shell(tier, f"cat {tmp_path}/.cargo/credentials.toml; echo x > $HOME/.cargo/git/file", ours=ours)
        assert told.stdout == b""
        assert (tmp_path / ".cargo/git/file").read_text() == "here\n"


async def test_home_goes_however_deep_it_was_nested_and_whatever_its_rights() -> None:
    script = """
import os
print(os.environ['HOME'])
os.chdir(os.environ['HOME'])
os.mkdir('locked'); open('locked/file', 'w').close(); os.chmod('locked', 0)
for _ in range(3000): os.mkdir('d'); os.chdir('d')
"""
    done = await run_confined(None, [sys.executable, "-c", script])
    assert not Path(done.stdout.decode().strip()).exists()


@pytest.mark.parametrize("tier", TIERS)
async def test_there_is_a_network_only_if_it_is_asked_for(tier: TierName) -> None:
    need(tier)
    script = """
import socket
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()
socket.create_connection(s.getsockname()); print('talks')
"""
    with_it = await run_confined(tier, [sys.executable, "-c", script], network=True)
    assert with_it.stdout == b"talks\n", with_it.stderr
    udp = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('203.0.113.1', 9))"
    assert b"Error" in (await run_confined(tier, [sys.executable, "-c", udp])).stderr


async def test_a_program_without_a_network_still_has_pairs_of_sockets_and_with_one_no_local_ones() -> None:
    need("landlock")
    pair = "import socket; a, b = socket.socketpair(); a.send(b'1'); print(b.recv(1))"
    assert (await run_confined("landlock", [sys.executable, "-c", pair])).stdout == b"b'1'\n"
    local = "import socket; socket.socket(socket.AF_UNIX)"
    assert b"Permission" in (await run_confined("landlock", [sys.executable, "-c", local], network=True)).stderr


# --- ends ------------------------------------------------------------------------------------------


@EVERY
async def test_codes_and_streams_come_through(tier: TierName | None) -> None:
    done = await shell(tier, "cat; echo err >&2; exit 3", stdin=b"in\0")
    assert (done.exit_code, done.stdout, done.stderr) == (3, b"in\0", b"err\n")


async def test_a_signal_is_a_negative_code() -> None:
    assert (await shell("landlock", "kill -TERM $$")).exit_code == -15


@EVERY
async def test_a_program_that_cannot_be_started_is_named(tier: TierName | None) -> None:
    need(tier)
    with pytest.raises(EvaluatorError, match=r"'no-such-program' cannot be started: .*No such file"):
        await run_confined(tier, ["no-such-program"])
    with pytest.raises(EvaluatorError, match="no program was named"):
        await run_confined(tier, [])


_DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open('pid', 'w').write(str(os.getpid()))
        time.sleep(1000)
    os._exit(0)
while not os.path.exists('pid') or not open('pid').read(): time.sleep(0.01)
print(open('pid').read(), flush=True)
"""


@pytest.mark.parametrize("ends", ["", "time.sleep(1000)"])
async def test_a_daemon_that_left_its_group_is_swept(ends: str) -> None:
    need("landlock")
    began = anyio.current_time()
    done = await run_confined("landlock", [sys.executable, "-c", _DAEMON + ends], timeout_seconds=1)
    assert anyio.current_time() - began < 3.5
    assert done.timed_out is bool(ends)
    await wait_gone(int(done.stdout))


@pytest.mark.parametrize("tier", TIERS)
async def test_cancelling_ends_the_program_and_removes_its_folder(tier: TierName, tmp_path: Path) -> None:
    need(tier)
    seconds = f"{5000 + os.getpid()}.5"
    script = f"pwd > {tmp_path}/told; trap '' TERM; exec sleep {seconds}"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: run_confined(tier, ["sh", "-c", script], writable=[str(tmp_path)]))
        with anyio.fail_after(20):
            while not (found := sleeping(seconds)):
                await anyio.sleep(0.02)
        tasks.cancel_scope.cancel()
    for pid in found:
        await wait_gone(pid)
    assert not Path((tmp_path / "told").read_text().strip()).exists()


_FORKS = """
import os, time
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
print(os.getpid(), flush=True)
time.sleep(1000)
"""


async def test_many_that_left_their_group_are_swept_at_the_deadline() -> None:
    need("landlock")
    done = await run_confined("landlock", [sys.executable, "-c", _FORKS], timeout_seconds=1)
    assert done.timed_out
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) > 5
    for pid in pids:
        await wait_gone(pid)


@pytest.mark.parametrize("tier", TIERS)
async def test_when_we_are_killed_the_program_goes_with_us(tier: TierName, tmp_path: Path) -> None:
    need(tier)
    seconds = f"{4000 + os.getpid()}.5"
    ours = f"""
import anyio
from deliberate.sandbox._confined import run_confined
anyio.run(lambda: run_confined({tier!r}, ["sleep", "{seconds}"], timeout_seconds=50))
"""
    # Nobody is left to remove its folder.
    process = subprocess.Popen([sys.executable, "-c", ours], env={**os.environ, "TMPDIR": str(tmp_path)})
    with anyio.fail_after(20):
        while not (found := sleeping(seconds)):
            await anyio.sleep(0.02)
    (pid,) = found
    process.kill()
    process.wait()
    await wait_gone(pid)


def sleeping(seconds: str) -> list[int]:
    """The programs that sleep so long."""
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes() == f"sleep\0{seconds}\0".encode():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return [pid for pid in found if lives(pid)]


@pytest.mark.parametrize("tier", TIERS)
async def test_memory_and_files_have_their_bounds(tier: TierName) -> None:
    need(tier)
    memory = await run_confined(tier, [sys.executable, "-c", "bytearray(5 * 2**30)"])
    assert b"MemoryError" in memory.stderr
    big = "import os; handle = os.open('big', os.O_CREAT | os.O_WRONLY); os.ftruncate(handle, 2 * 2**30)"
    assert b"File too large" in (await run_confined(tier, [sys.executable, "-c", big])).stderr


async def test_a_workspace_that_holds_the_home_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    for home in (tmp_path, tmp_path / "home"):
        with pytest.raises(EvaluatorError, match="holds the home folder"):
            await run_confined(None, ["true"], workspace=str(tmp_path), home=str(home))
    done = await run_confined(None, ["true"], workspace=str(tmp_path / "home"), home=str(tmp_path))
    assert done.exit_code == 0
    with pytest.raises(EvaluatorError, match="holds the home folder"):
        await run_confined(None, ["true"], workspace=Path.home().anchor)


def test_what_a_tier_could_not_do_is_an_error_and_what_the_program_says_is_none() -> None:
    said = Finished(exit_code=1, stdout=b"", stderr=b"bwrap: execvp prog: No such file or directory")
    with pytest.raises(EvaluatorError, match=r"'prog' cannot be started: bwrap: execvp"):
        _told("bubblewrap", said, ["prog"], token=b"<1>")
    assert _told("landlock", said, ["prog"], token=b"<1>") == said
    with pytest.raises(EvaluatorError, match=r"'prog' cannot be started: landlock 1"):
        _told("landlock", Finished(exit_code=121, stdout=b"", stderr=b"<1>landlock 1"), ["prog"], token=b"<1>")


# --- what is made of an order: pure ------------------------------------------------------------------


def test_what_lies_inside_another_place_is_laid_over_it() -> None:
    bounds = Bounds(readable=("/a/b", "/a"), writable=("/a/w",), cwd="/a/w/work")
    words = supervised("bubblewrap", ["prog", "arg"], bounds, life=7, token="<1>")  # noqa: S106  no secret
    text = " ".join(words)
    assert "--ro-bind-try /a /a --ro-bind-try /a/b /a/b --bind /a/w /a/w --chdir /a/w/work -- prog arg" in text
    assert "--share-net" not in text
    order = json.loads(words[4])
    assert (order["life"], order["token"], order["confine"]) == (7, "<1>", None)
    assert order["limits"]["cpu"] == 61
