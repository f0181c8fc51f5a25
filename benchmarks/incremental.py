"""What judging only the change saves, and how far the carried score lies from the one a full evaluation gives.

``python benchmarks/incremental.py`` evaluates every pair of ``benchmarks/edits.jsonl`` three times with the local
judge: the earlier text in full, the later one with ``previous=``, the later one in full. It prints a line a pair and
writes ``benchmarks/results/incremental.json`` and ``incremental.md``. The pairs are edits of this repository's own
prose, code and tests, drawn by a seed from those in three ranges of length: up to 1,100, to 3,000 and to 7,200
characters. A run that was stopped goes on.

Two counts of tokens stand beside each other. ``tokens`` is what the local judge took, in and out: it reads output and
questions, no rubric. ``prompt`` is what a chat model would have been sent in the very same asks, the rubric included,
counted by the local model's tokenizer; nothing of a reply is in it. Asking which dimensions are affected counts in
both.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import anyio

from deliberate import Case, Evaluation, Panel, Session
from deliberate.library import weights
from deliberate.providers._base import Request, Response, Settings
from deliberate.providers._llama import loaded
from deliberate.providers.local import Local
from deliberate.types import Usage, bracket_of

ROOT = Path(__file__).resolve().parent.parent
PAIRS = ROOT / "benchmarks" / "edits.jsonl"
SO_FAR = ROOT / "build" / "incremental.jsonl"
RESULTS = ROOT / "benchmarks" / "results"
NAME = "qwen2.5-coder-1.5b"
MODEL = f"local/{NAME}"


class Edit(NamedTuple):
    """A text before and after an edit, and the rubric it is judged by."""

    id: str
    rubric: str
    task: str
    file: str
    unit: str
    before: str
    after: str


class Asked(NamedTuple):
    """What one request took: the local judge's tokens, and those of the prompt that a chat model would have read."""

    tokens: int
    prompt: int
    characters: int


class Counted:
    """The local provider, counting what it is asked (a ``Provider``)."""

    prefixes: ClassVar[tuple[str, ...]] = ("local",)
    loops: ClassVar[tuple[str, ...]] = ("asyncio", "trio")
    most_in_flight: ClassVar[int | None] = 1

    def __init__(self, inner: Local, *, path: str) -> None:
        self.asked: dict[str, Asked] = {}
        self._inner = inner
        self._path = path

    @classmethod
    def open(cls, prefix: str, settings: Settings) -> Self:
        """The local provider of these settings."""
        return cls(Local.open(prefix, settings), path=settings.weights[NAME])

    def limit_key(self, model: str) -> str:
        """As the provider within."""
        return self._inner.limit_key(model)

    async def worst_cost_usd(self, request: Request) -> float | None:
        """As the provider within."""
        return await self._inner.worst_cost_usd(request)

    async def complete(self, request: Request) -> Response:
        """The vote of the provider within."""
        response = await self._inner.complete(request)
        text = "\n\n".join(one.content for one in request.messages)
        model = loaded(self._path, weights="", threads=1)  # in memory since the vote
        prompt = len(model._tokenize(text))  # noqa: SLF001  the only way to the model's tokenizer
        self.asked[request.key] = Asked(tokens=taken(response.usage), prompt=prompt, characters=len(text))
        return response

    async def aclose(self) -> None:
        """As the provider within."""
        await self._inner.aclose()


def taken(usage: Usage) -> int:
    """Tokens in and out together."""
    return usage.tokens_in + usage.tokens_out


async def evaluated(edit: Edit, provider: Counted) -> dict[str, Any]:
    """All three evaluations of a pair, on a record of their own.

    Where the second one judged the whole, the third reads its votes back: the same asks would get the same answers.
    """
    panel = Panel.of(MODEL, rubric=edit.rubric)
    new = Case(task=edit.task, output=edit.after)
    async with Session(ledger=":memory:", providers={"local": provider}, call_seconds=900.0) as session:
        started = time.perf_counter()
        first = await session.evaluate(Case(task=edit.task, output=edit.before), panel)
        heard = set(provider.asked)
        again = await session.evaluate(new, panel, previous=first)
        asked = [one for key, one in provider.asked.items() if key not in heard]
        whole = await session.evaluate(new, panel)
        seconds = round(time.perf_counter() - started, 1)
    row = {"id": edit.id, "rubric": edit.rubric, "file": edit.file, "characters": len(edit.after), "seconds": seconds}
    row["before"] = said(first, asks_of(first, provider))
    row["again"] = said(again, asked)
    row["whole"] = said(whole, asks_of(whole, provider))
    return row


def asks_of(evaluation: Evaluation, provider: Counted) -> list[Asked]:
    """What the asks of an evaluation took."""
    answers = () if evaluation.verdict is None else evaluation.verdict.answers.values()
    return [provider.asked[answer.key] for answer in answers]


def said(found: Evaluation, asks: Sequence[Asked]) -> dict[str, Any]:
    """What is kept of an evaluation."""
    if found.score is None or found.revision is None:
        msg = f"no score: {found.reason}"
        raise RuntimeError(msg)
    return {
        "decision": found.decision,
        "why": found.revision.why,
        "changed": found.revision.changed,
        "affected": list(found.revision.affected),
        "score": round(found.score, 2),
        "dimensions": {one.dimension: [round(one.adjusted, 2), one.origin] for one in found.dimensions},
        "stale": "stale" in found.flags,
        "tokens": sum(one.tokens for one in asks),
        "prompt": sum(one.prompt for one in asks),
        "asks": [one._asdict() for one in asks],
    }


