"""litellm alone: ``acompletion`` from bounded workers, its replies read as the raw clients read theirs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from importlib.metadata import version

from benchmarks.speed.scenario import Meter, Scenario, Template, judge_all, main, vote_in


def load() -> dict[str, str]:
    """Imports it, without the price map that it would fetch."""
    import os

    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    litellm.suppress_debug_info = True
    return {"litellm": version("litellm")}


@asynccontextmanager
async def client(scenario: Scenario) -> AsyncIterator[Callable[[Iterable[int], Meter], Awaitable[None]]]:
    """Our own request, one call an ask."""
    import litellm

    request = Template(scenario)

    async def ask(number: int, judge: str) -> int:
        reply = await litellm.acompletion(
            model=f"openai/{judge}",
            messages=request.messages(number),
            response_format=request.response_format,
            temperature=0.1,
            max_tokens=2000,
            seed=0,
            api_base=scenario.address,
            api_key="none",
        )
        return vote_in(reply.choices[0].message.content)

    yield judge_all(scenario, ask)


if __name__ == "__main__":
    main(load, client)
