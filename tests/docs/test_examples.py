"""The examples in the docstrings of the rooms that think, and of ``runtime``, are true; every formula shows one."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import deliberate.plugins
from deliberate.plugins import names

PACKAGE = Path(deliberate.plugins.__file__).parent
ROOMS = (
    "errors.py",
    "plugins.py",
    "gates.py",
    "runtime.py",
    "types",
    "aggregation",
    "tallies",
    "agreement",
    "protocols",
)
FORMULAS = ("aggregation", "tallies", "agreement")


def sources() -> Iterator[Path]:
    """The files of the rooms."""
    for room in ROOMS:
        place = PACKAGE / room
        yield from sorted(place.rglob("*.py")) if place.is_dir() else [place]


def docstrings(path: Path) -> Iterator[tuple[str, str]]:
    """Name and docstring of everything in a file, whatever a decorator made of it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            if text is not None:
                yield getattr(node, "name", path.stem), text


def examples() -> Iterator[tuple[Path, str, str]]:
    """Every docstring with an example in it."""
    for path in sources():
        yield from ((path, name, text) for name, text in docstrings(path) if ">>>" in text)


@pytest.mark.parametrize(
    ("path", "text"),
    [pytest.param(path, text, id=f"{path.relative_to(PACKAGE)}::{name}") for path, name, text in examples()],
)
def test_an_example_is_true(path: Path, text: str) -> None:
    module = importlib.import_module(".".join((PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts)))
    test = doctest.DocTestParser().get_doctest(text, dict(vars(module)), path.stem, str(path), 0)
    told: list[str] = []
    result = doctest.DocTestRunner().run(test, out=told.append)
    assert not result.failed, "".join(told)
    assert result.attempted


@pytest.mark.parametrize(("room", "name"), [(room, name) for room in FORMULAS for name in names(room)])
def test_every_formula_shows_an_example(room: str, name: str) -> None:
    path = PACKAGE / room / f"{name}.py"
    if path.exists():
        assert any(">>>" in text for _, text in docstrings(path))
    else:
        assert inspect.getdoc(deliberate.plugins.part(room, name)), "another package's"
