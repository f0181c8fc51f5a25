"""``learn``: rubrics proposed from what the ledger knows, approved or dismissed by a person."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from deliberate.cli._calibrate import judged_in
from deliberate.cli._table import print_json, print_lines, print_rows
from deliberate.library import Library
from deliberate.studies.learn import Mining, approve, dismiss, dismissed, mine, propose, proposed

__all__ = ["approve_one", "dismiss_one", "list_proposals", "mine_ledger"]


async def mine_ledger(*, days: int, min_samples: int, min_confidence: float, ledger: Path | None, as_json: bool) -> int:
    """Writes new proposals, and says how to go on."""
    library = Library(workspace=Path.cwd())
    since = (datetime.now(UTC) - timedelta(days=days)).isoformat()
    judged = await judged_in(ledger, since=since)
    mining = Mining(days=days, min_samples=min_samples, min_confidence=min_confidence)
    found = mine(judged, known=library.rubrics(), dismissals=dismissed(library.home), mining=mining)
    places = propose(found, library.home)
    if as_json:
        print_json({"judged": len(judged), "proposals": found})
        return 0
    for one in found:
        weights = ", ".join(f"{each.name} {each.weight:g}" for each in one.rubric.dimensions)
        print_lines(f"{one.rubric.name}: {one.samples} judgments of {one.category}, {one.confidence:.2f}: {weights}")
    print_lines(*(f"wrote {place}: read it, then deliberate learn approve {place.name}" for place in places))
    if not found:
        print_lines(f"nothing to propose from {len(judged)} judgments of the last {days} days")
    return 0


async def list_proposals(*, as_json: bool) -> int:
    """All proposals."""
    found = proposed(Library(workspace=Path.cwd()).home)
    if as_json:
        print_json({"proposals": [{"name": one.name, "approved": approved} for one, approved in found]})
    else:
        print_rows([(one.name, "approved" if approved else "proposed", one.description) for one, approved in found])
    return 0


async def approve_one(*, name: str) -> int:
    """Approves a proposal as it stands."""
    found = approve(name, Library(workspace=Path.cwd()).home)
    print_lines(f"approved {found.name} ({found.digest[:12]}) for {', '.join(found.categories)}")
    return 0


async def dismiss_one(*, name: str) -> int:
    """Removes a proposal and remembers that."""
    dismiss(name, Library(workspace=Path.cwd()).home)
    print_lines("dismissed: it comes again only on much stronger evidence")
    return 0
