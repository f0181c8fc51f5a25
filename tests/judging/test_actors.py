"""Judges at work: retries, repair, deadlines, budgets, cancelling, parking; one absent seat harms no other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

import anyio
import msgspec
import pytest

from deliberate.errors import RefusedError, TransientProviderError
from deliberate.judging import JudgeActors, Limit, Purse, key_of
from deliberate.judging._ask import Doors, Standing, Withdrawn, ask
from deliberate.ledger import Ledger, open_ledger
from deliberate.protocols import BALLOT
from deliberate.providers._base import Request, Response
from deliberate.providers.scripted import Scripted
from deliberate.runtime import Post, Steps, task_group
from deliberate.types import Absent, Answer, Ask, Ballot, Case, Judge, Later, Seat, Usage

pytestmark = pytest.mark.anyio

GOOD = '{"reasoning": "r", "findings": [], "suggestion": "", "bracket": "good", "score": 70}'

Script = Callable[[Request], str | Response | Exception]


class Bench(NamedTuple):
    judges: JudgeActors
    ledger: Ledger
    steps: Steps


@asynccontextmanager
async def bench(
    script: Script | Scripted, *, most_usd: float | None = None, in_flight: int | None = None
) -> AsyncIterator[Bench]:
    provider = script if isinstance(script, Scripted) else Scripted(script)
    async with open_ledger(":memory:") as ledger, task_group() as tasks:
        steps = Steps(ledger)
        judges = JudgeActors(
            tasks=tasks,
            provider=lambda _: provider,
            ledger=ledger,
            steps=steps,
            secret=b"secret",
            purse=Purse(most_usd),
            most_in_flight=in_flight,
        )
        yield Bench(judges, ledger, steps)
        judges.close()


def post(output: str = "4", *, model: str = "scripted/x", human: bool = False, deadline_seconds: float = 60.0) -> Post:
    seat = Seat(name="one", judge=Judge(model=model, human=human))
    case = Case(output=output, task="2 + 2?")
    ask = Ask(seat="one", form=BALLOT.name)
    key = key_of(ask, seat=seat, case=case, rubric=None, form=BALLOT, protocol="independent@1")
    return Post(
        key=key,
        ask=ask,
        judge=seat.judge,
        sample=0,
        case=case,
        rubric=None,
        form=BALLOT,
        deadline_seconds=deadline_seconds,
    )


async def one(script: Script, **kind: float | None) -> Answer:
    async with bench(script, most_usd=kind.get("most_usd")) as table:
        (answer,) = await table.judges.ask([post()])
    assert isinstance(answer, Answer)
    return answer


def replies(*said: str | Response | Exception) -> tuple[Script, list[Request]]:
    asked: list[Request] = []

    def script(request: Request) -> str | Response | Exception:
        asked.append(request)
        return said[min(len(asked), len(said)) - 1]

    return script, asked


async def test_a_reply_becomes_a_ballot_with_what_was_asked_and_what_answered() -> None:
    answer = await one(lambda _: GOOD)
    assert isinstance(answer.reply, Ballot)
    assert answer.requested["temperature"] == "0.1"
    assert answer.requested["max_tokens"] == "2000"
    assert answer.effective["finish"] == "stop"
    assert (answer.attempts, len(answer.prompt_sha256)) == (1, 64)


async def test_an_unreadable_reply_gets_one_repair_ask_that_says_why() -> None:
    script, asked = replies("no idea", GOOD)
    answer = await one(script)
    assert isinstance(answer.reply, Ballot)
    assert answer.attempts == 2
    assert [message.role for message in asked[1].messages] == ["system", "user", "assistant", "user"]
    assert "not one JSON object" in asked[1].messages[-1].content
    assert asked[1].key == f"{asked[0].key}#repair"


async def test_a_second_unreadable_reply_is_absent_and_no_number() -> None:
    answer = await one(lambda _: "no idea")
    assert answer.reply == Absent(reason="unreadable", detail="it was not one JSON object")
    assert answer.attempts == 2


async def test_a_refusal_is_an_abstention_and_is_not_asked_again() -> None:
    answer = await one(lambda _: Response(text="I would rather not", finish="refused"))
    assert answer.reply == Absent(reason="refused", detail="I would rather not")
    assert (answer.attempts, answer.lasting) == (1, True)


async def test_a_cut_reply_is_asked_for_once_more_with_a_larger_cap() -> None:
    script, asked = replies(Response(text='{"score": 8', finish="length"), GOOD)
    answer = await one(script)
    assert isinstance(answer.reply, Ballot)
    assert [request.max_tokens for request in asked] == [2000, 4000]


async def test_a_reply_cut_twice_is_truncated() -> None:
    answer = await one(lambda _: Response(text='{"score": 8', finish="length"))
    assert answer.reply == Absent(reason="truncated", detail="cut at 4000 tokens")


async def test_a_transient_failure_is_tried_again_after_as_long_as_it_asked() -> None:
    script, asked = replies(TransientProviderError("busy", status=429, retry_after=0.01), GOOD)
    answer = await one(script)
    assert isinstance(answer.reply, Ballot)
    assert (answer.attempts, len(asked)) == (2, 2)


async def test_after_five_attempts_the_real_cause_stands_on_the_vote() -> None:
    answer = await one(lambda _: TransientProviderError("overloaded", status=529, retry_after=0.001))
    assert answer.reply == Absent(reason="transport", detail="overloaded")
    assert (answer.attempts, answer.lasting) == (5, False)


async def test_a_wait_longer_than_what_is_left_is_not_begun() -> None:
    answer = await one(lambda _: TransientProviderError("later", status=429, retry_after=86_400.0))
    assert answer.reply == Absent(reason="transport", detail="later")
    assert answer.attempts == 1


async def test_what_cannot_help_is_not_tried_again() -> None:
    answer = await one(lambda _: RefusedError("no such model", status=404))
    assert answer.reply == Absent(reason="transport", detail="no such model")
    assert answer.attempts == 1


async def test_a_judge_that_hangs_ends_at_the_deadline() -> None:
    async with bench(Scripted()) as table:
        (answer,) = await table.judges.ask([post(model="scripted/hang", deadline_seconds=0.05)])
    assert isinstance(answer, Answer)
    assert isinstance(answer.reply, Absent)
    assert answer.reply.state == "failed"


async def test_a_defect_in_a_provider_takes_no_other_seat_with_it() -> None:
    def script(request: Request) -> str:
        if "boom" in request.messages[-1].content:
            msg = "a defect"
            raise KeyError(msg)
        return GOOD

    async with bench(script) as table:
        broken, fine = await table.judges.ask([post("boom"), post("4")])
    assert isinstance(broken, Answer)
    assert isinstance(fine, Answer)
    assert broken.reply == Absent(reason="crashed", detail="KeyError: 'a defect'")
    assert isinstance(fine.reply, Ballot)


async def test_a_call_that_could_pass_the_budget_is_not_made() -> None:
    class Dear(Scripted):
        async def worst_cost_usd(self, request: Request) -> float | None:
            return None if "unpriced" in request.messages[-1].content else 0.6

    def script(_: Request) -> Response:
        return Response(text=GOOD, usage=Usage(calls=1, cost_usd=0.5))

    async with bench(Dear(script), most_usd=1.2, in_flight=1) as table:
        answers = await table.judges.ask([post("1"), post("2"), post("3"), post("unpriced")])
    absent = Absent(reason="budget", detail="the call could have passed the budget")
    assert [one.reply == absent for one in answers if isinstance(one, Answer)] == [False, False, True, True]


async def test_what_is_set_aside_for_calls_under_way_is_waited_for_and_not_taken_for_spent() -> None:
    class Feared(Scripted):
        async def worst_cost_usd(self, request: Request) -> float | None:  # noqa: ARG002  whatever is asked
            return 0.6

    def script(_: Request) -> Response:
        return Response(text=GOOD, usage=Usage(calls=1, cost_usd=0.25))

    async with bench(Feared(script), most_usd=1.2, in_flight=8) as table:
        answers = await table.judges.ask([post(str(number)) for number in range(6)])
    # 0.25 each: two at a time at first, then one; with 0.75 spent no more than 0.6 could be paid.
    replies = [one.reply for one in answers if isinstance(one, Answer)]
    assert sum(isinstance(one, Ballot) for one in replies) == 3
    assert sum(isinstance(one, Absent) and one.state == "unasked" for one in replies) == 3


async def test_whoever_has_to_try_again_waits_for_the_budget_too_and_loses_no_time_by_it() -> None:
    class Slow(Scripted):
        failed = False

        async def worst_cost_usd(self, request: Request) -> float | None:  # noqa: ARG002  whatever is asked
            return 0.6

        async def complete(self, request: Request) -> Response:
            if not self.failed:
                self.failed = True
                raise TransientProviderError("overloaded", retry_after=0.0)
            await anyio.sleep(0.05)
            return await super().complete(request)

    def script(_: Request) -> Response:
        return Response(text=GOOD, usage=Usage(calls=1, cost_usd=0.1))

    async with bench(Slow(script), most_usd=1.2, in_flight=8) as table:
        answers = await table.judges.ask([post(str(number)) for number in range(4)])
    assert sorted(one.attempts for one in answers if isinstance(one, Answer)) == [1, 1, 1, 2]
    assert all(isinstance(one.reply, Ballot) for one in answers if isinstance(one, Answer))


async def test_a_person_is_waited_for_and_never_stored() -> None:
    async with bench(lambda _: GOOD) as table:
        found = await table.judges.ask([post(model="maria", human=True), post()])
    assert found[0] == Later(waits_for="maria")
    assert isinstance(found[1], Answer)


async def test_after_five_failures_in_a_row_a_judge_is_parked_for_the_session() -> None:
    script, asked = replies(RefusedError("down"))
    async with bench(script, in_flight=1) as table:
        for number in range(7):
            await table.judges.ask([post(str(number))])
        (last,) = await table.judges.ask([post("last")])
    assert isinstance(last, Answer)
    assert last.reply == Absent(reason="transport", detail="parked after 5 failures in a row")
    assert len(asked) == 5


async def test_what_is_in_the_ledger_is_read_back_and_not_asked_again() -> None:
    script, asked = replies(GOOD)
    async with bench(script) as table:
        (first,) = await table.judges.ask([post()])
        (second,) = await table.judges.ask([post()])
        assert isinstance(first, Answer)
        assert first == second
        assert table.steps.was_read_back(first.key)
        assert not table.steps.was_read_back(first.key)
    assert len(asked) == 1


async def test_an_absence_of_ours_is_asked_again() -> None:
    script, asked = replies(RefusedError("down"), GOOD)
    async with bench(script) as table:
        await table.judges.ask([post()])
        (second,) = await table.judges.ask([post()])
    assert isinstance(second, Answer)
    assert isinstance(second.reply, Ballot)
    assert len(asked) == 2


async def test_cancelling_a_caller_cancels_its_asks_and_no_others() -> None:
    async with bench(Scripted()) as table:
        done: list[Answer | Later] = []

        async def stays() -> None:
            done.extend(await table.judges.ask([post(str(n), model="scripted/good@0.2") for n in range(12)]))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stays)
            with anyio.move_on_after(0.05) as scope:
                await table.judges.ask([post(f"x{n}", model="scripted/good@5") for n in range(12)])
            assert scope.cancelled_caught
        await table.ledger.committed()
        cut = [await table.ledger.reader.attempts(post(f"x{n}", model="scripted/good@5").key) for n in range(12)]
    assert sum(isinstance(one, Answer) and isinstance(one.reply, Ballot) for one in done) == 12
    # The first eight of them were in flight (a new provider starts with eight places); four had not begun.
    assert [attempts[0].outcome for attempts in cut if attempts] == ["cut off"] * len([a for a in cut if a])


async def test_whoever_waits_for_the_ask_of_another_waits_no_longer_than_its_own_caller() -> None:
    async with bench(Scripted()) as table:
        same = post(model="scripted/good@0.2")
        done: list[Answer | Later] = []

        async def stays() -> None:
            done.extend(await table.judges.ask([same]))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stays)
            await anyio.wait_all_tasks_blocked()
            with anyio.move_on_after(0.05) as scope:
                await table.judges.ask([same])
            assert scope.cancelled_caught
        await table.ledger.committed()
        attempts = await table.ledger.reader.attempts(same.key)
    assert [isinstance(one, Answer) and isinstance(one.reply, Ballot) for one in done] == [True]
    assert [one.outcome for one in attempts] == ["stop"]


async def test_where_the_first_caller_goes_the_next_who_asked_the_same_takes_over() -> None:
    async with bench(Scripted()) as table:
        same = post(model="scripted/good@0.1")
        done: list[Answer | Later] = []

        async def first() -> None:
            with anyio.move_on_after(0.02):
                await table.judges.ask([same])

        async def second() -> None:
            done.extend(await table.judges.ask([same]))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(first)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(second)
        await table.ledger.committed()
        attempts = await table.ledger.reader.attempts(same.key)
    assert [isinstance(one, Answer) and isinstance(one.reply, Ballot) for one in done] == [True]
    assert [one.outcome for one in attempts] == ["cut off", "stop"]


async def test_what_was_withdrawn_before_it_began_is_not_asked() -> None:
    script, asked = replies(GOOD)
    standing = Standing()
    standing.withdraw()
    async with open_ledger(":memory:") as ledger:
        doors = Doors(provider=Scripted(script), limit=Limit(), purse=Purse(), ledger=ledger, secret=b"secret")
        with pytest.raises(Withdrawn):
            await ask(post(), doors, standing=standing)
    assert asked == []


async def test_every_attempt_is_in_the_ledger_with_what_it_took() -> None:
    script, _ = replies(TransientProviderError("busy", status=500, retry_after=0.001), "no idea", GOOD)
    async with bench(script) as table:
        (answer,) = await table.judges.ask([post()])
        assert isinstance(answer, Answer)
        await table.ledger.committed()
        attempts = await table.ledger.reader.attempts(answer.key)
    assert [(one.number, one.outcome, one.cause) for one in attempts] == [
        (1, "failed", "busy"),
        (2, "stop", ""),
        (3, "stop", ""),
    ]
    assert attempts[1].reply == "no idea"


async def test_the_fence_of_one_attempt_is_not_that_of_another_and_digests_see_neither() -> None:
    script, asked = replies("no idea", GOOD)
    first = await one(script)
    again = await one(lambda _: GOOD)
    fences = {request.messages[1].content.split("<output-")[1].split(">")[0] for request in asked}
    assert len(fences) == 2
    assert first.prompt_sha256 == again.prompt_sha256


async def test_nothing_is_sent_with_a_slot_unfilled() -> None:
    script, asked = replies("no idea", GOOD)
    await one(script)
    assert not any("\0" in message.content for request in asked for message in request.messages)


def test_a_post_can_be_copied_with_another_deadline() -> None:
    assert msgspec.structs.replace(post(), deadline_seconds=1.0).deadline_seconds == 1.0
