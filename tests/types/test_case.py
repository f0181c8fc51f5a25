"""A case's digest is of its content: not its name, not its place."""

from __future__ import annotations

import msgspec
import pytest

from deliberate.types import Case, Evidence, FileRef, Plan, PlanPart, Spec

CASE = Case(
    output="o",
    task="t",
    reference="r",
    id="q1",
    files=(FileRef(path="a.py", sha256="0" * 64, size=3),),
    workspace="one",
    evidence=(Evidence(source="tests", title="t", text="1 failed"), Evidence(source="lint", title="l", text="clean")),
    category="code",
    context={"a": "1", "b": "2"},
)


@pytest.mark.parametrize(
    "change", [{"id": ""}, {"id": "q2"}, {"workspace": "two"}, {"category": None}, {"context": {"b": "2", "a": "1"}}]
)
def test_name_and_place_leave_the_digest(change: dict[str, object]) -> None:
    assert msgspec.structs.replace(CASE, **change).digest == CASE.digest


@pytest.mark.parametrize(
    "change",
    [
        {"output": "p"},
        {"output": "o "},
        {"task": ""},
        {"reference": None},
        {"reference": ""},
        {"files": ()},
        {"files": (FileRef(path="b.py", sha256="0" * 64, size=3),)},
        {"files": (FileRef(path="a.py", sha256="1" * 64, size=3),)},
        {"evidence": ()},
        {"evidence": CASE.evidence[::-1]},
        {"context": {"a": "1"}},
    ],
)
def test_whatever_is_judged_changes_the_digest(change: dict[str, object]) -> None:
    assert msgspec.structs.replace(CASE, **change).digest != CASE.digest


def test_task_and_output_do_not_run_into_each_other() -> None:
    assert Case(output="b", task="a").digest != Case(output="", task="ab").digest
    assert Case(output="b", task="a").digest != Case(output="a", task="b").digest


def test_a_plan_is_known_by_all_it_says() -> None:
    part = PlanPart(name="tests", spec=Spec(type="script", params={"command": "./check.sh"}), weight=3.0)
    plan = Plan(parts=(part,))
    assert plan.digest == Plan(parts=(part,), combine=Spec(type="weighted_mean")).digest
    others = [
        Plan(parts=(msgspec.structs.replace(part, weight=1.0),)),
        Plan(parts=(msgspec.structs.replace(part, spec=Spec(type="script")),)),
        Plan(parts=(part,), combine=Spec(type="min")),
        Plan(parts=(part,), limits={"in_flight": 4}),
        Plan(parts=(part,), require={"min_score": 70}),
        Plan(parts=(part,), cases={"from": "cases.jsonl"}),
    ]
    assert len({plan.digest, *(other.digest for other in others)}) == 1 + len(others)
