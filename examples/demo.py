"""The main job, without a key: a recorded panel, a live one, and a plan with a test beside the panel.

The first step replays what a real panel said, from a recording, and loads no model. The second fetches a local model
(about 1 GB, once) and lets it judge. Run it again, and every vote is read back from the ledger.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import anyio
import msgspec
from rich.console import Console

from deliberate import Case, Evaluation, Panel, Session
from deliberate.evaluators import Composite, plan_of
from deliberate.gates import Required, result_of
from deliberate.library import Library, weights
from deliberate.library.weights import Progress
from deliberate.reports import Imprint, ReadBack, agreement_matrix, review_page, show
from deliberate.types import BallotCast, Event, RunStarted

HERE = Path(__file__).parent
FOLDER = HERE.parent / "demo"
RECORDING = HERE / "recordings" / "summary-flawed.jsonl"
MODEL = "qwen2.5-coder-1.5b"
PATIENCE_SECONDS = 900.0  # a busy machine reads a long output slowly


class Votes:
    """Counts votes as they come, and how many of them were read back."""

    def __init__(self) -> None:
        self.run = ""
        self.votes = self.read_back = 0

    def __call__(self, event: Event) -> None:
        """Takes note of a vote, and says it."""
        if isinstance(event, RunStarted):
            self.run = event.run
        elif isinstance(event, BallotCast):
            self.votes += 1
            self.read_back += event.read_back
            print(f"  {event.seat}: {event.bracket.label} {event.score:.0f}", file=sys.stderr)


def summary(name: str) -> Case:
    """A summary of the bundled article, with the article as its reference."""
    folder = HERE / "article"
    return Case(
        id=name,
        output=(folder / f"{name}.md").read_text(encoding="utf-8"),
        task=(folder / "task.txt").read_text(encoding="utf-8"),
        reference=(folder / "article.md").read_text(encoding="utf-8"),
    )


def panel(library: Library) -> Panel:
    """The local panel, judging prose."""
    return msgspec.structs.replace(library.panel("local"), rubric="prose-quality")


async def judged(
    session: Session, case: Case, plan: Panel | Composite, *, title: str, votes: Votes, console: Console
) -> Evaluation:
    """One evaluation, printed."""
    evaluation = await session.evaluate(case, plan)
    cast_at = await session.read_back(evaluation) if votes.read_back else ()
    read_back = ReadBack(votes=votes.read_back, of=votes.votes, oldest=cast_at[0]) if cast_at else None
    kept = session.ledger_path != ":memory:"
    imprint = Imprint(
        run=votes.run if kept else "",
        ledger=near(session.ledger_path),
        result=result_of(evaluation, Required()),
        read_back=read_back,
    )
    show(console, evaluation, imprint=imprint, title=title)
    console.print()
    return evaluation


def near(path: str | Path) -> str:
    """A path as one would type it here."""
    return os.path.relpath(path) if Path(path).is_relative_to(Path.cwd()) else str(path)


async def replayed(console: Console, library: Library) -> tuple[str, Case, Evaluation]:
    """What a real panel said of the flawed summary, from the recording."""
    votes, case = Votes(), summary("summary-flawed")
    async with Session(replay=RECORDING, library=library, on_event=votes) as session:
        title = "1. A summary with mistakes, judged by a recorded panel"
        return title, case, await judged(session, case, panel(library), title=title, votes=votes, console=console)


async def live(console: Console, library: Library) -> Sequence[tuple[str, Case, Evaluation]]:
    """The good summary before the live panel, then a change to code before a plan with a test in it."""
    good, change = Votes(), Votes()
    folder = HERE / "code"
    case = Case(
        id="change",
        output=(folder / "change.diff").read_text(encoding="utf-8"),
        task=(folder / "task.txt").read_text(encoding="utf-8"),
        workspace=str(HERE),
    )
    loaded = library.plan(HERE / "refunds.plan.yaml")
    plan = plan_of(loaded.plan, panel=loaded.panel(library))
    ledger = FOLDER / "ledger.db"
    console.print(f"{beforehand(ledger)}\n")
    titles = ("2. A good summary, judged here by the local model", "3. A change to code: its tests, and a panel")
    async with Session(ledger=ledger, library=library, on_event=good, call_seconds=PATIENCE_SECONDS) as session:
        first = await judged(
            session, summary("summary-good"), panel(library), title=titles[0], votes=good, console=console
        )
    async with Session(
        ledger=ledger, library=library, on_event=change, trust_code=True, call_seconds=PATIENCE_SECONDS
    ) as session:
        second = await judged(session, case, plan, title=titles[1], votes=change, console=console)
    votes, read = good.votes + change.votes, good.read_back + change.read_back
    if read == votes:
        console.print(f"All {votes} votes were read back from {near(ledger)}: nothing was asked.\n")
    return (titles[0], summary("summary-good"), first), (titles[1], case, second)


def beforehand(ledger: Path) -> str:
    """How long the local model will take, as far as it can be told."""
    if ledger.exists():
        return "What the local model said before is read back: seconds; what it did not get to say takes a few minutes."
    return "Now the local model judges here: this takes a few minutes (2.5 on two idle cores), and seconds next time."


def told(progress: Progress) -> None:
    """Says how far the download is."""
    if sys.stderr.isatty():
        end = "\n" if progress.doing == "done" else ""
        print(f"\r{progress.doing} part {progress.part} of {progress.parts}", end=end, file=sys.stderr, flush=True)


async def recorded(library: Library) -> None:
    """Makes the recording anew (``python examples/demo.py --record``)."""
    RECORDING.parent.mkdir(exist_ok=True)
    RECORDING.unlink(missing_ok=True)
    async with Session(
        ledger=":memory:", library=library, record=RECORDING, on_event=Votes(), call_seconds=PATIENCE_SECONDS
    ) as session:
        await session.evaluate(summary("summary-flawed"), panel(library))


async def main(*, record: bool) -> None:
    """All three steps, and the page."""
    started = time.monotonic()
    console = Console(highlight=False)
    library = Library(workspace=HERE)
    FOLDER.mkdir(exist_ok=True)
    if record:
        await recorded(library)
        return
    items = [await replayed(console, library)]
    if weights.find(MODEL, library.home) is None:
        console.print(f"Fetching the local model {MODEL} (1.1 GB, once) ...")
        await weights.fetch(MODEL, home=library.home, progress=told)
    items += await live(console, library)
    agreement_matrix(console, [evaluation for _, _, evaluation in items if evaluation.verdict is not None])
    page = FOLDER / "review.html"
    page.write_text(review_page(items, title="deliberate: three reviews"), encoding="utf-8")
    console.print(f"\nThe page is {near(page)}. {time.monotonic() - started:.0f} seconds.")


if __name__ == "__main__":
    anyio.run(partial(main, record="--record" in sys.argv))
