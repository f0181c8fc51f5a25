"""What is imported before it is needed. A slow start is paid by every user, at every start.

Modules are counted exactly; how long importing them takes is for ``benchmarks/micro.py`` to say, on a quiet machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = "import deliberate"
NAMES = "from deliberate import Case, Panel, Rules, combine, redecide"
VERB = """
import sys
sys.argv = ["deliberate", *{args!r}]
from deliberate.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""
NETWORK = {"aiohttp", "litellm", "openai", "uvloop"}
ARITHMETIC = {"numpy", "scipy", "sklearn"}
HEAVY = NETWORK | ARITHMETIC | {"duckdb", "jsonschema", "pytest", "rapidfuzz", "wordllama", "xllamacpp"}
SCREEN = {"jinja2", "pygments", "rich"}
DOCUMENTS = {"pydantic", "ruamel"}
LATER = SCREEN | DOCUMENTS | {"asyncio", "regex", "structlog", "typer"}
LIST = "\nimport json, sys\nprint('\\n' + json.dumps(sorted(sys.modules)))"


class Budget(NamedTuple):
    """The most modules, ours and others', that a program may hold at its end, and packages that must not be there."""

    program: str
    most: int
    unwanted: set[str]


def verb(*args: str) -> str:
    return VERB.format(args=args)


BUDGETS = {
    "import": Budget(PACKAGE, 80, HEAVY | LATER),
    "help": Budget(verb("--help"), 185, HEAVY | LATER - {"typer"}),
    "help-of-ask": Budget(verb("ask", "--help"), 310, HEAVY | SCREEN | {"ruamel", "structlog"}),
    "schema": Budget(verb("schema"), 440, HEAVY | SCREEN | {"ruamel", "structlog", "sqlite3"}),
    "rubric-ls": Budget(verb("rubric", "ls"), 530, HEAVY | SCREEN | {"structlog", "sqlite3"}),
    "evaluator-ls": Budget(verb("evaluator", "ls"), 540, HEAVY | SCREEN | {"ruamel", "structlog", "sqlite3"}),
}


def imported_by(program: str, home: Path) -> set[str]:
    """The modules a fresh interpreter holds after running a program."""
    done = subprocess.run(
        [sys.executable, "-c", program + LIST],
        capture_output=True,
        text=True,
        check=False,
        env={"DELIBERATE_HOME": str(home), "PATH": ""},
    )
    assert not done.returncode, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
def test_nothing_is_imported_before_it_is_needed(budget: Budget, tmp_path: Path) -> None:
    modules = imported_by(budget.program, tmp_path)
    assert "deliberate" in modules
    assert not {name.partition(".")[0] for name in modules} & budget.unwanted
    assert len(modules) <= budget.most


def test_the_first_names_need_neither_network_nor_arithmetic(tmp_path: Path) -> None:
    modules = imported_by(NAMES, tmp_path)
    assert not {name.partition(".")[0] for name in modules} & HEAVY
