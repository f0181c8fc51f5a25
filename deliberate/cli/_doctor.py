"""``doctor``: what this installation can do, what is in the way, and the next command for each."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import distributions, packages_distributions, version
from pathlib import Path
from typing import Literal

from deliberate.cli._table import print_json, print_rows
from deliberate.errors import ConfigError, LedgerError
from deliberate.gates import EXIT
from deliberate.ledger import default_path, verify
from deliberate.library import Library, weights
from deliberate.sandbox import TIERS, Probed, probe
from deliberate.types import Record

__all__ = ["Finding", "doctor", "owners", "sandbox_of"]

_OURS = "deliberate-eval"
_EXTRAS = {
    "local": ("xllamacpp", "wordllama"),
    "stats": ("numpy", "scipy"),
    "parquet": ("duckdb",),
    "fast": ("uvloop",),
}
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY", "OPENROUTER_API_KEY")


class Finding(Record, frozen=True, kw_only=True):
    """One thing looked at: ``ok``, a ``note``, or a ``problem``; ``next`` is the command to run."""

    about: str
    state: Literal["ok", "note", "problem"]
    told: str
    next: str = ""


async def doctor(*, ledger: Path | None, as_json: bool) -> int:
    """Looks at everything, prints it, and exits 2 if there is a problem."""
    library = Library(workspace=Path.cwd())
    found = [
        *_names(owners()),
        *_keys(os.environ),
        *_judge(os.environ, library),
        *await _ledger(Path(ledger or default_path(os.environ))),
        *_documents(library),
        sandbox_of([await probe(tier) for tier in TIERS] if os.name == "posix" else []),
        *_extras(),
    ]
    if as_json:
        print_json({"findings": found})
    else:
        print_rows([(one.about, one.state, f"{one.told}{f' -> {one.next}' if one.next else ''}") for one in found])
    return EXIT["usage"] if any(one.state == "problem" for one in found) else 0


def owners() -> Mapping[str, tuple[str, ...]]:
    """Which distributions own the import ``deliberate`` and the command of that name."""
    commands = sorted(
        {
            dist.name
            for dist in distributions()
            for entry in dist.entry_points
            if entry.group == "console_scripts" and entry.name == "deliberate"
        }
    )
    return {"import": tuple(sorted(set(packages_distributions().get("deliberate", ())))), "command": tuple(commands)}


def _names(found: Mapping[str, tuple[str, ...]]) -> Iterator[Finding]:
    others = sorted({name for names in found.values() for name in names if name != _OURS})
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    if not others:
        yield Finding(about="installation", state="ok", told=f"{_OURS} {version(_OURS)} on {python}")
        return
    what = " and ".join(f"the {kind}" for kind, names in found.items() if set(names) & set(others))
    yield Finding(
        about="installation",
        state="problem",
        told=f"{', '.join(others)} also owns {what} 'deliberate': files of the two overwrite each other",
        next=f"pip uninstall {' '.join(others)} && pip install --force-reinstall {_OURS}",
    )


def _keys(env: Mapping[str, str]) -> Iterator[Finding]:
    there = [name for name in _KEYS if env.get(name)]
    if there:
        yield Finding(about="keys", state="ok", told=", ".join(there))
    else:
        yield Finding(
            about="keys",
            state="note",
            told="no key of a well-known provider in the environment",
            next="export OPENAI_API_KEY=... (or use a local model)",
        )


def _judge(env: Mapping[str, str], library: Library) -> Iterator[Finding]:
    usable = weights.paths(library.home)
    runtime = importlib.util.find_spec("xllamacpp") is not None
    for info in weights.ls(library.home):
        if info.problem:
            yield Finding(about="weights", state="problem", told=info.problem, next=f"deliberate models rm {info.name}")
    if usable:
        yield Finding(about="weights", state="ok", told=", ".join(sorted(usable)))
    else:
        yield Finding(
            about="weights", state="note", told="no local model is here (about 1 GB)", next="deliberate models fetch"
        )
    if usable and not runtime:
        yield Finding(
            about="local judge",
            state="problem",
            told="weights are here, but nothing to run them with",
            next=f'pip install "{_OURS}[local]"',
        )
    stated = env.get("DELIBERATE_PANEL") or env.get("DELIBERATE_JUDGE")
    if stated:
        yield Finding(about="default judge", state="ok", told=f"{stated} (from the environment)")
    elif usable and runtime:
        yield Finding(about="default judge", state="ok", told="panel local")
    else:
        yield Finding(
            about="default judge",
            state="note",
            told="none: name one on each command",
            next="--judge MODEL, --panel NAME, or export DELIBERATE_JUDGE=MODEL",
        )


async def _ledger(path: Path) -> tuple[Finding, ...]:
    if not path.exists():
        return (Finding(about="ledger", state="ok", told=f"{path} is made by the first run"),)
    try:
        audit = await verify(path)
    except LedgerError as error:
        return (Finding(about="ledger", state="problem", told=str(error), next="--ledger FILE uses another"),)
    if not audit.sound:
        return (Finding(about="ledger", state="problem", told=f"{path}: {audit.problem}", next="--ledger FILE"),)
    return (Finding(about="ledger", state="ok", told=f"{path}: {audit.records} records, chain sound"),)


def sandbox_of(tried: Sequence[Probed]) -> Finding:
    """The best tier that holds here, of those that were tried."""
    for one in tried:
        if one.holds:
            lets = f"; it does not hold back {', '.join(one.lets)}" if one.lets else ""
            told = f"{one.tier}: code runs apart from your files, keys and network{lets}"
            return Finding(about="sandbox", state="ok", told=told)
    why = "; ".join(f"{one.tier}: {_in_the_way(one)}" for one in tried)
    return Finding(
        about="sandbox",
        state="note",
        told=f"none works here ({why or 'no POSIX system'}): code runs with your own rights, and only if you say so",
        next="install bubblewrap, or --trust-code on the command that runs code you trust",
    )


def _in_the_way(tried: Probed) -> str:
    return tried.why if not tried.works else f"does not hold back {', '.join(tried.lets)}"


def _documents(library: Library) -> Iterator[Finding]:
    try:
        problems = library.problems()
    except ConfigError as error:
        problems = (error,)
    for problem in problems:
        yield Finding(about="documents", state="problem", told=str(problem))
    if not problems:
        rubrics, cards = len(library.rubrics()), len(library.cards())
        yield Finding(about="documents", state="ok", told=f"{rubrics} rubrics, {cards} agent cards")


def _extras() -> Iterator[Finding]:
    for extra, modules in _EXTRAS.items():
        missing = [name for name in modules if importlib.util.find_spec(name) is None]
        if missing:
            told = f"{', '.join(missing)} is not installed"
            yield Finding(about=f"extra {extra}", state="note", told=told, next=f'pip install "{_OURS}[{extra}]"')
        else:
            yield Finding(about=f"extra {extra}", state="ok", told=", ".join(modules))
