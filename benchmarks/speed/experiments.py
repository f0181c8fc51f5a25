"""What is measured: which contenders, how many cases, how much at once, and how slow the server is."""

from __future__ import annotations

import msgspec

__all__ = ["EXPERIMENTS", "FRAMEWORKS", "LIGHT", "Experiment", "Step"]

RAW = ("hand-written protocol", "aiohttp")
LIGHT = ("litellm acompletion", "openai SDK", "autoevals", "openevals")
FRAMEWORKS = ("pydantic-evals", "inspect-ai", "verdict", "deepeval")
OURS = "deliberate"


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """How much at once, how many cases, how slow the server."""

    in_flight: int
    cases: int
    median_ms: float
    sigma: float = 0.0
    errors: float = 0.0
    curve: tuple[int, ...] = ()


class Experiment(msgspec.Struct, frozen=True, kw_only=True):
    """Contenders side by side under the same conditions.

    ``peers`` take part only in the long set. ``fills`` says that the in-flight count the server saw must be what was
    asked for; elsewhere the clients may be quicker or slower than that. ``most_rounds`` bounds what is slow to repeat.
    """

    name: str
    title: str
    steps: tuple[Step, ...]
    contenders: tuple[str, ...]
    peers: tuple[str, ...] = ()
    long_only: bool = False
    fills: bool = True
    most_rounds: int = 99


_CURVE = (600, 2_400, 6_000, 12_000, 25_000, 50_000, 75_000, 100_000)

EXPERIMENTS = (
    Experiment(
        name="jitter",
        title="Lognormal latency, median 250 ms, sigma 0.3, 64 in flight",
        steps=(Step(in_flight=64, cases=800, median_ms=250, sigma=0.3),),
        contenders=(*RAW, "aiohttp, tuned", OURS, "deliberate, no ledger, no log", "deliberate, uvloop"),
        peers=LIGHT[:3],
    ),
    Experiment(
        name="fixed",
        title="Fixed latency, 50 ms, 64 in flight",
        steps=(Step(in_flight=64, cases=800, median_ms=50),),
        contenders=(*RAW, OURS, "deliberate, mixed panel"),
        peers=(*LIGHT, *FRAMEWORKS),
        fills=False,
    ),
    Experiment(
        name="wide",
        title="Lognormal latency, median 500 ms, sigma 0.3, 256 in flight",
        steps=(Step(in_flight=256, cases=1_000, median_ms=500, sigma=0.3),),
        contenders=(*RAW, OURS),
    ),
    Experiment(
        name="single",
        title="One panel of three at a time, 50 ms",
        steps=(Step(in_flight=64, cases=100, median_ms=50),),
        contenders=("deliberate, one panel at a time",),
        fills=False,
    ),
    Experiment(
        name="in flight",
        title="What the server sees in flight",
        steps=(
            Step(in_flight=1, cases=10, median_ms=50),
            Step(in_flight=8, cases=30, median_ms=50),
            Step(in_flight=64, cases=150, median_ms=250),
            Step(in_flight=256, cases=400, median_ms=500),
            Step(in_flight=512, cases=700, median_ms=1_000),
        ),
        contenders=(OURS,),
    ),
    Experiment(
        name="memory",
        title="12 000 votes, 10 ms, 64 in flight",
        steps=(Step(in_flight=64, cases=4_000, median_ms=10, curve=_CURVE[:4]),),
        contenders=(OURS,),
        fills=False,
    ),
    Experiment(
        name="growth",
        title="100 000 votes, 10 ms, 64 in flight",
        steps=(Step(in_flight=64, cases=33_334, median_ms=10, curve=_CURVE),),
        contenders=(OURS,),
        long_only=True,
        fills=False,
        most_rounds=1,
    ),
    Experiment(
        name="no transport",
        title="Scripted judges, no network",
        steps=(Step(in_flight=64, cases=1_600, median_ms=0),),
        contenders=(
            "deliberate, scripted",
            "deliberate, scripted, ledger only",
            "deliberate, scripted, no ledger, no log",
        ),
        fills=False,
    ),
    Experiment(
        name="litellm",
        title="Through litellm, fixed latency, 50 ms, 64 in flight",
        steps=(Step(in_flight=64, cases=200, median_ms=50),),
        contenders=("acompletion", "deliberate, litellm path"),
        fills=False,
    ),
    Experiment(
        name="faults",
        title="12 % of first attempts fail, 50 ms, 64 in flight",
        steps=(Step(in_flight=64, cases=100, median_ms=50, errors=0.12),),
        contenders=(OURS,),
        peers=(*LIGHT, *FRAMEWORKS),
        fills=False,
        most_rounds=1,
    ),
)
