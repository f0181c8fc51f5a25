"""A pytest plugin: the examples in README, docs and docstrings are tests (``pytest -p tests._examples README.md``)."""

from __future__ import annotations

from pathlib import Path

from sybil import Sybil
from sybil.parsers.doctest import DocTestParser
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

ROOT = Path(__file__).resolve().parent.parent

pytest_collect_file = (
    Sybil(
        parsers=[PythonCodeBlockParser(), SkipParser()],
        path=str(ROOT),
        patterns=["README.md", "docs/*.md"],
    )
    + Sybil(parsers=[DocTestParser()], path=str(ROOT / "deliberate"), patterns=["**/*.py"])
).pytest()