def told(row: Mapping[str, Any]) -> dict[str, Any]:
    """A pair's line: what was saved, in shares of a full evaluation, and how far the score lies from its score."""
    again, whole = row["again"], row["whole"]
    saved = {name: round(1.0 - again[name] / whole[name], 3) for name in ("tokens", "prompt")}
    apart = round(again["score"] - whole["score"], 2)
    other = bracket_of(again["score"]) != bracket_of(whole["score"])
    return {"saved": saved, "apart": apart, "other_bracket": other}


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The figures over all pairs, and over those that were judged in part."""
    lines = [(row, told(row)) for row in rows]
    sets = {
        "all": lines,
        "incremental": [one for one in lines if one[0]["again"]["decision"] == "incremental"],
        "full": [one for one in lines if one[0]["again"]["decision"] == "full"],
    }
    return {name: figures(chosen) for name, chosen in sets.items() if chosen}


def figures(lines: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> dict[str, Any]:
    """Shares of tokens saved (of sums, not means of shares), and distances of scores (0-100)."""
    apart = [abs(line["apart"]) for _, line in lines]
    found: dict[str, Any] = {"pairs": len(lines)}
    for name in ("tokens", "prompt"):
        spent, full = (sum(row[side][name] for row, _ in lines) for side in ("again", "whole"))
        found[f"{name}_saved"] = round(1.0 - spent / full, 3)
    return found | {
        "score_differs": sum(one > 0.005 for one in apart),
        "differs_by_more_than_2": sum(one > 2.0 for one in apart),
        "differs_by_more_than_5": sum(one > 5.0 for one in apart),
        "other_bracket": sum(line["other_bracket"] for _, line in lines),
        "median_apart": round(statistics.median(apart), 2),
        "largest_apart": round(max(apart), 2),
    }


def page(result: Mapping[str, Any]) -> str:
    """The result as Markdown: the figures, then every pair."""
    lines = [
        "# Judging only the change",
        "",
        *_TEXT.format(**result["machine"], of=result["of"], pairs=len(result["pairs"])).strip().splitlines(),
        "",
    ]
    sets = result["summary"]
    lines += ["| | " + " | ".join(sets) + " |", "|---" * (len(sets) + 1) + "|"]
    names = list(next(iter(sets.values())))
    for name in names:
        lines.append(f"| {name.replace('_', ' ')} | " + " | ".join(str(one[name]) for one in sets.values()) + " |")
    heads = ["pair", "decision", "changed", *("tokens", "of", "saved"), *("prompt", "of", "saved")]
    heads += ["score", "full", "differs", "why"]
    lines += ["", f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in result["pairs"]:
        line, again, whole = told(row), row["again"], row["whole"]
        changed = "" if again["changed"] is None else f"{again['changed']:.0%}"
        differs = f"{line['apart']:+.2f}{' other bracket' if line['other_bracket'] else ''}" if line["apart"] else "no"
        cells = [row["id"], again["decision"], changed]
        for name in ("tokens", "prompt"):
            cells += [str(again[name]), str(whole[name]), f"{line['saved'][name]:.0%}"]
        cells += [f"{again['score']:.1f}", f"{whole['score']:.1f}", differs, again["why"]]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


_TEXT = """
{pairs} of the {of} pairs of `benchmarks/edits.jsonl`, by `python benchmarks/incremental.py` with {model} ({runtime}).
`tokens` is what the local judge took, in and out, `prompt` what a chat model would have read in the same asks, `of` the
same of a full evaluation of the later text; shares saved of several pairs are of their sums. The ask which dimensions
are affected counts. `score` is what came out with `previous=`, `full` what a full evaluation of the later text gives.
"""


async def main(most: int | None) -> int:
    """Evaluates what is not evaluated yet, prints and writes."""
    home = weights.default_home(os.environ)
    if weights.find(NAME, home) is None:
        print(f"weights of {NAME}: run deliberate models fetch")
        return 2
    settings = Settings(env=os.environ, weights=weights.paths(home), calibration=weights.calibrations(home))
    provider = Counted.open("local", settings)
    edits = [Edit(**json.loads(line)) for line in PAIRS.read_text("utf-8").splitlines()]
    SO_FAR.parent.mkdir(exist_ok=True)
    lines = SO_FAR.read_text("utf-8").splitlines() if SO_FAR.exists() else []
    done = {row["id"]: row for row in map(json.loads, lines)}
    for edit in edits[:most]:
        if edit.id not in done:
            done[edit.id] = await evaluated(edit, provider)
            with SO_FAR.open("a", encoding="utf-8") as file:
                file.write(json.dumps(done[edit.id]) + "\n")
        again, whole = done[edit.id]["again"], done[edit.id]["whole"]
        saved = told(done[edit.id])["saved"]
        print(
            f"{edit.id:10}{again['decision']:14}saved {saved['tokens']:5.0%} {saved['prompt']:5.0%}  "
            f"score {again['score']:5.1f} full {whole['score']:5.1f}  {again['why']}",
            flush=True,
        )
    rows = [done[edit.id] for edit in edits if edit.id in done]
    model = loaded(settings.weights[NAME], weights="", threads=1)
    machine = {"model": NAME, "runtime": model.runtime, "weights": model.weights, "python": platform.python_version()}
    result = {"machine": machine, "of": len(edits), "summary": summary(rows), "pairs": rows}
    print(json.dumps(result["summary"], indent=2))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "incremental.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    (RESULTS / "incremental.md").write_text(page(result), encoding="utf-8")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, help="stop after so many pairs; the next run goes on")
    raise SystemExit(anyio.run(main, parser.parse_args().most))
