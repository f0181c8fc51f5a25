"""Kapso's evaluators: what a case calls ``{evaluator, params}`` goes through the loader of Kapso's documents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deliberate import Case, Session, plugins
from deliberate.errors import RefusedError
from deliberate.evaluators import Evaluator, evaluator_of, kind_of
from deliberate.evaluators.composite import Composite, spends
from deliberate.library import KAPSO, Library, kapso_spec
from deliberate.providers._base import Request
from deliberate.providers.scripted import Scripted
from deliberate.types import Evaluation
from tests.conformance._adapters import Adapter, Input
from tests.conformance._cases import Missing, Observed

__all__ = ["ADAPTERS"]


def present(name: str, params: Input) -> None:
    """Refuses an evaluator that is not here, or a parameter of it that is not here."""
    kind = name.lower()
    if kind in KAPSO and kind not in plugins.names("evaluators"):
        msg = f"evaluator {kind}"
        raise Missing(msg)
    if kind == "composite":
        for child, inner, _ in params.get("evaluators", ()):
            present(child, inner)
    elif kind in KAPSO:
        for param in sorted(params.keys() & KAPSO[kind].keys() - {*kind_of(kind).__struct_fields__}):
            msg = f"evaluator {kind}: {param}"
            raise Missing(msg)


def built(given: Input) -> Evaluator:
    """The evaluator a case names, with its parameters."""
    params: Input = given.get("params", {})
    present(given["evaluator"], params)
    return evaluator_of(kapso_spec(given["evaluator"], params), panel=Library().panel)


async def run(given: Input, folder: Path, provider: Scripted | None = None) -> Evaluation:
    """The evaluation of a case's output, with its files beside it."""
    for name, text in given.get("files", {}).items():
        (folder / name).write_text(text, encoding="utf-8")
    evaluator = built(given)
    options: dict[str, Any] = {"library": Library(home=folder, workspace=folder), "env": {}}
    async with Session(ledger=":memory:", providers={"*": provider or Scripted()}, **options) as session:
        case = Case(output=given["output"], task="T", workspace=str(folder))
        return await session.evaluate(case, evaluator)


def seen(found: Evaluation) -> Observed:
    """What it says on Kapso's scale: 0–1, and as read where none is declared."""
    score = found.raw if found.normalized is None else found.normalized
    return {
        "score": score,
        "failed": score is None,
        "feedback": found.reason,
        "flags": found.flags,
        "missing": found.missing,
        "details": found.details,
    }


async def evaluator_run(given: Input, folder: Path) -> Observed:
    return seen(await run(given, folder))


async def evaluator_build(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    return {"evaluator": built(given).name}


async def evaluator_list(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    single = [name for name in KAPSO if name != "composite"]
    for name in single:
        present(name, {})
    return {"requires_llm": {name: plugins.part("evaluators", name).spends_tokens for name in single}}


async def evaluator_meta(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    evaluator = built(given)
    return {"requires_llm": spends(evaluator) if isinstance(evaluator, Composite) else evaluator.spends_tokens}


async def evaluator_defaults(given: Input, folder: Path) -> Observed:  # noqa: ARG001
    defaults = KAPSO[given["evaluator"]]
    present(given["evaluator"], defaults)
    return {"defaults": dict(defaults)}


async def llm_evaluator_run(given: Input, folder: Path) -> Observed:
    reply = given["model_reply"]
    told = Scripted(lambda _: reply if isinstance(reply, str) else RefusedError(reply["raise"]))
    return seen(await run(given, folder, told))


async def llm_prompt(given: Input, folder: Path) -> Observed:
    asked: list[str] = []

    def note(request: Request) -> str:
        asked.append("\n".join(message.content for message in request.messages))
        return "SCORE: 5\nFEEDBACK: x"

    await run(given, folder, Scripted(note))
    return {"prompt": asked[0]}


ADAPTERS: Mapping[str, Adapter] = {
    adapter.__name__: adapter
    for adapter in (
        evaluator_run,
        evaluator_build,
        evaluator_list,
        evaluator_meta,
        evaluator_defaults,
        llm_evaluator_run,
        llm_prompt,
    )
}
