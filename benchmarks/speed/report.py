"""Results as a page, as JSON, and as a picture."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from benchmarks.micro import Piece
from benchmarks.speed.experiments import EXPERIMENTS, Experiment
from benchmarks.speed.goals import Goal, Results
from benchmarks.speed.measure import Run

__all__ = ["Machine", "Record", "machine", "page"]

_NOTES = Path(__file__).with_name("NOTES.md")
_NAMED = ("aiohttp", "anyio", "litellm", "msgspec", "uvloop")


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """What it ran on, without names or places."""

    processor: str
    cores: int
    memory_gb: float
    system: str
    python: str
    load: float
    versions: Mapping[str, str]


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """All that was measured; ``absent`` are the peers that could not be had, and why."""

    machine: Machine
    goals: tuple[Goal, ...] = ()
    runs: tuple[Run, ...] = ()
    pieces: tuple[Piece, ...] = ()
    profile: str = ""
    absent: Mapping[str, str] = {}


def machine() -> Machine:
    """This one, as it is now."""
    cpu = Path("/proc/cpuinfo")
    names = [line.partition(":")[2].strip() for line in cpu.read_text().splitlines() if line.startswith("model name")]
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return Machine(
        processor=(names or [platform.machine()])[0],
        cores=len(os.sched_getaffinity(0)),
        memory_gb=round(pages * size / 2**30, 1),
        system=f"{platform.system()} {platform.release().partition('-')[0]}",
        python=platform.python_version(),
        load=round(os.getloadavg()[0], 1),
        versions={name: version(name) for name in _NAMED},
    )


def page(whole: Record, results: Results, goals: Sequence[Goal]) -> str:
    """All of it as Markdown."""
    parts = ["# Speed\n", _introduction(whole.machine), "## Goals\n", _goals(goals)]
    parts += [_experiment(one, results) for one in EXPERIMENTS]
    if whole.absent:
        rows = [f"- {name}: {why}" for name, why in sorted(whole.absent.items())]
        parts.append("## Not measured\n\n" + "\n".join(rows) + "\n")
    if whole.pieces:
        parts += ["## Pieces\n", _pieces(whole.pieces)]
    if whole.profile:
        parts += ["## Where the time goes\n", whole.profile]
    if _NOTES.exists():
        parts.append(_NOTES.read_text(encoding="utf-8"))
    return "\n".join(part for part in parts if part)


def _introduction(told: Machine) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in told.versions.items())
    return (
        f"Measured on {told.cores} cores of {told.processor}, {told.memory_gb:g} GB, {told.system}, CPython "
        f"{told.python}, {versions}; load before it began: {told.load:g}. Ratios hold within one round, in which every "
        "client ran once, in shuffled order; absolute figures move with the machine's load. Server and client are "
        "processes of their own. Requests, votes and their checksum are compared between the two sides; a figure "
        "stands only where they agree. `benchmarks/README.md` says how to repeat it.\n"
    )


def _goals(goals: Iterable[Goal]) -> str:
    rows = []
    for goal in goals:
        limit = (
            f"≤ {goal.most:,g}" if goal.most is not None else f"≥ {goal.least:,g}" if goal.least is not None else "–"
        )
        if goal.most is not None and goal.most == goal.least:
            limit = f"= {goal.most:g}"
        word = {True: "met", False: "**missed**", None: "–"}[goal.met]
        if not goal.values:
            word = "not measured"
        rows.append((goal.text, goal.unit, limit, _spread(goal.values), str(len(goal.values)), word))
    return _table(("goal", "unit", "limit", "measured: median (least–most)", "rounds", ""), rows)


def _experiment(experiment: Experiment, results: Results) -> str:
    runs = [run for run in results.runs if run.experiment == experiment.name]
    if not runs:
        return ""
    several = len(experiment.steps) > 1
    rows = []
    for name in dict.fromkeys(run.contender for run in runs):
        for at_once in sorted({run.step.in_flight for run in runs}):
            mine = [run for run in runs if run.contender == name and run.step.in_flight == at_once]
            if mine:
                rows.append(_row(f"{name}, {at_once} in flight" if several else name, mine, results))
    heads = (
        *("client", "votes", "requests", "CPU µs a vote", "× aiohttp", "wall s", "peak MB", "imports CPU s"),
        *("first verdict CPU s", "in flight / connections", "request bytes", "not agreed"),
    )
    curve = _curves(runs)
    return f"## {experiment.title}\n\n{_table(heads, rows)}{curve}"


def _row(label: str, runs: Sequence[Run], results: Results) -> tuple[str, ...]:
    done = [run for run in runs if not run.error]
    if not done:
        return (label, *(["–"] * 10), runs[0].error)
    first = done[0]
    ratios = results.ratios(first.experiment, first.contender, "aiohttp")
    wrong = "; ".join(dict.fromkeys(what for run in runs for what in (*run.wrong, run.error) if what))
    seen = f"{median(run.server['peak_in_flight'] for run in done):g} of {first.step.in_flight} / "
    return (
        label,
        f"{first.client['votes']:,}",
        f"{first.server['requests']:,}",
        _spread([run.cpu_us for run in done]),
        _spread(ratios) if ratios else "–",
        _spread([run.client["wall_s"] for run in done]),
        _spread([run.client["rss_mb"] for run in done]),
        f"{median(run.client['import_cpu_s'] for run in done):.2f}",
        f"{median(run.cold_s for run in done):.2f}",
        seen + f"{median(run.server['connections'] for run in done):g}" if first.server["requests"] else "–",
        f"{first.server['request_bytes']:,}",
        wrong,
    )


def _curves(runs: Sequence[Run]) -> str:
    rows = []
    for run in runs:
        before: dict[str, Any] | None = None
        for at in run.client.get("curve", ()):
            since = at["votes"] - (before["votes"] if before else 0)
            cpu = 1e6 * (at["cpu_s"] - (before["cpu_s"] if before else 0)) / since
            row = (f"{at['votes']:,}", f"{at['wall_s']:.2f}", f"{at['cpu_s']:.2f}", f"{cpu:.0f}", f"{at['rss_mb']:.1f}")
            rows.append((str(run.round + 1), *row))
            before = at
    if not rows:
        return ""
    heads = ("round", "votes", "wall s", "CPU s", "CPU µs a vote since the row before", "memory MB")
    return "\n" + _table(heads, rows)


def _pieces(pieces: Iterable[Piece]) -> str:
    rows = [(one.name, f"a {one.unit}", f"{one.best:,.2f}", f"{median(one.values):,.2f}") for one in pieces]
    return _table(("piece", "CPU µs", "best", "median"), rows)


def _spread(values: Sequence[float]) -> str:
    if not values:
        return "–"
    if len(values) == 1 or min(values) == max(values):
        return _short(values[0])
    return f"{_short(median(values))} ({_short(min(values))}–{_short(max(values))})"


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    lines += [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"
