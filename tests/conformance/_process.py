"""Adapters for what runs programs: test and lint output, and tests of an output."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from deliberate import Case, Session
from deliberate.evaluators._console import CONSOLES
from deliberate.evaluators._lint import clean
from deliberate.evaluators._report import status_of
from deliberate.evaluators.pytest import Pytest
from tests.conformance._adapters import Adapter, Input
from tests.conformance._cases import Observed

__all__ = ["ADAPTERS"]


async def test_output_parse(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    tally = CONSOLES[given["tool"]](given["output"])
    status = status_of(tally, exit_code=given["exit_code"])
    return {
        "passed": tally.passed,
        "failed": len(tally.failed),
        "total": tally.total,
        "all_passed": status == "passed",
        "evidence": status != "no_tests",
    }


async def lint_output_parse(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    return {"clean": clean(given["tool"], given["output"], exit_code=given["exit_code"])}


async def pytest_judge(given: Input, folder: Path) -> Observed:
    (folder / "fixtures").mkdir()
    (folder / "fixtures/test_output.py").write_text(given["test_source"], encoding="utf-8")
    test = Pytest(test_file="fixtures/test_output.py", folder=str(folder), timeout_seconds=2.0)
    async with Session(ledger=":memory:", env={}, trust_code=True) as session:
        found = await session.evaluate(Case(output=given["output"]), test)
    in_time = found.duration_seconds < test.timeout_seconds + 2.0
    return {
        "score": found.normalized,
        "passed": found.details.get("all_passed", False),
        "failed": found.score is None,
        "reasoning": found.reason,
        "within_seconds": "the judge time limit" if in_time else found.duration_seconds,
    }


ADAPTERS: Mapping[str, Adapter] = {
    adapter.__name__: adapter for adapter in (lint_output_parse, pytest_judge, test_output_parse)
}
