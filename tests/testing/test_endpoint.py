from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp
import anyio
import pytest

from deliberate.providers._base import Request
from deliberate.providers.scripted import Scripted
from deliberate.testing.endpoint import FAULTS, Call, Endpoint, Fault, Stats, mixed

ASK = {"model": "good", "messages": [{"role": "user", "content": "two plus two"}]}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def said(client: aiohttp.ClientSession, endpoint: Endpoint, ask: Mapping[str, Any] = ASK) -> tuple[int, Any]:
    """Status and body of a reply."""
    async with client.post(f"{endpoint.address}/chat/completions", json=ask) as reply:
        return reply.status, json.loads(await reply.text())


async def vote(client: aiohttp.ClientSession, endpoint: Endpoint, ask: Mapping[str, Any] = ASK) -> str:
    """The text of a good reply."""
    status, body = await said(client, endpoint, ask)
    assert status == 200
    text: str = body["choices"][0]["message"]["content"]
    return text


async def test_a_model_votes_as_its_name_says(client: aiohttp.ClientSession) -> None:
    async with Endpoint() as endpoint:
        status, body = await said(client, endpoint)
        assert status == 200
        assert body == {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": "good",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": "Told to vote good."},
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
        }


async def test_any_other_model_votes_by_what_it_reads(client: aiohttp.ClientSession) -> None:
    form = {"json_schema": {"schema": {"properties": {"score": {"type": "number"}}}}}
    ask = {**ASK, "model": "gpt-x", "response_format": form}
    async with Endpoint() as endpoint:
        first = await vote(client, endpoint, ask)
        assert await vote(client, endpoint, ask) == first
        assert await vote(client, endpoint, {**ask, "model": "gpt-y"}) != first
        assert await vote(client, endpoint, {**ask, "messages": [{"role": "user", "content": "three"}]}) != first


