"""verdict: a pipeline whose one layer holds three judge units, over a list of cases, on as many threads as asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from benchmarks.speed.scenario import CRITERIA, JUDGES, TASK, Meter, Scenario, bracket_of, main, output_of

_PROMPT = f"{CRITERIA}\n\nTask: {TASK}\n\nAnswer:\n{{source.text}}\n\nScore it from 0 to 10."


def load() -> dict[str, str]:
    """Imports it, without the price map that litellm would fetch, and without its default of five requests a minute."""
    import os

    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import verdict  # noqa: F401  what importing it costs
    from verdict.util import ratelimit

    ratelimit.disable()
    return {"verdict": version("verdict"), "litellm": version("litellm")}


@contextmanager
def client(scenario: Scenario) -> Iterator[Callable[[Iterable[int], Meter], None]]:
    """One pipeline for all cases."""
    from verdict import Layer, Pipeline
    from verdict.core.primitive import Unit
    from verdict.model import vLLMModel
    from verdict.schema import Schema

    class Score(Unit):
        """A judge that gives a whole number from 0 to 10, and says why."""

        class ResponseSchema(Schema):
            score: int
            reason: str

    def unit(judge: str) -> Any:  # noqa: ANN401  of theirs
        model = vLLMModel(f"openai/{judge}", api_base=scenario.address, api_key="none")
        return Score(name=judge).prompt(_PROMPT).via(model, retries=2, temperature=0.1)

    def judge(numbers: Iterable[int], meter: Meter) -> None:
        pipeline = Pipeline("speed") >> Layer([unit(name) for name in JUDGES])
        listed = list(numbers)
        data = [Schema.of(text=output_of(number, size=scenario.size)) for number in listed]
        found, _ = pipeline.run_from_list(data, max_workers=scenario.in_flight, display=False)
        for number, row in zip(listed, found.to_dict("records"), strict=True):
            for name in JUDGES:
                column = next(one for one in found.columns if name in one and one.endswith("_score"))
                value = row[column]
                if value is None or value != value:  # noqa: PLR0124  nan, where its judge failed
                    meter.lost()
                else:
                    meter.vote(number, name, bracket_of(float(value) / 10))

    yield judge


if __name__ == "__main__":
    main(load, client)
