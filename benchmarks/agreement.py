"""How fast agreement is, beside the packages people use, and whether its intervals cover as often as they say.

``python benchmarks/agreement.py`` prints both tables and writes ``results/agreement.md``; ``speed`` or ``coverage``
runs one, the latter without recorded data. ``coverage --sets 100`` draws fewer data sets than the 400 behind what is
written. Times are seconds of this machine, all taken in one run; what counts are the ratios.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks import _recorded as rec
from benchmarks._figures import FIRST, SECOND, llmbar, llmjudge
from deliberate.agreement import measure, pairwise_kappa
from deliberate.agreement.cohen_kappa import cohen_kappa
from deliberate.agreement.krippendorff_alpha import krippendorff_alpha
from deliberate.studies.abstention import clopper_pearson
from deliberate.studies.ppi import corrected_mean

RESULTS = Path(__file__).resolve().parent / "results"
REPEATS = 5
RUNS = 1000
SAMPLES = 400


def timed(work: Callable[[], object], *, repeats: int = 1) -> float:
    """The least seconds of some runs."""
    found: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def array(votes: rec.Votes) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Items × judges, nan where missing."""
    return np.array([[np.nan if vote is None else vote for vote in row] for row in votes.votes], dtype=np.float64)


def speed() -> Iterator[tuple[str, str, str]]:
    """What was timed, seconds, and beside what."""
    import krippendorff  # noqa: PLC0415  tests and benchmarks alone have it
    from sklearn.metrics import cohen_kappa_score  # noqa: PLC0415  same

    table = array(llmjudge(None))
    ours = timed(lambda: krippendorff_alpha(table), repeats=REPEATS)
    theirs = timed(lambda: krippendorff.alpha(table.T, level_of_measurement="ordinal"), repeats=REPEATS)
    size = f"{table.size} votes of {table.shape[1]} judges"
    yield f"ordinal alpha, {size}", f"{ours:.4f}", f"krippendorff {theirs:.4f}: {theirs / ours:.1f} times ours"
    many = timed(lambda: measure("krippendorff_alpha", table))
    yield f"the same with 1000 bootstrap samples, {size}", f"{many:.2f}", "at most 10"

    both = np.vstack([array(llmbar(None, order)) for order in (FIRST, SECOND)])
    matrix = timed(lambda: pairwise_kappa(both), repeats=REPEATS)

    def loop() -> None:
        for a, b in combinations(range(both.shape[1]), 2):
            heard = ~np.isnan(both[:, a]) & ~np.isnan(both[:, b])
            cohen_kappa_score(both[heard, a], both[heard, b], labels=[0, 1])

    slow = timed(loop)
    size = f"{both.size} votes of {both.shape[1]} judges"
    yield (
        f"every kappa of two judges, {size}",
        f"{matrix:.3f}",
        f"scikit-learn {slow:.2f}: {slow / matrix:.0f} times ours",
    )


# --- coverage --------------------------------------------------------------------------------------


