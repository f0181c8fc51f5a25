"""inspect-ai: ``eval`` of one task whose three scorers ask one judge model each.

The output is already there, so the solver puts it into the state and no model is asked for it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from benchmarks.speed.scenario import CRITERIA, JUDGES, TASK, Meter, Scenario, bracket_of, main, output_of

_PROMPT = '{criteria}\n\nTask: {task}\n\nAnswer:\n{output}\n\nReply with JSON: {{"score": 0-10, "reason": "..."}}'


def load() -> dict[str, str]:
    """Imports it."""
    import inspect_ai
    import inspect_ai.scorer
    import inspect_ai.solver  # noqa: F401  what importing it costs

    return {"inspect-ai": version("inspect-ai"), "openai": version("openai")}


@contextmanager
def client(scenario: Scenario) -> Iterator[Callable[[Iterable[int], Meter], None]]:
    """A task of all cases, as many samples at once as asks in flight: its scorers run in turn."""
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import GenerateConfig, ModelOutput, get_model
    from inspect_ai.scorer import Score, Target, mean, scorer
    from inspect_ai.solver import Generate, TaskState, solver

    models = {
        name: get_model(
            f"openai-api/stub/{name}",
            config=GenerateConfig(max_connections=scenario.in_flight, temperature=0.1),
            base_url=scenario.address,
            api_key="none",
        )
        for name in JUDGES
    }

    def scored_by(judge: str) -> Any:  # noqa: ANN401  of theirs
        @scorer(metrics=[mean()], name=judge)
        def made() -> Any:  # noqa: ANN401  of theirs
            async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001  their contract
                prompt = _PROMPT.format(criteria=CRITERIA, task=TASK, output=state.output.completion)
                reply = await models[judge].generate(prompt)
                said = json.loads(reply.completion)
                return Score(value=float(said["score"]), explanation=said["reason"])

            return score

        return made()

    @solver
    def given() -> Any:  # noqa: ANN401  of theirs
        async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001  their contract
            text = output_of(int(state.sample_id), size=scenario.size)
            state.output = ModelOutput.from_content("given", text)
            return state

        return solve

    def judge(numbers: Iterable[int], meter: Meter) -> None:
        samples = [Sample(id=number, input=TASK) for number in numbers]
        task = Task(
            dataset=MemoryDataset(samples), solver=given(), scorer=[scored_by(name) for name in JUDGES], name="speed"
        )
        logs = evaluate(
            task,
            model="mockllm/model",
            log_dir=scenario.folder,
            log_level="warning",
            max_samples=scenario.in_flight,
            fail_on_error=False,
            display="none",
        )
        for sample in logs[0].samples or ():
            for name in JUDGES:
                score = (sample.scores or {}).get(name)
                if score is None:
                    meter.lost()
                else:
                    meter.vote(int(sample.id), name, bracket_of(score.as_float() / 10))

    yield judge


if __name__ == "__main__":
    main(load, client)
