"""Adapters of OpenKoi's flow: selection, skips, incremental evaluation, learning, calibration."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deliberate import Case, Panel, Session
from deliberate.evaluators._revision import (
    Standing,
    affected_by,
    change_between,
    full_because,
    merged,
    skipped,
    too_many,
)
from deliberate.judging import revision_form, said_in_text
from deliberate.library import Effect, Library, Surroundings, select
from deliberate.providers.scripted import Scripted
from deliberate.studies.calibration import report_of
from deliberate.studies.history import Judged
from deliberate.studies.learn import approve, dismiss, dismissed, mine, propose, proposed
from deliberate.types import (
    Carry,
    Dimension,
    DimensionScore,
    Evaluation,
    Finding,
    Rubric,
    Scored,
    same_name,
)
from tests.conformance._adapters import Adapter, Input, needs
from tests.conformance._cases import Observed

__all__ = ["ADAPTERS"]

SEVERITIES: Mapping[str, Any] = {"blocker": "blocker", "important": "important", "suggestion": "suggestion"}


def rubric_of(weights: Mapping[str, float], *, name: str = "given") -> Rubric:
    dimensions = tuple(Dimension(name=one, weight=weight, description="d") for one, weight in weights.items())
    return Rubric(name=name, body="\n\n".join(f"## {one}\n\n- Is it good?" for one in weights), dimensions=dimensions)


def skill_text(one: Input) -> str:
    if "raw" in one:
        return str(one["raw"])
    extra = {key: one[key] for key in ("requires_env", "requires_bins", "os") if key in one}
    metadata = {
        "categories": one.get("categories", []),
        "dimensions": [{"name": "d", "weight": 1.0, "description": "d"}],
        **extra,
    }
    front = {"name": one["name"], "kind": one.get("kind", "evaluator"), "description": "d", "metadata": metadata}
    return f"---\n{json.dumps(front)}\n---\nBody of {one['source']}\n"


async def skill_selection(given: Input, folder: Path) -> Observed:
    needs(given, ("skills", "task_category", "environment"), of="skill_selection")
    library = Library(home=folder, workspace=folder / "work")
    places = {"workspace": folder / "work" / ".agents" / "evaluators"}
    bundled = {one.name for one in library.rubrics()}
    for one in given["skills"]:
        if one["source"] == "bundled" and one["name"] in bundled:
            continue
        place = places.get(one["source"], folder / "evaluators" / one["source"]) / one["name"]
        place.mkdir(parents=True, exist_ok=True)
        (place / "SKILL.md").write_text(skill_text(one), encoding="utf-8")
        if one.get("approved"):
            approve(one["name"], folder)
    found = library.rubrics()
    effects = {
        rubric.digest: Effect(one["effectiveness"], one.get("samples", 10))
        for one in given["skills"]
        for rubric in found
        if "effectiveness" in one and (rubric.name, rubric.source) == (one["name"], one["source"])
    }
    machine = given["environment"]
    around = Surroundings(os=machine["os"], env=tuple(machine["env"]), bins=tuple(machine["bins"]))
    choice = select(found, category=given["task_category"], around=around, effects=effects)
    return {"selected": choice.rubric.name, "selected_source": choice.rubric.source, "reason": choice.why}


CHECKS: Mapping[str | None, bool | None] = {
    "pass": True,
    "clean": True,
    "fail": False,
    "dirty": False,
    "issues": False,
    "none": None,
    "absent": None,
    None: None,
}


def standing(one: Input) -> Standing:
    return Standing(
        output=one["output"],
        basis=json.dumps([one.get("rubric_version"), one.get("judge_model")]),
        normalized=one.get("score"),
        evidence={"tests": CHECKS[one.get("tests")], "static": CHECKS[one.get("static")]},
    )


async def skip_decision(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    needs(given, ("previous", "current", "config"), of="skip_decision")
    carry = Carry(**given.get("config", {}))
    previous = given["previous"]
    decision = skipped(None if previous is None else standing(previous), standing(given["current"]), carry=carry)
    rule = decision.partition(": ")[2]
    return {
        "skip": bool(decision),
        "decision": "SkipEval" if decision else "evaluate",
        "reason": rule,
        "rule": rule,
        "score": previous["score"] if decision and previous else None,
    }


async def incremental_decision(given: Input, folder: Path) -> Observed:
    if given.get("project"):
        before, after = (await iterated(given["previous"], given["current"], folder))[:2]
        ran = [step for step, _ in after.trace if step in ("tests", "static_analysis")]
        return {"ran": ran, "mode": mode_of(after), "iterations": [mode_of(before), mode_of(after)]}
    known = ("previous", "current", "dimensions", "affected_names", "iteration", "findings", "config")
    needs(given, known, of="incremental_decision")
    weights = {name: one[0] for name, one in given.get("dimensions", {"d": (1.0, 1.0)}).items()}
    rubric = rubric_of(weights)
    carry = Carry(**given.get("config", {}))
    change = change_between(given["previous"] or "", given["current"])
    iteration = given.get("iteration", 1 if given["previous"] is None else 2)
    why = full_because(iteration, change, carry=carry)
    affected = given.get("affected_names") or affected_by(change, rubric.dimensions) or ()
    findings = [
        Finding(
            id=f"F{at}", severity=SEVERITIES[one["severity"].lower()], dimension=one.get("dimension", ""), title="t"
        )
        for at, one in enumerate(given.get("findings", ()), start=1)
    ]
    why = why or too_many(affected, rubric.dimensions, findings, carry=carry)
    wanted = [one for one in rubric.dimensions if one.name in affected]
    form = revision_form(rubric=rubric, dimensions=wanted, change=change.text, before=(), findings=findings)
    return {"mode": "full" if why else "incremental", "reason": why, "prompt": form.template}


def mode_of(evaluation: Evaluation) -> str:
    return evaluation.decision.partition(":")[0]


async def incremental_reply_parse(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    needs(given, ("dimensions", "previous", "reply"), of="incremental_reply_parse")
    before = given["previous"]
    scores = before["scores"]
    previous = Evaluation(
        evaluator="deliberation",
        outcome=Scored(score=0.0, raw=0.0),
        dimensions=tuple(
            DimensionScore(
                dimension=one["name"],
                weight=one["weight"],
                judged=scores[one["name"]] * 100,
                adjusted=scores[one["name"]] * 100,
            )
            for one in given["dimensions"]
        ),
        findings=tuple(Finding(id=one, severity="suggestion", dimension="", title=one) for one in before["findings"]),
    )
    said = said_in_text(given["reply"])
    names = [one["name"] for one in given["dimensions"]]
    read = [
        DimensionScore(dimension=name, weight=0.0, judged=score * 100, adjusted=score * 100)
        for name, score in said["dimensions"].items()
        if any(same_name(name, one) for one in names)
    ]
    new = [
        Finding(severity=SEVERITIES[one["severity"].lower()], dimension=one["dimension"], title=one["title"])
        for one in said["findings"]
    ]
    found = merged(previous, [(read, new, said["resolved"])])
    told = [one for one in found.findings if one.state == "new"]
    return {
        "scores": {one.dimension: one.judged / 100 for one in found.dimensions},
        "dimension_count": len(found.dimensions),
        "remaining_ids": [one.id for one in found.findings if one.state == "persisting"],
        "new_ids": [one.id for one in told],
        "new_severities": [one.severity.capitalize() for one in told],
        "suggestion": said["suggestion"],
    }


async def iterated(first: str, second: str, folder: Path) -> tuple[Evaluation, Evaluation]:
    """Two iterations of a project with tests and lint, by the default evaluation."""
    (folder / "test_it.py").write_text("def test_it() -> None:\n    assert True\n", encoding="utf-8")
    (folder / "pyproject.toml").write_text("[tool.ruff]\n", encoding="utf-8")
    library = Library(home=folder / "home", workspace=folder)
    reply = Scripted()
    async with Session(
        ledger=":memory:", env={}, library=library, judge="scripted/good:70", trust_code=True, providers={"*": reply}
    ) as session:
        one = await session.evaluate(Case(output=first, task="T", workspace=str(folder)))
        two = await session.evaluate(Case(output=second, task="T", workspace=str(folder)), previous=one)
    return one, two


async def evaluation_trace(given: Input, folder: Path) -> Observed:
    needs(given, ("project",), of="evaluation_trace")
    found, _ = await iterated("x = 1", "x = 2", folder)
    names = {"selection": "skill_selection", "judge": "llm_judge"}
    return {
        "order": [names.get(step, step) for step, _ in found.trace],
        "tokens": {names.get(step, step): tokens for step, tokens in found.trace},
    }


def judgments(category: str, count: int, *, others: int = 0) -> tuple[Judged, ...]:
    scored = tuple(
        DimensionScore(dimension=name, weight=0.5, judged=70.0, adjusted=70.0) for name in ("accuracy", "compliance")
    )
    kinds = [category] * count + [f"other-{at}" for at in range(others)]
    return tuple(
        Judged(at="2026-11-01", case=str(at), category=kind, dimensions=scored) for at, kind in enumerate(kinds)
    )


async def pattern_mining(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    needs(given, ("events", "category", "total"), of="pattern_mining")
    count, total = given["events"], given["total"]
    found = mine(judgments(given["category"], count, others=total - count))
    return {"patterns": len(found), "confidence": found[0].confidence if found else None}


async def proposal_lifecycle(given: Input, folder: Path) -> Observed:
    needs(given, ("action", "name"), of="proposal_lifecycle")
    events = judgments(given["name"], 3)
    (place,) = propose(mine(events), folder)
    path = str(place.relative_to(folder))
    if given["action"] == "approve":
        approve(given["name"], folder)
    elif given["action"] == "dismiss":
        dismiss(given["name"], folder)
    library = Library(home=folder, workspace=folder / "work")
    again = mine(events, dismissals=dismissed(folder), known=library.rubrics())
    return {
        "path": path,
        "present": bool(proposed(folder)),
        "used": place.name in [one.name for one in library.rubrics()],
        "reproposed_on_same_evidence": bool(again),
    }


async def calibration(given: Input, folder: Path) -> Observed:
    needs(given, ("enabled", "history", "score"), of="calibration")
    library = Library(home=folder, workspace=folder)
    async with Session(ledger=":memory:", env={}, library=library) as session:
        found = [
            await session.evaluate(
                Case(output=f"o {score}"), Panel.of(f"scripted/{label(score)}:{score * 100:g}", criteria="C")
            )
            for score in (*given["history"], given["score"])
        ]
    return {"score": found[-1].normalized}


def label(score: float) -> str:
    return ("poor", "fair", "good", "excellent")[min(3, max(0, -int(-score * 4 // 1) - 1))]


async def calibration_report(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    needs(given, ("history",), of="calibration_report")
    judged = [
        Judged(at="2026-11-01", case=str(at), rubric=name, score=score * 100)
        for name, scores in given["history"].items()
        for at, score in enumerate(scores)
    ]
    found = report_of(judged)
    return {
        "drift": {one.rubric: one.drift for one in found},
        "mean": {one.rubric: one.overall.mean / 100 for one in found},
        "std": {one.rubric: one.overall.deviation / 100 for one in found},
        "count": {one.rubric: one.overall.count for one in found},
    }


ADAPTERS: Mapping[str, Adapter] = {
    adapter.__name__: adapter
    for adapter in (
        calibration,
        calibration_report,
        evaluation_trace,
        incremental_decision,
        incremental_reply_parse,
        pattern_mining,
        proposal_lifecycle,
        skill_selection,
        skip_decision,
    )
}
