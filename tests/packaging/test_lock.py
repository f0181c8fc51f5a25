"""The lock is what pyproject.toml asks for, and says nothing of the machine that made it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def asked_for() -> Iterator[str]:
    """Every requirement of the core, the extras and the tools."""
    yield from PYPROJECT["project"]["dependencies"]
    for extra in PYPROJECT["project"]["optional-dependencies"].values():
        yield from (line for line in extra if not line.startswith(PYPROJECT["project"]["name"]))
    yield from PYPROJECT["dependency-groups"]["dev"]


def locked() -> dict[str, list[Version]]:
    """Name -> versions; several where they differ by Python."""
    found: dict[str, list[Version]] = {}
    for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", LOCK, flags=re.MULTILINE):
        found.setdefault(canonicalize_name(name), []).append(Version(version))
    return found


@pytest.mark.parametrize("text", [*asked_for()], ids=str)
def test_what_is_asked_for_is_locked(text: str) -> None:
    requirement = Requirement(text)
    versions = locked()[canonicalize_name(requirement.name)]
    assert all(requirement.specifier.contains(version, prereleases=True) for version in versions)


def test_every_package_is_pinned_with_its_hashes() -> None:
    lines = [line for line in LOCK.splitlines() if not line.lstrip().startswith("#")]
    packages = re.split(r"^(?=\S)", "\n".join(lines), flags=re.MULTILINE)[1:]
    assert len(packages) > 50
    assert not [package for package in packages if "==" not in package or "--hash=sha256:" not in package]


@pytest.mark.parametrize("sign", ["/", "@", "--index", "--extra-index", "--find-links", "--trusted-host", "file:"])
def test_the_lock_names_no_place(sign: str) -> None:
    assert sign not in LOCK  # without a slash there is no address and no path


def test_the_lock_says_how_it_is_made() -> None:
    comments = [line for line in LOCK.splitlines() if line.startswith("#")]
    assert "".join(comments).endswith("make lock")
