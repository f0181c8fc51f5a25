"""The goals, each with what was measured for it: always in one run, and ratios always within one round."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median

import msgspec

from benchmarks.speed.contenders import CONTENDERS
from benchmarks.speed.measure import Run

__all__ = ["Goal", "Results", "goals"]


class Results:
    """The runs of one set, and the microbenchmarks, by name."""

    def __init__(self, runs: Sequence[Run], micro: Mapping[str, Sequence[float]]) -> None:
        self.runs = tuple(runs)
        self.micro = micro

    def of(self, experiment: str, contender: str) -> dict[int, Run]:
        """The runs of a contender by round, without those that failed."""
        return {
            run.round: run
            for run in self.runs
            if run.experiment == experiment and run.contender == contender and not run.error
        }

    def all_of(self, experiment: str) -> list[Run]:
        """Every run of an experiment that did not fail."""
        return [run for run in self.runs if run.experiment == experiment and not run.error]

    def ratios(self, experiment: str, over: str, under: str, what: Callable[[Run], float] | None = None) -> list[float]:
        """``over`` by ``under``, round by round."""
        value = what or (lambda run: run.cpu_us)
        above, below = self.of(experiment, over), self.of(experiment, under)
        return [value(above[number]) / value(below[number]) for number in sorted(above.keys() & below.keys())]


class Goal(msgspec.Struct, frozen=True, kw_only=True):
    """One row: what was promised, and what was measured in each round.

    ``most`` or ``least`` is the limit; a row without either is only reported.
    """

    text: str
    unit: str
    values: tuple[float, ...]
    most: float | None = None
    least: float | None = None

    @property
    def measured(self) -> float | None:
        """The median over the rounds."""
        return median(self.values) if self.values else None

    @property
    def met(self) -> bool | None:
        """Whether the median keeps the limit; None where there is no limit, or nothing was measured."""
        measured = self.measured
        if measured is None or (self.most is None and self.least is None):
            return None
        return (self.most is None or measured <= self.most) and (self.least is None or measured >= self.least)


def goals(results: Results) -> list[Goal]:
    """Every goal in its order."""
    return [
        *_transport(results),
        *_peers(results),
        *_waiting(results),
        *_mixed(results),
        *_memory(results),
        *_parts(results),
        *_starts(results),
    ]


OURS = "deliberate"


def _transport(results: Results) -> list[Goal]:
    quiet = "deliberate, no ledger, no log"
    return [
        Goal(
            text="CPU per vote, jittered, ledger and log on",
            unit="× aiohttp",
            values=tuple(results.ratios("jitter", OURS, "aiohttp")),
            most=1.2,
        ),
        Goal(
            text="the same, ledger and log off",
            unit="× aiohttp",
            values=tuple(results.ratios("jitter", quiet, "aiohttp")),
            most=1.1,
        ),
        Goal(
            text="the same with uvloop, ledger and log on (aiohttp without)",
            unit="× aiohttp",
            values=tuple(results.ratios("jitter", "deliberate, uvloop", "aiohttp")),
        ),
    ]


def _peers(results: Results) -> list[Goal]:
    least = {"pydantic-evals": 20, "inspect-ai": 20, "verdict": 20, "deepeval": 20, "autoevals": 6}
    least["litellm acompletion"] = 10
    return [
        Goal(
            text=f"CPU per vote at fixed latency, {peer} beside ours",
            unit="× ours",
            values=tuple(results.ratios("fixed", peer, OURS)),
            least=limit,
        )
        for peer, limit in least.items()
    ]


def _waiting(results: Results) -> list[Goal]:
    single = results.of("single", "deliberate, one panel at a time").values()
    sweep = [run for run in results.all_of("in flight") if run.contender == OURS]
    return [
        Goal(
            text="wall at 256 in flight, 500 ms jittered",
            unit="× hand-written protocol",
            values=tuple(results.ratios("wide", OURS, "hand-written protocol", lambda run: run.client["wall_s"])),
            most=1.03,
        ),
        Goal(
            text="added latency of one panel of three, to the committed verdict, p50",
            unit="ms",
            values=tuple(run.client["panel_p50_ms"] - run.step.median_ms for run in single),
            most=10,
        ),
        Goal(
            text="in flight at the server, of what was asked for, least of "
            + ", ".join(sorted({str(run.step.in_flight) for run in sweep}, key=int)),
            unit="×",
            values=_by_round(sweep, lambda run: run.server["peak_in_flight"] / run.step.in_flight, least=True),
            least=1,
            most=1,
        ),
        Goal(
            text="connections, of what was asked for in flight, most of these",
            unit="×",
            values=_by_round(sweep, lambda run: run.server["connections"] / run.step.in_flight),
            most=1,
        ),
    ]


def _mixed(results: Results) -> list[Goal]:
    name = "deliberate, mixed panel"
    runs = list(results.of("fixed", name).values())
    text, pools = "mixed panel (two native, one litellm)", CONTENDERS[name].pools
    return [
        Goal(text=f"{text}: CPU per vote", unit="µs", values=tuple(run.cpu_us for run in runs)),
        Goal(text=f"{text}: peak memory", unit="MB", values=tuple(run.client["rss_mb"] for run in runs)),
        Goal(text=f"{text}: CPU from start to the first verdict", unit="s", values=tuple(run.cold_s for run in runs)),
        Goal(
            text=f"{text}: connections, of what was asked for in flight, to each of its {pools} providers",
            unit="×",
            values=tuple(run.server["connections"] / (run.step.in_flight * pools) for run in runs),
            most=1,
        ),
    ]


def _memory(results: Results) -> list[Goal]:
    short, long = (
        [run for run in results.of(name, OURS).values() if len(run.client["curve"]) > 1]
        for name in ("memory", "growth")
    )
    return [
        Goal(
            text="memory per 1 000 further votes, 600 to 12 000",
            unit="MB",
            values=tuple(_slope(run, "rss_mb", 600, 12_000) * 1_000 for run in short),
            most=2,
        ),
        Goal(
            text="peak memory at 12 000 votes",
            unit="MB",
            values=tuple(run.client["rss_mb"] for run in short),
            most=80,
        ),
        Goal(
            text="memory per 1 000 further votes, 12 000 to 100 000",
            unit="MB",
            values=tuple(_slope(run, "rss_mb", 12_000, 100_000) * 1_000 for run in long),
            most=0.1,
        ),
        Goal(
            text="CPU of a vote between 12 000 and 100 000, of one between 600 and 12 000",
            unit="×",
            values=tuple(_slope(run, "cpu_s", 12_000, 100_000) / _slope(run, "cpu_s", 600, 12_000) for run in long),
            most=1.1,
        ),
    ]


def _parts(results: Results) -> list[Goal]:
    scripted = "deliberate, scripted"
    on, off = (results.of("no transport", f"{scripted}, {kind}") for kind in ("ledger only", "no ledger, no log"))
    return [
        Goal(
            text="ledger at synchronous=FULL: CPU per vote, on less off",
            unit="µs",
            values=tuple(on[number].cpu_us - off[number].cpu_us for number in sorted(on.keys() & off.keys())),
            most=10,
        ),
        Goal(
            text="ledger at synchronous=FULL: CPU per vote, appended directly",
            unit="µs",
            values=tuple(results.micro.get("ledger append", ())),
            most=10,
        ),
        Goal(
            text="orchestration without transport, ledger or log: CPU per vote",
            unit="µs",
            values=tuple(run.cpu_us for run in off.values()),
            most=30,
        ),
        Goal(
            text="litellm path: CPU per vote beside bare acompletion",
            unit="×",
            values=tuple(results.ratios("litellm", "deliberate, litellm path", "acompletion")),
            most=1.05,
        ),
        Goal(
            text="redecide, panels of five, by bracket and score",
            unit="panels a second",
            values=tuple(1e6 / value for value in results.micro.get("redecide", ())),
            least=100_000,
        ),
    ]


def _starts(results: Results) -> list[Goal]:
    ours, litellm = (results.micro.get(f"import {name}", ()) for name in ("deliberate", "litellm"))
    return [
        Goal(text="`import deliberate`: CPU", unit="s", values=tuple(value / 1e6 for value in ours), most=0.15),
        Goal(
            text="`import deliberate` beside `import litellm`: CPU",
            unit="×",
            values=tuple(one / other for one, other in zip(ours, litellm, strict=False)),
            most=0.1,
        ),
        Goal(
            text="`deliberate --help`: CPU",
            unit="s",
            values=tuple(value / 1e6 for value in results.micro.get("deliberate --help", ())),
            most=0.3,
        ),
    ]


def _slope(run: Run, what: str, start: int, end: int) -> float:
    """How much of something one further vote takes, between two counts of votes or what is nearest to them."""
    curve = run.client["curve"]
    first, last = (min(curve, key=lambda at: abs(at["votes"] - count)) for count in (start, end))
    votes = last["votes"] - first["votes"]
    return float((last[what] - first[what]) / votes) if votes else 0.0


def _by_round(runs: Sequence[Run], what: Callable[[Run], float], *, least: bool = False) -> tuple[float, ...]:
    """The least or the most of each round."""
    choose = min if least else max
    numbers = sorted({run.round for run in runs})
    return tuple(choose(what(run) for run in runs if run.round == number) for number in numbers)
