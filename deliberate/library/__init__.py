"""Documents people wrote, read under guard and checked at the door: rubrics, agent cards, panels, plans.

``Library`` finds them by name in all sources, in their rank. Rules for whoever edits this room: what is read here is
data, never code; every fault names file, line, column, key, what was expected and the nearest known; a dialect's words
end here, in explicit parameters. pydantic and ruamel are for this room alone,
and names are imported when they are first used: whoever has no document pays for neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deliberate._lazy import on_first_use

if TYPE_CHECKING:
    from deliberate.library._calibrations import (
        Calibrated,
        judge_digest,
        read_calibrations,
        version_of,
        why_not,
        write_calibrations,
    )
    from deliberate.library._effects import write_effects
    from deliberate.library._examples import BEGUN_OUTPUT, Example, read_examples
    from deliberate.library._filed import APPROVED, NotAnEvaluator, pinned_name
    from deliberate.library._library import Library
    from deliberate.library._lint import Remark, lint
    from deliberate.library._places import SOURCES, bundled, home_folder
    from deliberate.library._select import Effect, Surroundings, select
    from deliberate.library._write import add_rubric, draft, migrate, reweighed, write_rubric
    from deliberate.library.agents import Card, judge_of, read_card
    from deliberate.library.dialects import KAPSO, codebolt_part, kapso_spec
    from deliberate.library.panels import read_panel
    from deliberate.library.plans import LoadedPlan, plan_schema, read_plan
    from deliberate.library.rubrics import read_rubric, read_source
    from deliberate.library.suites import LoadedSuite, read_suite

__all__ = [
    "APPROVED",
    "BEGUN_OUTPUT",
    "KAPSO",
    "SOURCES",
    "Calibrated",
    "Card",
    "Effect",
    "Example",
    "Library",
    "LoadedPlan",
    "LoadedSuite",
    "NotAnEvaluator",
    "Remark",
    "Surroundings",
    "add_rubric",
    "bundled",
    "codebolt_part",
    "draft",
    "home_folder",
    "judge_digest",
    "judge_of",
    "kapso_spec",
    "lint",
    "migrate",
    "pinned_name",
    "plan_schema",
    "read_calibrations",
    "read_card",
    "read_examples",
    "read_panel",
    "read_plan",
    "read_rubric",
    "read_source",
    "read_suite",
    "reweighed",
    "select",
    "version_of",
    "why_not",
    "write_calibrations",
    "write_effects",
    "write_rubric",
]

__getattr__, __dir__ = on_first_use(
    __name__,
    {
        "deliberate.library._calibrations": (
            "Calibrated",
            "judge_digest",
            "read_calibrations",
            "version_of",
            "why_not",
            "write_calibrations",
        ),
        "deliberate.library._effects": ("write_effects",),
        "deliberate.library._examples": ("BEGUN_OUTPUT", "Example", "read_examples"),
        "deliberate.library._filed": ("APPROVED", "NotAnEvaluator", "pinned_name"),
        "deliberate.library._library": ("Library",),
        "deliberate.library._lint": ("Remark", "lint"),
        "deliberate.library._places": ("SOURCES", "bundled", "home_folder"),
        "deliberate.library._select": ("Effect", "Surroundings", "select"),
        "deliberate.library._write": ("add_rubric", "draft", "migrate", "reweighed", "write_rubric"),
        "deliberate.library.agents": ("Card", "judge_of", "read_card"),
        "deliberate.library.dialects": ("KAPSO", "codebolt_part", "kapso_spec"),
        "deliberate.library.panels": ("read_panel",),
        "deliberate.library.plans": ("LoadedPlan", "plan_schema", "read_plan"),
        "deliberate.library.rubrics": ("read_rubric", "read_source"),
        "deliberate.library.suites": ("LoadedSuite", "read_suite"),
    },
)
