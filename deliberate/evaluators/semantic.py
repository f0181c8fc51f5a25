"""How near the output is in meaning to a text that was expected."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from deliberate.errors import ConfigError
from deliberate.evaluators._base import measured
from deliberate.evaluators._embedding import BLIND, cosine
from deliberate.evaluators._panel import alone, by_number
from deliberate.runtime import Runtime
from deliberate.types import Ballot, Case, Evaluation, Form, Judge, Panel, Record

__all__ = ["Semantic"]

_TEMPLATE = """\
You compare two texts by what they mean, not by how they say it.

## Task
{task}

{reference}{evidence}## Output
{output}

Give a score from 0 (says something else) to {scale} (says the same as the reference), and the reasoning behind it.
Reply with one JSON object: {{"reasoning": "...", "score": 0-{scale}}}"""


class Semantic(Record, frozen=True, kw_only=True):
    """How far the output means the same as ``expected`` (else the case's reference), 0–100.

    Args:
        expected: What it should mean.
        by: ``judge`` asks a model; ``embedding`` takes the cosine of word embeddings (−1 to 1), offline and without a
            call (extra ``local``): it catches what is off topic, and sees neither negation nor word order. The
            result's details say which it was.
        model: The model that judges; None means the session's judge.
    """

    name: ClassVar[str] = "semantic"
    spends_tokens: ClassVar[bool] = True

    expected: str | None = None
    by: Literal["judge", "embedding"] = "judge"
    model: str | None = None

    def seated(self, runtime: Runtime) -> Panel | None:
        """One seat for the model; nobody for an embedding."""
        if self.by == "embedding":
            return None
        judge = Judge(model=runtime.model_for(self.model, where=f"{self.name}.model"))
        return alone(judge, form=_FORM, criteria="it means the same as the reference")

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,
        previous: Evaluation | None = None,  # noqa: ARG002  what was asked before is read back
    ) -> Evaluation:
        """The similarity, by a judge or by embeddings.

        Raises:
            ConfigError: There is nothing to compare with, or no model is named.
            MissingExtra: ``embedding`` without the extra ``local``.
        """
        expected = case.reference if self.expected is None else self.expected
        if expected is None:
            raise ConfigError("nothing to compare with", where=f"{self.name}.expected", expected="a text")
        panel = self.seated(runtime)
        if panel is None:
            value = await cosine(case.output, expected, need="semantic by embedding")
            return measured(self, value, scale="-1..1", reason=BLIND, by=self.by)
        case = msgspec.structs.replace(case, reference=expected)
        found = await by_number(self, panel, _FORM, case=case, runtime=runtime)
        return msgspec.structs.replace(found, details={**found.details, "by": self.by})


_FORM = Form(name=Semantic.name, template=_TEMPLATE, reply=Ballot, wire="number", scale="0..100")
