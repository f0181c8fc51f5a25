"""What the pieces cost one by one: CPU microseconds of one unit, the best of several repetitions.

    python benchmarks/micro.py [--quick] [--json]

Each piece is the library's own, fed with what a real panel made: one scripted session of 64 cases and five seats.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import msgspec

from benchmarks.speed.client_deliberate import scripted
from benchmarks.speed.scenario import CRITERIA, SCORES, TASK, output_of, vote_of
from benchmarks.speed.stub import vote_text
from deliberate import Case, Judge, Panel, Rules, Seat, Session, redecide
from deliberate.aggregation import Weighted
from deliberate.evaluators._revision import change_between
from deliberate.judging import post_of
from deliberate.judging._prompt import request_of
from deliberate.judging._read import read
from deliberate.ledger import open_ledger
from deliberate.plugins import part
from deliberate.protocols import protocol_of
from deliberate.protocols._conclude import conclude
from deliberate.providers._secrets import secrets_of
from deliberate.providers._wire import envelope_of, response_of
from deliberate.runtime import Post
from deliberate.tallies import decide
from deliberate.types import AskId, Attempt, Bracket, Key, Reply, Usage, Verdict

__all__ = ["Piece", "pieces", "starts"]

_SEATS = ("judge-a", "judge-b", "judge-c", "judge-d", "judge-e")
_CASES = 64


class Piece(NamedTuple):
    """One figure: CPU microseconds a unit, repetition by repetition."""

    name: str
    unit: str
    values: tuple[float, ...]

    @property
    def best(self) -> float:
        """The least disturbed repetition."""
        return min(self.values)


class _Made(NamedTuple):
    """What a real session made."""

    panel: Panel
    verdicts: tuple[Verdict, ...]
    posts: tuple[Post, ...]


def pieces(*, quick: bool = False) -> Iterator[Piece]:
    """Every piece in turn."""
    made = anyio.run(_made)
    times = 3 if quick else 7
    scale = 20 if quick else 1
    for name, unit, count, work in _works(made):
        few = max(1, count // scale)
        yield Piece(name, unit, tuple(_timed(work, few) for _ in range(times)))
    votes = 40_000 // scale
    yield Piece("ledger append", "vote", tuple(anyio.run(_appended, votes, made) for _ in range(3)))


def starts(*, times: int) -> Iterator[Piece]:
    """What starting costs, each a process of its own, interleaved."""
    programs = {
        "python": "pass",
        "import deliberate": "import deliberate",
        "import deliberate, and its names": "from deliberate import Case, Panel, Session, combine, redecide",
        "deliberate --help": "import sys; sys.argv = ['deliberate', '--help']; from deliberate.cli import main; main()",
        "import litellm": "import os; os.environ['LITELLM_LOCAL_MODEL_COST_MAP'] = 'True'; import litellm",
    }
    seen: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(times):
        for name, program in programs.items():
            seen[name].append(_cpu_of(program))
    for name, values in seen.items():
        yield Piece(name, "process", tuple(values))


def _works(made: _Made) -> Iterator[tuple[str, str, int, Callable[[int], object]]]:
    """Name, unit, how many units a repetition has, and what does that many."""
    panel, verdict, post = made.panel, made.verdicts[0], made.posts[0]
    page = _page()
    secrets = secrets_of({})
    heard: list[dict[AskId, Reply]] = [
        {at: answer.reply for at, answer in one.answers.items()} for one in made.verdicts
    ]
    close = verdict.close
    if close is None:
        msg = "the session did not decide"
        raise RuntimeError(msg)
    text = vote_text(2)
    weighted = part("aggregation", "weighted_mean")
    scores = [Weighted(float(score), weight) for score, weight in zip((*SCORES, 70), (1, 2, 3, 1, 1), strict=True)]
    before, after = output_of(1, size=4096).replace(". ", ".\n"), output_of(2, size=4096)
    mean = Rules(rule="mean")
    rules = panel.rules

    def replied() -> object:
        return response_of(
            envelope_of(page, where="stub", secrets=secrets), price=None, effective={}, where="stub", secrets=secrets
        )

    yield "making a prompt", "request", 5_000, _loop(lambda _: request_of(post))
    yield "reading a reply's envelope", "reply", 20_000, _loop(lambda _: replied())
    yield "casting a vote from its text", "vote", 20_000, _loop(lambda _: read(text, post))
    yield (
        "deciding a panel of five, bracket and score",
        "panel",
        20_000,
        _loop(lambda at: decide(panel, heard[at % _CASES], close, rules)),
    )
    yield (
        "concluding a panel of five, with its sensitivity",
        "panel",
        3_000,
        _loop(
            lambda at: conclude(
                panel,
                asks=verdict.asks,
                answers=made.verdicts[at % _CASES].answers,
                close=close,
                digests=verdict.digests,
            )
        ),
    )
    yield "aggregating five scores", "aggregate", 50_000, _loop(lambda _: weighted(scores))
    yield "comparing two versions of 4 KB", "diff", 200, _loop(lambda _: change_between(before, after))
    yield "redecide", "panel", 100_000, _loop(lambda at: decide(panel, heard[at % _CASES], close, mean))
    yield (
        "redecide, whole verdicts with sensitivity",
        "verdict",
        2_000,
        _loop(lambda at: redecide(made.verdicts[at % _CASES], mean)),
    )


def _loop(one: Callable[[int], object]) -> Callable[[int], object]:
    def work(count: int) -> None:
        for at in range(count):
            one(at)

    return work


def _timed(work: Callable[[int], object], count: int) -> float:
    before = time.process_time()
    work(count)
    return 1e6 * (time.process_time() - before) / count


async def _made() -> _Made:
    """Sixty-four panels of five, by scripted judges."""
    seats = tuple(Seat(name=name, judge=Judge(model=f"scripted/{name}")) for name in _SEATS)
    panel = Panel(seats=seats, rubric=None, criteria=CRITERIA)
    cases = [Case(id=str(number), task=TASK, output=output_of(number, size=4096)) for number in range(_CASES)]
    verdicts: list[Verdict] = []
    async with (
        Session(ledger=":memory:", providers={"*": scripted()}, in_flight=64) as session,
        session.stream(cases, panel) as stream,
    ):
        async for case, evaluation in stream:
            if evaluation.verdict is None:
                raise RuntimeError(f"case {case.id} has no verdict")
            _check(int(case.id), evaluation.verdict)
            verdicts.append(evaluation.verdict)
    return _Made(panel, tuple(verdicts), (_post(panel, cases[0], verdicts[0]),))


def _check(number: int, verdict: Verdict) -> None:
    for vote in verdict.votes:
        if vote.ballot is None or vote.ballot.bracket != Bracket(vote_of(number, vote.seat.name)):
            raise RuntimeError(f"case {number}: {vote.seat.name} voted otherwise")


def _post(panel: Panel, case: Case, verdict: Verdict) -> Post:
    protocol = protocol_of(panel.protocol)
    form = next(form for form in protocol.forms if form.name == verdict.asks[0].form)
    return post_of(verdict.asks[0], case=case, panel=panel, rubric=None, protocol=protocol, form=form, heard={})


def _page() -> bytes:
    return json.dumps(
        {
            "id": "chatcmpl-0",
            "object": "chat.completion",
            "created": 0,
            "model": "judge-a",
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": vote_text(2)}, "finish_reason": "stop"}
            ],
            "usage": {"prompt_tokens": 1200, "completion_tokens": 200, "total_tokens": 1400},
        }
    ).encode()


async def _appended(votes: int, made: _Made) -> float:
    """What one vote puts down: its record, its attempt and its place, by a ledger on disk at synchronous=FULL.

    They come as votes do, a few at a time with the loop running between; the last commit is waited for.
    """
    answer = next(iter(made.verdicts[0].answers.values()))
    body = msgspec.json.encode(answer)
    attempt = Attempt(key=Key(""), number=1, outcome="ok", requested=answer.requested, usage=Usage(calls=1))
    with tempfile.TemporaryDirectory() as folder:
        async with open_ledger(Path(folder) / "ledger.db") as ledger:
            run = await ledger.begin("benchmark", {"format": 1})
            before = time.process_time()
            for number in range(votes):
                key = Key(f"{number:064x}")
                ledger.attempted(msgspec.structs.replace(attempt, key=key))
                ledger.put(key, "Answer", body)
                ledger.place(f"{number // 3}/0.ballot..{number % 3}", key, run=run)
                if not number % 64:
                    await ledger.committed()
            await ledger.committed()
            took = time.process_time() - before
            await ledger.end(run, "ok")
    return 1e6 * took / votes


def _cpu_of(program: str) -> float:
    """CPU microseconds that a fresh interpreter takes for a program, less what it says it had taken before it."""
    whole = f"""import sys, time
before = time.process_time()
try:
    exec({program!r})
except SystemExit:
    pass
print(time.process_time() - before, file=sys.stderr)"""
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, check=True)
    return 1e6 * float(done.stderr.split()[-1])


def main(args: Sequence[str]) -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small numbers, to see that it works")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(args)
    found: list[Any] = [*pieces(quick=chosen.quick), *starts(times=1 if chosen.quick else 5)]
    if chosen.json:
        print(json.dumps([one._asdict() for one in found]))
        return
    for one in found:
        print(f"{one.name:52} {one.best:12.2f} µs a {one.unit}")


if __name__ == "__main__":
    main(sys.argv[1:])
