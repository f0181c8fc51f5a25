"""Plans, and everything that can be wrong with one."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from deliberate.errors import ConfigError, UnknownName
from deliberate.library import Library, LoadedPlan, read_plan
from deliberate.types import Bracket, Gate, Plan, PlanPart, Spec

Write = Callable[[str, str], Path]
Read = Callable[[str], LoadedPlan]

PARTS = "parts: {tests: {type: script, params: {command: ./check.sh}}}\n"


@pytest.fixture
def read(write: Write) -> Read:
    """Reads a plan file, its first line aside."""
    return lambda text: read_plan(write("p/x.plan.yaml", f"deliberate: 1\n{text}"))


def test_a_plan_file_says_all_that_a_plan_can(read: Read, tmp_path: Path) -> None:
    loaded = read(
        """\
cases: {from: cases.jsonl, id: id, task: prompt, output: answer, reference: gold, category: kind}
parts:
  tests: {type: script, params: {command: ./check.sh, timeout_seconds: 60}, weight: 3}
  jury:  {type: deliberation, params: {panel: board, tags: [a, {b: [1]}]}, weight: 1}
combine: {by: weighted_mean, on_missing: fail, min_coverage: 0.6}
gates:
  - {part: tests, min_score: 100, effect: cap, cap: 50}
  - {part: jury, min_bracket: Good, max_blockers: 0}
