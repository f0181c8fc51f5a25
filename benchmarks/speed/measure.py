"""One measurement: a server of its own, a client of its own, and what both of them saw."""

from __future__ import annotations

import http.client
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from benchmarks.speed.contenders import Contender
from benchmarks.speed.experiments import Step
from benchmarks.speed.scenario import JUDGES, mark_of, vote_of

__all__ = ["Run", "measured"]

_TOP = Path(__file__).resolve().parents[2]
_MOST_SECONDS = 900
_PLACES = ("address", "folder", "template")
"""What of a scenario is true of one machine and one moment only."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What one client did, as it says (``client``) and as the server says (``server``); ``error`` if it did not."""

    experiment: str
    contender: str
    round: int
    step: Step
    cases: int
    client: dict[str, Any] = {}
    server: dict[str, Any] = {}
    wrong: tuple[str, ...] = ()
    error: str = ""

    @property
    def cpu_us(self) -> float:
        """CPU microseconds per vote."""
        votes: int = max(1, self.client["votes"])
        return 1e6 * float(self.client["cpu_s"]) / votes

    @property
    def cold_s(self) -> float:
        """CPU seconds from start to the first case judged: what is imported, and what is set up when first asked."""
        return float(self.client["import_cpu_s"]) + float(self.client["first_panel_cpu_s"])


def measured(
    contender: Contender,
    step: Step,
    *,
    experiment: str,
    number: int,
    fills: bool,
    template: Path,
    before: Sequence[str] = (),
) -> Run:
    """Runs a contender once; ``before`` are arguments of its interpreter.

    ``wrong`` lists what the two sides do not agree on: votes that were lost or doubled, and, where asked, fewer or
    more asks in flight than were asked for. A contender that ends with an error has ``error``.
    """
    cases = min(step.cases, contender.few) if contender.few else step.cases
    told = Run(experiment=experiment, contender=contender.name, round=number, step=step, cases=cases)
    with _server(step) as address, tempfile.TemporaryDirectory() as folder:
        command = [contender.python, *before, "-m", contender.module, "--address", address, "--cases", str(cases)]
        command += ["--in-flight", str(step.in_flight), "--template", str(template), "--option", contender.option]
        command += ["--folder", folder, "--curve", ",".join(map(str, step.curve))]
        try:
            done = subprocess.run(command, cwd=_TOP, capture_output=True, text=True, check=False, timeout=_MOST_SECONDS)
        except subprocess.TimeoutExpired:
            return msgspec.structs.replace(told, error=f"did not finish in {_MOST_SECONDS} s")
        server = _stats(address)
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"scenario"')]
    if done.returncode or not lines:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        return msgspec.structs.replace(told, error=last[:200], server=server)
    client = msgspec.json.decode(lines[-1])
    client["scenario"] = {key: value for key, value in client["scenario"].items() if key not in _PLACES}
    wrong = tuple(_wrong(client, server, step, cases, contender, fills=fills))
    return msgspec.structs.replace(told, client=client, server=server, wrong=wrong)


def _wrong(
    client: dict[str, Any], server: dict[str, Any], step: Step, cases: int, contender: Contender, *, fills: bool
) -> Iterator[str]:
    due = cases * len(JUDGES)
    expected = sum(mark_of(case, judge, vote_of(case, judge)) for case in range(cases) for judge in JUDGES)
    if client["votes"] != due:
        yield f"{client['votes']} of {due} votes"
    elif client["checksum"] != expected:
        yield "the votes are not those that were cast"
    if "scripted" in contender.option:
        return
    if not step.errors and server["requests"] != due:
        yield f"{server['requests']} requests for {due} votes"
    if not step.errors and server["checksum"] != expected:
        yield "the server cast other votes"
    if fills and server["peak_in_flight"] != step.in_flight:
        yield f"{server['peak_in_flight']} of {step.in_flight} in flight"
    if server["connections"] > step.in_flight * contender.pools and not step.errors:
        yield f"{server['connections']} connections for {step.in_flight} in flight"


@contextmanager
def _server(step: Step) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.speed.stub", "--median-ms", str(step.median_ms)]
    command += ["--sigma", str(step.sigma), "--errors", str(step.errors)]
    with subprocess.Popen(command, cwd=_TOP, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None:
                msg = "the server has no standard output"
                raise RuntimeError(msg)
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def _stats(address: str) -> dict[str, Any]:
    where = urlsplit(address)
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=10)
    connection.request("GET", "/stats")
    said: dict[str, Any] = msgspec.json.decode(connection.getresponse().read())
    connection.close()
    return said
