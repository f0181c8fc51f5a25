"""Faults of a plan: each names file, line and column, and what to do; plans within plans."""

from __future__ import annotations

from pathlib import Path

import pytest

from deliberate import Case
from deliberate.errors import ConfigError
from deliberate.evaluators import Composite, evaluator_of, plan_of
from deliberate.library import Library, read_plan
from deliberate.types import Param, Spec
from tests.evaluators.conftest import Open

pytestmark = pytest.mark.anyio


def built(tmp_path: Path, text: str) -> Composite:
    """The plan in a file of that text."""
    path = tmp_path / "x.plan.yaml"
    path.write_text(f"deliberate: 1\n{text}")
    loaded = read_plan(path)
    library = Library(home=tmp_path / "home", workspace=tmp_path)
    return plan_of(loaded.plan, panel=loaded.panel(library), where=loaded.where, folder=loaded.folder)


@pytest.mark.parametrize(
    ("text", "where", "said"),
    [
        ("parts: {a: {type: exakt}}", "2:19", "unknown evaluator 'exakt' (did you mean 'exact'?)"),
        ("parts: {a: {type: exact, weight: heavy}}", "2:34", "parts.a.weight is 'heavy'; expected a number"),
        (
            "parts: {a: {type: script, params: {command: ./chek.sh}}}",
            "2:45",
            "there is no file './chek.sh'; expected a script in ",
        ),
        ("parts: {a: {type: script, params: {command: python t/x.py}}}", "2:45", "there is no file 't/x.py'"),
        (
            "parts: {a: {type: exact, params: {expcted: x}}}",
            "2:35",
            "unknown parameter 'expcted' (did you mean 'expected'?)",
        ),
        ("parts: {a: {type: exact, params: {trim: 1}}}", "2:41", "Expected `bool`, got `int`"),
        ("parts: {a: {type: regex}}", "2:12", "missing required field `pattern`"),
        ("parts: {a: {type: regex, params: {pattern: '('}}}", "2:44", "is no pattern"),
        ("parts: {a: {type: regex_pattern}}", "2:12", "no declared scale"),
        (
            "parts:\n  a:\n    type: multi_metric\n    params:\n      patterns:\n        f1: ['x', 1]\n",
            "7:13",
            "the pattern 'x' has no capture group 1",
        ),
        ("parts: {a: {type: contains, params: {expected: [a, 1]}}}", "2:52", "Expected `str`, got `int`"),
        ("parts: {a: {type: deliberation, params: {panel: bord}}}", "2:49", "unknown panel 'bord'"),
        ("parts: {a: {type: exact}}\ncombine: {on_missing: maybe}", "3:23", "unknown on_missing 'maybe'"),
        (
            "parts: {a: {type: composite, params: {parts: {b: {type: regex, params: {pattern: '['}}}}}}",
            "2:82",
            "is no pattern",
        ),
        (
            "parts: {a: {type: composite, params: {parts: {b: {type: exact, weight: -1}}}}}",
            "2:72",
            "-1.0 is not a finite number",
        ),
        ("parts: {a: {type: composite, params: {parts: {b: {type: exct}}}}}", "2:57", "unknown evaluator 'exct'"),
        ("parts: {a: {type: composite, params: {part: {}}}}", "2:38", "unknown field `part`"),
        (
            "parts: {a: {type: composite, params: {parts: {b: {type: exact}}, combine: {by: mode}}}}",
            "2:80",
            "unknown aggregation rule 'mode'",
        ),
        (
            "parts: {a: {type: composite, params: {parts: {b: {type: exact}}, gates: [{part: b, min_bracket: top}]}}}",
            "2:73",
            "'top' is not a bracket",
        ),
        (
            "parts: {a: {type: composite, params: {parts: {b: {type: exact}}, gates: [{part: c, min_score: 1}]}}}",
            "2:81",
            "a gate names the part 'c'",
        ),
        (
            "parts: {a: {type: composite, params: {parts: {b: {type: exact}}, gates: [{part: b, min_score: 400}]}}}",
            "2:95",
            "min_score is 400.0; expected points from 0 to 100",
        ),
        ('parts: {a: {type: script, params: {command: ""}}}', "2:45", "there is no command"),
    ],
)
def test_each_fault_names_its_line_and_column(tmp_path: Path, text: str, where: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        built(tmp_path, text)
    assert said in str(caught.value)
    assert caught.value.where.endswith(f"x.plan.yaml:{where}")


@pytest.mark.parametrize("command", ["make test", "./check.sh", "sh check.sh -v", "X=./y make", "echo 'open"])
def test_a_command_that_may_run_is_left_to_run(tmp_path: Path, command: str) -> None:
    (tmp_path / "check.sh").write_text("")
    spec = f'parts: {{a: {{type: script, params: {{command: "{command}"}}}}}}'
    assert built(tmp_path, spec).members[0].evaluator.name == "script"


async def test_a_plan_within_a_plan_is_one_part_of_it(opened: Open, tmp_path: Path) -> None:
    plan = built(
        tmp_path,
        """\
parts:
  words:
    type: composite
    weight: 3
    params:
      parts: {a: {type: contains, params: {expected: x}}, b: {type: contains, params: {expected: y}, weight: 3}}
      combine: {by: min, on_missing: zero}
      gates: [{part: a, min_bracket: good, effect: cap, cap: 40}]
  form: {type: not_contains, params: {unwanted: z}}
""",
    )
    async with opened() as session:
        found = await session.evaluate(Case(output="xy"), plan)
        lost = await session.evaluate(Case(output="y"), plan)
    assert (found.score, lost.score) == (100.0, 25.0)
    assert [part.name for part in found["words"].parts] == ["a", "b"]
    assert lost["words"].gates[0].held is False


def test_from_python_a_fault_names_part_and_parameter() -> None:
    wrong: dict[str, Param] = {"pattern": "("}
    with pytest.raises(ConfigError, match=r"^regex\.params\.pattern: '\(' is no pattern"):
        evaluator_of(Spec(type="regex", params=wrong), panel=Library().panel)
    with pytest.raises(ConfigError, match=r"^parts\.x\.params\.pattern: "):
        evaluator_of(Spec(type="regex", params=wrong), panel=Library().panel, where="parts.x")
