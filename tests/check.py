"""The driver behind ``make test``: runs what CI runs, section by section, and sums it up.

``check.py`` runs every section, ``--fast`` the static checks and the unit tests without coverage, ``--all`` also the
tests marked ``thorough``. Sections named on the command line are run alone. A section that fails does not stop the
next; the exit code is 0 only if all of it passed. The last line reads ``N passed, N failed`` (``, N skipped``).

A test says what it left out by skipping with a reason, or, if it checked a sample only, by
``record_property("sampled", "200 of 741 stops")``; both are listed under "not run here". How much to sample it reads
from the environment: ``DELIBERATE_CHECK`` is ``fast``, ``test`` or ``all``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict
from xml.etree import ElementTree as ET

from tests.strays import laid, left

ROOT = Path(__file__).resolve().parent.parent
SCRATCH = ROOT / "build" / "check"
BIN = Path(sys.executable).parent
OWN_FOLDERS = ("conformance", "docs", "faults", "local", "packaging", "typing")
CUT_AFTER_BUDGETS = 6  # a section that takes this many times its budget hangs, and is ended

# What a house line must have covered, by line and branch, in percent. A room no line names: the last.
HOUSE = (
    ("1-5", 100, ("errors", "types", "plugins", "aggregation", "tallies", "agreement", "gates", "protocols")),
    ("6-8", 95, ("providers", "ledger", "library", "sandbox", "runtime", "judging")),
    ("9-12", 90, ()),
)


@dataclass(kw_only=True)
class Result:
    """What came of a section."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    note: str = ""
    output: str = ""  # shown whole if anything failed
    table: list[str] = field(default_factory=list[str])  # shown in the sum
    lacks: list[str] = field(default_factory=list[str])
    seconds: float = 0.0


