"""``models``: the weights of local judges, and whether they can judge."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from deliberate.cli._exits import say
from deliberate.cli._table import print_json, print_rows
from deliberate.engine import open_provider
from deliberate.errors import ConfigError, UnknownName
from deliberate.gates import EXIT
from deliberate.library import Library, weights
from deliberate.library.weights import Progress
from deliberate.studies import models
from deliberate.types import Case, Record

__all__ = ["add", "calibrate", "check", "fetch", "ls", "rm"]

_MEGABYTE = 1_000_000


class Anchor(Record, frozen=True, kw_only=True):
    """One labeled output, as a line of an anchors file; ``label`` is good, poor, another bracket, or a score."""

    output: str
    label: str | float
    task: str = ""
    reference: str | None = None


async def fetch(*, name: str) -> int:
    """Fetches pinned weights, saying how far it is."""
    path = await weights.fetch(name, home=_home(), progress=_Told())
    say(f"{name} is at {path}, verified; next: deliberate models check {name}")
    return 0


async def add(*, path: Path, name: str | None) -> int:
    """Adds a file of one's own."""
    info = await weights.add(path, home=_home(), name=name)
    say(f"{info.name} is at {info.path}; next: deliberate models check {info.name}")
    return 0


async def ls(*, as_json: bool) -> int:
    """Lists the weights that are here."""
    found = weights.ls(_home())
    if as_json:
        print_json({"models": found})
    elif found:
        print_rows(
            [
                (one.name, f"{one.size / _MEGABYTE:.0f} MB", one.sha256[:12], one.problem or f"local/{one.name}")
                for one in found
            ]
        )
    else:
        say("no local model is here; next: deliberate models fetch")
    return 0


async def rm(*, name: str) -> int:
    """Removes weights."""
    await weights.rm(name, _home())
    say(f"{name} is removed")
    return 0


async def check(*, name: str, as_json: bool) -> int:
    """Tries whether a model can judge."""
    model = _model(name)
    async with open_provider(model, env=os.environ, home=_home()) as provider:
        report = await models.check(provider, model)
    if as_json:
        print_json(report)
    else:
        print_rows(
            [
                (probe.kind, probe.expects, "-" if probe.score is None else f"{probe.score:.0f}", _told(probe))
                for probe in report.probes
            ]
        )
        sys.stdout.write(f"{model}: {'fit to judge' if report.fit else 'NOT fit to judge'}: {report.reason}\n")
    return 0 if report.fit else EXIT["gate"]


async def calibrate(*, name: str, anchors: Path, rubric: str) -> int:
    """Fits a model's offsets to labeled outputs."""
    model = _model(name)
    found = Library(workspace=Path.cwd()).rubric(rubric)
    labeled = _anchors(anchors)
    async with open_provider(model, env=os.environ, home=_home()) as provider:
        fits = await models.calibrate(
            [(Case(output=one.output, task=one.task, reference=one.reference), one.label) for one in labeled],
            provider=provider,
            model=model,
            rubric=found,
            home=_home(),
            at=datetime.now(UTC).date().isoformat(),
        )
    print_rows([(one.question, one.layout, f"offset {one.offset:.3f}, slope {one.slope:.3f}") for one in fits])
    return 0


def _anchors(path: Path) -> Sequence[Anchor]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", where=str(path)) from None
    found: list[Anchor] = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                found.append(msgspec.json.decode(line, type=Anchor))
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                expected = '{"task": ..., "output": ..., "label": "good"}'
                raise ConfigError(str(error), where=f"{path}:{number}", expected=expected) from None
    return found


def _model(name: str) -> str:
    short = name.removeprefix("local/")
    known = weights.paths(_home())
    if short not in known:
        kind = "local model"
        raise UnknownName(kind, short, known, hint="deliberate models fetch, or: deliberate models add PATH")
    return f"local/{short}"


def _told(probe: models.Probe) -> str:
    return probe.detail or f"{probe.task} -> {probe.output}"


def _home() -> Path:
    return Library(workspace=Path.cwd()).home


class _Told:
    """Says how far a fetch is: on a terminal in one line, elsewhere a line for every tenth."""

    def __init__(self) -> None:
        self._said = -1

    def __call__(self, progress: Progress) -> None:
        share = 100 * progress.bytes_done // max(1, progress.bytes_all)
        text = f"{progress.doing} part {progress.part} of {progress.parts}, {share} %"
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{text}" + ("\n" if progress.doing == "done" else ""))
            sys.stderr.flush()
        elif share // 10 != self._said:
            self._said = share // 10
            say(text)
