"""openevals: one async judge of a continuous score each, over the openai SDK, from bounded workers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from importlib.metadata import version

from benchmarks.speed.scenario import (
    CRITERIA,
    JUDGES,
    TASK,
    Meter,
    Scenario,
    bracket_of,
    judge_all,
    main,
    output_of,
)

_PROMPT = f"{CRITERIA}\n\nTask: {TASK}\n\nAnswer:\n{{outputs}}\n\nScore it between 0 and 1."


def load() -> dict[str, str]:
    """Imports it, and the SDK it asks through; it reports to nobody."""
    import os

    os.environ["LANGSMITH_TRACING"] = "false"
    import openai  # noqa: F401  what importing it costs
    from openevals.llm import create_async_llm_as_judge  # noqa: F401  same

    return {"openevals": version("openevals"), "openai": version("openai")}


@asynccontextmanager
async def client(scenario: Scenario) -> AsyncIterator[Callable[[Iterable[int], Meter], Awaitable[None]]]:
    """One evaluator a judge, all over one connection pool."""
    from openai import AsyncOpenAI
    from openevals.llm import create_async_llm_as_judge

    async with AsyncOpenAI(base_url=scenario.address, api_key="none") as api:
        judges = {
            name: create_async_llm_as_judge(prompt=_PROMPT, judge=api, model=name, continuous=True) for name in JUDGES
        }

        async def ask(number: int, judge: str) -> int:
            result = await judges[judge](outputs=output_of(number, size=scenario.size))
            return bracket_of(result["score"])

        yield judge_all(scenario, ask)


if __name__ == "__main__":
    main(load, client)
