"""One small adapter a kind of case: it renames and rescales, runs what we have, and tells what it saw.

No adapter knows a case by its id. What of a case none can run is ``Missing``, by name.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from deliberate import Case, Panel, Session, combine
from deliberate.errors import EvaluatorError, RefusedError, RubricError
from deliberate.evaluators import Contains, Evaluator, Exact, Regex, Script, default_of
from deliberate.evaluators._base import measured
from deliberate.library import Library, NotAnEvaluator, read_rubric
from deliberate.providers._base import Request, Response
from deliberate.providers.scripted import Scripted
from deliberate.runtime import Runtime
from deliberate.types import (
    Decided,
    Dimension,
    Evaluation,
    Judge,
    Record,
    Rubric,
    Rules,
    Seat,
    adjusted_ballot,
    bracket_of,
)
from tests.conformance._cases import Missing, Observed

__all__ = ["ADAPTERS", "Adapter", "Input", "OneRubric", "judged", "needs", "seen"]

Input = Mapping[str, Any]
Adapter = Callable[[Input, Path], Awaitable[Observed]]


async def judged(
    plan: Evaluator | Panel,
    *,
    output: str,
    task: str = "T",
    provider: Scripted | None = None,
    library: Library | None = None,
    workspace: Path | None = None,
) -> Evaluation:
    """The evaluation of an output in a session that leaves nothing behind."""
    async with Session(
        ledger=":memory:",
        env={},
        library=library or Library(home="nowhere", workspace="nowhere"),
        judge="scripted/judge",
        trust_code=True,
        providers={"*": provider or Scripted()},
    ) as session:
        case = Case(output=output, task=task, workspace="" if workspace is None else str(workspace))
        return await session.evaluate(case, plan)


def seen(found: Evaluation, *, of: float = 100.0) -> dict[str, Any]:
    """What an evaluation says, on the scale of the case."""
    score = found.normalized
    return {
        "score": None if score is None else score * of,
        "normalized": score,
        "passed": None if score is None else score == 1.0,
        "failed": score is None,
        "reasoning": found.reason,
        "feedback": found.reason,
        "flags": found.flags,
        "missing": found.missing,
        "exit_code": found.details.get("exit_code"),
    }


def needs(given: Input, known: Sequence[str], *, of: str) -> None:
    """Refuses a case that asks for more than an adapter can pass on."""
    for name in given:
        if name not in known:
            msg = f"{of}: {name}"
            raise Missing(msg)


# --- brackets and panels ---------------------------------------------------------------------------


async def bracket_of_score(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    try:
        return {"bracket": bracket_of(given["score"]).label}
    except ValueError as error:
        return {"error": str(error)}


class _Voters(Scripted):
    """Gives each agent's votes in their order, one a round; asked to mend one, it says the same again."""

    def __init__(self, votes: Mapping[str, Sequence[Input]]) -> None:
        super().__init__()
        self._votes = {agent: iter(each) for agent, each in votes.items()}
        self._last: dict[str, Input] = {}

    async def complete(self, request: Request) -> Response:
        agent = request.model.partition("/")[2]
        if not request.key.endswith("#repair"):
            self._last[agent] = next(self._votes[agent], self._last.get(agent, {}))
        vote = self._last[agent]
        if "failed" in vote:
            raise RefusedError(str(vote["failed"]))
        if vote.get("abstain") or vote.get("abstained"):
            return Response(text="", finish="refused", model=request.model, detail="abstains")
        reply = {"reasoning": vote.get("reasoning", ""), "findings": [], "suggestion": ""}
        reply |= {name: vote[name] for name in ("bracket", "score") if name in vote}
        return Response(text=json.dumps(reply), finish="stop", model=request.model)


