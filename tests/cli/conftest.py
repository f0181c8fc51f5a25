"""The program under test: as a process of its own, or, where a table of cases would take too long, in this one.

Both get an environment made from nothing, a home and a folder of their own, and no terminal.
"""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from typer.main import get_command

from deliberate.cli._app import app

THREE = ("--judge", "scripted/good:70", "--judge", "scripted/good:60", "--judge", "scripted/fair:40")
"""Two for Good, one for Fair: Good, 56.7."""


class Result(NamedTuple):
    """What a run of the program gave back."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401  JSON
        """The one JSON object on standard output."""
        return msgspec.json.decode(self.out)

    @property
    def result(self) -> str:
        """The RESULT line, unfolded; without it, nothing."""
        text = " ".join((self.out + self.err).split())
        return text.partition(" RESULT ")[2]


PROGRAM = get_command(app)

Cli = Callable[..., Result]
"""``cli(*arguments, stdin=b"", env={...}, home=...)``: the program as a process."""

Here = Callable[..., Result]
"""``here(*arguments, **environment)``: the program in this process; much faster, but for standard input and signals."""


def environment(folder: Path, **more: str) -> dict[str, str]:
    """An environment from nothing, and what coverage needs to follow us into a process."""
    measured = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE")}
    return {
        **measured,
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder / "home"),
        "DELIBERATE_HOME": str(folder / "home"),
        "NO_COLOR": "1",
        "COLUMNS": "80",
        **more,
    }


def command(*arguments: object) -> list[str]:
    """The command line of the program with these arguments."""
    return [sys.executable, "-m", "deliberate", *map(str, arguments)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the program is run, with a case in it."""
    (tmp_path / "home").mkdir()
    (tmp_path / "answer.txt").write_text("4\n", encoding="utf-8")
    (tmp_path / "task.txt").write_text("What is 2 + 2?\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def cli(folder: Path) -> Cli:
    def run(*arguments: object, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Result:
        done = subprocess.run(
            command(*arguments),
            cwd=folder,
            env=environment(folder, **(env or {})),
            input=stdin,
            capture_output=True,
            check=False,
        )
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Here:
    monkeypatch.chdir(folder)
    for name in os.environ:
        monkeypatch.delenv(name)

    def run(*arguments: object, **env: str) -> Result:
        with monkeypatch.context() as patch:
            for name, value in environment(folder, **env).items():
                patch.setenv(name, value)
            capfd.readouterr()
            with pytest.raises(SystemExit) as ended:
                PROGRAM([str(one) for one in arguments], prog_name="deliberate")
            out, err = capfd.readouterr()
        assert isinstance(ended.value.code, int)
        return Result(ended.value.code, out, err)

    return run


@pytest.fixture
def panel(folder: Path) -> Callable[..., Path]:
    """``panel(*lines)``: a panel file of these seats, written as YAML flow mappings, and more lines behind them."""

    def write(*seats: str, more: str = "", name: str = "p.panel.yaml") -> Path:
        lines = "".join(f"  - {{{seat}}}\n" for seat in seats)
        path = folder / name
        path.write_text(f"deliberate: 1\nseats:\n{lines}{more}\n", encoding="utf-8")
        return path

    return write


def attempts(folder: Path, ledger: str = "home/ledger.db") -> int:
    """How many calls the record knows of; none where there is no record."""
    path = folder / ledger
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as connection:
        (count,) = connection.execute("SELECT count(*) FROM attempt").fetchone()
    return int(count)


ESCAPES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What may never reach a terminal raw: control signs, and those that turn the direction of writing."""


def check_one_line(err: str, code: int, name: str) -> None:
    """One clear message on standard error: the code and its name first, one line, no trace."""
    assert err.startswith(f"{code} {name}: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert not ESCAPES.search(err[:-1])
