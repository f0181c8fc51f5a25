"""How well the local judge tells better from worse, and what a vote takes.

``python benchmarks/local_judge.py`` prints a table and writes ``benchmarks/results/local_judge.json``. The sets: the
pairs of ``examples/questions.jsonl``, its reference not shown; and, where it is there, the natural subset of LLMBar in
``../shared/data/recorded`` (a line says so where it is missing). Beside each AUC stands what a judge would reach who
looks at nothing but the length of an output, or at the words it shares with the task. Every output is scored alone, by
the weighted dimensions of the rubric ``general``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import re
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import anyio

from deliberate.library import weights
from deliberate.providers._base import Question, Request, Settings
from deliberate.providers._llama import loaded
from deliberate.providers._logits import Head, Logits, Written
from deliberate.providers.local import Local

ROOT = Path(__file__).resolve().parent.parent
PAIRS = ROOT / "examples" / "questions.jsonl"
RECORDED = ROOT.parent / "shared" / "data" / "recorded"
SO_FAR = ROOT / "build" / "local_judge.jsonl"
RESULTS = ROOT / "benchmarks" / "results" / "local_judge.json"
NAME = "qwen2.5-coder-1.5b"
RUBRIC = {
    "relevance": (0.4, "Does the output address the task?"),
    "quality": (0.35, "Is the output correct and well structured?"),
    "completeness": (0.25, "Does the output cover all that the task asks?"),
}
MOST_CHARACTERS = 1100


class Pair(NamedTuple):
    """A task with a better and a worse output."""

    id: str
    task: str
    better: str
    worse: str


class Silent:
    """A model that gives no reasons (a ``Logits``): what is timed here is the votes."""

    def __init__(self, inner: Logits) -> None:
        self.lane, self.weights, self.runtime, self.threads = inner.lane, inner.weights, inner.runtime, inner.threads
        self.read, self.next = inner.read, inner.next
        self._inner = inner

    def write(
        self, head: Head, said: tuple[str, ...], *, most_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> Written:
        """A draft, or nothing."""
        if len(said) > 1:
            return Written(text="", whole=True, tokens_in=0, tokens_out=0)
        return self._inner.write(head, said, most_tokens=most_tokens, temperature=temperature, seed=seed)


def bundled(most: int) -> list[Pair]:
    """The pairs of the examples."""
    rows = [json.loads(line) for line in PAIRS.read_text("utf-8").splitlines()][:most]
    return [Pair(row["id"], row["question"], row["right"], row["wrong"]) for row in rows]


def llmbar(most: int) -> list[Pair]:
    """LLMBar's natural subset, as far as it is short; the output its authors call better first."""
    found: list[Pair] = []
    with gzip.open(RECORDED / "llmbar.items.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            outputs = row["output_1"], row["output_2"]
            short = len(row["task"]) + max(map(len, outputs)) <= MOST_CHARACTERS
            if row["item_id"].startswith("natural") and short:
                better = int(row["gold"]) - 1
                found.append(Pair(row["item_id"], row["task"], outputs[better], outputs[1 - better]))
    return found[:most]


def auc(better: Sequence[float], worse: Sequence[float]) -> float:
    """The chance that a better output lies above a worse one of any pair, ties counting half."""
    wins = sum((one > other) + (one == other) / 2 for one in better for other in worse)
    return wins / (len(better) * len(worse))


def in_order(better: Sequence[float], worse: Sequence[float]) -> float:
    """The share of pairs whose better output scores higher, ties counting half."""
    wins = sum((one > other) + (one == other) / 2 for one, other in zip(better, worse, strict=True))
    return wins / len(better)


def overlap(task: str, output: str) -> float:
    """The share of the output's words that the task has."""
    asked, said = (set(re.findall(r"\w+", text.casefold())) for text in (task, output))
    return len(asked & said) / max(1, len(said))


def resident_mib() -> int:
    """The most memory this process held."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most // (1024 * 1024 if sys.platform == "darwin" else 1024)


class Said:
    """What was answered so far, kept in a file: a run that was stopped goes on with ``--resume``."""

    def __init__(self, local: Local, *, resume: bool) -> None:
        self._local = local
        SO_FAR.parent.mkdir(exist_ok=True)
        if not resume:
            SO_FAR.unlink(missing_ok=True)
        lines = SO_FAR.read_text("utf-8").splitlines() if SO_FAR.exists() else []
        self._said = {(row["task"], row["output"]): row for row in map(json.loads, lines)}

    async def of(self, task: str, output: str) -> dict[str, Any]:
        """What the judge says of an output, and how long it took."""
        found = self._said.get((task, output))
        if found is None:
            started = time.perf_counter()
            said = dict((await self._local.complete(request(task, output))).effective)
            found = {"task": task, "output": output, "said": said, "seconds": time.perf_counter() - started}
            with SO_FAR.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found) + "\n")
        return found


async def measured(answers: Said, pairs: Sequence[Pair]) -> dict[str, Any]:
    """All figures of one set."""
    scores: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in (*RUBRIC, "score")}
    layouts: dict[str, int] = {}
    seconds: list[float] = []
    for number, pair in enumerate(pairs, start=1):
        for side, output in enumerate((pair.better, pair.worse)):
            answer = await answers.of(pair.task, output)
            said = answer["said"]
            seconds.append(answer["seconds"])
            shares = {name: float(said[f"p.{name}"]) for name in RUBRIC}
            for name in RUBRIC:
                scores[name][side].append(float(said[f"log_odds.{name}"]))
            scores["score"][side].append(sum(RUBRIC[name][0] * shares[name] for name in RUBRIC))
            layouts[said["layout"]] = layouts.get(said["layout"], 0) + 1
        if sys.stderr.isatty() or number % 8 == 0:
            print(f"{number}/{len(pairs)} {auc(*scores['score']):.3f}", file=sys.stderr, flush=True)
    better, worse = scores["score"]

    def looks_at(measure: Callable[[str, str], float]) -> float:
        sides = [[measure(pair.task, output) for pair in pairs for output in (pair[2 + side],)] for side in (0, 1)]
        return round(auc(*sides), 3)

    return {
        "pairs": len(pairs),
        "auc": round(auc(better, worse), 3),
        "auc_of_dimensions": {name: round(auc(*scores[name]), 3) for name in RUBRIC},
        "pairs_in_order": round(in_order(better, worse), 3),
        "right_side_of_half": round(
            (sum(one > 0.5 for one in better) + sum(one <= 0.5 for one in worse)) / (2 * len(pairs)), 3
        ),
        "length_auc": looks_at(lambda _, output: float(len(output))),
        "overlap_auc": looks_at(overlap),
        "layouts": layouts,
        "seconds_an_output": {
            "median": round(statistics.median(seconds), 2),
            "slowest": round(max(seconds), 2),
        },
    }


def request(task: str, output: str) -> Request:
    """All three questions about one output."""
    return Request(
        model=f"local/{NAME}",
        messages=(),
        schema={"properties": {"dimensions": {}}},
        artifact=f"Task: {task}\n\nOutput: {output}",
        questions=tuple(Question(name=name, text=question) for name, (_, question) in RUBRIC.items()),
        deadline_seconds=3600.0,
    )


async def main(most: int, only: str | None, resume: bool) -> int:  # noqa: FBT001  as the command line gives them
    """Measures, prints and writes."""
    home = weights.default_home(os.environ)
    if weights.find(NAME, home) is None:
        print(f"weights of {NAME}: run deliberate models fetch")
        return 2
    settings = Settings(env=os.environ, weights=weights.paths(home), calibration=weights.calibrations(home))
    local = Local(settings, load=lambda path, **said: Silent(loaded(path, **said)))
    sets = {"examples": bundled(most)}
    if (RECORDED / "llmbar.items.jsonl.gz").exists():
        sets["llmbar_natural"] = llmbar(most)
    else:
        print("llmbar_natural: ../shared/data/recorded is not there")
    # One set measured anew leaves the figures of the others as they are.
    before = json.loads(RESULTS.read_text("utf-8"))["sets"] if only and RESULTS.exists() else {}
    result: dict[str, Any] = {"sets": before}
    answers = Said(local, resume=resume)
    for name, pairs in sets.items():
        if only in {None, name}:
            result["sets"][name] = await measured(answers, pairs)
            last = (await answers.of(pairs[0].task, pairs[0].better))["said"]
            result |= {one: last[one] for one in ("weights", "runtime", "threads")}
    result |= {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 1),
        "resident_mib": resident_mib(),
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    table(result)
    return 0


def table(result: dict[str, Any]) -> None:
    """One line a set."""
    print(f"{'set':16}{'pairs':>6}{'AUC':>7}{'in order':>10}{'length':>8}{'overlap':>9}{'s/output':>10}")
    for name, one in result["sets"].items():
        print(
            f"{name:16}{one['pairs']:6}{one['auc']:7.3f}{one['pairs_in_order']:10.3f}{one['length_auc']:8.3f}"
            f"{one['overlap_auc']:9.3f}{one['seconds_an_output']['median']:10.2f}"
        )
    print(
        f"{result['runtime']}, {result['threads']} thread(s) of {result['cores']}, load {result['load_average']}, "
        f"{result['resident_mib']} MiB resident"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=64, help="at most so many pairs of each set")
    parser.add_argument("--only", choices=("examples", "llmbar_natural"), help="one of the sets")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was stopped")
    options = parser.parse_args()
    raise SystemExit(anyio.run(main, options.most, options.only, options.resume))
