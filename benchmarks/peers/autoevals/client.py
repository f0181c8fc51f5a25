"""autoevals: an ``LLMClassifier`` a judge with four choices, from bounded workers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from importlib.metadata import version

from benchmarks.speed.scenario import (
    BRACKETS,
    CRITERIA,
    JUDGES,
    TASK,
    Meter,
    Scenario,
    judge_all,
    main,
    output_of,
)

_TEMPLATE = f"{CRITERIA}\n\nTask: {TASK}\n\nAnswer:\n{{{{output}}}}\n\nIs it poor, fair, good or excellent?"


def load() -> dict[str, str]:
    """Imports it, and the SDK it asks through."""
    import autoevals  # noqa: F401  what importing it costs
    import openai  # noqa: F401  same

    return {"autoevals": version("autoevals"), "openai": version("openai")}


@asynccontextmanager
async def client(scenario: Scenario) -> AsyncIterator[Callable[[Iterable[int], Meter], Awaitable[None]]]:
    """One classifier a judge, all over one connection pool."""
    from autoevals import LLMClassifier
    from openai import AsyncOpenAI

    choices = {name: level / (len(BRACKETS) - 1) for level, name in enumerate(BRACKETS)}
    async with AsyncOpenAI(base_url=scenario.address, api_key="none") as api:
        judges = {
            name: LLMClassifier(name, _TEMPLATE, choices, model=name, use_cot=True, temperature=0.1, client=api)
            for name in JUDGES
        }

        async def ask(number: int, judge: str) -> int:
            score = await judges[judge].eval_async(output=output_of(number, size=scenario.size))
            return round(score.score * (len(BRACKETS) - 1))

        yield judge_all(scenario, ask)


if __name__ == "__main__":
    main(load, client)
