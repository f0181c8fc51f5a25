"""Where the time of ours goes, by room and package: the same clients, once more, under the profiler.

The profiler makes calls dearer than work, so shares say where to look, not how long it takes.
"""

from __future__ import annotations

import pstats
import tempfile
from pathlib import Path

import msgspec

from benchmarks.speed.contenders import CONTENDERS
from benchmarks.speed.experiments import Step
from benchmarks.speed.measure import measured
from deliberate.cli._profile import shares

__all__ = ["profile"]

_LOOKED_AT = {
    "deliberate": Step(in_flight=64, cases=800, median_ms=50),
    "deliberate, scripted, no ledger, no log": Step(in_flight=64, cases=800, median_ms=0),
}
_LEAST_SHARE = 0.01


def profile(template: Path, *, scale: float) -> str:
    """A table for each path that is looked at, as Markdown."""
    parts = []
    for name, step in _LOOKED_AT.items():
        less = msgspec.structs.replace(step, cases=max(2, int(step.cases * scale)))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "profile"
            run = measured(
                CONTENDERS[name],
                less,
                experiment="profile",
                number=0,
                fills=False,
                template=template,
                before=("-m", "cProfile", "-o", str(file)),
            )
            if run.error:
                parts.append(f"{name}: {run.error}\n")
                continue
            found = shares(pstats.Stats(str(file)))
        busy = sum(one.seconds for one in found if one.name not in {"waiting", "importing"})
        rows = [
            f"| {one.name} | {one.seconds / busy:.1%} | {1e6 * one.seconds / run.client['votes']:.0f} |"
            for one in found
            if one.name not in {"waiting", "importing"} and one.seconds >= _LEAST_SHARE * busy
        ]
        head = f"| {name}: room or package | share | µs a vote under the profiler |\n|---|---|---|"
        parts.append("\n".join((head, *rows)) + "\n")
    return "\n".join(parts)
