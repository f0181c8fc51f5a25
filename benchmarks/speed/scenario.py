"""What every client of the benchmarks is given, and what it has to hand back. Standard library only: peers import it.

A client judges ``cases`` numbered cases with the three judges, at most ``in_flight`` asks at once. The vote on a case
is a function of the case's number and the judge, known to the server and to the client, so that a sum over all votes
proves on both sides that every vote arrived, once, where it belongs.

A client is a module with ``load`` (imports what it needs, and gives what the result should name as versions) and
``client`` (a context manager, async or not, that gives a function of an iterable of numbers and a ``Meter``).
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import importlib
import itertools
import json
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zlib import crc32

__all__ = [
    "BRACKETS",
    "CRITERIA",
    "JUDGES",
    "MARK",
    "PLACE",
    "SCORES",
    "TASK",
    "Meter",
    "Scenario",
    "Template",
    "bracket_of",
    "judge_all",
    "main",
    "mark_of",
    "number_in",
    "output_of",
    "vote_in",
    "vote_of",
]

JUDGES = ("judge-a", "judge-b", "judge-c")
BRACKETS = ("poor", "fair", "good", "excellent")
SCORES = (12, 38, 63, 88)
TASK = "Explain to a new colleague how refunds are rounded, and why."
CRITERIA = "The answer is right, complete, and clear to somebody who has not seen the code."
MARK = "ITEM-"
"""With six digits behind it: how the server knows the case."""

PLACE = "@OUTPUT@"
"""Where the judged text stands in the template."""

_WARM_UP = 900_000
"""Cases from this number on are judged before anything is counted."""

_PROSE = """\
the amount is kept in cents and rounded once at the very end because a sum of rounded parts drifts from the
rounded sum and a customer who adds up the lines of an invoice would find another total than we refund so every
share is computed exactly and the remainder goes to the line with the largest fraction and ties go to the first"""
_WORDS = _PROSE.split()
_TEXT = " ".join(_WORDS[(7 * place) % len(_WORDS)] for place in range(2_000))


def output_of(number: int, *, size: int) -> str:
    """What is judged in one case: its mark and ``size`` characters of plain words, different from case to case."""
    start = (number * 31) % 1_000
    return f"{MARK}{number:06d} {_TEXT[start:]}"[:size]


def vote_of(number: int, judge: str) -> int:
    """The bracket, 0 to 3, that a judge gives a case."""
    return crc32(f"{number}/{judge}".encode()) % len(BRACKETS)


def mark_of(number: int, judge: str, bracket: int) -> int:
    """What one vote adds to the checksum."""
    return crc32(f"{number}/{judge}/{bracket}".encode())


def bracket_of(share: float) -> int:
    """The bracket of a score from 0 to 1."""
    return min(3, int(share * 4))


def number_in(text: str) -> int:
    """The number of the case whose output a text holds."""
    at = text.index(MARK) + len(MARK)
    return int(text[at : at + 6])


def vote_in(text: str) -> int:
    """The bracket of a reply in our form, for clients that have to read it themselves.

    Raises:
        ValueError: It is no JSON object, or names no bracket.
    """
    return BRACKETS.index(json.loads(text)["bracket"])


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One measurement: what is asked, of whom, and how much at once.

    ``template`` is a file with the messages and the reply schema that ours sends, for clients that send the same;
    ``size`` the characters of a case; ``option`` is the client's own; ``curve`` the numbers of votes at which time and
    memory are noted.
    """

    address: str
    cases: int
    in_flight: int
    size: int = 4096
    template: str = ""
    option: str = ""
    folder: str = "."
    curve: tuple[int, ...] = ()


