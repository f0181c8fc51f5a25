"""``deliberate run`` killed at every named point and at any moment: it goes on to the bytes of an undisturbed run."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from deliberate.ledger import verify
from tests.faults._dies import POINTS
from tests.faults._runs import GROUP, SEATS, VOTES, Runs, laid, undisturbed_digests

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]

IN_FLIGHT = 4
CASES = 20
SERIES = 67
NAMED = ("send", "reply", "store", "commit")
KILLS = (True, True, False, False, False)
"""The kills of a series, in any order: two at one of the points ``NAMED``, three not; of all series 134 and 201."""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return anyio.run(undisturbed_digests, tmp_path_factory.mktemp("calm") / "t")


@pytest.fixture(scope="module")
def undisturbed_series(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    path = tmp_path_factory.mktemp("calm") / "t"

    async def main() -> list[str]:
        return await undisturbed_digests(path, cases=CASES)

    return anyio.run(main)


POINTS_AND_TIMES = [
    (point, times) for point in POINTS for times in (1, 3, 7) if times == 1 or point not in {"anchor", "report"}
]


@pytest.mark.parametrize(
    ("point", "times"),
    [
        pytest.param(point, times, marks=() if times == 3 or point == "anchor" else pytest.mark.thorough)
        for point, times in POINTS_AND_TIMES
    ],
)
async def test_killed_at_a_named_point_it_goes_on_to_the_same_bytes(
    tmp_path: Path, undisturbed: list[str], point: str, times: int
) -> None:
    # Replies that come one by one are committed one by one: there is a seventh time.
    async with laid(tmp_path / "t", latency_seconds=0.1, jitter=0.8) as runs:
        await killed_at(runs, point, times)
        before, held = runs.endpoint.stats.requests, runs.held()
        done = await runs.run("--in-flight", "4")
        assert done.code == 0, done.err
        assert runs.digests() == undisturbed
        assert runs.endpoint.stats.requests - before == VOTES - held
        assert runs.endpoint.stats.requests - VOTES <= IN_FLIGHT + GROUP
        assert (await verify(runs.folder / "home/ledger.db")).sound


async def killed_at(runs: Runs, point: str, times: int) -> None:
    """The command, which kills itself the n-th time it comes to a point."""
    program = ("tests.faults._dies", point, str(times))
    async with runs.running("--in-flight", str(IN_FLIGHT), program=program) as process:
        assert await process.wait() == -signal.SIGKILL


async def killed_at_any_moment(runs: Runs, chance: random.Random) -> None:
    """The command, killed while it starts, or at some moment after some request."""
    wanted = runs.endpoint.stats.requests + chance.randint(0, 4)
    async with runs.running("--in-flight", str(IN_FLIGHT)) as process:
        while runs.endpoint.stats.requests < wanted:
            assert process.returncode is None
            await anyio.sleep(0.005)
        await anyio.sleep(chance.uniform(0.0, 0.1))
        assert process.returncode is None
        process.kill()
        assert await process.wait() == -signal.SIGKILL


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(1, SERIES))])
async def test_killed_again_and_again_it_ends_with_the_same_bytes(
    tmp_path: Path, undisturbed_series: list[str], seed: int, record_property: Callable[[str, object], None]
) -> None:
    chance = random.Random(seed)
    series = chance.sample(KILLS, len(KILLS))
    async with laid(tmp_path / "t", cases=CASES, latency_seconds=0.15, jitter=0.8, seed=seed) as runs:
        for named in series:
            if named:
                await killed_at(runs, chance.choice(NAMED), chance.randint(1, 4))
            else:
                await killed_at_any_moment(runs, chance)
        done = await runs.run()
        assert done.code == 0, done.err
        assert runs.digests() == undisturbed_series
        repeated = runs.endpoint.stats.requests - SEATS * CASES
        assert 0 <= repeated <= len(series) * (IN_FLIGHT + GROUP)
        assert (await verify(runs.folder / "home/ledger.db")).sound
    record_property("sampled", f"{len(series)} of {SERIES * len(series)} kills, {repeated} calls repeated")
