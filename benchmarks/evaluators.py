"""What an evaluation without a model costs, kind by kind, and what a long run keeps in memory.

``python benchmarks/evaluators.py`` prints both tables and writes ``benchmarks/results/evaluators.md``. ``--cases N``
runs the plan over fewer cases. The times are of this machine; what they are held against stands beside them.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import anyio

from deliberate import Case, Panel, Session, combine, evaluator
from deliberate.evaluators import (
    Contains,
    Evaluator,
    Exact,
    FileJson,
    JsonSchema,
    MultiMetric,
    NoScore,
    NotContains,
    Regex,
    RegexPattern,
    Similarity,
    assess,
)
from deliberate.providers.scripted import Scripted
from deliberate.runtime import Runtime

RESULTS = Path(__file__).resolve().parent / "results" / "evaluators.md"
OUTPUT = "The refund is rounded half to even.\nAccuracy: 0.91  F1: 0.87  Time: 12.5s\n" + "More of the same. " * 40
REPLY = '{"reasoning":"R","findings":[],"suggestion":"","bracket":"good","score":71}'
SCHEMA = {
    "type": "object",
    "required": ["id", "items"],
    "properties": {"id": {"type": "string", "pattern": "^q[0-9]+$"}, "items": {"items": {"type": "integer"}}},
    "additionalProperties": False,
}
JSON = '{"id": "q17", "items": [1, 2, 3, 5, 8, 13, 21, 34]}'
ROUNDS, EACH = 7, 300
MOST_MB = 20.0


@evaluator
def mentions(case: Case, *, word: str = "refund") -> bool:
    """Whether a word occurs."""
    return word in case.output


KINDS: Mapping[str, Evaluator] = {
    "exact": Exact(expected="42", trim=True, ignore_case=True),
    "contains": Contains(expected=("refund", "rounded"), ignore_case=True),
    "contains, whole words": Contains(expected=("refund", "rounded"), whole_words=True),
    "not_contains": NotContains(unwanted=("PRIVATE KEY", "TODO")),
    "no_score": NoScore(),
    "regex": Regex(pattern=r"\bhalf to (even|odd)\b"),
    "regex_pattern": RegexPattern(pattern=r"F1: ([\d.]+)", scale="0..1"),
    "multi_metric": MultiMetric(
        patterns={"accuracy": (r"Accuracy: ([\d.]+)", 2), "f1": (r"F1: ([\d.]+)", 1), "time": (r"Time: ([\d.]+)s", 1)},
        half_life={"time": 10},
    ),
    "file_json": FileJson(score_key="evaluation.f1", scale="0..1"),
    "json_schema": JsonSchema(schema=SCHEMA),
    "json_schema, not JSON": JsonSchema(schema=SCHEMA),
    "similarity": Similarity(expected=OUTPUT[::-1]),
    "@evaluator": mentions,
}


async def microseconds(name: str, kind: Evaluator, folder: Path) -> tuple[str, float, float]:
    """Median and worst mean of a round, in microseconds an evaluation."""
    found: list[float] = []

    @evaluator
    async def timed(case: Case, *, runtime: Runtime) -> bool:
        for _ in range(ROUNDS):
            started = time.perf_counter()
            for _ in range(EACH):
                await assess(kind, case, runtime=runtime)
            found.append((time.perf_counter() - started) / EACH * 1e6)
        return True

    async with Session(ledger=":memory:", env={}) as session:
        output = JSON if name == "json_schema" else OUTPUT
        told = await session.evaluate(Case(output=output, workspace=str(folder)), timed)
    if told.score is None:
        raise RuntimeError(told.reason)
    return name, statistics.median(found), max(found)


async def growth(cases: int, folder: Path) -> tuple[float, float, float]:
    """Resident memory after a tenth of the cases and after all, in MB, and the seconds it took."""

    def stream() -> Iterator[Case]:
        for at in range(cases):
            yield Case(output=f"{OUTPUT} {at}", task="Fix the rounding.", id=f"c{at}")

    plan = combine(
        form=(Regex(pattern=r"rounded (half|up)"), 1),
        own=(mentions, 1),
        jury=(Panel.of("scripted/a", criteria="C"), 1),
    )
    early = 0.0
    started = time.perf_counter()
    provider = Scripted(lambda _: REPLY)
    async with Session(ledger=str(folder / "runs.db"), env={}, providers={"*": provider}) as session:
        done = 0
        async with session.stream(stream(), plan) as reviews:
            async for _, review in reviews:
                if review.score is None:
                    raise RuntimeError(review.reason)
                done += 1
                if done == cases // 10:
                    early = resident_mb()
    return early, resident_mb(), time.perf_counter() - started


def resident_mb() -> float:
    """Resident memory of this process, in MB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> int:
    """Prints the tables and writes them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    asked = parser.parse_args()
    about = (
        f"Python {platform.python_version()}, {os.cpu_count()} CPUs. An output of {len(OUTPUT)} characters; the median "
        f"of {ROUNDS} rounds of {EACH} evaluations, and the worst round."
    )
    lines = [
        "# Evaluations without a model",
        "",
        about,
        "",
        "| evaluator | µs an evaluation | worst round |",
        "|---|---:|---:|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "results.json").write_text('{"evaluation": {"f1": 0.87}}', encoding="utf-8")
        for name, kind in KINDS.items():
            _, median, worst = anyio.run(microseconds, name, kind, Path(folder))
            lines.append(f"| {name} | {median:.0f} | {worst:.0f} |")
        early, late, seconds = anyio.run(growth, asked.cases, Path(folder))
    grew = late - early
    kept = (
        f"A plan of a pattern, a function and a panel of one scripted judge: {early:.1f} MB resident after "
        f"{asked.cases // 10} cases, {late:.1f} MB after {asked.cases}: {grew:+.1f} MB (at most {MOST_MB:g}), "
        f"{seconds / asked.cases * 1e3:.2f} ms a case."
    )
    lines += ["", kept, ""]
    print("\n".join(lines))
    RESULTS.write_text("\n".join(lines), encoding="utf-8")
    return 0 if grew <= MOST_MB else 1


if __name__ == "__main__":
    raise SystemExit(main())
