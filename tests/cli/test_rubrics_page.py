"""The commands and the sheet of ``docs/rubrics.md`` work as printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from deliberate.library import lint, read_rubric
from tests.cli.conftest import Here

PAGE = (Path(__file__).parents[2] / "docs" / "rubrics.md").read_text("utf-8")


def test_s0_45_the_commands_of_the_page_run_in_their_order(here: Here, folder: Path) -> None:
    (folder / "report.md").write_text("Revenue rose by 4 % to 12.1 million.\n", encoding="utf-8")
    commands = re.findall(r"^    deliberate (.+)$", PAGE, re.MULTILINE)
    assert len(commands) == 9
    run, said = "", ""
    for command in commands:
        words = shlex.split(command.replace("openai/gpt-x", "scripted/good:70").replace("RUN", run))
        done = here(*words)
        assert done.code in ({0, 3} if "test" in words else {0}), done.err  # the examples are yet to be written
        said += done.out
        run = done.result.rpartition(" ")[2] or run
    assert "RUBRIC      financial-report: category finance (workspace)" in said
    assert "DECISION    skipped: identical" in said


def test_s0_30_the_sheet_of_the_page_is_a_rubric(folder: Path) -> None:
    (sheet,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    (front,) = re.findall(r"`(metadata: \{.*?\})`", PAGE)
    place = folder / "financial-report"
    place.mkdir()
    (place / "rubric.yaml").write_text(sheet, encoding="utf-8")
    (place / "SKILL.md").write_text(
        f'---\nname: financial-report\ndescription: "Judges reports."\n{front}\n---\n\nYou judge reports.\n',
        encoding="utf-8",
    )
    found = read_rubric(place)
    assert [one.name for one in found.dimensions] == ["accuracy", "compliance", "formatting"]
    assert found.dimensions[0].affects == ("/[0-9]/", "*total*")
    assert found.eligibility["bins"] == ("sqlite3",)
    assert not [one for one in lint(place) if "rubric.yaml" in one.where and "has no section" not in one.what]
