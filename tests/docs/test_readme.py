"""The README prints what it says it prints, and is short."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

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


def test_it_fits_on_two_screens(text: str) -> None:
    assert len(text.splitlines()) <= 130
    assert max(map(len, text.splitlines())) <= 120


def test_the_five_places_to_read_exist(text: str) -> None:
    for place in re.findall(r"`([a-z_/]+(?:\.py|/))`", text.rpartition("To read the code")[2]):
        root = README.parent
        assert (root / "deliberate" / place.removeprefix("deliberate/")).exists(), place
