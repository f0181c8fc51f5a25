from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import anyio
import msgspec
import pytest

from deliberate.errors import ConfigError, RefusedError, TransientProviderError
from deliberate.providers._base import Request, Response, Settings
from deliberate.providers.openai_compatible import OpenAICompatible
from deliberate.testing.endpoint import FAULTS, Call, Endpoint, Fault, Script

KEY = "sk-canary+/7f3a9c=e5"
VOTE = '{"reasoning":"Told to vote good.","findings":[],"bracket":"good","score":63.0,"suggestion":""}'


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Door:
    """Opens endpoints and providers that ask them, and closes both."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack

    async def __call__(
        self, script: Script | Fault | str | None = None, *, prefix: str = "openai", latency_seconds: float = 0.0
    ) -> tuple[Endpoint, OpenAICompatible]:
        act = script if callable(script) else lambda _: script
        endpoint = await self._stack.enter_async_context(Endpoint(act, latency_seconds=latency_seconds))
        settings = Settings(api_base={prefix: endpoint.address}, env={f"{prefix.upper()}_API_KEY": KEY})
        provider = OpenAICompatible.open(prefix, settings)
        self._stack.push_async_callback(provider.aclose)
        return endpoint, provider


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    async with AsyncExitStack() as stack:
        yield Door(stack)


def renamed(ask: Request, model: str) -> Request:
    return msgspec.structs.replace(ask, model=model)


# --- what is sent and what comes back ----------------------------------------------------------------------------


async def test_a_reply_comes_back_verbatim_with_what_it_took(door: Door, ask: Request) -> None:
    _, provider = await door()
    response = await provider.complete(ask)
    assert response.text == VOTE
    assert (response.finish, response.model, response.detail) == ("stop", "good", "")
    assert (response.usage.calls, response.usage.tokens_in, response.usage.tokens_out) == (1, 12, 4)
    assert response.effective == {
        "provider": "openai",
        "max_tokens": "2000",
        "temperature": "0.1",
        "seed": "0",
        "response_format": "json_schema",
        "finish_reason": "stop",
    }


async def test_the_request_says_what_was_asked_for(door: Door, ask: Request) -> None:
    endpoint, provider = await door()
    await provider.complete(ask)
    (call,) = endpoint.calls
    assert call.path == "/v1/chat/completions"
    assert call.body == {
        "model": "good",
        "messages": [
            {"role": "system", "content": "You judge work that others did."},
            {"role": "user", "content": "Output: two plus two is four"},
        ],
        "max_tokens": 2000,
        "temperature": 0.1,
        "seed": 0,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": ask.schema, "strict": True},
        },
    }
    assert call.headers["Authorization"] == f"Bearer {KEY}"
    assert call.headers["Accept-Encoding"] == "identity"
    assert call.headers["User-Agent"] == "deliberate"
    assert "Cookie" not in call.headers


async def test_what_was_not_asked_for_is_not_sent(door: Door, ask: Request) -> None:
    endpoint, provider = await door()
    response = await provider.complete(msgspec.structs.replace(ask, schema=None, temperature=None, seed=None))
    assert set(endpoint.calls[0].body) == {"model", "messages", "max_tokens"}
    assert response.text == "Told to vote good."


async def test_a_server_without_a_key_is_sent_none(ask: Request) -> None:
    async with Endpoint() as endpoint:
        provider = OpenAICompatible.open("ollama", Settings(api_base={"ollama": endpoint.address}))
        await provider.complete(renamed(ask, "ollama/good"))
        await provider.aclose()
        assert "Authorization" not in endpoint.calls[0].headers


async def test_a_body_of_megabytes_is_sent_whole(door: Door, ask: Request) -> None:
    endpoint, provider = await door()
    long = "word " * 400_000
    messages = (msgspec.structs.replace(ask.messages[1], content=long),)
    response = await provider.complete(msgspec.structs.replace(ask, messages=messages))
    assert response.usage.tokens_in == 400_000
    assert endpoint.calls[0].body["messages"][0]["content"] == long


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("length", ("length", '{"reasoning": "The output', "cut off")),
        ("content_filter", ("refused", "", "a content filter held it back")),
        ("refusal", ("refused", "I'm sorry, I can't help with that.", "I'm sorry, I can't help with that.")),
        ("filtered_prompt", ("refused", "", "The prompt was filtered")),
        ("tool_call", ("other", "", "it called a tool instead of answering")),
        ("unknown_finish", ("other", VOTE, "ended with 'eos_reached'")),
        ("parts", ("stop", VOTE, "")),
        ("fenced", ("stop", f"```json\n{VOTE}\n```", "")),
        ("thinking", ("stop", f"<think>Let me see.</think>\n{VOTE}", "")),
        ("surrogate", ("stop", VOTE.replace("Told", "\ufffd Told"), "")),
        ("prose", ("stop", "I would call this rather good work.", "")),
    ],
)
async def test_what_the_model_said_is_a_response(
    door: Door, ask: Request, fault: str, said: tuple[str, str, str]
) -> None:
    _, provider = await door(fault)
    response = await provider.complete(ask)
    assert (response.finish, response.text, response.detail) == said


async def test_the_reason_to_stop_is_kept_as_it_came(door: Door, ask: Request) -> None:
    _, provider = await door("unknown_finish")
    assert (await provider.complete(ask)).effective["finish_reason"] == "eos_reached"


async def test_no_reason_to_stop_is_no_reason_to_doubt(door: Door, ask: Request) -> None:
    message = {"role": "assistant", "content": "fine"}
    _, provider = await door(Fault(envelope={"choices": [{"message": message, "finish_reason": None}]}))
    response = await provider.complete(ask)
    assert response.finish == "stop"
    assert "finish_reason" not in response.effective


async def test_a_refusal_among_parts_is_a_refusal(door: Door, ask: Request) -> None:
    parts = [{"type": "refusal", "refusal": "No."}]
    _, provider = await door(Fault(message={"content": parts}))
    response = await provider.complete(ask)
    assert (response.finish, response.text) == ("refused", "No.")


async def test_text_beside_a_tool_call_is_the_reply(door: Door, ask: Request) -> None:
    _, provider = await door(Fault(message={"tool_calls": [{"id": "1"}]}))
    assert (await provider.complete(ask)).text == VOTE


async def test_bytes_that_are_no_text_are_replaced(door: Door, ask: Request) -> None:
    _, provider = await door(Fault(swap=("Told", "\\ud83d\\ude00 \\\\ud83d Told")))
    assert (await provider.complete(ask)).text == VOTE.replace("Told", "\\ud83d\\ude00 \\\\ud83d Told")


# --- what can be tried again, and what cannot --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "status", "said"),
    [
        ("timeout", 408, "Request timed out"),
        ("conflict", 409, "Conflict"),
        ("rate_limited", 429, "Rate limit reached"),
        ("server_error", 500, "The server had an error"),
        ("bad_gateway", 502, "502 Bad Gateway"),
        ("unavailable", 503, "overloaded"),
        ("overloaded", 529, "Overloaded"),
        ("malformed", None, "no chat completion (JSON is malformed"),
        ("truncated", None, "no chat completion (Input data was truncated)"),
        ("html", None, "a web page"),
        ("error_under_200", None, "sent an error as a reply: Provider returned error"),
        ("empty_choices", None, "without choices"),
        ("null_choices", None, "without choices"),
        ("null_content", None, "an empty reply"),
        ("reset", None, "connection to 127.0.0.1"),
        ("huge", 200, "more than 4194304 bytes"),
        (Fault(envelope={"choices": {}}), None, "Expected `array | null`, got `object` - at `$.choices`"),
        (Fault(body="[" * 100_000), None, "no chat completion"),
        (Fault(envelope={"choices": [{"error": {"message": "cut"}}]}), None, "broke off its reply: cut"),
        (Fault(envelope={"choices": [{"message": None}]}), None, "an empty reply"),
    ],
)
async def test_what_may_pass_can_be_tried_again(
    door: Door, ask: Request, fault: str | Fault, status: int | None, said: str
) -> None:
    endpoint, provider = await door(fault)
    with pytest.raises(TransientProviderError) as caught:
        await provider.complete(ask)
    assert said in str(caught.value)
    assert caught.value.status == status
    assert caught.value.retry_after is None
    assert endpoint.stats.requests == 1


@pytest.mark.parametrize(
    ("fault", "status", "said"),
    [
        ("bad_request", 400, "at least one message"),
        ("bad_key", 401, "Incorrect API key"),
        ("forbidden", 403, "not supported"),
        ("no_such_model", 404, "does not exist"),
        ("quota", 429, "quota used up"),
        ("status:402", 402, "quota used up"),
        ("status:418", 418, "status 418"),
        ("redirect", 307, "a redirect to 'localhost:"),
        ("encoded", 200, "'gzip'"),
        (Fault(status=429, body="Insufficient balance"), 429, "quota used up"),
        (Fault(status=308), 308, "a redirect to '127.0.0.1:"),
        (Fault(status=303, headers={"Location": "http://[::1"}), 303, "a redirect to '127.0.0.1:"),
    ],
)
async def test_what_stays_is_refused(door: Door, ask: Request, fault: str | Fault, status: int, said: str) -> None:
    endpoint, provider = await door(fault)
    with pytest.raises(RefusedError) as caught:
        await provider.complete(ask)
    assert said in str(caught.value)
    assert caught.value.status == status
    assert endpoint.stats.requests == 1


async def test_a_redirect_is_not_followed(door: Door, ask: Request) -> None:
    endpoint, provider = await door("redirect")
    with pytest.raises(RefusedError, match="redirects are not followed"):
        await provider.complete(ask)
    assert endpoint.stats.elsewhere == 0


async def test_a_limit_that_passes_may_speak_of_quota(door: Door, ask: Request) -> None:
    _, provider = await door(
        Fault(status=429, headers={"Retry-After": "7"}, body="You exceeded your current quota, please wait")
    )
    with pytest.raises(TransientProviderError) as caught:
        await provider.complete(ask)
    assert caught.value.retry_after == 7.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("3", 3.0),
        ("0.5", 0.5),
        ("-4", 0.0),
        ("86400", 86400.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("nan", None),
        ("soon", None),
        ("", None),
    ],
)
async def test_retry_after_is_read(door: Door, ask: Request, value: str, seconds: float | None) -> None:
    _, provider = await door(f"retry_after:{value}")
    with pytest.raises(TransientProviderError) as caught:
        await provider.complete(ask)
    assert caught.value.retry_after == seconds


async def test_retry_after_may_be_a_date(door: Door, ask: Request) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(minutes=10), usegmt=True)
    _, provider = await door(f"retry_after:{date}")
    with pytest.raises(TransientProviderError) as caught:
        await provider.complete(ask)
    assert caught.value.retry_after == pytest.approx(600, abs=30)


@pytest.mark.parametrize("fault", ["drip", "silent"])
async def test_the_deadline_is_for_the_whole_reply(door: Door, ask: Request, fault: str) -> None:
    _, provider = await door(fault)
    started = anyio.current_time()
    with pytest.raises(TransientProviderError, match=r"no reply within 0\.2 s"):
        await provider.complete(msgspec.structs.replace(ask, deadline_seconds=0.2))
    assert anyio.current_time() - started < 2.0


async def test_a_cancelled_ask_ends_at_once(door: Door, ask: Request) -> None:
    endpoint, provider = await door("silent")
    with anyio.move_on_after(0.1) as scope:
        await provider.complete(ask)
    assert scope.cancelled_caught
    await endpoint.wait_idle()


async def test_nobody_there_can_be_tried_again(ask: Request) -> None:
    async with Endpoint() as endpoint:
        address = endpoint.address
    provider = OpenAICompatible.open("ollama", Settings(api_base={"ollama": address}))
    with pytest.raises(TransientProviderError, match="connection to 127"):
        await provider.complete(ask)
    await provider.aclose()


async def test_a_server_that_speaks_no_tls_is_not_to_be_trusted(ask: Request) -> None:
    async with Endpoint() as endpoint:
        base = endpoint.address.replace("http://", "https://")
        provider = OpenAICompatible.open("ollama", Settings(api_base={"ollama": base}))
        with pytest.raises(RefusedError, match="no trusted connection"):
            await provider.complete(ask)
        await provider.aclose()


async def test_a_reply_of_unknown_length_is_counted_while_it_comes(door: Door, ask: Request) -> None:
    _, provider = await door(Fault(byte_seconds=0.001))
    with pytest.raises(TransientProviderError, match="more than 100 bytes"):
        await provider.complete(msgspec.structs.replace(ask, most_bytes=100))


# --- keys --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "echoed",
    [
        "{key}",
        "sk-canary%2B%2F7f3a9c%3De5",
        "c2stY2FuYXJ5Ky83ZjNhOWM9ZTU=",
        "Basic OnNrLWNhbmFyeSsvN2YzYTljPWU1",
        "QmVhcmVyIHNrLWNhbmFyeSsvN2YzYTljPWU1",
        "x" * 260 + "{key}",
    ],
)
async def test_a_key_is_struck_out_of_every_message(door: Door, ask: Request, echoed: str) -> None:
    _, provider = await door(Fault(status=401, body=f"Incorrect API key provided: {echoed}"))
    with pytest.raises(RefusedError) as caught:
        await provider.complete(ask)
    said = str(caught.value)
    assert "***" in said
    for piece in ("canary", "7f3a9c", "Y2FuYXJ5", "N2YzYTlj", "NhbmFye", "ZjNhOW"):
        assert piece not in said


async def test_a_key_is_struck_out_of_a_redirect(door: Door, ask: Request) -> None:
    _, provider = await door(Fault(status=302, headers={"Location": "https://{key}.example.com/"}))
    with pytest.raises(RefusedError) as caught:
        await provider.complete(ask)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("prefix", ["openai", "openrouter"])
def test_a_missing_key_is_named_before_anything_is_sent(prefix: str) -> None:
    with pytest.raises(ConfigError, match=f"{prefix.upper()}_API_KEY is not set") as caught:
        OpenAICompatible.open(prefix, Settings())
    assert caught.value.hint == "deliberate doctor"


def test_a_key_that_fits_no_header_is_named() -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY holds a character"):
        OpenAICompatible.open("openai", Settings(env={"OPENAI_API_KEY": "sk-\nX-Evil: 1"}))


def test_a_limit_is_shared_by_key_and_place_whatever_the_model() -> None:
    def limit(prefix: str, key: str, base: str = "") -> str:
        settings = Settings(env={f"{prefix.upper()}_API_KEY": key}, api_base={prefix: base} if base else {})
        return OpenAICompatible.open(prefix, settings).limit_key("any/model")

    assert limit("openai", KEY) == limit("openai", KEY)
    assert len({limit("openai", KEY), limit("openai", "other"), limit("openrouter", KEY)}) == 3
    assert limit("ollama", "") != limit("ollama", "", "http://127.0.0.1:1/v1")
    assert KEY not in limit("openai", KEY)


# --- addresses ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prefix", "env", "api_base", "host"),
    [
        ("openai", {}, {}, "api.openai.com"),
        ("openrouter", {}, {}, "openrouter.ai"),
        ("ollama", {}, {}, "127.0.0.1:11434"),
        ("hosted_vllm", {}, {}, "127.0.0.1:8000"),
        ("lm_studio", {}, {}, "127.0.0.1:1234"),
        ("llamacpp", {}, {}, "127.0.0.1:8080"),
        ("openai", {"OPENAI_API_BASE": "https://judges.example.com/v1/"}, {}, "judges.example.com"),
        ("openai", {"OPENAI_API_BASE": "https://a.example.com"}, {"openai": "https://b.example.com"}, "b.example.com"),
        ("openai", {}, {"openai": "http://[::1]:9/v1"}, "[::1]:9"),
        ("openai", {}, {"openai": "http://judges.localhost:9/v1"}, "judges.localhost:9"),
    ],
)
def test_the_address_is_the_operators_or_where_the_prefix_is_at_home(
    prefix: str, env: Mapping[str, str], api_base: Mapping[str, str], host: str
) -> None:
    settings = Settings(env={**env, f"{prefix.upper()}_API_KEY": KEY}, api_base=api_base)
    assert OpenAICompatible.open(prefix, settings).limit_key("m").split()[1] == host


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://judges.example.com/v1", "plain http to judges.example.com"),
        ("http://127.0.0.1.example.com/v1", "plain http"),
        ("http://10.0.0.7:8000/v1", "plain http"),
        ("https://me:secret@example.com/v1", "no user name or password"),
        ("ftp://example.com", "that is no address"),
        ("judges.example.com", "that is no address"),
        ("https://", "that is no address"),
        ("https://example.com:port", "that is no address"),
        ("http://[::1", "that is no address"),
    ],
)
def test_an_address_that_a_key_may_not_go_to_is_refused(address: str, said: str) -> None:
    for settings, where in (
        (Settings(api_base={"openai": address}), "--api-base openai"),
        (Settings(env={"OPENAI_API_BASE": address}), "OPENAI_API_BASE"),
    ):
        with pytest.raises(ConfigError, match=said) as caught:
            OpenAICompatible.open("openai", settings)
        assert caught.value.where == where
        assert "secret" not in str(caught.value)


async def test_the_own_address_of_an_ollama_server_is_enough(ask: Request) -> None:
    async with Endpoint() as endpoint:
        settings = Settings(env={"OLLAMA_API_BASE": endpoint.address.removesuffix("/v1")})
        provider = OpenAICompatible.open("ollama", settings)
        await provider.complete(ask)
        await provider.aclose()
        assert endpoint.calls[0].path == "/v1/chat/completions"


async def test_a_proxy_is_used_for_other_machines_only(door: Door, ask: Request) -> None:
    endpoint, _ = await door()
    proxy = endpoint.address.removesuffix("/v1")
    some = "example.org,, .judges.invalid"
    env = {"HTTPS_PROXY": proxy, "NO_PROXY": some}
    for host, no_proxy, reached in (("far", some, True), ("a.judges", some, False), ("far", "*", False)):
        base, env = f"https://{host}.invalid/v1", {"https_proxy": proxy, "no_proxy": no_proxy}
        provider = OpenAICompatible.open("ollama", Settings(env=env, api_base={"ollama": base}))
        with pytest.raises(TransientProviderError) as caught:
            await provider.complete(ask)
        assert ("404" in str(caught.value)) is reached
        await provider.aclose()
    provider = OpenAICompatible.open("ollama", Settings(env=env, api_base={"ollama": endpoint.address}))
    assert (await provider.complete(renamed(ask, "ollama/good"))).text == VOTE
    await provider.aclose()


# --- parameters that a model does not take -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "parameter", "left"),
    [
        ("no_response_format", "response_format", {"max_tokens", "temperature", "seed"}),
        ("no_temperature", "temperature", {"max_tokens", "seed", "response_format"}),
    ],
)
async def test_a_parameter_that_is_not_taken_is_left_out_next_time(
    door: Door, ask: Request, fault: str, parameter: str, left: set[str]
) -> None:
    endpoint, provider = await door(fault)
    with pytest.raises(TransientProviderError, match=f"does not take {parameter}") as caught:
        await provider.complete(ask)
    assert caught.value.status == 400
    response = await provider.complete(ask)
    assert set(endpoint.calls[1].body) == {"model", "messages"} | left
    assert response.effective["dropped"] == parameter
    assert parameter not in response.effective


async def test_max_tokens_is_sent_under_its_newer_name(door: Door, ask: Request) -> None:
    endpoint, provider = await door("no_max_tokens")
    with pytest.raises(TransientProviderError):
        await provider.complete(ask)
    response = await provider.complete(ask)
    assert endpoint.calls[1].body["max_completion_tokens"] == 2000
    assert "max_tokens" not in endpoint.calls[1].body
    assert response.effective["max_completion_tokens"] == "2000"
    assert "dropped" not in response.effective


async def test_a_model_that_takes_neither_name_is_sent_neither(door: Door, ask: Request) -> None:
    def script(call: Call) -> Fault | None:
        for name in ("max_tokens", "max_completion_tokens"):
            if name in call.body:
                return Fault(status=422, body=f"extra fields not permitted: {name}")
        return None

    endpoint, provider = await door(script)
    for _ in range(2):
        with pytest.raises(TransientProviderError):
            await provider.complete(ask)
    response = await provider.complete(ask)
    assert not {"max_tokens", "max_completion_tokens"} & set(endpoint.calls[2].body)
    assert response.effective["dropped"] == "max_completion_tokens,max_tokens"


async def test_what_one_model_does_not_take_another_is_still_sent(door: Door, ask: Request) -> None:
    endpoint, provider = await door(lambda call: "no_temperature" if call.body["model"] == "good" else None)
    with pytest.raises(TransientProviderError):
        await provider.complete(ask)
    await provider.complete(renamed(ask, "openai/fair"))
    assert endpoint.calls[1].body["temperature"] == 0.1


async def test_a_complaint_about_a_value_is_no_complaint_about_the_parameter(door: Door, ask: Request) -> None:
    _, provider = await door(Fault(status=400, body="max_tokens is too large: 2000, the context has 1024"))
    for _ in range(2):
        with pytest.raises(RefusedError, match="too large"):
            await provider.complete(ask)


# --- prices ------------------------------------------------------------------------------------------------------


async def test_a_known_model_has_a_cost(door: Door, ask: Request) -> None:
    _, provider = await door()
    usage = (await provider.complete(renamed(ask, "openai/gpt-4o"))).usage
    assert usage.cost_usd is not None
    assert usage.cost_usd > 0


async def test_an_unknown_cost_stays_unknown(door: Door, ask: Request) -> None:
    _, provider = await door()
    assert (await provider.complete(ask)).usage.cost_usd is None
    assert await provider.worst_cost_usd(ask) is None


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        "many",
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": -1, "completion_tokens": 3},
        {"prompt_tokens": 7},
        {"prompt_tokens": 7.5, "completion_tokens": 1},
    ],
)
async def test_tokens_that_were_not_counted_cost_nobody_knows_what(door: Door, ask: Request, usage: object) -> None:
    _, provider = await door(Fault(envelope={"usage": usage}))
    response = await provider.complete(renamed(ask, "openai/gpt-4o"))
    assert (response.usage.calls, response.usage.tokens_in, response.usage.cost_usd) == (1, 0, None)


async def test_tokens_from_a_cache_are_cheaper(door: Door, ask: Request) -> None:
    async def cost(cached: int | None) -> float:
        details = {"prompt_tokens_details": {"cached_tokens": cached}}
        usage = {"prompt_tokens": 1000, "completion_tokens": 10, **details}
        _, provider = await door(Fault(envelope={"usage": usage}))
        found = (await provider.complete(renamed(ask, "openai/gpt-4o"))).usage.cost_usd
        assert found is not None
        return found

    assert await cost(800) < await cost(0) == await cost(None)


async def test_what_an_endpoint_says_it_charged_is_the_cost(door: Door, ask: Request) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "cost": 0.0125}
    _, provider = await door(Fault(envelope={"usage": usage, "provider": "Upstream"}), prefix="openrouter")
    response = await provider.complete(renamed(ask, "openrouter/openai/gpt-4o"))
    assert response.usage.cost_usd == 0.0125
    assert response.effective["upstream"] == "Upstream"
    assert response.effective["provider"] == "openrouter"


async def test_the_worst_cost_is_never_below_the_cost(door: Door, ask: Request) -> None:
    _, provider = await door()
    known = renamed(ask, "openai/gpt-4o")
    worst = await provider.worst_cost_usd(known)
    cost = (await provider.complete(known)).usage.cost_usd
    assert worst is not None
    assert cost is not None
    assert worst > cost
    shorter = await provider.worst_cost_usd(msgspec.structs.replace(known, schema=None))
    assert shorter is not None
    assert shorter < worst


# --- connections -------------------------------------------------------------------------------------------------


async def test_no_more_connections_are_opened_than_calls_are_in_flight(door: Door, ask: Request) -> None:
    endpoint, provider = await door(latency_seconds=0.02)
    asks = [msgspec.structs.replace(ask, seed=number) for number in range(60)]
    found: list[Response] = []

    async def work() -> None:
        while asks:
            found.append(await provider.complete(asks.pop()))

    async with anyio.create_task_group() as tasks:
        for _ in range(6):
            tasks.start_soon(work)
    assert len(found) == 60
    assert endpoint.stats.requests == 60
    assert endpoint.stats.most_in_flight == 6
    assert endpoint.stats.connections <= 6


async def test_first_asks_at_once_share_one_session(door: Door, ask: Request) -> None:
    endpoint, provider = await door()
    async with anyio.create_task_group() as tasks:
        for number in range(8):
            tasks.start_soon(provider.complete, msgspec.structs.replace(ask, seed=number))
    assert endpoint.stats.requests == 8


async def test_a_closed_provider_can_be_asked_again(door: Door, ask: Request) -> None:
    _, provider = await door()
    await provider.aclose()
    await provider.complete(ask)
    await provider.aclose()
    assert (await provider.complete(ask)).text == VOTE


def test_a_provider_has_a_session_on_every_event_loop(ask: Request) -> None:
    program = [sys.executable, "-m", "deliberate.testing.endpoint"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        provider = OpenAICompatible.open("ollama", Settings(api_base={"ollama": address}))

        async def once() -> str:
            text = (await provider.complete(renamed(ask, "ollama/good"))).text
            await provider.aclose()
            return text

        assert anyio.run(once) == anyio.run(once) == VOTE
        process.kill()


def test_importing_it_imports_no_http_library() -> None:
    program = (
        "import sys, deliberate.providers.openai_compatible, deliberate.providers.litellm\n"
        "sys.exit(sum(name in sys.modules for name in ('aiohttp', 'litellm', 'openai', 'httpx')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_every_ready_made_fault_ends_in_a_response_or_in_an_error_of_ours(ask: Request) -> None:
    async def all_of_them() -> None:
        for name in FAULTS:
            async with Endpoint(lambda _, name=name: name) as endpoint:  # type: ignore[misc]
                provider = OpenAICompatible.open("ollama", Settings(api_base={"ollama": endpoint.address}))
                try:
                    await provider.complete(msgspec.structs.replace(ask, deadline_seconds=0.5))
                except (TransientProviderError, RefusedError):
                    pass
                finally:
                    await provider.aclose()

    anyio.run(all_of_them)