class FileReport(TypedDict):
    """What coverage's JSON says of a file, as far as it is read here."""

    summary: dict[str, float]
    missing_lines: list[int]
    missing_branches: list[tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class Mode:
    """How thorough this run is."""

    name: str
    coverage: bool
    thorough: bool
    workers: int = 1
    scratch: Path = SCRATCH


@dataclass(frozen=True, kw_only=True)
class Section:
    """One named step and the seconds it may take before someone should look at it."""

    name: str
    title: str
    budget: int
    run: Callable[[Section, Mode], Result]
    paths: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    measured: bool = True  # for coverage
    splits: bool = False  # its tests can be shared out among processes: no clock
    at_home: bool = False  # works with what lies in the user's own home folder: weights, packages


# --- running ---------------------------------------------------------------------------------------


def run_command(command: Sequence[str], *, seconds: float, env: dict[str, str] | None = None) -> tuple[int, str]:
    """Exit code and all output of a command; one that outlasts ``seconds`` is ended with its children, code 124."""
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            end(process)
            output, _ = process.communicate()
            return 124, f"{output}\nended after {seconds:.0f} s\n"
        except BaseException:  # Ctrl-C: nothing may stay behind
            end(process)
            raise
    return process.returncode, output


def end(process: subprocess.Popen[str]) -> None:
    """Kill a command and whatever it started."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def existing(paths: Iterable[str]) -> list[str]:
    """Those of the paths, relative to the root, that are there."""
    return [path for path in paths if (ROOT / path).exists()]


# --- static checks ---------------------------------------------------------------------------------


def static_checks(section: Section, _mode: Mode) -> Result:
    """Format, lint, types, imports, words and dependencies: the slow ones first, two at a time."""
    commands = (
        (
            "basedpyright",
            [BIN / "basedpyright", *existing(("deliberate", "examples", "tests/check.py", "tests/typing"))],
        ),
        ("mypy", [BIN / "mypy", *existing(("deliberate", "tests", "examples", "benchmarks"))]),
        ("ruff format", [BIN / "ruff", "format", "--check", "."]),
        ("ruff check", [BIN / "ruff", "check", "."]),
        ("lint-imports", [BIN / "lint-imports", "--no-cache"]),
        ("codespell", [BIN / "codespell"]),
        ("deptry", [BIN / "deptry", "--no-ansi", "deliberate"]),
    )
    result = Result()
    with ThreadPoolExecutor(max_workers=2) as pool:
        seconds = section.budget * CUT_AFTER_BUDGETS
        runs = [
            (name, pool.submit(run_command, [str(part) for part in words], seconds=seconds)) for name, words in commands
        ]
        for name, run in runs:
            code, output = run.result()
            if code:
                result.failed += 1
                result.output += f"--- {name} (exit {code})\n{output.strip()}\n"
    clean = len(commands) - result.failed
    result.note = f"{clean} of {len(commands)} tools content"
    return result


# --- tests -----------------------------------------------------------------------------------------


def tests(section: Section, mode: Mode) -> Result:
    """One pytest run over the section's paths, counted from its junit report; what it leaves behind is a failure."""
    paths = existing(section.paths)
    if not paths:
        return nothing_yet(section)
    report = mode.scratch / f"{section.name}.xml"
    tool = ["-m", "coverage", "run"] if mode.coverage and section.measured else []
    marks = [] if mode.thorough else ["-m", "not thorough"]
    shares = ["-n", str(mode.workers), "--dist", "worksteal"] if section.splits and mode.workers > 1 else []
    ground = laid(ROOT)
    env = ground.environment(home=not section.at_home)
    command = [
        sys.executable,
        *tool,
        "-m",
        "pytest",
        "-q",
        f"--junitxml={report}",
        f"--basetemp={ground.pytest}",
        *marks,
        *shares,
        *section.options,
        *paths,
    ]
    code, output = run_command(
        command,
        seconds=section.budget * CUT_AFTER_BUDGETS,
        env={**env, "COVERAGE_FILE": str(mode.scratch / "coverage"), "DELIBERATE_CHECK": mode.name},
    )
    strays = left(ground, artifacts=(report,), said=output)
    result = read_report(report)
    result.lacks = [f"{section.title}: {lack}" for lack in result.lacks]
    left_out = None if mode.thorough else re.search(r"(\d+) deselected", output)
    if left_out:
        result.lacks.append(f"{section.title}: {left_out[1]} marked thorough (make test-all)")
    if code == 5 and not strays:  # pytest ran no test
        return result if result.skipped or left_out else nothing_yet(section)
    if code not in {0, 5} and not result.failed:  # it did not get as far as failing a test
        result.failed = 1
    if result.failed:
        result.output = output
    if strays:
        result.failed += 1
        result.output += "\nleft behind:\n" + "\n".join(strays)
    return result


def nothing_yet(section: Section) -> Result:
    """A section whose folder is missing or empty: not a failure, but said."""
    return Result(note="nothing there yet", lacks=[f"{section.title}: nothing there yet"])


def read_report(report: Path) -> Result:
    """Counts, skip reasons and what was sampled, from a junit report. Without a whole report the run broke off."""
    try:
        cases = list(ET.parse(report).iter("testcase"))  # noqa: S314 - written by pytest just now
    except (OSError, ET.ParseError):
        return Result(failed=1)
    result = Result()
    reasons: Counter[str] = Counter()
    # A test that fails and whose teardown fails too stands there twice.
    for case in cases:
        if case.find("failure") is not None or case.find("error") is not None:
            result.failed += 1
        elif (skip := case.find("skipped")) is not None:
            result.skipped += 1
            reasons[reason(skip)] += 1
        else:
            result.passed += 1
        for item in case.iter("property"):
            if item.get("name") == "sampled":
                result.lacks.append(f"{case.get('name')}: sampled, {item.get('value')}")
    result.lacks += [f"{reason} ({count} skipped)" for reason, count in sorted(reasons.items())]
    return result


def reason(skip: ET.Element) -> str:
    """Why a test, or a whole file, was skipped."""
    whole_file = re.search(r"Skipped: (.*?)[\"']?\)?$", skip.text or "")
    return whole_file[1] if whole_file else skip.get("message") or "no reason given"


# --- coverage --------------------------------------------------------------------------------------


def coverage(_section: Section, mode: Mode) -> Result:
    """Lines and branches covered, room by room, against what the house asks for."""
    report = mode.scratch / "coverage.json"
    env = {"COVERAGE_FILE": str(mode.scratch / "coverage")}
    if not list(mode.scratch.glob("coverage.*")):
        return Result(note="nothing measured")
    for words in (["combine", "--quiet"], ["json", "--quiet", "-o", str(report)]):
        code, output = run_command([sys.executable, "-m", "coverage", *words], seconds=300, env=env)
        if code:
            return Result(failed=1, output=output)
    return judge_coverage(json.loads(report.read_text(encoding="utf-8"))["files"])


def judge_coverage(files: dict[str, FileReport]) -> Result:
    """A table of rooms; one below its mark is a failure, and what was not reached stands under it."""
    rooms: dict[str, list[str]] = {}
    for path in sorted(files):
        parts = Path(path).with_suffix("").parts
        rooms.setdefault(parts[parts.index("deliberate") + 1], []).append(path)
    result = Result()
    for line, asked, room in sorted((*mark(room), room) for room in rooms):
        got = percent(files[path]["summary"] for path in rooms[room])
        missed = got < asked
        result.table.append(f"{line:>4}  {room:<14} {got:6.2f} % of {asked:>3} %{'  MISSED' if missed else ''}")
        if missed:
            result.failed += 1
            result.table += [f"        {path}: {gaps(files[path])}" for path in rooms[room] if gaps(files[path])]
    result.note = f"{result.failed} of {len(rooms)} rooms below their mark"
    return result


def mark(room: str) -> tuple[str, int]:
    """The line of the house a room stands in, and the percent asked of it."""
    return next((line, asked) for line, asked, names in HOUSE if room in names or not names)


def percent(summaries: Iterable[dict[str, float]]) -> float:
    """Covered lines and branches of all there are; 100 where there is nothing to cover."""
    total = covered = 0.0
    for summary in summaries:
        total += summary["num_statements"] + summary["num_branches"]
        covered += summary["covered_lines"] + summary["covered_branches"]
    return 100.0 * covered / total if total else 100.0


def gaps(report: FileReport) -> str:
    """The lines of a file that were not reached, as ranges, and the branches not taken from lines that were."""
    spans: list[list[int]] = []
    for line in report["missing_lines"]:
        if spans and line == spans[-1][-1] + 1:
            spans[-1][1:] = [line]
        else:
            spans.append([line])
    missing = set(report["missing_lines"])
    branches = [(start, to) for start, to in report["missing_branches"] if start not in missing]
    return ", ".join(
        ["-".join(map(str, span)) for span in spans]
        + [f"{start}->{'exit' if to < 0 else to}" for start, to in branches],
    )


# --- all of it -------------------------------------------------------------------------------------

SECTIONS = (
    Section(name="static", title="static checks", budget=90, run=static_checks),
    Section(
        name="unit",
        title="unit and laws",
        budget=240,
        run=tests,
        paths=("tests",),
        options=tuple(f"--ignore=tests/{name}" for name in OWN_FOLDERS),
        splits=True,
    ),
    Section(name="conformance", title="conformance", budget=120, run=tests, paths=("tests/conformance",), splits=True),
    Section(
        name="faults",
        title="faults and kills",
        budget=90,
        run=tests,
        paths=("tests/faults",),
        measured=False,
        splits=True,
    ),
    Section(
        name="wheel", title="wheel", budget=60, run=tests, paths=("tests/packaging",), measured=False, at_home=True
    ),
    Section(name="local", title="local judge", budget=60, run=tests, paths=("tests/local",), at_home=True),
    Section(
        name="rest",
        title="docs and examples",
        budget=60,
        run=tests,
        paths=("tests/docs", "README.md", "docs", "deliberate"),
        options=("-p", "tests._examples"),
    ),
    Section(name="coverage", title="coverage", budget=30, run=coverage),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the sections asked for and print the sum."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fast", action="store_true", help="static checks and unit tests, no coverage")
    parser.add_argument("--all", action="store_true", help="also the tests marked thorough")
    parser.add_argument(
        "--workers",
        type=int,
        default=min(4, (os.cpu_count() or 1) + 1),  # one more than can work at once: some wait for a deadline
        help="processes that share the tests of a section (%(default)s here)",
    )
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(section.name for section in SECTIONS))
    options = parser.parse_args(arguments)
    names = options.sections or (["static", "unit"] if options.fast else [section.name for section in SECTIONS])
    if unknown := set(names) - {section.name for section in SECTIONS}:
        parser.error(f"no section {', '.join(sorted(unknown))}")
    mode = Mode(
        name="fast" if options.fast else "all" if options.all else "test",
        coverage="coverage" in names,
        thorough=options.all,
        workers=options.workers,
    )
    shutil.rmtree(mode.scratch, ignore_errors=True)
    mode.scratch.mkdir(parents=True)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # begun in the background: tests of Ctrl-C would inherit that
        signal.signal(signal.SIGINT, signal.default_int_handler)
    results = [(section, run_section(section, mode)) for section in SECTIONS if section.name in names]
    return sum_up(results, left_out=[section.title for section in SECTIONS if section.name not in names])


