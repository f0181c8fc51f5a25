"""What the page of speed says of each client: what a vote takes, its memory, and its start to the first verdict."""

from __future__ import annotations

from benchmarks.speed.contenders import CONTENDERS
from benchmarks.speed.experiments import Step
from benchmarks.speed.goals import Results, goals
from benchmarks.speed.measure import Run
from benchmarks.speed.report import Machine, Record, page

STEP = Step(in_flight=64, cases=10, median_ms=50)
MACHINE = Machine(processor="", cores=2, memory_gb=16.0, system="", python="", load=0.0, versions={})
MIXED, PEER = "deliberate, mixed panel", "litellm acompletion"


def run(contender: str, *, votes: int, connections: int) -> Run:
    client = {"votes": votes, "cpu_s": votes * 0.002, "wall_s": 1.0, "rss_mb": 214.0, "import_cpu_s": 0.25}
    client["first_panel_cpu_s"] = 2.5
    server = {"requests": votes, "peak_in_flight": 64, "connections": connections, "request_bytes": 6665}
    return Run(experiment="fixed", contender=contender, round=0, step=STEP, cases=10, client=client, server=server)


def test_a_mixed_panel_stands_beside_the_peers_with_a_vote_its_memory_and_its_cold_start() -> None:
    results = Results([run(MIXED, votes=30, connections=88), run(PEER, votes=30, connections=64)], {})
    found = {goal.text: goal for goal in goals(results) if goal.text.startswith("mixed panel")}
    assert [goal.measured for goal in found.values()] == [2000.0, 214.0, 2.75, 88 / 128]
    # Two providers keep connections of their own, each as many as may be in flight.
    assert CONTENDERS[MIXED].pools == 2
    assert [goal.met for goal in found.values()] == [None, None, None, True]
    lines = page(Record(machine=MACHINE), results, list(found.values())).splitlines()
    heads, *_ = (line for line in lines if line.startswith("| client |"))
    place = heads.split(" | ").index("first verdict CPU s")
    rows = [line for line in lines if line.startswith((f"| {MIXED} |", f"| {PEER} |"))]
    assert [row.split(" | ")[place] for row in rows] == ["2.75", "2.75"]
    assert all(heads.count("|") == row.count("|") for row in rows)
