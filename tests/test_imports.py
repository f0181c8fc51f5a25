"""What is imported before it is needed. A slow start is paid by every user, at every start."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PACKAGE = "import deliberate"
HELP = """
import sys
sys.argv = ["deliberate", "--help"]
from deliberate.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""
HEAVY = {"aiohttp", "litellm", "numpy", "openai"}
LATER = {"jinja2", "pydantic", "regex", "rich", "ruamel", "structlog", "typer"}
LIST = "\nimport json, sys\nprint(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"


def imported_by(program: str) -> set[str]:
    """The top-level modules a fresh interpreter holds after running a program."""
    done = subprocess.run([sys.executable, "-c", program + LIST], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(("program", "unwanted"), [(PACKAGE, HEAVY | LATER), (HELP, HEAVY)], ids=["import", "help"])
def test_nothing_is_imported_before_it_is_needed(program: str, unwanted: set[str]) -> None:
    modules = imported_by(program)
    assert "deliberate" in modules
    assert not modules & unwanted
