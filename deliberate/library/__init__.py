"""Documents people wrote, read under guard and checked at the door: rubrics, agent cards, panels, plans.

``Library`` finds them by name in all sources, in their rank. Rules for whoever edits this room: what is read here is
data, never code; every fault names file, line, column, key, what was expected and the nearest known; a dialect's words
end here, in explicit parameters. pydantic and ruamel are for this room alone.
"""

from deliberate.library._library import Library
from deliberate.library._places import SOURCES, bundled, home_folder
from deliberate.library.agents import Card, judge_of, read_card
from deliberate.library.dialects import KAPSO, codebolt_part, kapso_spec, suite_judge
from deliberate.library.panels import read_panel
from deliberate.library.plans import LoadedPlan, plan_schema, read_plan
from deliberate.library.rubrics import NotAnEvaluator, pinned_name, read_rubric

__all__ = [
    "KAPSO",
    "SOURCES",
    "Card",
    "Library",
    "LoadedPlan",
    "NotAnEvaluator",
    "bundled",
    "codebolt_part",
    "home_folder",
    "judge_of",
    "kapso_spec",
    "pinned_name",
    "plan_schema",
    "read_card",
    "read_panel",
    "read_plan",
    "read_rubric",
    "suite_judge",
]
