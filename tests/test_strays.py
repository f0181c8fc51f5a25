"""What the driver looks for when tests are over is found, and nothing else is."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import sys
import urllib.parse
from pathlib import Path

import pytest

from tests.strays import KEYS, MARK, laid, left

LISTENS = """
import socket, time
place = socket.create_server(("127.0.0.1", 0))
print(place.getsockname()[1], flush=True)
time.sleep(1000)
"""


def test_tests_that_keep_to_their_folders_leave_nothing(tmp_path: Path) -> None:
    ground = laid(tmp_path)
    ground.pytest.mkdir()
    (ground.pytest / "kept.txt").write_text("for whoever looks", encoding="utf-8")
    assert left(ground, said="1 passed") == []
    assert not ground.folder.exists()


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no /proc on this system")
@pytest.mark.parametrize("scrubbed", [False, True], ids=["marked", "scrubbed"])
def test_a_process_that_stays_is_named_with_its_port(tmp_path: Path, *, scrubbed: bool) -> None:
    ground = laid(tmp_path)
    env = {} if scrubbed else {**os.environ, MARK: ground.mark}
    program = [sys.executable, "-c", LISTENS]
    place = ground.folder / "tmp" if scrubbed else tmp_path
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True, env=env, cwd=place) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            (line,) = left(ground, seconds=0.0)
        finally:
            process.kill()
    assert line.startswith(f"process {process.pid} ({sys.executable} -c")
    assert line.endswith(f"listening at {port}")


def test_files_outside_the_folders_of_tests_are_named(tmp_path: Path) -> None:
    git = shutil.which("git")
    assert git is not None
    subprocess.run([git, "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / "mine.txt").write_text("there before", encoding="utf-8")
    ground = laid(tmp_path)
    (tmp_path / "stray.txt").write_text("new", encoding="utf-8")
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "fine.pyc").write_text("a cache", encoding="utf-8")
    (ground.folder / "tmp" / "empty").mkdir()
    (ground.folder / "home" / ".local").mkdir()
    (ground.folder / "home" / ".local" / "ledger.db").write_text("", encoding="utf-8")
    assert left(ground) == [
        f"file {ground.folder}/home/.local/ledger.db",
        f"file {ground.folder / 'tmp' / 'empty'}",
        "file stray.txt, new in the repository",
    ]


def test_the_planted_key_is_found_in_every_form(tmp_path: Path) -> None:
    ground = laid(tmp_path)
    assert {ground.environment()[name] for name in KEYS} == {ground.key}
    ground.pytest.mkdir()
    texts = {
        "raw": ground.key,
        "quoted": urllib.parse.quote(ground.key, safe=""),
        "shifted": base64.b64encode(f"Bearer {ground.key}".encode()).decode(),
        "late": "x" * ((1 << 22) - 5) + ground.key,
        "none": ground.key[:-5],
    }
    for name, text in texts.items():
        (ground.pytest / name).write_text(text, encoding="utf-8")
    report = tmp_path / "report.xml"
    report.write_text(f"<e>{ground.key}</e>", encoding="utf-8")
    found = left(ground, artifacts=(report,), said=f"KeyError: {ground.key}")
    places = [str(ground.pytest / name) for name in ("late", "quoted", "raw", "shifted")]
    assert sorted(found) == sorted(
        [
            *(f"the planted key stands in {path}" for path in (*places, report)),
            "the planted key stands in what was printed",
        ]
    )


def test_a_section_with_a_home_of_its_own_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    ground = laid(tmp_path)
    given = ground.environment()
    assert given["HOME"] == given["XDG_DATA_HOME"] == f"{ground.folder}/home"
    assert "HOME" not in ground.environment(home=False)
    assert given["PYTHONDONTWRITEBYTECODE"] == ""
    assert left(ground) == []