async def test_somebody_else_may_vote(client: aiohttp.ClientSession) -> None:
    def told(request: Request) -> str:
        return f"{request.model} {request.max_tokens} {request.messages[0].role} {request.messages[0].content}"

    messages = [{"role": "developer", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]
    async with Endpoint(judge=Scripted(told)) as endpoint:
        ask = {**ASK, "messages": messages, "max_completion_tokens": 7}
        assert await vote(client, endpoint, ask) == "scripted/good 7 system ab"
        assert await vote(client, endpoint, {"model": "m", "messages": [{"role": "assistant", "content": "c"}]})


@pytest.mark.parametrize(
    ("model", "finish", "message"),
    [
        ("refuse", "stop", {"role": "assistant", "content": None, "refusal": "I cannot judge this."}),
        ("truncated", "length", {"role": "assistant", "content": "Told to v"}),
    ],
)
async def test_judges_that_fail_do_so_over_the_wire(
    client: aiohttp.ClientSession, *, model: str, finish: str, message: Mapping[str, Any]
) -> None:
    async with Endpoint() as endpoint:
        _, body = await said(client, endpoint, {**ASK, "model": model})
        assert body["choices"][0]["finish_reason"] == finish
        assert body["choices"][0]["message"] == message


async def test_a_dead_judge_breaks_the_connection(client: aiohttp.ClientSession) -> None:
    async with Endpoint() as endpoint:
        with pytest.raises(aiohttp.ClientError):
            await said(client, endpoint, {**ASK, "model": "dead"})


async def test_a_script_decides_what_befalls_each_call(client: aiohttp.ClientSession) -> None:
    seen: list[Call] = []

    def script(call: Call) -> Fault | str | None:
        seen.append(call)
        befalls: Mapping[int, Fault | str] = {1: "rate_limited", 2: Fault(status=418, body="no"), 3: "status:503"}
        return befalls.get(call.attempt)

    async with Endpoint(script) as endpoint:
        found = []
        for _ in range(4):
            async with client.post(f"{endpoint.address}/chat/completions", json=ASK) as reply:
                found.append(reply.status)
        assert found == [429, 418, 503, 200]
        assert [(call.number, call.attempt) for call in seen] == [(1, 1), (2, 2), (3, 3), (4, 4)]
        assert list(endpoint.calls) == seen
        assert endpoint.stats.faults == 3
        assert endpoint.stats.requests == 4


async def test_attempts_at_one_ask_are_told_from_other_asks(client: aiohttp.ClientSession) -> None:
    def ask(nonce: str, *more: Mapping[str, str], **fields: object) -> Mapping[str, Any]:
        fence = f"<output-{nonce * 32}>two</output-{nonce * 32}>"
        return {**ASK, "messages": [{"role": "user", "content": fence}, *more], **fields}

    repair = ({"role": "assistant", "content": "?"}, {"role": "user", "content": "Again."})
    async with Endpoint() as endpoint:
        for one in (ask("a"), ask("b"), ask("c", *repair), ask("d", temperature=1), ask("a", seed=1), ASK):
            await vote(client, endpoint, one)
        assert [call.attempt for call in endpoint.calls] == [1, 2, 3, 4, 1, 1]


async def test_a_parameter_is_refused_only_where_it_is_sent(client: aiohttp.ClientSession) -> None:
    async with Endpoint(lambda _: "no_temperature") as endpoint:
        assert (await said(client, endpoint, {**ASK, "temperature": 0.1}))[0] == 400
        assert (await said(client, endpoint))[0] == 200
        assert endpoint.stats.faults == 1


async def test_only_the_last_calls_are_kept(client: aiohttp.ClientSession) -> None:
    async with Endpoint(keep=2) as endpoint:
        for _ in range(5):
            await vote(client, endpoint)
        assert [call.number for call in endpoint.calls] == [4, 5]


async def test_only_one_key_is_taken(client: aiohttp.ClientSession) -> None:
    async with Endpoint(key="k-1") as endpoint:
        for key, status in (("k-1", 200), ("k-2", 401)):
            headers = {"Authorization": f"Bearer {key}"}
            async with client.post(f"{endpoint.address}/chat/completions", json=ASK, headers=headers) as reply:
                assert reply.status == status
                assert ("k-2" in await reply.text()) is (key == "k-2")


async def test_who_follows_a_redirect_is_counted(client: aiohttp.ClientSession) -> None:
    def script(call: Call) -> str | None:
        return None if call.path.startswith("/elsewhere") else "redirect"

    async with Endpoint(script) as endpoint:
        await vote(client, endpoint)
        assert endpoint.stats.elsewhere == 1
        assert [call.path for call in endpoint.calls] == ["/v1/chat/completions", "/elsewhere/chat/completions"]


async def test_another_path_is_not_found(client: aiohttp.ClientSession) -> None:
    async with Endpoint() as endpoint, client.post(f"{endpoint.address}/embeddings") as reply:
        assert reply.status == 404


async def test_stats_say_what_was_seen(client: aiohttp.ClientSession) -> None:
    async with Endpoint(latency_seconds=0.1) as endpoint:
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(vote, client, endpoint)
        expected = Stats(requests=5, in_flight=0, most_in_flight=5, connections=5, faults=0, elsewhere=0)
        assert endpoint.stats == expected
        async with client.get(f"{endpoint.address.removesuffix('/v1')}/stats") as reply:
            assert (await reply.json())["most_in_flight"] == 5


async def test_it_can_be_waited_for(client: aiohttp.ClientSession) -> None:
    async with Endpoint(latency_seconds=0.05) as endpoint:
        await endpoint.wait_idle()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(vote, client, endpoint)
            while not endpoint.stats.requests:
                await anyio.sleep(0.001)
            await endpoint.wait_idle()
            assert endpoint.stats.in_flight == 0


async def test_latency_varies_by_seed_and_ask_alone(client: aiohttp.ClientSession) -> None:
    async def seconds(seed: int) -> float:
        async with Endpoint(latency_seconds=0.02, jitter=1.0, seed=seed) as endpoint:
            started = anyio.current_time()
            await vote(client, endpoint)
            return anyio.current_time() - started

    drawn = [await seconds(seed) for seed in (0, 1, 2, 3, 0)]
    assert max(drawn) > 1.5 * min(drawn)
    assert drawn[0] == pytest.approx(drawn[4], abs=0.05)


async def test_an_endpoint_that_hangs_ends_with_its_block(client: aiohttp.ClientSession) -> None:
    started = anyio.current_time()
    async with Endpoint(lambda _: "silent") as endpoint, anyio.create_task_group() as tasks:
        tasks.start_soon(vote, client, endpoint)
        while not endpoint.stats.requests:
            await anyio.sleep(0.001)
        tasks.cancel_scope.cancel()
    assert anyio.current_time() - started < 5.0


async def test_a_port_that_is_taken_is_an_error() -> None:
    async with Endpoint() as endpoint:
        port = int(endpoint.address.rpartition(":")[2].removesuffix("/v1"))
        with pytest.raises(OSError, match="in use"):
            await Endpoint(port=port).__aenter__()


async def test_one_that_never_began_can_be_left() -> None:
    await Endpoint().__aexit__(None, None, None)


# --- mixed faults ------------------------------------------------------------------------------------------------


def call(text: str, *, attempt: int = 1) -> Call:
    body = {"model": "good", "messages": [{"role": "user", "content": text}]}
    return Call(number=1, attempt=attempt, path="/v1/chat/completions", headers={}, body=body)


def test_faults_befall_the_share_of_asks_that_was_asked_for() -> None:
    script = mixed({"rate_limited": 0.2, "reset": 0.1}, seed=3)
    found = Counter(script(call(f"case {number}")) for number in range(2000))
    assert found["rate_limited"] == pytest.approx(400, abs=60)
    assert found["reset"] == pytest.approx(200, abs=50)
    assert found[None] == pytest.approx(1400, abs=80)


def test_the_same_seed_strikes_the_same_asks() -> None:
    asks = [call(f"case {number}") for number in range(100)]
    first, second, other = (mixed({"reset": 0.5}, seed=seed) for seed in (1, 1, 2))
    assert [first(one) for one in asks] == [second(one) for one in asks]
    assert [first(one) for one in asks] != [other(one) for one in asks]


def test_a_second_attempt_is_spared_unless_every_attempt_is_meant() -> None:
    assert mixed({"reset": 1.0})(call("a", attempt=2)) is None
    assert mixed({"reset": 1.0}, first_attempts_only=False)(call("a", attempt=2)) == "reset"


@pytest.mark.parametrize(
    ("shares", "said"), [({"reset": 0.7, "html": 0.4}, "sum to more than 1"), ({"resets": 0.1}, "no fault is called")]
)
def test_impossible_mixtures_are_errors(shares: Mapping[str, float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        mixed(shares)


def test_faults_have_different_effects() -> None:
    assert len({repr(fault) for fault in FAULTS.values()}) == len(FAULTS)


# --- as a process of its own -------------------------------------------------------------------------------------


def test_it_runs_as_a_process_that_prints_its_address_first() -> None:
    flags = ["--latency", "0.01", "--jitter", "0.1", "--fault", "status:503=0", "--fault", "html", "--every-attempt"]
    program = [sys.executable, "-m", "deliberate.testing.endpoint", *flags]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:")
            assert anyio.run(met, address) == ["text/html", "text/html", 2]
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=20) == 0
        finally:
            process.kill()


async def met(address: str) -> list[object]:
    """The content types of two replies, and how many faults were counted."""
    found: list[object] = []
    async with aiohttp.ClientSession() as client:
        for _ in range(2):
            async with client.post(f"{address}/chat/completions", json=ASK) as reply:
                found.append(reply.content_type)
        async with client.get(f"{address.removesuffix('/v1')}/stats") as reply:
            found.append((await reply.json())["faults"])
    return found


def test_a_fault_that_does_not_exist_is_a_usage_error() -> None:
    program = [sys.executable, "-m", "deliberate.testing.endpoint", "--fault", "no_such_fault"]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no fault is called 'no_such_fault'; there are bad_request, bad_key" in done.stderr
