"""The table that follows a panel at work."""

from __future__ import annotations

import io

from rich.console import Console

from deliberate.cli._live import Progress
from deliberate.judging import UnderWay
from deliberate.reports import Screen
from deliberate.types import AskId, BallotCast, Bracket, DimensionScore, RoundClosed, RunStarted, SeatAbsent, Usage


def drawn(progress: Progress, *under_way: UnderWay, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, legacy_windows=False, record=True)
    console.print(progress.drawn(Screen(console), under_way))
    return console.export_text()


def cast(seat: str, *, read_back: bool = False, cost: float | None = 0.25) -> BallotCast:
    dimensions = (
        DimensionScore(dimension="safety", weight=0.5, judged=60.0, adjusted=50.0),
        DimensionScore(dimension="style", weight=0.5, judged=92.0, adjusted=92.0),
    )
    return BallotCast(
        case="c",
        at=AskId(f"0.ballot..{seat}"),
        seat=seat,
        bracket=Bracket.GOOD,
        score=71.0,
        dimensions=dimensions,
        usage=Usage(calls=1, cost_usd=cost),
        read_back=read_back,
    )


def waits(seat: str, state: str = "asked", why: str = "", seconds: float = 0.0) -> UnderWay:
    return UnderWay("c", seat, "m/x", state, why, seconds)  # type: ignore[arg-type]


def test_each_seat_has_its_bar_score_dimensions_state_and_cost() -> None:
    progress = Progress()
    for event in (RunStarted(run="r1", plan_digest=""), cast("opus"), cast("gpt", read_back=True, cost=None)):
        progress(event)
    progress(SeatAbsent(case="c", at=AskId("0.ballot..dead"), seat="dead", state="failed", detail="connection refused"))
    text = drawn(progress, waits("slow"), waits("full", "queued"), waits("limited", "waiting", "rate limit", 12.3))
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in text.splitlines()}
    assert rows["seat"] == "bracket score safety style state cost"
    assert rows["opus"] == "■■■□ Good 71 50 92 voted $0.2500"
    assert rows["gpt"] == "■■■□ Good 71 50 92 read back unknown"
    assert rows["dead"] == "failed (connection refused)"
    assert (rows["slow"], rows["full"], rows["limited"]) == ("running", "queued", "waiting 12 s for rate limit")
    assert rows["round"] == "1 · 2 votes · 3 open · $0.2500"
    assert (progress.run, progress.votes, progress.read_back) == ("r1", 2, 1)


def test_a_new_round_asks_a_seat_again() -> None:
    progress = Progress()
    progress(cast("opus", cost=None))
    progress(RoundClosed(case="c", round=0))
    text = drawn(progress, waits("opus"))
    assert "■■■□ Good" in text
    assert "running" in text
    assert "round 2 · 1 votes · 1 open · cost unknown" in text


def test_nothing_is_wider_than_the_terminal() -> None:
    progress = Progress()
    progress(cast("a-seat-with-a-name-that-is-much-too-long-for-the-narrow-terminal-it-is-shown-on"))
    assert max(len(line) for line in drawn(progress, width=80).splitlines()) <= 80
