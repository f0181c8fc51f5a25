"""The fault matrix: whatever the endpoint does, nothing is lost, nothing is made up, nothing is paid for twice."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from deliberate.ledger import read_ledger
from deliberate.reports import why_without
from deliberate.testing.endpoint import Endpoint, mixed
from deliberate.types import Absent
from tests.faults import _matrix
from tests.faults._matrix import (
    LASTING,
    MODELS,
    NEVER,
    OTHER_WORDS,
    PASSING,
    check,
    dead,
    failing,
    judged,
    on_first,
)

pytestmark = pytest.mark.anyio

ALL = os.environ.get("DELIBERATE_ALL") == "1" or os.environ.get("DELIBERATE_CHECK") == "all"
CASES = 12
MIX = {"rate_limited": 0.3, "server_error": 0.2, "reset": 0.2, "overloaded": 0.2, "truncated": 0.1}


@pytest.mark.parametrize(
    "number", [60, pytest.param(2000, marks=[pytest.mark.thorough, pytest.mark.timeout(1800)])], ids=str
)
async def test_with_an_eighth_of_all_attempts_failing_no_vote_is_lost_and_few_are_asked_twice(
    tmp_path: Path, number: int, record_property: Callable[[str, object], None]
) -> None:
    shares = {name: 0.12 * share for name, share in MIX.items()}
    async with Endpoint(latency_seconds=0.005) as calm:
        undisturbed = await judged(number, calm, tmp_path / "calm.db")
    async with Endpoint(mixed(shares, seed=2, first_attempts_only=False), latency_seconds=0.005) as endpoint:
        seen = await judged(number, endpoint, tmp_path / "runs.db", in_flight=64)
    votes = 5 * number
    assert (undisturbed.votes, undisturbed.requests) == (votes, votes)
    assert seen.votes == votes
    assert seen.digests == undisturbed.digests  # I3
    assert seen.requests == votes + seen.faults  # I5
    assert seen.requests <= 1.15 * votes
    assert seen.faults > 0.1 * votes
    assert seen.most_in_flight <= 64  # I6
    await check(seen, tmp_path / "runs.db", cases=number)
    record_property("sampled", f"{number} cases, {seen.requests / votes:.3f} requests a vote")


F1 = sorted((*PASSING, *LASTING, *NEVER, *OTHER_WORDS))


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if at % 4 == 0 else pytest.mark.thorough) for at, name in enumerate(F1)]
)
async def test_each_fault_alone_ends_as_its_class_says(tmp_path: Path, name: str) -> None:
    async with Endpoint() as calm:
        undisturbed = await judged(2, calm, tmp_path / "calm.db", models=MODELS[:3])
    async with Endpoint(on_first(name)) as endpoint:
        seen = await judged(2, endpoint, tmp_path / "runs.db", models=MODELS[:3])
        await check(seen, tmp_path / "runs.db", cases=2, seats=3)
        assert endpoint.stats.elsewhere == 0
        repairs = 0 if name in PASSING else 6
        assert seen.requests <= 6 + seen.faults + repairs  # I5
        if name in PASSING:
            assert seen.digests == undisturbed.digests
        elif name in NEVER:
            assert seen.requests <= 6
            assert {reply.reason for reply in seen.replies if isinstance(reply, Absent)} == {"transport"}
            again = await judged(2, endpoint, tmp_path / "runs.db", models=MODELS[:3])
            assert again.digests == undisturbed.digests  # F4's rule for one: repaired, it goes on


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(1, 20))])
async def test_a_random_mix_at_three_of_ten_attempts_changes_no_byte(tmp_path: Path, seed: int) -> None:
    # A reply that cannot be read twice is unread for good: no fault that passes.
    names = [name for name in PASSING if name not in ("rate_limited_a_second", "broken_vote")]
    shares = {name: 0.3 / len(names) for name in names}
    async with Endpoint() as calm:
        undisturbed = await judged(CASES, calm, tmp_path / "calm.db")
    async with Endpoint(failing(mixed(shares, seed=seed, first_attempts_only=False), attempts=3)) as endpoint:
        seen = await judged(CASES, endpoint, tmp_path / "runs.db")
        await check(seen, tmp_path / "runs.db", cases=CASES)
    assert seen.faults > 0
    assert seen.digests == undisturbed.digests


async def test_a_vote_that_failed_five_times_by_chance_is_asked_once_more(tmp_path: Path) -> None:
    async with Endpoint(failing(lambda _: "retry_after:0.01", attempts=5)) as endpoint:
        seen = await judged(2, endpoint, tmp_path / "runs.db", models=MODELS[:1])
        await check(seen, tmp_path / "runs.db", cases=2, seats=1)
    assert (seen.votes, seen.requests) == (2, 12)


SIZES = [CASES, pytest.param(2000, marks=[pytest.mark.thorough, pytest.mark.timeout(1800)])]


@pytest.mark.parametrize("number", SIZES)
async def test_one_judge_dead_for_good_leaves_the_others_a_quorum_and_is_left_alone(
    tmp_path: Path, number: int
) -> None:
    async with Endpoint(dead({"seeded-e"})) as endpoint:
        seen = await judged(number, endpoint, tmp_path / "runs.db", in_flight=4)
        await check(seen, tmp_path / "runs.db", cases=number)
    assert seen.votes == 4 * number
    assert all(one.score is not None for one in seen.evaluations.values())
    assert seen.requests - seen.votes < CASES  # parked after five
    told = [reply.detail for reply in seen.replies if isinstance(reply, Absent)]
    assert any("parked after 5 failures in a row" in one for one in told)
    assert any("does not exist" in one for one in told)


@pytest.mark.parametrize("number", SIZES)
async def test_three_judges_dead_decide_nothing_and_after_repair_the_bytes_are_those_without_fault(
    tmp_path: Path, number: int
) -> None:
    gone = {"seeded-a", "seeded-b", "seeded-c"}
    async with Endpoint() as calm:
        undisturbed = await judged(number, calm, tmp_path / "calm.db")
    async with Endpoint(dead(gone)) as endpoint:
        seen = await judged(number, endpoint, tmp_path / "runs.db")
        await check(seen, tmp_path / "runs.db", cases=number)
        assert {why_without(one) for one in seen.evaluations.values()} == {"no_quorum"}
        assert (seen.votes, len(seen.evaluations)) == (2 * number, number)
        gone.clear()
        again = await judged(number, endpoint, tmp_path / "runs.db")
    assert again.digests == undisturbed.digests
    assert again.requests == 3 * number
    async with read_ledger(tmp_path / "runs.db") as reader:
        assert {run.status for run in await reader.runs()} == {"incomplete", "ok"}


async def test_a_clock_that_is_set_back_moves_no_byte_and_no_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter(f"{year}-01-01T00:00:00.000Z" for year in (2026, 1970, 2027, 1999, 2026) * 1000)
    for module in ("_ledger", "_rows", "_schema", "_lock"):
        monkeypatch.setattr(f"deliberate.ledger.{module}.now", lambda: next(times))
    gone = {"seeded-a", "seeded-b", "seeded-c"}
    async with Endpoint(dead(gone)) as endpoint:
        await judged(CASES, endpoint, tmp_path / "runs.db")
        gone.clear()
        again = await judged(CASES, endpoint, tmp_path / "runs.db", deadline_seconds=60)
        calm = await judged(CASES, endpoint, tmp_path / "calm.db")
        await check(again, tmp_path / "runs.db", cases=CASES)
    assert again.digests == calm.digests


async def test_a_rate_that_is_given_is_kept_and_costs_no_vote(tmp_path: Path) -> None:
    async with Endpoint() as endpoint:
        with anyio.fail_after(20):
            seen = await judged(4, endpoint, tmp_path / "runs.db", requests_per_minute=1200, tokens_per_minute=10**7)
    assert seen.votes == 20


async def test_a_case_ends_at_its_own_deadline_and_the_others_do_not(tmp_path: Path) -> None:
    async with Endpoint(lambda call: "silent" if "3 + 3" in str(call.body) else None) as endpoint:
        seen = await judged(5, endpoint, tmp_path / "runs.db", case_seconds=3.0)
    late = {name for name, one in seen.evaluations.items() if one.score is None}
    assert late == {"q3"}


def test_every_test_that_the_table_names_is_there() -> None:
    named = re.findall(r"([\w./]+)::(\w+)", _matrix.__doc__ or "")
    assert len(named) > 20
    for file, name in named:
        text = (Path(__file__).parent / f"{file}.py").read_text(encoding="utf-8")
        assert f"def {name}(" in text, name
