"""The blocks of ``docs/other-systems.md`` make of an output what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from deliberate import Case, Session
from deliberate.evaluators import plan_of
from deliberate.library import Library, read_plan

pytestmark = pytest.mark.anyio

PAGE = Path(__file__).parents[2] / "docs" / "other-systems.md"
BLOCKS = re.findall(r"```yaml\n(.*?)```\n\nOf `(.*?)` this makes ([\d.]+)\.\n", PAGE.read_text("utf-8"), re.DOTALL)


def test_the_page_has_three_blocks() -> None:
    assert len(BLOCKS) == PAGE.read_text("utf-8").count("```yaml") == 3


@pytest.mark.parametrize(("text", "output", "score"), BLOCKS)
async def test_each_block_runs_as_printed(tmp_path: Path, text: str, output: str, score: str) -> None:
    file = tmp_path / "task.yaml"
    file.write_text(text, encoding="utf-8")
    loaded = read_plan(file)
    plan = plan_of(loaded.plan, panel=Library().panel, where=loaded.where, folder=loaded.folder)
    async with Session(ledger=":memory:", env={}) as session:
        found = await session.evaluate(Case(output=output), plan)
    assert found.score == pytest.approx(float(score))


def test_every_test_the_page_names_is_there() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE.read_text("utf-8").partition("## OpenKoi")[2]))
    there = {
        name
        for path in Path(__file__).parents[1].rglob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)
    }
    assert len(named) == 9
    assert named <= there
