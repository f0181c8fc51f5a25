"""The distribution, built once for the tests of this folder and installed into an empty environment."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, kw_only=True)
class Built:
    """Where the two built files lie."""

    sdist: Path
    wheel: Path


@dataclass(frozen=True, kw_only=True)
class Installed:
    """An interpreter that has the program, and the folder it is started in."""

    python: Path
    folder: Path

    def run(self, *arguments: str | Path) -> str:
        """What the interpreter prints, started outside the checkout and without anything of its environment."""
        done = subprocess.run(
            [self.python, "-I", *arguments], cwd=self.folder, capture_output=True, text=True, check=False, timeout=60
        )
        assert not done.returncode, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The sdist built from the checkout, and the wheel built from the sdist: so the sdist has all a build needs."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert not done.returncode, done.stdout + done.stderr
    (sdist,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    return Built(sdist=sdist, wheel=wheel)


@pytest.fixture(scope="session")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel in an empty environment.

    Its dependencies are those of the running one, reached by a path file: nothing is fetched. A path file is not
    followed into another, so the editable install beside those dependencies stays out of sight.
    """
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=True, symlinks=True)
    python = folder / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(built.wheel)]
    done = subprocess.run(install, capture_output=True, text=True, check=False, timeout=60)
    assert not done.returncode, done.stdout + done.stderr
    own = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    Path(own.stdout.strip(), "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return Installed(python=python, folder=folder)


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The editable install of the running environment, started somewhere else."""
    return Installed(python=Path(sys.executable), folder=tmp_path_factory.mktemp("elsewhere"))
