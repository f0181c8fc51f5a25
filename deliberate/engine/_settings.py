"""What the operator's environment says, read once: addresses, keys, the default judge."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from deliberate.errors import ConfigError
from deliberate.library import Library, weights
from deliberate.providers._base import Settings
from deliberate.types import Judge, Panel, Seat

__all__ = ["LOCAL_PANEL", "default_judge", "default_panel", "settings_of"]

LOCAL_PANEL = "local"


def settings_of(env: Mapping[str, str], *, api_base: Mapping[str, str], home: Path) -> Settings:
    """What providers are opened with: the environment, addresses given by the operator, the local weights."""
    return Settings(
        env=dict(env),
        api_base=dict(api_base),
        weights=weights.paths(home),
        calibration=weights.calibrations(home),
    )


def default_panel(judge: str | Panel | None, env: Mapping[str, str], library: Library) -> Panel:
    """The panel that is asked when none is named.

    The session's own judge or panel, else the panel ``DELIBERATE_PANEL`` names, else a panel of the one model
    ``DELIBERATE_JUDGE`` names, else the bundled panel ``local`` if its weights are there.

    Raises:
        ConfigError: None of them; the message names all the ways.
    """
    if isinstance(judge, Panel):
        return judge
    if judge is None and (name := env.get("DELIBERATE_PANEL", "")):
        return library.panel(name)
    model = env.get("DELIBERATE_JUDGE", "") if judge is None else judge
    if model or judge is not None:
        return Panel(name=model, seats=(Seat(name="judge", judge=Judge(model=model)),))
    panel = library.panel(LOCAL_PANEL)
    there = {f"local/{name}" for name in weights.paths(library.home)}
    if all(seat.judge.model in there for seat in panel.seats):
        return panel
    what = "no panel, judge or plan is named, and the local model is not there"
    hint = (
        "give --judge MODEL, --panel NAME or --plan FILE, set DELIBERATE_JUDGE or DELIBERATE_PANEL, "
        "or run: deliberate models fetch"
    )
    raise ConfigError(what, hint=hint)


def default_judge(judge: str | Panel | None, env: Mapping[str, str], library: Library) -> str:
    """The model that evaluators without one of their own ask; "" if there is none."""
    if isinstance(judge, str) and judge:
        return judge
    try:
        return default_panel(judge or None, env, library).seats[0].judge.model
    except ConfigError:
        return ""
