"""Two iterations of an output before a judge that answers by script, and free checks that say what they are told."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from deliberate.evaluators._base import measured, unscored
from deliberate.providers._base import Request, Response
from deliberate.providers.scripted import Scripted
from deliberate.runtime import Runtime
from deliberate.types import Case, Evaluation, Record, Usage

__all__ = ["Check", "Lint", "Told", "ballot"]

Said = Mapping[str, Any] | str | Exception
Reply = Callable[[Request, Sequence[str]], Said]


def ballot(
    scores: Mapping[str, float], *, findings: Sequence[Mapping[str, Any]] = (), **more: object
) -> dict[str, Any]:
    """A reply in the form asked for."""
    full = [
        {"description": "d", "location": None, "quote": None, "fix": None, "dimension": "", **one} for one in findings
    ]
    return {"reasoning": "r", "findings": full, "dimensions": dict(scores), "suggestion": "s", **more}


class Told(Scripted):
    """Answers whole asks, asks about a change, and asks which dimensions it affects, each by its own function."""

    def __init__(
        self,
        whole: Reply,
        *,
        change: Reply | None = None,
        affects: Sequence[str] = (),
    ) -> None:
        super().__init__(self._said)
        self.asked: list[str] = []
        self.prompts: list[str] = []
        self._whole = whole
        self._change = change or whole
        self._affects = affects

    def _said(self, request: Request) -> Response | Exception:
        properties: Any = (request.schema or {})["properties"]
        names = list(properties["dimensions"]["properties"])
        prompt = request.messages[1].content
        self.prompts.append(prompt)
        said: Said
        if "how likely it is" in prompt:
            kind, said = "affects", ballot({name: 0.9 if name in self._affects else 0.1 for name in names})
        elif "resolved" in properties:
            kind, said = "change", self._change(request, names)
        else:
            kind, said = "whole", self._whole(request, names)
        self.asked.append(kind)
        if isinstance(said, Exception):
            return said
        text = said if isinstance(said, str) else json.dumps(said)
        read = sum(len(one.content) // 4 for one in request.messages)
        usage = Usage(calls=1, tokens_in=read, tokens_out=len(text) // 4, cost_usd=0.0)
        return Response(text=text, finish="stop", model=request.model, usage=usage)


class Check(Record, frozen=True, kw_only=True):
    """Stands in for the evaluator of that name: scores what the case's context says under it; nothing = skipped."""

    name: ClassVar[str] = "test_runner"
    spends_tokens: ClassVar[bool] = False

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,  # noqa: ARG002
        previous: Evaluation | None = None,  # noqa: ARG002
    ) -> Evaluation:
        said = case.output.partition(f"{self.name}=")[2][:3].strip()
        if not said:
            return unscored(self, "skipped", "does not apply")
        return measured(self, float(said), scale="0..100")


class Lint(Check, frozen=True, kw_only=True):
    """The same, for static analysis."""

    name: ClassVar[str] = "static_analysis"
