"""pydantic-evals: ``Dataset.evaluate`` with three ``LLMJudge`` evaluators on every case."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from importlib.metadata import version

from benchmarks.speed.scenario import CRITERIA, JUDGES, Meter, Scenario, bracket_of, main, output_of


def load() -> dict[str, str]:
    """Imports it, and the model classes it asks through."""
    import pydantic_evals.evaluators  # noqa: F401  what importing it costs
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: F401  same

    return {"pydantic-evals": version("pydantic-evals"), "openai": version("openai")}


@asynccontextmanager
async def client(scenario: Scenario) -> AsyncIterator[Callable[[Iterable[int], Meter], Awaitable[None]]]:
    """A dataset of all cases; its limit counts cases, so a third of the asks in flight are cases."""
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_evals import Case, Dataset
    from pydantic_evals.evaluators import LLMJudge

    async with AsyncOpenAI(base_url=scenario.address, api_key="none") as api:
        provider = OpenAIProvider(openai_client=api)
        judges = [
            LLMJudge(
                rubric=CRITERIA,
                model=OpenAIChatModel(name, provider=provider),
                score={"evaluation_name": name, "include_reason": True},
                assertion=False,
            )
            for name in JUDGES
        ]

        async def answered(number: int) -> str:
            return output_of(number, size=scenario.size)

        async def judge(numbers: Iterable[int], meter: Meter) -> None:
            cases = [Case(name=str(number), inputs=number) for number in numbers]
            dataset = Dataset(name="speed", cases=cases, evaluators=judges)
            most = max(1, -(-scenario.in_flight // len(JUDGES)))
            report = await dataset.evaluate(answered, max_concurrency=most, progress=False)
            for case in report.cases:
                for name in JUDGES:
                    score = case.scores.get(name)
                    if score is None:
                        meter.lost()
                    else:
                        meter.vote(int(case.name), name, bracket_of(score.value))

        yield judge


if __name__ == "__main__":
    main(load, client)
