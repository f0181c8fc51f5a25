"""How many at once, how many a minute, and when not at all."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.errors import QuotaError, TransientProviderError
from deliberate.judging import JudgeActors, Limit, Pace, Purse
from deliberate.ledger import open_ledger
from deliberate.providers._base import Request, Response
from deliberate.providers.scripted import Scripted
from deliberate.runtime import Steps, task_group
from deliberate.types import Absent, Answer, Ballot, Later, Usage
from tests.judging.test_actors import GOOD, bench, post

pytestmark = pytest.mark.anyio


async def test_it_grows_only_when_used_and_is_cut_once_an_episode() -> None:
    limit = Limit(start=8)
    for _ in range(8):
        limit.went_well(0.0)
    assert limit.places == 8  # nobody needed them
    full = anyio.Event()

    async def hold(number: int) -> None:
        async with limit:
            if number == 6:
                full.set()
            await full.wait()

    async with anyio.create_task_group() as tasks:
        for number in range(7):
            tasks.start_soon(hold, number)
    for _ in range(8):
        limit.went_well(0.0)
    assert limit.places == 16
    for _ in range(5):
        limit.was_told_to_wait(1.0, retry_after=None)
    assert limit.places == 12
    limit.was_told_to_wait(16.5, retry_after=None)
    assert limit.places == 9


async def test_until_the_time_an_endpoint_named_nobody_sends() -> None:
    limit = Limit()
    limit.was_told_to_wait(10.0, retry_after=5.0)
    limit.was_told_to_wait(11.0, retry_after=1.0)  # a shorter one does not take it back
    assert (limit.seconds_closed(11.0), limit.seconds_closed(15.0)) == (4.0, 0.0)


@pytest.mark.parametrize("most", [1, 3])
async def test_no_window_holds_more_requests_than_were_allowed(most: int) -> None:
    seconds = 0.05
    pace = Pace(requests=most, seconds=seconds)
    sent: list[float] = []

    async def send() -> None:
        sent.append((await pace.wait_turn(10))[0])

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(send)
    assert sent == sorted(sent)
    assert all(later - first >= seconds for first, later in zip(sent, sent[most:], strict=False))


async def test_no_window_holds_more_tokens_than_were_allowed_and_what_was_not_used_is_given_back() -> None:
    pace = Pace(tokens=100, seconds=0.1)
    first = await pace.wait_turn(90)
    assert pace.seconds_left(10) == 0.0
    assert 0.0 < pace.seconds_left(20) <= 0.1
    pace.settle(first, 30)
    assert pace.seconds_left(70) == 0.0
    assert 0.0 < pace.seconds_left(500) <= 0.1  # more than a window has: it goes out alone
    before = anyio.current_time()
    await pace.wait_turn(500)
    assert anyio.current_time() - before >= 0.09


@given(st.lists(st.integers(1, 60), max_size=12), st.integers(1, 60))
def test_with_room_enough_nobody_waits(sent: list[int], tokens: int) -> None:
    async def main() -> None:
        pace = Pace(requests=len(sent) + 1, tokens=sum(sent) + tokens)
        for one in sent:
            await pace.wait_turn(one)
        assert pace.seconds_left(tokens) == 0.0

    anyio.run(main)


async def test_the_time_of_a_call_does_not_run_while_it_waits_for_its_turn() -> None:
    async with open_ledger(":memory:") as ledger, task_group() as tasks:
        provider = Scripted(lambda _: Response(text=GOOD, usage=Usage(calls=1, tokens_in=1, tokens_out=1)))
        judges = JudgeActors(
            tasks=tasks,
            provider=lambda _: provider,
            ledger=ledger,
            steps=Steps(ledger),
            secret=b"secret",
            purse=Purse(),
            requests_per_minute=1000,
            tokens_per_minute=1_000_000,
        )
        limit = judges._limits[provider.limit_key("scripted/x")] = Limit(pace=Pace(requests=1, seconds=0.1))  # noqa: SLF001
        answers = await judges.ask([post(str(number), deadline_seconds=0.08) for number in range(3)])
        assert all(isinstance(one, Answer) and isinstance(one.reply, Ballot) for one in answers)
        assert limit.places == 8
        judges.close()


async def test_a_quota_that_is_used_up_parks_the_key_and_not_only_the_judge() -> None:
    asked: list[str] = []

    def script(request: Request) -> Exception:
        asked.append(request.model)
        return QuotaError("quota used up: pay first", status=429)

    async with bench(script, in_flight=1) as table:
        answers = await table.judges.ask([post(model="scripted/a"), post(model="scripted/b"), post(model="scripted/c")])
    assert len(asked) == 1
    assert {one.reply for one in answers if isinstance(one, Answer)} == {
        Absent(reason="transport", detail="quota used up: pay first")
    }


async def test_whoever_comes_before_the_time_that_was_named_waits_or_is_told_without_a_request() -> None:
    asked: list[float] = []

    def script(_: Request) -> str | Exception:
        asked.append(anyio.current_time())
        return TransientProviderError("busy", status=429, retry_after=0.1) if len(asked) == 1 else GOOD

    async with bench(script, in_flight=3) as table, anyio.create_task_group() as tasks:
        found: list[Answer | Later] = []

        async def ask(number: str, seconds: float) -> None:
            found.extend(await table.judges.ask([post(number, deadline_seconds=seconds)]))

        tasks.start_soon(ask, "1", 60.0)
        while not asked:
            await anyio.sleep(0.001)
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(ask, "2", 60.0)
        tasks.start_soon(ask, "3", 0.01)
    replies = [one.reply for one in found if isinstance(one, Answer)]
    assert sum(isinstance(one, Ballot) for one in replies) == 2
    assert replies[0] == Absent(reason="transport", detail="its provider asked to wait for 0 s more")
    assert len(asked) == 3
    assert min(asked[1:]) - asked[0] >= 0.1


async def test_winding_down_lets_those_in_flight_end_and_nobody_else_begin() -> None:
    let = anyio.Event()
    asked: list[str] = []

    class Slow(Scripted):
        async def complete(self, request: Request) -> Response:
            asked.append(request.messages[-1].content)
            await let.wait()
            return Response(text=GOOD)

    found: list[Answer] = []

    async with bench(Slow(), in_flight=1) as table:

        async def ask(number: str) -> None:
            # Two judges, so that the second waits for the place of the first.
            (answer,) = await table.judges.ask([post(number, model=f"scripted/{number}")])
            assert isinstance(answer, Answer)
            found.append(answer)

        async with anyio.create_task_group() as tasks:
            for number in ("1", "2"):
                tasks.start_soon(ask, number)
            while not asked:
                await anyio.sleep(0.001)
            before = anyio.current_time()
            await table.judges.wind_down(0.02)
            assert anyio.current_time() - before >= 0.02
            let.set()
            await table.judges.wind_down(5)
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
    assert (len(asked), len(found)) == (1, 1)
