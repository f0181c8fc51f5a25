"""deepeval: ``evaluate`` with three ``GEval`` metrics on every test case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version

from benchmarks.speed.scenario import CRITERIA, JUDGES, TASK, Meter, Scenario, bracket_of, main, number_in, output_of


def load() -> dict[str, str]:
    """Imports it; it reports to nobody."""
    import os

    os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
    os.environ["DEEPEVAL_NO_INSPECT_PROMPT"] = "1"
    os.environ["DEEPEVAL_DISABLE_DOTENV"] = "1"
    os.environ["DEEPEVAL_UPDATE_WARNING_OPT_IN"] = "0"
    import deepeval
    import deepeval.metrics
    import deepeval.models  # noqa: F401  what importing it costs

    return {"deepeval": version("deepeval"), "openai": version("openai")}


@contextmanager
def client(scenario: Scenario) -> Iterator[Callable[[Iterable[int], Meter], None]]:
    """One evaluation of all cases; its limit counts cases, so a third of the asks in flight are cases."""
    import os

    from deepeval import evaluate
    from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
    from deepeval.metrics import GEval
    from deepeval.models import LocalModel
    from deepeval.test_case import LLMTestCase, SingleTurnParams

    os.chdir(scenario.folder)  # it leaves files where it runs
    metrics = [
        GEval(
            name=name,
            evaluation_steps=[CRITERIA],
            evaluation_params=[SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT],
            model=LocalModel(model=name, base_url=scenario.address, api_key="none", temperature=0.1),
        )
        for name in JUDGES
    ]

    def judge(numbers: Iterable[int], meter: Meter) -> None:
        cases = [LLMTestCase(input=TASK, actual_output=output_of(number, size=scenario.size)) for number in numbers]
        result = evaluate(
            cases,
            metrics,
            async_config=AsyncConfig(max_concurrent=max(1, -(-scenario.in_flight // len(JUDGES)))),
            display_config=DisplayConfig(show_indicator=False, print_results=False, inspect_after_run=False),
            cache_config=CacheConfig(write_cache=False),
            error_config=ErrorConfig(ignore_errors=True),
        )
        for one in result.test_results:
            for metric in one.metrics_data or ():
                name = metric.name.partition(" ")[0]
                if metric.score is None:
                    meter.lost()
                else:
                    meter.vote(number_in(str(one.actual_output)), name, bracket_of(metric.score))

    yield judge


if __name__ == "__main__":
    main(load, client)
