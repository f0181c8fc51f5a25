"""What every test may use: both event loops, how hard hypothesis looks, and packages installed for one test.

Hypothesis looks a little and always at the same cases, unless ``--all`` is given or ``DELIBERATE_ALL=1`` is set (or
the driver asks for all): then it looks long, at new cases each time, and makes what it finds small. A law that fails
in the short look is made small by ``pytest --all -k NAME``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from deliberate import plugins

settings.register_profile(
    "few",
    max_examples=25,
    derandomize=True,
    database=None,
    deadline=None,
    report_multiple_bugs=False,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],  # of so few, nine may be unlucky
)
settings.register_profile(
    "many",
    settings.get_profile("few"),
    max_examples=2_000,
    derandomize=False,
    print_blob=True,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)

Install = Callable[..., None]
"""``install(distribution, modules={name: source}, parts={room: {part: "module:object"}})``."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--all``."""
    parser.addoption("--all", action="store_true", help="let hypothesis look long, and at new cases")


def pytest_configure(config: pytest.Config) -> None:
    """Chooses how hard hypothesis looks, unless the command line chose."""
    if config.getoption("--hypothesis-profile", default=None):
        return
    asked = (os.environ.get("DELIBERATE_ALL"), os.environ.get("DELIBERATE_CHECK"))
    settings.load_profile("many" if config.getoption("--all") or asked[0] == "1" or asked[1] == "all" else "few")


@pytest.fixture(scope="module", params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Every async test runs on both event loops."""
    name: str = request.param
    return name


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs a package with entry points, as another distribution would bring them, for one test."""
    caches = (plugins.part, plugins._theirs, plugins._prefixes)  # noqa: SLF001  what is installed changes only here

    def forget() -> None:
        for cache in caches:
            cache.cache_clear()

    def add(distribution: str, *, modules: Mapping[str, str], parts: Mapping[str, Mapping[str, str]]) -> None:
        folder = tmp_path / distribution
        metadata = folder / f"{distribution}-1.0.dist-info"
        metadata.mkdir(parents=True)
        for name, source in modules.items():
            (folder / f"{name}.py").write_text(source, encoding="utf-8")
        lines = [
            line
            for room, entries in parts.items()
            for line in (f"[deliberate.{room}]", *(f"{name} = {value}" for name, value in entries.items()))
        ]
        (metadata / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n", "utf-8")
        monkeypatch.syspath_prepend(str(folder))
        forget()

    yield add
    monkeypatch.undo()
    forget()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one mebibyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    if os.getuid() != 0 or mount is None:
        pytest.skip("only root can mount a small disk")
    if subprocess.run([mount, "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], check=False).returncode:
        pytest.skip("no small disk can be mounted here")
    try:
        yield disk
    finally:
        subprocess.run(["/bin/umount", str(disk)], check=True)