def run_section(section: Section, mode: Mode) -> Result:
    """Run one section, say how long it took, and show the output if something failed."""
    print(f"== {section.title}", flush=True)
    started = time.monotonic()
    result = section.run(section, mode)
    result.seconds = time.monotonic() - started
    if result.output:
        print(result.output.rstrip())
    print(f"   {describe(result)} in {result.seconds:.0f} s", flush=True)
    return result


def describe(result: Result) -> str:
    """One section's counts in words."""
    counts = f"{result.passed} passed, {result.failed} failed, {result.skipped} skipped"
    counted = result.passed or result.failed or result.skipped
    return ", ".join(part for part in (counts if counted else "", result.note) if part) or "nothing to do"


def sum_up(results: Sequence[tuple[Section, Result]], *, left_out: Sequence[str]) -> int:
    """Print the table, what was not run and the closing line; the exit code."""
    print("\n== summary")
    for section, result in results:
        state = "FAILED" if result.failed else "ok"
        late = "  over budget" if result.seconds > section.budget else ""
        spent = f"{result.seconds:5.0f} s of {section.budget:>3} s{late:<13}"
        print(f"  {state:<6}  {section.title:<18} {spent}  {describe(result)}")
    lacks = [lack for _, result in results for lack in result.lacks]
    lacks += [f"{title}: not asked for" for title in left_out]
    if lacks:
        print("\nnot run here:")
        print("\n".join(f"  {lack}" for lack in lacks))
    if table := [row for _, result in results for row in result.table]:
        print("\ncoverage, by line of the house:")
        print("\n".join(f"  {row}" for row in table))
    passed, failed, skipped = (
        sum(getattr(result, name) for _, result in results) for name in ("passed", "failed", "skipped")
    )
    print(f"\n{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