def kappa_covers(n: int, sets: int) -> float:
    """How often the bootstrap interval of kappa holds the true one: two raters, three labels."""
    rng = np.random.default_rng(n)
    joint = np.array([[0.30, 0.06, 0.02], [0.05, 0.22, 0.05], [0.02, 0.06, 0.22]])
    chance = float(joint.sum(axis=1) @ joint.sum(axis=0))
    true = (float(np.trace(joint)) - chance) / (1 - chance)
    hits = 0
    for run in range(sets):
        cells = rng.choice(9, p=joint.reshape(-1), size=n)
        found = measure("cohen_kappa", np.column_stack([cells // 3, cells % 3]).astype(float), draws=RUNS, seed=run)
        hits += found.low is not None and found.high is not None and found.low <= true <= found.high
    return hits / sets


def alpha_covers(n: int, sets: int) -> float:
    """The same for nominal alpha: five raters who are right three times in four, a tenth of the votes missing."""
    rng = np.random.default_rng(n)

    def drawn(items: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        truth = rng.integers(3, size=items)[:, None]
        said = np.where(rng.random((items, 5)) < 0.75, truth, rng.integers(3, size=(items, 5))).astype(float)
        return np.where(rng.random((items, 5)) < 0.1, np.nan, said)

    true = krippendorff_alpha(drawn(400_000), metric="nominal")
    assert true is not None  # noqa: S101  labels vary
    hits = 0
    for run in range(sets):
        found = measure("krippendorff_alpha", drawn(n), {"metric": "nominal"}, draws=RUNS, seed=run)
        hits += found.low is not None and found.high is not None and found.low <= true <= found.high
    return hits / sets


def corrected_covers(n: int, sets: int) -> float:
    """How often PPI++ holds the true rate: a judge that is too lenient, 2000 items, n of them labeled."""
    rng, hits, runs = np.random.default_rng(n), 0, 4 * sets
    for _ in range(runs):
        truth = (rng.random(2000) < 0.6).astype(float)
        judge = np.where(rng.random(2000) < 0.85, truth, 1.0)
        found = corrected_mean(list(zip(truth[:n], judge[:n], strict=True)), list(judge[n:]), bounds=(0, 1))
        hits += found.low <= 0.6 <= found.high
    return hits / runs


def exact_covers(n: int) -> float:
    """How often Clopper and Pearson's interval holds a rate of 0.3, computed, not drawn."""
    from scipy.stats import binom  # noqa: PLC0415  the benchmark's own

    inside = [low <= 0.3 <= high for low, high in (clopper_pearson(hits, n) for hits in range(n + 1))]
    return float(binom.pmf(np.arange(n + 1), n, 0.3) @ np.array(inside))


def coverage(sets: int = SAMPLES) -> Iterator[tuple[str, str, str]]:
    """Which interval, how often it covers, and of how many data sets, with the error that their number leaves."""

    def of(count: int) -> str:
        return f"{count} data sets, ±{1.96 * (0.95 * 0.05 / count) ** 0.5:.3f}"

    for n in (100, 300):
        yield f"bootstrap of kappa, {n} items", f"{kappa_covers(n, sets):.3f}", of(sets)
        yield f"bootstrap of alpha, {n} items, votes missing", f"{alpha_covers(n, sets):.3f}", of(sets)
    for n in (80, 200):
        yield f"PPI++ of a rate, {n} labels", f"{corrected_covers(n, sets):.3f}", of(4 * sets)
    for n in (100, 1000):
        yield f"Clopper-Pearson, {n} items", f"{exact_covers(n):.3f}", "exact; never below 0.95 by construction"


def main(what: str, *, sets: int = SAMPLES) -> int:
    """Prints, and writes if all was run."""
    if what != "coverage" and (lacks := rec.missing(rec.LLMJUDGE, rec.LLMBAR)):
        print(lacks, file=sys.stderr)
        return 2
    known = float(cohen_kappa([(0, 0), (1, 1)]) or 0)
    assert known == 1  # noqa: S101  numpy is loaded before anything is timed
    lines = ["# Agreement: speed and intervals", "", f"deliberate-eval {version('deliberate-eval')}."]
    for name, heads, rows in (
        ("speed", ("what", "seconds", "beside"), speed()),
        ("coverage", ("interval, nominal 0.95", "covers", "of"), coverage(sets)),
    ):
        if what in {name, "all"}:
            lines += ["", f"| {' | '.join(heads)} |", "|---|---:|---|"]
            lines += [f"| {' | '.join(row)} |" for row in rows]
    text = "\n".join([*lines, ""])
    print(text, end="")
    if what == "all" and sets == SAMPLES:
        (RESULTS / "agreement.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=("all", "speed", "coverage"), default="all")
    parser.add_argument(
        "--sets", type=int, default=SAMPLES, help="data sets to draw, at least 1 (default: %(default)s)"
    )
    options = parser.parse_args()
    if options.sets < 1:
        parser.error("--sets: expected at least 1")
    raise SystemExit(main(options.what, sets=options.sets))