async def deliberation(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    rules = ("bracket_score", "tie", "quorum", "rule", "independence")
    needs(given, ("votes", "rounds_votes", "weights", "seed", *rules), of="deliberation")
    rounds: Sequence[Sequence[Input]] = given.get("rounds_votes") or [given["votes"]]
    votes: dict[str, list[Input]] = {}
    for vote in (vote for each in rounds for vote in each):
        votes.setdefault(vote["agent"], []).append(vote)
    stated = {name: given[name] for name in rules if name in given}
    if isinstance(stated.get("tie"), str):
        stated["tie"] = (stated["tie"],)
    weights: dict[str, float] = {vote["agent"]: vote["weight"] for vote in rounds[0] if "weight" in vote}
    weights |= given.get("weights", {})
    panel = Panel.of(
        *(Seat(name=agent, judge=Judge(model=f"scripted/{agent}"), weight=weights.get(agent, 1.0)) for agent in votes),
        criteria="C",
        rounds=len(rounds),
        rules=Rules(**stated),
        seed=given.get("seed", 0),
    )
    found = await judged(panel, output="O", provider=_Voters(votes))
    verdict = found.verdict
    decision = None if verdict is None else verdict.decision
    decided = decision if isinstance(decision, Decided) else None
    return {
        **seen(found),
        "winner": None if decided is None else decided.bracket.label,
        "resolved": decided is not None,
        "contested": decided is not None and decided.contested,
        "tied": [] if decision is None else [bracket.label for bracket in decision.tied],
        "rounds": 0 if verdict is None else len(verdict.rounds),
        "dissent": [] if verdict is None else [vote.seat.name for vote in verdict.dissent],
    }


# --- Codebolt --------------------------------------------------------------------------------------


class Given(Record, frozen=True, kw_only=True):
    """Scores as it is told."""

    name: ClassVar[str] = "given"
    spends_tokens: ClassVar[bool] = False

    score: float | None

    async def evaluate(
        self,
        case: Case,  # noqa: ARG002
        *,
        runtime: Runtime,  # noqa: ARG002
        previous: Evaluation | None = None,  # noqa: ARG002
    ) -> Evaluation:
        if self.score is None:
            msg = "it failed"
            raise EvaluatorError(msg)
        return measured(self, self.score, scale="0..100")


async def weighted_average(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    needs(given, ("results", "on_missing"), of="weighted_average")
    parts: dict[str, Any] = {
        one.get("name", f"part-{at}"): (
            Given(score=None if one.get("failed") else one.get("score")),
            one.get("weight", 1),
        )
        for at, one in enumerate(given["results"])
    }
    return seen(await judged(combine(on_missing=given.get("on_missing", "fail"), **parts), output="O"))


async def expected_output(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    needs(given, ("mode", "output", "expected", "ignore_case", "trim"), of="expected_output")
    expected, ignore_case = given["expected"], given.get("ignore_case", False)
    kinds: Mapping[str, Callable[[], Evaluator]] = {
        "exact": lambda: Exact(expected=expected, ignore_case=ignore_case, trim=given.get("trim", False)),
        "contains": lambda: Contains(expected=(expected,), ignore_case=ignore_case),
        "regex": lambda: Regex(pattern=expected, ignore_case=ignore_case),
    }
    if given["mode"] not in kinds:
        msg = f"expected output by {given['mode']}"
        raise Missing(msg)
    return seen(await judged(kinds[given["mode"]](), output=given["output"]))


async def script_evaluator(given: Input, folder: Path) -> Observed:
    needs(given, ("script", "output", "files", "timeout", "timeout_seconds"), of="script_evaluator")
    output = given["output"]
    if isinstance(output, Mapping):
        output = output["repeat"] * output["times"]
    for name, text in {"evaluate.sh": given["script"], **given.get("files", {})}.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "evaluate.sh").chmod(0o755)
    script = Script(command="./evaluate.sh", timeout_seconds=given.get("timeout_seconds", given.get("timeout", 5.0)))
    found = await judged(script, output=output, workspace=folder)
    return {**seen(found), "written": [path.name for path in folder.rglob("*")]}


# --- OpenKoi ---------------------------------------------------------------------------------------


class OneRubric(Library):
    """A library that knows one rubric."""

    def __init__(self, rubric: Rubric) -> None:
        super().__init__(home="nowhere", workspace="nowhere")
        self._rubric = rubric

    def rubric(self, name: str, *, where: str = "") -> Rubric:  # noqa: ARG002
        return self._rubric


async def evaluation_from_judgement(given: Input, folder: Path) -> Observed:
    needs(given, ("dimensions", "findings", "tests", "lint"), of="evaluation_from_judgement")
    dimensions: Sequence[Input] = given["dimensions"]
    rubric = Rubric(
        name="given",
        body="B",
        dimensions=tuple(Dimension(name=one["name"], weight=one["weight"]) for one in dimensions),
    )
    findings = [{"dimension": "", "description": "", **finding} for finding in given["findings"]]
    scores = {one["name"]: one["judged"] for one in dimensions}
    reply = json.dumps({"reasoning": "R", "findings": findings, "suggestion": "", "dimensions": scores})
    evidence = "tests" in given or "lint" in given
    if evidence:
        project(folder, tests=given.get("tests"), lint=given.get("lint"))
    panel = Panel.of("scripted/judge", rubric="given")
    found = await judged(
        default_of(panel) if evidence else panel,
        output="O",
        provider=Scripted(lambda _: reply),
        library=OneRubric(rubric),
        workspace=folder if evidence else None,
    )
    verdicts = [one.verdict for one in (found, *(part.evaluation for part in found.parts)) if one.verdict is not None]
    ballots = [vote.ballot for verdict in verdicts for vote in verdict.votes if vote.ballot is not None]
    told = [
        {"severity": one.severity.capitalize(), "dimension": one.dimension, "title": one.title}
        for one in found.findings
    ]
    parts = {part.name: part.evaluation.normalized for part in found.parts if part.name != "judge"}
    return {
        **seen(found, of=1.0),
        "dimension": {one.dimension: one.adjusted / 100.0 for one in found.dimensions} | parts,
        "findings": told,
        "idempotent": all(adjusted_ballot(ballot) == ballot for ballot in ballots),
    }


def project(folder: Path, *, tests: Input | None, lint: Input | None) -> None:
    """A project whose tests and linter say what a case says they said."""
    if tests is not None:
        names = [f"test_passes_{at}" for at in range(tests["passed"])]
        fails = tests.get("failures") or [f"test_fails_{at}" for at in range(tests["failed"])]
        lines = [f"def {name}() -> None:\n    assert len('x') == {1 + (name in fails)}\n" for name in (*names, *fails)]
        (folder / "test_it.py").write_text("\n\n".join(lines), encoding="utf-8")
    if lint is not None:
        assert not lint["warnings"]
        (folder / "pyproject.toml").write_text("[tool.ruff]\n", encoding="utf-8")
        (folder / "it.py").write_text("".join(f"print(name_{at})\n" for at in range(lint["errors"])), encoding="utf-8")


def document(rubric: Rubric) -> Observed:
    """What a rubric's files say."""
    return {
        "valid": True,
        "evaluator": True,
        "kind": "evaluator",
        "name": rubric.name,
        "categories": list(rubric.categories),
        "weights": {one.name: one.weight for one in rubric.dimensions},
        "body": rubric.body,
        "has_severity_guide": "## Severity Guide" in rubric.body,
    }


async def skill_md_parse(given: Input, folder: Path) -> Observed:
    needs(given, ("text",), of="skill_md_parse")
    path = folder / "SKILL.md"
    path.write_text(given["text"], encoding="utf-8", newline="")
    try:
        return document(read_rubric(path))
    except NotAnEvaluator as error:
        return {"valid": False, "evaluator": False, "error": str(error)}
    except RubricError as error:
        return {"valid": False, "error": str(error)}


async def bundled_skill(given: Input, folder: Path) -> Observed:
    return document(Library(home=folder, workspace=folder).rubric(given["name"]))


async def judge_call(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    needs(given, ("skill", "task", "output"), of="judge_call")
    asked: list[Request] = []

    def note(request: Request) -> str:
        asked.append(request)
        return ""

    panel = Panel.of("scripted/judge", rubric=given["skill"])
    await judged(panel, output=given["output"], task=given["task"], provider=Scripted(note))
    first = asked[0]
    return {
        "prompt": "\n".join(message.content for message in first.messages),
        "temperature": first.temperature,
        "max_tokens": first.max_tokens,
    }


ADAPTERS: Mapping[str, Adapter] = {
    adapter.__name__: adapter
    for adapter in (
        bracket_of_score,
        bundled_skill,
        deliberation,
        evaluation_from_judgement,
        expected_output,
        judge_call,
        script_evaluator,
        skill_md_parse,
        weighted_average,
    )
}