@dataclass
class Meter:
    """Counts votes, and CPU, wall and memory from ``begin`` to ``end``."""

    curve_at: Sequence[int] = ()
    votes: int = 0
    errors: int = 0
    checksum: int = 0
    curve: list[dict[str, float]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def begin(self) -> None:
        """Starts the clocks."""
        self.rss_before_mb = memory_mb("VmRSS")
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        self._next = min(self.curve_at, default=0)

    def vote(self, number: int, judge: str, bracket: int) -> None:
        """One vote has arrived."""
        self.votes += 1
        self.checksum += mark_of(number, judge, bracket)
        if self._next and self.votes >= self._next:
            self._note()

    def lost(self) -> None:
        """One vote has not."""
        self.errors += 1

    def took(self, seconds: float) -> None:
        """How long one panel took."""
        self.seconds.append(seconds)

    def end(self) -> None:
        """Stops the clocks."""
        self.cpu_s, self.wall_s = time.process_time() - self._cpu, time.perf_counter() - self._wall

    def _note(self) -> None:
        self.curve.append(
            {
                "votes": self.votes,
                "cpu_s": time.process_time() - self._cpu,
                "wall_s": time.perf_counter() - self._wall,
                "rss_mb": memory_mb("VmRSS"),
            }
        )
        self._next = min((votes for votes in self.curve_at if votes > self.votes), default=0)


class Template:
    """The request that ours sends, for clients that send the same through a library."""

    def __init__(self, scenario: Scenario) -> None:
        body = json.loads(Path(scenario.template).read_text(encoding="utf-8"))
        self.response_format: Any = body["response_format"]
        self._first, self._last = body["messages"][:-1], body["messages"][-1]["content"]
        self._size = scenario.size

    def messages(self, number: int) -> Any:  # noqa: ANN401  each library has a type of its own for them
        """The messages about one case."""
        content = self._last.replace(PLACE, output_of(number, size=self._size))
        return [*self._first, {"role": "user", "content": content}]


def judge_all(
    scenario: Scenario, ask: Callable[[int, str], Awaitable[int]]
) -> Callable[[Iterable[int], Meter], Awaitable[None]]:
    """Every case with every judge, from as many workers as asks may be in flight; what fails is counted as lost."""

    async def work(source: Iterator[tuple[int, str]], meter: Meter) -> None:
        for number, judge in source:
            try:
                meter.vote(number, judge, await ask(number, judge))
            except Exception:  # noqa: BLE001  all: which errors there are is the library's to say, and a vote is lost
                meter.lost()

    async def judge(numbers: Iterable[int], meter: Meter) -> None:
        source = itertools.product(numbers, JUDGES)
        async with asyncio.TaskGroup() as tasks:
            for _ in range(scenario.in_flight):
                tasks.create_task(work(source, meter))

    return judge


def memory_mb(what: str) -> float:
    """``VmRSS`` or its peak ``VmHWM`` of this process, in MB; 0 where the system does not say."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{what}:")), 0.0)


def main(load: Callable[[], dict[str, str]], client: Callable[[Scenario], Any]) -> None:
    """Runs a client as the command line says, and prints one line of JSON."""
    scenario = _asked()
    before = time.process_time()
    versions = load()
    import_cpu_s = time.process_time() - before
    modules, import_rss_mb = len(sys.modules), memory_mb("VmRSS")
    opened = client(scenario)
    if hasattr(opened, "__aenter__"):
        loops = importlib.import_module("uvloop").new_event_loop if "uvloop" in scenario.option else None
        with asyncio.Runner(loop_factory=loops) as runner:
            meter, warm_cpu_s = runner.run(_measured_async(opened, scenario))
    else:
        meter, warm_cpu_s = _measured(opened, scenario)
    seconds = sorted(meter.seconds)
    result = {
        "scenario": asdict(scenario),
        "versions": {"python": sys.version.split()[0], **versions},
        "votes": meter.votes,
        "errors": meter.errors,
        "checksum": meter.checksum,
        "cpu_s": meter.cpu_s,
        "wall_s": meter.wall_s,
        "import_cpu_s": import_cpu_s,
        "import_rss_mb": import_rss_mb,
        "import_modules": modules,
        "first_panel_cpu_s": warm_cpu_s,
        "rss_before_mb": meter.rss_before_mb,
        "rss_mb": memory_mb("VmHWM"),
        "panel_p50_ms": 1000 * seconds[len(seconds) // 2] if seconds else None,
        "panel_p95_ms": 1000 * seconds[len(seconds) * 95 // 100] if seconds else None,
        "curve": meter.curve,
    }
    print(json.dumps(result), flush=True)


def _asked() -> Scenario:
    parser = argparse.ArgumentParser()
    parser.add_argument("--address", required=True)
    parser.add_argument("--cases", type=int, required=True)
    parser.add_argument("--in-flight", type=int, required=True)
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--template", default="")
    parser.add_argument("--option", default="")
    parser.add_argument("--folder", default=".")
    parser.add_argument("--curve", default="")
    args = vars(parser.parse_args())
    args["curve"] = tuple(int(votes) for votes in args["curve"].split(",") if votes)
    return Scenario(**args)


def _warm_up(scenario: Scenario) -> Iterable[int]:
    """One case: what is set up once is set up then, at the raw clients as at the frameworks."""
    return range(_WARM_UP, _WARM_UP + 1) if scenario.cases else ()


async def _measured_async(opened: Any, scenario: Scenario) -> tuple[Meter, float]:  # noqa: ANN401  a context manager
    async with opened as judge:
        before = time.process_time()
        idle = Meter()
        idle.begin()
        await judge(_warm_up(scenario), idle)
        warm_cpu_s = time.process_time() - before
        _reset(scenario.address)
        meter = Meter(curve_at=scenario.curve)
        meter.begin()
        await judge(range(scenario.cases), meter)
        meter.end()
    return meter, warm_cpu_s


def _measured(opened: Any, scenario: Scenario) -> tuple[Meter, float]:  # noqa: ANN401  a context manager
    with opened as judge:
        before = time.process_time()
        idle = Meter()
        idle.begin()
        judge(_warm_up(scenario), idle)
        warm_cpu_s = time.process_time() - before
        _reset(scenario.address)
        meter = Meter(curve_at=scenario.curve)
        meter.begin()
        judge(range(scenario.cases), meter)
        meter.end()
    return meter, warm_cpu_s


def _reset(address: str) -> None:
    """Tells the server that counting begins."""
    where = urlsplit(address)
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=10)
    connection.request("POST", "/reset", b"")
    connection.getresponse().read()
    connection.close()
