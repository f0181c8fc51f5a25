"""How fast we are beside raw clients and beside others: one command, one page of results.

    python benchmarks/run.py --short                  # ours and the raw clients
    python benchmarks/run.py --long                   # the peers too, and 100 000 votes
    python benchmarks/run.py --long --only fixed      # one experiment; the others keep what was measured before
    python benchmarks/run.py --short --scale 0.05 --rounds 1 --output build/speed      # to see that it works

Every round runs every client once, in an order drawn from the round's number; ratios are taken within a round. Results
go to ``RESULTS.md``, ``results/speed.json`` and ``results/speed.svg`` in this folder. Exits 1 where ours or a raw
client lost a vote, doubled one, or held another number in flight than it was asked to.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import median
from typing import NamedTuple

import msgspec

from benchmarks import micro
from benchmarks.speed.chart import chart
from benchmarks.speed.contenders import CONTENDERS, PEERS, Contender, prepared
from benchmarks.speed.experiments import EXPERIMENTS, Experiment, Step
from benchmarks.speed.goals import OURS, Results, goals
from benchmarks.speed.measure import Run, measured
from benchmarks.speed.profile import profile
from benchmarks.speed.report import Record, machine, page

__all__ = ["main"]

_HERE = Path(__file__).resolve().parent
_RAW = ("hand-written protocol", "aiohttp", "aiohttp, tuned")
_OTHERS = ("pieces", "profile")
"""What can be chosen beside the experiments."""


class _Todo(NamedTuple):
    experiment: Experiment
    contender: Contender
    step: Step


def main(args: Sequence[str]) -> int:
    """Measures, writes the results, and says whether all agreed."""
    chosen = _asked(args)
    told, before = machine(), _before(chosen.output)
    absent = _absent(chosen)
    print(f"load {told.load:g}; without {', '.join(absent) or 'nobody'}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        template = Path(folder) / "request.json"
        subprocess.run([sys.executable, "-m", "benchmarks.speed.template", str(template)], cwd=_HERE.parent, check=True)
        runs = list(_runs(chosen, absent, template))
        text = profile(template, scale=chosen.scale) if "profile" in chosen.only else before.profile
    pieces = _pieces(chosen) if "pieces" in chosen.only else before.pieces
    kept = [run for run in before.runs if run.experiment not in chosen.only]
    whole = Record(machine=told, runs=(*kept, *runs), pieces=pieces, profile=text, absent={**before.absent, **absent})
    _write(chosen.output, whole)
    wrong = [run for run in runs if (run.wrong or run.error) and not CONTENDERS[run.contender].peer]
    for run in wrong:
        print(f"not agreed: {_line(run)}", file=sys.stderr)
    return 1 if wrong else 0


def _asked(args: Sequence[str]) -> argparse.Namespace:
    names = [*(one.name.replace(" ", "-") for one in EXPERIMENTS), *_OTHERS]
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--short", dest="long", action="store_false", help="ours and the raw clients")
    which.add_argument("--long", action="store_true", help="the peers too, and 100 000 votes")
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=f"only these of: {', '.join(names)}")
    parser.add_argument("--rounds", type=int, default=3, help="how often each client runs (3)")
    parser.add_argument("--scale", type=float, default=1.0, help="this share of the cases, to see that it works")
    parser.add_argument("--output", type=Path, default=_HERE, help="where results go")
    chosen = parser.parse_args(args)
    if chosen.scale < 1 and chosen.output == _HERE:
        parser.error("--scale measures nothing worth keeping: say --output FOLDER, elsewhere")
    wanted = chosen.only or [name for name in names if chosen.long or not _named(name).long_only]
    chosen.only = {name.replace("-", " ") for name in wanted}
    return chosen


def _named(name: str) -> Experiment:
    """The experiment of a name; one that is neither long nor short for what is none."""
    none = Experiment(name=name, title="", steps=(), contenders=())
    return next((one for one in EXPERIMENTS if one.name == name.replace("-", " ")), none)


def _absent(chosen: argparse.Namespace) -> dict[str, str]:
    """The peers that cannot be had here, and why not."""
    if not chosen.long or not any(_named(name).peers for name in chosen.only):
        return {}
    found = {}
    for peer in PEERS:
        print(f"environment of {peer}", file=sys.stderr, flush=True)
        if why := prepared(peer):
            found[peer] = why
    return found


def _runs(chosen: argparse.Namespace, absent: Mapping[str, str], template: Path) -> Iterator[Run]:
    for number in range(chosen.rounds):
        for todo in _round(chosen, number, absent):
            run = measured(
                todo.contender,
                todo.step,
                experiment=todo.experiment.name,
                number=number,
                fills=todo.experiment.fills and chosen.scale >= 1,
                template=template,
            )
            print(_line(run), file=sys.stderr, flush=True)
            yield run


def _round(chosen: argparse.Namespace, number: int, absent: Mapping[str, str]) -> Iterator[_Todo]:
    """One round: experiment by experiment, whose clients stand side by side; their order changes with the round."""
    for experiment in EXPERIMENTS:
        if experiment.name not in chosen.only or number >= experiment.most_rounds:
            continue
        names = [*experiment.contenders, *(experiment.peers if chosen.long else ())]
        contenders = [CONTENDERS[name] for name in names if CONTENDERS[name].peer not in absent]
        for step in experiment.steps:
            less = _scaled(step, chosen.scale)
            for contender in Random(number).sample(contenders, len(contenders)):
                yield _Todo(experiment, contender, less)


def _scaled(step: Step, scale: float) -> Step:
    curve = tuple(max(1, int(votes * scale)) for votes in step.curve)
    return msgspec.structs.replace(step, cases=max(2, int(step.cases * scale)), curve=curve)


def _pieces(chosen: argparse.Namespace) -> tuple[micro.Piece, ...]:
    found = []
    for one in (*micro.pieces(quick=chosen.scale < 1), *micro.starts(times=chosen.rounds)):
        print(f"{one.name}: {one.best:.2f} µs a {one.unit}", file=sys.stderr, flush=True)
        found.append(one)
    return tuple(found)


def _line(run: Run) -> str:
    name = f"{run.experiment}, {run.step.in_flight} in flight, round {run.round + 1}: {run.contender}"
    if run.error:
        return f"{name}: {run.error}"
    wrong = f"; {'; '.join(run.wrong)}" if run.wrong else ""
    return f"{name}: {run.cpu_us:.0f} µs a vote, {run.client['wall_s']:.2f} s, {run.client['rss_mb']:.0f} MB{wrong}"


def _before(output: Path) -> Record:
    """What was measured before; nothing where nothing was."""
    file = output / "results" / "speed.json"
    return msgspec.json.decode(file.read_bytes(), type=Record) if file.exists() else Record(machine=machine())


def _write(output: Path, whole: Record) -> None:
    results = Results(whole.runs, {one.name: one.values for one in whole.pieces})
    found = goals(results)
    (output / "results").mkdir(parents=True, exist_ok=True)
    (output / "RESULTS.md").write_text(page(whole, results, found), encoding="utf-8")
    body = msgspec.json.encode(msgspec.structs.replace(whole, goals=tuple(found)))
    (output / "results" / "speed.json").write_bytes(msgspec.json.format(body, indent=1) + b"\n")
    drawn = _drawn(results)
    if drawn:
        (output / "results" / "speed.svg").write_text(drawn, encoding="utf-8")


def _drawn(results: Results) -> str:
    """The chart of CPU per vote at fixed latency; "" where that was not measured."""
    names = dict.fromkeys(run.contender for run in results.all_of("fixed"))
    values = {name: median(run.cpu_us for run in results.of("fixed", name).values()) for name in names}
    if not values:
        return ""
    return chart(
        values,
        ours=OURS,
        raw=_RAW,
        title="CPU microseconds per vote",
        note="panels of three judges, 4 KB cases, 64 in flight, replies after 50 ms; logarithmic, less is better",
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
