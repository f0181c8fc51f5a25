"""What a user gets: a wheel that holds all it needs, and a checkout that behaves alike."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Protocol

import pytest

ROOT = Path(__file__).resolve().parents[2]


class Built(Protocol):
    sdist: Path
    wheel: Path


class Installed(Protocol):
    def run(self, *arguments: str | Path) -> str: ...


@pytest.fixture
def names(built: Built) -> Iterator[list[str]]:
    with zipfile.ZipFile(built.wheel) as wheel:
        yield wheel.namelist()


@pytest.mark.parametrize(
    "pattern",
    [
        "deliberate/__init__.py",
        "deliberate/py.typed",
        "deliberate/_bundled/agents/*.md",
        "deliberate/_bundled/rubrics/*/SKILL.md",
        "deliberate_eval-*.dist-info/licenses/LICENSE",
    ],
)
def test_the_wheel_holds(names: list[str], pattern: str) -> None:
    assert any(fnmatch(name, pattern) for name in names)


def test_every_data_file_of_the_checkout_is_in_the_wheel(names: list[str]) -> None:
    files = {
        f"deliberate/_bundled/{path.relative_to(ROOT).as_posix()}"
        for folder in ("agents", "rubrics")
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
    }
    assert files
    assert files <= set(names)


def test_the_wheel_puts_nothing_else_at_the_top(names: list[str]) -> None:
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"deliberate"}


def test_the_sdist_holds_what_a_build_needs_and_no_more(built: Built) -> None:
    with tarfile.open(built.sdist) as sdist:
        tops = {name.split("/")[1] for name in sdist.getnames() if "/" in name}
    assert tops - {".gitignore", "PKG-INFO"} == {
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "agents",
        "deliberate",
        "pyproject.toml",
        "rubrics",
    }


@pytest.fixture(params=["installed", "checkout"])
def place(request: pytest.FixtureRequest) -> Installed:
    """The wheel in an empty environment, and the editable checkout."""
    found: Installed = request.getfixturevalue(request.param)
    return found


def test_it_imports_from_where_it_was_installed(installed: Installed) -> None:
    where = Path(installed.run("-c", "import deliberate; print(deliberate.__file__)").strip())
    assert "site-packages" in where.parts


def test_its_types_are_declared(place: Installed) -> None:
    program = "import importlib.resources as r; print((r.files('deliberate') / 'py.typed').is_file())"
    assert place.run("-c", program).strip() == "True"


def test_it_finds_its_agents_and_rubrics(place: Installed) -> None:
    card = min(path.stem for path in (ROOT / "agents").glob("*.md"))
    program = f"""
from deliberate.library import Library
library = Library(home="home", workspace=".")
rubric, card = library.rubric("general"), library.card("{card}")
print(rubric.name, rubric.source, card.name, card.source)
"""
    assert place.run("-c", program).split() == ["general", "bundled", card, "bundled"]


@pytest.mark.parametrize("command", ["deliberate", "deliberate-eval"])
def test_both_commands_are_the_same_program(place: Installed, command: str) -> None:
    program = f"""
from importlib.metadata import entry_points
(command,) = entry_points(group="console_scripts", name="{command}")
print(command.value)
"""
    assert place.run("-c", program).strip() == "deliberate.cli:main"
