"""Makes the golden ledgers anew: ``python -m tests.ledger._golden``, when the bytes of decisions change on purpose.

Each is a ledger as a release wrote it, with what was decided then beside it: later releases must come to the same
bytes from the votes in it.
"""

from __future__ import annotations

import lzma
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import msgspec

from deliberate import Case, Panel, Session
from deliberate.ledger import read_ledger
from deliberate.ledger._chain import anchor_path
from deliberate.library import Library
from deliberate.types import Evaluation, Rules, Spec, Verdict

__all__ = ["CASES", "GOLDEN", "PANELS", "decided", "session", "verdicts"]

GOLDEN = Path(__file__).parent / "golden"
CASES = tuple(Case(id=f"q{at}", output=str(2 * at), task=f"{at} + {at}?", reference=str(at + at)) for at in range(4))

THREE = ("scripted/good:70", "scripted/fair:40", "scripted/good:60")
PANELS = {
    "independent": Panel.of(*THREE, rubric=None, criteria="Is it right?"),
    "rounds": Panel.of(*THREE, rubric=None, criteria="Is it right?", rounds=2),
    "rubric": Panel.of("scripted/good:70", "scripted/excellent:90", rubric="small"),
    "absent": msgspec.structs.replace(
        Panel.of(
            "scripted/good:70", "scripted/refuse", "scripted/fail", "scripted/poor:10", rubric=None, criteria="Right?"
        ),
        rules=Rules(quorum=2, tie=("unresolved",)),
    ),
    "debate": msgspec.structs.replace(
        Panel.of(*THREE, rubric=None, criteria="Is it right?"), protocol=Spec(type="debate")
    ),
}


async def verdicts(path: Path) -> dict[str, Verdict]:
    """Case -> verdict, as they stand in the ledger's results."""
    async with read_ledger(path) as reader:
        (run,) = await reader.runs()
        results = await reader.results(run.run)
    found: dict[str, Verdict] = {}
    for step in results:
        verdict = msgspec.json.decode(step.body or b"", type=Evaluation).verdict
        assert verdict is not None
        found[step.path.rpartition("/")[0]] = verdict
    return found


async def decided(path: Path) -> dict[str, str]:
    """Case -> decision bytes, as they stand in the ledger's results."""
    return {name: verdict.decision_bytes.decode() for name, verdict in (await verdicts(path)).items()}


def session(path: Path) -> Session:
    """A session on such a ledger, with the rubric that lies beside the golden ones."""
    library = Library(home=path.parent / "home", workspace=path.parent, extra=(GOLDEN,))
    return Session(ledger=path, library=library, env={}, exclusive=True)


async def _make(name: str, folder: Path) -> None:
    path = folder / "ledger.db"
    async with session(path) as opened, opened.stream(CASES, PANELS[name]) as stream:
        async for _ in stream:
            pass
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("VACUUM")
    (GOLDEN / f"{name}.db.xz").write_bytes(lzma.compress(path.read_bytes(), preset=9))
    (GOLDEN / f"{name}.anchor").write_bytes(anchor_path(str(path)).read_bytes() + b"\n")
    told = msgspec.json.format(msgspec.json.encode(await decided(path)), indent=1)
    (GOLDEN / f"{name}.json").write_bytes(told + b"\n")


if __name__ == "__main__":
    for each in PANELS:
        with TemporaryDirectory() as place:
            anyio.run(_make, each, Path(place))
