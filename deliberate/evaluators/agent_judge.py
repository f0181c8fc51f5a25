"""A judge agent scores an output by criteria in plain words."""

from __future__ import annotations

from typing import ClassVar

from deliberate.evaluators._panel import alone, by_number
from deliberate.runtime import Runtime
from deliberate.types import Ballot, Case, Evaluation, Form, Judge, Panel, Record

__all__ = ["AgentJudge"]

_TEMPLATE = """\
You are a judge agent. Decide how well the output does what the task asks, by these criteria.

## Criteria
{criteria}

## Task
{task}

{reference}{evidence}## Output
{output}

Give a score from 0 to {scale}, and the reasoning behind it.
Reply with one JSON object: {{"reasoning": "...", "score": 0-{scale}}}"""


class AgentJudge(Record, frozen=True, kw_only=True):
    """A panel of one agent, which sees the task, the output and the criteria; for open-ended outputs.

    Args:
        criteria: What to judge by, in plain words.
        agent: The name or file of an agent card, whose persona and model it takes; "" means a plain judge.
        model: The model where the card names none; None means the session's judge.
    """

    name: ClassVar[str] = "agent_judge"
    spends_tokens: ClassVar[bool] = True

    criteria: str
    agent: str = ""
    model: str | None = None

    def __post_init__(self) -> None:
        """Checks the criteria.

        Raises:
            ValueError: There are none.
        """
        if not self.criteria.strip():
            msg = "criteria is empty: expected what to judge by, in plain words"
            raise ValueError(msg)

    def seated(self, runtime: Runtime) -> Panel:
        """One seat for the agent."""
        if self.agent:
            known = self.model or runtime.judge
            judge = runtime.library.judge(self.agent, model=known, where=f"{self.name}.agent")
        else:
            judge = Judge(model=runtime.model_for(self.model, where=f"{self.name}.model"))
        return alone(judge, form=_FORM, criteria=self.criteria)

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,
        previous: Evaluation | None = None,  # noqa: ARG002  what was asked before is read back
    ) -> Evaluation:
        """The agent's number as a score.

        Raises:
            ConfigError: There is no such agent, or no model is named.
        """
        return await by_number(self, self.seated(runtime), _FORM, case=case, runtime=runtime)


_FORM = Form(name=AgentJudge.name, template=_TEMPLATE, reply=Ballot, wire="number", scale="0..100")
