"""What people say of cases: one word a person and case, the last one."""

from __future__ import annotations

from pathlib import Path

import pytest

from deliberate.ledger import Label, open_ledger, read_ledger

pytestmark = pytest.mark.anyio


async def test_the_last_word_of_a_person_about_a_case_stands(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    async with open_ledger(path) as ledger:
        ledger.label(Label(case_digest="b", rater="ann", bracket=0))
        ledger.label(Label(case_digest="a", rater="ben", bracket=1, at="2026-11-01T00:00:00Z"))
        ledger.label(Label(case_digest="b", rater="ann", bracket=3, score=90.0, reason="on second thoughts \ud800"))
        await ledger.committed()
    async with read_ledger(path) as reader:
        first, second = await reader.labels()
    assert (first.case_digest, first.rater, first.bracket, first.at) == ("a", "ben", 1, "2026-11-01T00:00:00Z")
    assert (second.case_digest, second.bracket, second.score) == ("b", 3, 90.0)
    assert second.reason == "on second thoughts ?"
    assert second.at > "2026"
