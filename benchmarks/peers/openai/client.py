"""The openai SDK alone: one ``AsyncOpenAI`` client, bounded workers, replies read as the raw clients read theirs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from importlib.metadata import version

from benchmarks.speed.scenario import Meter, Scenario, Template, judge_all, main, vote_in


def load() -> dict[str, str]:
    """Imports it."""
    import openai  # noqa: F401  what importing it costs

    return {"openai": version("openai")}


@asynccontextmanager
async def client(scenario: Scenario) -> AsyncIterator[Callable[[Iterable[int], Meter], Awaitable[None]]]:
    """Our own request, one call an ask."""
    from openai import AsyncOpenAI

    request = Template(scenario)
    async with AsyncOpenAI(base_url=scenario.address, api_key="none") as api:

        async def ask(number: int, judge: str) -> int:
            reply = await api.chat.completions.create(
                model=judge,
                messages=request.messages(number),
                response_format=request.response_format,
                temperature=0.1,
                max_tokens=2000,
                seed=0,
            )
            return vote_in(reply.choices[0].message.content or "")

        yield judge_all(scenario, ask)


if __name__ == "__main__":
    main(load, client)
