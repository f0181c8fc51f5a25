"""``judge new`` and ``panel new``: a file to begin with, in the workspace, where its name finds it at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from deliberate.cli._table import print_lines
from deliberate.errors import ConfigError
from deliberate.library import Library
from deliberate.library.agents import read_card

__all__ = ["new_judge", "new_panel"]

_CARD = """\
---
name: {name}
description: What this judge looks for, and for which work it is the one to ask.
model: {model}
temperature: 0.1
max_tokens: 2000
---
You judge as ... (say who this judge is, and what it knows).

- What it checks first, and how.
- What it holds against an output, and what it lets pass.

Report a defect only if you can point at it and say what goes wrong because of it.
"""

_PANEL = """\
# deliberate ask OUTPUT --panel {name}
deliberate: 1
name: {name}
seats:
{seats}
rubric: {rubric}               # deliberate rubric ls lists them; or criteria: "free words"
protocol: {{type: independent}}  # or {{type: rounds, params: {{rounds: 2}}}}, debate, verify, chair, escalate
rule: plurality              # or median, mean, unanimous
tie: [round, chair, lower]
quorum: majority             # or all, or a number of seats
independence: 1              # model families that must have voted
"""

_ANY = "scripted/good"
"""Stands for the model that comes with the panel, while the file is checked."""

_AGENTS = ("sceptic", "domain-checker", "generalist")


async def new_judge(*, name: str, model: str | None) -> int:
    """Writes an agent card to fill in; an existing file is never touched."""
    path = _place() / f"{name}.md"
    _write(path, _CARD.format(name=name, model=model or "null"))
    try:
        read_card(path)
    except ConfigError:
        path.unlink()
        raise
    print_lines(f"wrote {path}", "write its persona, then: deliberate judge ping " + name + _with_model(model))
    return 0


async def new_panel(*, name: str, judge: Sequence[str] | None, rubric: str) -> int:
    """Writes a panel: a seat for each model, or three personas that take the model named with the panel."""
    path = _place() / f"{name}.panel.yaml"
    models = [f"{{agent: generalist, model: {model}}}" for model in judge or ()]
    seats = models or [f"{{agent: {agent}}}" for agent in _AGENTS]
    text = _PANEL.format(name=name, rubric=rubric, seats="\n".join(f"  - {seat}" for seat in seats))
    _write(path, text)
    try:
        Library(workspace=Path.cwd()).panel(str(path), model=None if judge else _ANY)
    except ConfigError:
        path.unlink()
        raise
    print_lines(f"wrote {path}", f"deliberate ask OUTPUT --panel {name}" + ("" if judge else " --judge PROVIDER/MODEL"))
    return 0


def _place() -> Path:
    return Path(".agents") / "agents"


def _with_model(model: str | None) -> str:
    return "" if model else " --model PROVIDER/MODEL"


def _write(path: Path, text: str) -> None:
    """A new file; one that exists stays as it is."""
    if path.stem.startswith(".") or path.parent != _place():
        raise ConfigError(f"{path.stem!r} is no name", where="NAME", expected="lower-case letters, digits and hyphens")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise ConfigError("it is there already", where=str(path), hint="edit it, or take another name") from None
