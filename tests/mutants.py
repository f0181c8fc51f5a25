"""The driver behind ``make mutants``: puts small wrongs into a room, one at a time, and counts those its tests notice.

``mutants.py`` does so for every room that has to be right by itself (lines 1 to 5 of the house, and ``judging``);
rooms named on the command line are done alone. Each room is mutated in a copy of the tree under ``build/mutants``, by
mutmut, against the tests that stand beside it and the laws over it. Survivors are listed with the change nobody
noticed. The exit code is 1 if a room stays under its mark: 90 of 100 noticed.

A room takes a minute or two (``tallies``) to an hour (``judging``), on one core.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRATCH = ROOT / "build" / "mutants"
ROOMS = ("errors", "types", "plugins", "aggregation", "tallies", "agreement", "gates", "protocols", "judging")
MARK = 90.0  # of 100 wrongs, noticed

CONFIGURATION = """
[tool.mutmut]
source_paths = ["deliberate"]
only_mutate = {only}
also_copy = {copied}
pytest_add_cli_args_test_selection = {tests}
pytest_add_cli_args = ["-p", "no:xdist", "-p", "no:cacheprovider"]
# A cast says something to the type checker alone.
do_not_mutate_patterns = ['cast[(]']
"""

# Slower by far, as each child imports the package itself: the only way a wrong is there when a decorator runs.
FRESH = """
process_isolation = "forkserver"
forkserver_warmup = "none"
"""


def sources(room: str) -> str:
    """What of the package is the room: a folder or one file, as a pattern."""
    return f"deliberate/{room}/*" if (ROOT / "deliberate" / room).is_dir() else f"deliberate/{room}.py"


def witnesses(room: str) -> list[str]:
    """The tests that ought to notice: beside the room, and the laws over it."""
    places = (f"tests/{room}", f"tests/test_{room}.py", f"tests/laws/test_{room}.py")
    return [place for place in places if (ROOT / place).exists()]


def copy(room: str) -> Path:
    """A copy of what git holds, told what to mutate."""
    to = SCRATCH / room
    shutil.rmtree(to, ignore_errors=True)
    held = subprocess.run(
        (shutil.which("git") or "git", "ls-files", "-z"), cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    for name in filter(None, held.split("\0")):
        if (ROOT / name).is_file():  # and not just deleted
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    also = [place.name for place in sorted(to.iterdir()) if place.name not in {"deliberate", "tests", "pyproject.toml"}]
    tell(to, CONFIGURATION.format(only=[sources(room)], copied=also, tests=witnesses(room)))
    return to


def tell(place: Path, more: str) -> None:
    """Add to the copy's configuration."""
    with (place / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write(more)


def mutmut(place: Path, *arguments: str) -> str:
    """What mutmut printed, also kept in ``mutmut.log``; the program ends where mutmut failed."""
    command = (str(Path(sys.executable).parent / "mutmut"), *arguments)
    done = subprocess.run(command, cwd=place, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    with (place / "mutmut.log").open("a", encoding="utf-8") as log:
        log.write(done.stdout)
    if done.returncode:
        raise SystemExit(f"mutmut {arguments[0]} ended with {done.returncode}; see {place / 'mutmut.log'}")
    return done.stdout


def survivors(place: Path) -> list[str]:
    """The names of the wrongs nobody noticed."""
    found = (line.strip().partition(": ") for line in mutmut(place, "results").splitlines())
    return [name for name, _, what in found if what in {"survived", "no tests"}]


def score(room: str) -> float:
    """Mutate ``room`` and say what came of it; the share of wrongs noticed, in percent."""
    place = copy(room)
    mutmut(place, "run", "--max-children", "1")
    if unnoticed := survivors(place):
        tell(place, FRESH)
        mutmut(place, "run", "--max-children", "1", *unnoticed)
    mutmut(place, "export-cicd-stats")
    counts: dict[str, int] = json.loads((place / "mutants" / "mutmut-cicd-stats.json").read_text(encoding="utf-8"))
    noticed = counts["killed"] + counts["timeout"] + counts["segfault"]
    tried = noticed + counts["survived"] + counts["no_tests"] + counts["suspicious"]
    share = 100.0 * noticed / tried if tried else 100.0
    print(f"{room:12} {share:5.1f} % noticed, {noticed} of {tried}")
    for name in survivors(place):
        changed = [text for text in mutmut(place, "show", name).splitlines() if text[:1] in "+-"]
        print(
            "\n".join((f"  {name}", *(f"    {text}" for text in changed if text[:3] not in {"+++", "---"}))), flush=True
        )
    return share


def main(arguments: Sequence[str] | None = None) -> int:
    """Mutate the rooms asked for; 1 if one is under the mark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=", ".join(ROOMS))
    rooms = parser.parse_args(arguments).rooms or list(ROOMS)
    if unknown := [room for room in rooms if not witnesses(room)]:
        parser.error(f"no tests beside {', '.join(unknown)}")
    os.nice(5)
    return int(any([score(room) < MARK for room in rooms]))  # noqa: C419 - a list: each room is done


if __name__ == "__main__":
    raise SystemExit(main())
