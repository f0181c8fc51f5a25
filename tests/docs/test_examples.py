"""Every formula shows an example (whether it is true, ``tests/_examples.py`` tries: it runs them all)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import deliberate.plugins

PACKAGE = Path(deliberate.plugins.__file__).parent
FORMULAS = [
    path
    for room in ("aggregation", "tallies", "agreement")
    for path in sorted((PACKAGE / room).glob("*.py"))
    if not path.name.startswith("_")
]


@pytest.mark.parametrize("path", FORMULAS, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_formula_shows_an_example(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    shown = [ast.get_docstring(node) or "" for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert any(">>>" in text for text in shown)