require: {min_score: 70, min_bracket: good, max_blockers: 0, max_unread: 0.02, min_agreement: 0.5, max_drop: 3}
limits: {in_flight: 64, max_cost_usd: 5, deadline_seconds: 3600}
"""
    )
    assert loaded.plan == Plan(
        parts=(
            PlanPart(
                name="tests",
                spec=Spec(type="script", params={"command": "./check.sh", "timeout_seconds": 60}),
                weight=3.0,
            ),
            PlanPart(
                name="jury",
                spec=Spec(type="deliberation", params={"panel": "board", "tags": ("a", {"b": (1,)})}),
                weight=1.0,
            ),
        ),
        combine=Spec(type="weighted_mean", params={"on_missing": "fail", "min_coverage": 0.6}),
        gates=(
            Gate(part="tests", min_score=100.0, effect="cap", cap=50.0),
            Gate(part="jury", min_bracket=Bracket.GOOD, max_blockers=0),
        ),
        cases={
            "from": "cases.jsonl",
            "id": "id",
            "task": "prompt",
            "output": "answer",
            "reference": "gold",
            "category": "kind",
        },
        require={
            "min_score": 70,
            "min_bracket": "good",
            "max_blockers": 0,
            "max_unread": 0.02,
            "min_agreement": 0.5,
            "max_drop": 3,
        },
        limits={"in_flight": 64, "max_cost_usd": 5, "deadline_seconds": 3600},
    )
    assert loaded.folder == tmp_path / "p"
    assert loaded.where("parts", "jury", "params", "panel").endswith("x.plan.yaml:5:47")
    assert loaded.plan.digest


def test_what_is_left_out_is_the_plans_default(read: Read) -> None:
    loaded = read(PARTS)
    assert loaded.plan == Plan(
        parts=(PlanPart(name="tests", spec=Spec(type="script", params={"command": "./check.sh"})),)
    )


def test_a_part_of_weight_0_may_stand_beside_one_that_counts(read: Read) -> None:
    loaded = read("parts: {a: {type: contains, weight: 0}, b: {type: exact, weight: 0.5}}\n")
    assert [part.weight for part in loaded.plan.parts] == [0.0, 0.5]


def test_digests_do_not_hang_on_the_place(write: Write) -> None:
    one, two = (read_plan(write(f"{name}/x.plan.yaml", f"deliberate: 1\n{PARTS}")) for name in ("a", "b"))
    assert one.plan.digest == two.plan.digest
    assert one.folder != two.folder


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("", "1:1", "key 'parts' is missing; expected keys: deliberate, cases, parts, combine, gates, require, limits"),
        ("parts: {}\n", "2:8", "parts is a mapping; expected at least one"),
        ("parts: [a]\n", "2:8", "parts is a list; expected a mapping"),
        ("part: {a: {type: exact}}\n", "2:1", "unknown key 'part' (did you mean 'parts'?)"),
        ("parts: {a: {type: exact, weigt: 1}}\n", "2:26", "unknown key 'parts.a.weigt' (did you mean 'weight'?)"),
        ("parts: {a: {params: {}}}\n", "2:12", "key 'parts.a.type' is missing; expected keys: type, params, weight"),
        ("parts: {a b: {type: exact}}\n", "2:9", "'a b' is no name; expected 1 to 64 letters, digits, _ or -"),
        ("parts: {a: {type: exact}, a: {type: exact}}\n", "2:27", "key 'a' stands twice, first in line 2"),
        ("parts: {a: {type: exact, params: [1]}}\n", "2:34", "parts.a.params is a list; expected a mapping"),
        (
            "parts: {a: {type: exact, weight: -1}}\n",
            "2:34",
            "parts.a.weight is -1; expected greater than or equal to 0",
        ),
        ("parts: {a: {type: exact, weight: true}}\n", "2:34", "parts.a.weight is True; expected a number"),
        ("parts: {a: {type: exact, weight: .inf}}\n", "2:34", "not a finite number"),
        ("parts: {a: {type: exact, weight: 0}}\n", "2:8", "no part has a weight above 0"),
        (
            PARTS + "combine: {on_mising: fail}\n",
            "3:11",
            "unknown key 'combine.on_mising' (did you mean 'on_missing'?)",
        ),
        (
            PARTS + "combine: {min_coverage: 60}\n",
            "3:25",
            "combine.min_coverage is 60; expected less than or equal to 1",
        ),
        (PARTS + "gates: [{part: tests}]\n", "3:9", "a gate without a condition; expected min_score, min_bracket or"),
        (PARTS + "gates: [{min_score: 1}]\n", "3:9", "key 'gates[0].part' is missing"),
        (
            PARTS + "gates: [{part: tests, min_score: 101}]\n",
            "3:34",
            "gates[0].min_score is 101; expected less than or",
        ),
        (
            PARTS + "gates: [{part: tests, min_bracket: best}]\n",
            "3:36",
            "gates[0].min_bracket: 'best' is not a bracket: expected one of poor, fair, good, excellent",
        ),
        (PARTS + "gates: [{part: tests, min_bracket: 3}]\n", "3:36", "gates[0].min_bracket: 3 is not a bracket"),
        (PARTS + "gates: [{part: tests, max_blockers: -1}]\n", "3:37", "gates[0].max_blockers is -1; expected greater"),
        (
            PARTS + "gates: [{part: tests, min_score: 1, effect: stop}]\n",
            "3:45",
            "gates[0].effect is 'stop'; expected 'cap' or",
        ),
        (PARTS + "gates: [{part: tests, min_score: 1, effect: cap}]\n", "3:9", "effect cap without cap"),
        (PARTS + "gates: [{part: tests, min_score: 1, cap: 50}]\n", "3:42", "effect veto with cap"),
        (
            PARTS + "gates: [{part: tests, min_scor: 1}]\n",
            "3:23",
            "unknown key 'gates[0].min_scor' (did you mean 'min_score'?)",
        ),
        (
            PARTS + "require: {min_brackt: good}\n",
            "3:11",
            "unknown key 'require.min_brackt' (did you mean 'min_bracket'?)",
        ),
        (PARTS + "require: {max_unread: 2}\n", "3:23", "require.max_unread is 2; expected less than or equal to 1"),
        (
            PARTS + "require: {min_agreement: -2}\n",
            "3:26",
            "require.min_agreement is -2; expected greater than or equal",
        ),
        (PARTS + "limits: {in_flight: 0}\n", "3:21", "limits.in_flight is 0; expected greater than or equal to 1"),
        (PARTS + "limits: {deadline_seconds: 0}\n", "3:28", "limits.deadline_seconds is 0; expected greater than 0"),
        (PARTS + "limits: {max_cost_usd: free}\n", "3:24", "limits.max_cost_usd is 'free'; expected a number"),
        (PARTS + "limits: {max_cost: 5}\n", "3:10", "unknown key 'limits.max_cost' (did you mean 'max_cost_usd'?)"),
        (PARTS + "cases: {id: id}\n", "3:8", "key 'cases.from' is missing; expected keys: from, id, task, output,"),
        (
            PARTS + "cases: {from: x, answer: y}\n",
            "3:18",
            "unknown key 'cases.answer'; expected one of: from, id, task,",
        ),
        (PARTS + "cases: {path: x}\n", "3:9", "unknown key 'cases.path'"),
        (PARTS + "cases: {from: 1.0}\n", "3:15", "cases.from is 1.0; expected text; put it in quotes"),
    ],
)
def test_each_fault_of_a_plan_is_a_named_error(read: Read, text: str, where: str, what: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(what)) as caught:
        read(text)
    assert caught.value.where.endswith(f"x.plan.yaml:{where}")


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("parts: {a: {type: contain}}\n", "2:19", "unknown evaluator 'contain' (did you mean 'contains'?)"),
        (PARTS + "combine: {by: mean}\n", "3:15", "unknown aggregation rule 'mean' (did you mean"),
        (PARTS + "gates: [{part: test, min_score: 1}]\n", "3:16", "unknown part 'test' (did you mean 'tests'?)"),
    ],
)
def test_each_unknown_name_lists_what_is_known(read: Read, text: str, where: str, what: str) -> None:
    with pytest.raises(UnknownName, match=re.escape(what)) as caught:
        read(text)
    assert caught.value.where.endswith(f"x.plan.yaml:{where}")
    assert caught.value.known


def test_a_missing_plan_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.plan\.yaml: there is no such file"):
        read_plan(tmp_path / "none.plan.yaml")


def test_a_plan_finds_its_panels_beside_itself_and_then_in_the_library(
    write: Write, read: Read, library: Library
) -> None:
    write("p/board.panel.yaml", "deliberate: 1\nseats: [{model: a/b}]\nseed: 1\n")
    write("p/more/jury.panel.yaml", "deliberate: 1\nseats: [{model: a/b}]\nseed: 2\n")
    find = read(PARTS).panel(library)
    assert find("board").seed == 1
    assert find("./board.panel.yaml").seed == 1
    assert find("more/jury.panel.yaml").seed == 2
    assert find("local") == library.panel("local")
    with pytest.raises(UnknownName, match="unknown panel 'jury'"):
        find("jury")
