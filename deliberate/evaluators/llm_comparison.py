"""One model says how far the output matches a text that was expected."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from deliberate.errors import ConfigError
from deliberate.evaluators._base import measured
from deliberate.evaluators._panel import alone, by_number
from deliberate.runtime import Runtime
from deliberate.types import Ballot, Case, Evaluation, Form, Judge, Panel, Record

__all__ = ["LLMComparison"]

_TEMPLATE = """\
You compare an output with the output that was expected. {criteria}

## Task
{task}

{reference}{evidence}## Output
{output}

The reference is the expected output. Say whether the output matches it, give a score from 0 to {scale}, and say why \
in short.

Format:
MATCH: YES, NO or PARTIAL
SCORE: <number>
REASON: <explanation>"""

_LENIENT = "Semantic equivalence is enough: other words or another layout with the same meaning are a match."
_STRICT = "An exact match is required: any difference in content or form counts against it."


class LLMComparison(Record, frozen=True, kw_only=True):
    """A panel of one, asked in text how far the output matches ``expected`` (else the case's reference).

    Args:
        expected: What the output should be; "" means the case's reference.
        model: The model; None means the session's judge.
        strict: Whether an exact match is wanted. Then the strings are compared first, and only if they differ is the
            model asked how much; both are in the details.
    """

    name: ClassVar[str] = "llm_comparison"
    spends_tokens: ClassVar[bool] = True

    expected: str = ""
    model: str | None = None
    strict: bool = False

    def seated(self, runtime: Runtime) -> Panel:
        """One seat for the model."""
        judge = Judge(model=runtime.model_for(self.model, where=f"{self.name}.model"))
        return alone(judge, form=_FORM, criteria=_STRICT if self.strict else _LENIENT)

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,
        previous: Evaluation | None = None,  # noqa: ARG002  what was asked before is read back
    ) -> Evaluation:
        """The model's number as a score; of equal strings, 100 without a call where that is what was asked.

        Raises:
            ConfigError: There is nothing to compare with, or no model is named.
        """
        expected = self.expected or case.reference
        if expected is None:
            raise ConfigError("nothing to compare with", where=f"{self.name}.expected", expected="a text")
        if self.strict and case.output == expected:
            return measured(self, 1.0, scale=_FORM.scale, reason="The strings are equal.", strings_equal=True)
        case = msgspec.structs.replace(case, reference=expected)
        found = await by_number(self, self.seated(runtime), _FORM, case=case, runtime=runtime)
        if not self.strict:
            return found
        details = {**found.details, "strings_equal": False}
        return msgspec.structs.replace(found, reason=f"The strings differ. {found.reason}", details=details)


_FORM = Form(name=LLMComparison.name, template=_TEMPLATE, reply=Ballot, wire="score", scale="0..1")
