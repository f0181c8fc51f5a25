"""The README prints what it says it prints, and is short."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from deliberate.library import Library

pytestmark = pytest.mark.anyio

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture(scope="module")
def text() -> str:
    return README.read_text(encoding="utf-8")


def test_each_example_prints_what_stands_below_it(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELIBERATE_HOME", str(tmp_path))
    names: dict[str, object] = {"__name__": "readme"}
    examples = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL)
    assert len(examples) == 2
    for code, printed in examples:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(code, str(README), "exec"), names)  # noqa: S102  our own examples
        assert said.getvalue() == printed


async def test_the_demo_prints_what_stands_here(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(README.parent / "examples")
    demo = importlib.import_module("demo")
    said = io.StringIO()
    console = Console(file=said, width=80, highlight=False)
    await demo.replayed(console, Library(home=tmp_path, workspace=README.parent / "examples"))
    (printed,) = re.findall(r"```\n(1\. A summary.*?)```", text, re.DOTALL)
    assert SECONDS.sub("0.0", said.getvalue()).strip() == SECONDS.sub("0.0", printed).strip()


def test_the_demo_says_beforehand_how_long_it_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(README.parent / "examples")
    demo = importlib.import_module("demo")
    ledger = tmp_path / "ledger.db"
    assert "takes a few minutes (2.5 on two idle cores), and seconds next time" in demo.beforehand(ledger)
    ledger.touch()
    assert "is read back: seconds" in demo.beforehand(ledger)


SECONDS = re.compile(r"\d+\.\d(?=\n)")
"""What a replay took stands at the end of a line, and is not always the same."""


def test_it_fits_on_two_screens(text: str) -> None:
    assert len(text.splitlines()) <= 130
    assert max(map(len, text.splitlines())) <= 120


def test_the_five_places_to_read_exist(text: str) -> None:
    for place in re.findall(r"`([a-z_/]+(?:\.py|/))`", text.rpartition("Read first")[2]):
        root = README.parent
        assert (root / "deliberate" / place.removeprefix("deliberate/")).exists(), place
