"""litellm itself, against an endpoint on loopback: nothing of it is replaced."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

import deliberate
from deliberate.errors import ConfigError, ProviderError, RefusedError, TransientProviderError
from deliberate.providers._base import Provider, Request, Response, Settings
from deliberate.providers.litellm import LiteLLM
from deliberate.providers.openai_compatible import OpenAICompatible
from deliberate.testing.endpoint import FAULTS, Endpoint, Fault

pytestmark = [
    pytest.mark.timeout(180),  # its import alone takes seconds
    # It silences pydantic's warnings at import, for the process; pytest forgets that after each test.
    pytest.mark.filterwarnings("ignore:.*`ReadOnly` qualifier.*:UserWarning"),
]

KEY = "sk-canary-7f3a9ce5"

Door = Callable[..., Any]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def ask(ask: Request) -> Request:
    """The usual ask, with time for what litellm does at its first call."""
    return msgspec.structs.replace(ask, deadline_seconds=60.0)


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    """Opens an endpoint with one fault, and a provider that asks it."""
    async with AsyncExitStack() as stack:

        async def opened(fault: Fault | str | None = None, *, prefix: str = "openai") -> tuple[Endpoint, LiteLLM]:
            endpoint = await stack.enter_async_context(Endpoint(lambda _: fault))
            env = {f"{prefix.upper()}_API_KEY": KEY}
            address = endpoint.address if prefix == "openai" else endpoint.address.removesuffix("/v1")
            provider = LiteLLM.open(prefix, Settings(api_base={prefix: address}, env=env))
            stack.push_async_callback(provider.aclose)
            return endpoint, provider

        yield opened


async def outcome(provider: Provider, ask: Request) -> tuple[object, ...]:
    """What came of an ask, without the names that may differ between two ways to the same endpoint."""
    try:
        response = await provider.complete(ask)
    except ProviderError as error:
        return (type(error), error.status, getattr(error, "retry_after", None))
    return (Response, msgspec.json.encode(msgspec.structs.replace(response, model="", effective={})))


@pytest.mark.parametrize("fault", [None, *FAULTS, "status:402", "status:418", "retry_after:2"])
async def test_both_ways_to_an_endpoint_give_the_same(ask: Request, fault: str | None) -> None:
    known = msgspec.structs.replace(ask, model="openai/gpt-4o")
    if fault in {"drip", "silent"}:
        known = msgspec.structs.replace(known, deadline_seconds=0.3)
    async with Endpoint(lambda _: fault) as endpoint:
        settings = Settings(api_base={"openai": endpoint.address}, env={"OPENAI_API_KEY": KEY})
        ways: tuple[Provider, Provider] = OpenAICompatible.open("openai", settings), LiteLLM.open("openai", settings)
        found = [await outcome(provider, known) for provider in ways]
        for provider in ways:
            await provider.aclose()
        assert found[0] == found[1]
        assert endpoint.stats.requests == 2
        assert endpoint.stats.elsewhere == 0


async def test_the_same_is_sent(ask: Request) -> None:
    async with Endpoint() as endpoint:
        settings = Settings(api_base={"openai": endpoint.address}, env={"OPENAI_API_KEY": KEY})
        ways: tuple[Provider, Provider] = OpenAICompatible.open("openai", settings), LiteLLM.open("openai", settings)
        for provider in ways:
            await provider.complete(ask)
            await provider.aclose()
        ours, theirs = endpoint.calls
        assert theirs.body == ours.body
        assert theirs.headers["Authorization"] == ours.headers["Authorization"] == f"Bearer {KEY}"
        assert theirs.headers["Accept-Encoding"] == "identity"


async def test_a_prefix_of_its_own_is_taken_off(ask: Request) -> None:
    async with Endpoint() as endpoint:
        settings = Settings(api_base={"openai": endpoint.address}, env={"OPENAI_API_KEY": KEY})
        provider = LiteLLM.open("litellm", settings)
        response = await provider.complete(msgspec.structs.replace(ask, model="litellm/openai/good"))
        await provider.aclose()
        assert endpoint.calls[0].body["model"] == "good"
        assert response.effective["provider"] == "openai"


# --- a provider of another protocol ------------------------------------------------------------------------------

SAID = json.dumps(
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5",
        "content": [{"type": "text", "text": "It is good."}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 12, "output_tokens": 4},
    }
)


def claude(ask: Request, **changes: Any) -> Request:  # noqa: ANN401  fields of a request
    return msgspec.structs.replace(ask, model="anthropic/claude-haiku-4-5", schema=None, seed=None, **changes)


async def test_another_protocol_is_read_by_litellm(door: Door, ask: Request) -> None:
    endpoint, provider = await door(Fault(body=SAID), prefix="anthropic")
    response = await provider.complete(claude(ask))
    assert (response.text, response.finish, response.model) == ("It is good.", "stop", "claude-haiku-4-5")
    assert (response.usage.calls, response.usage.tokens_in, response.usage.tokens_out) == (1, 12, 4)
    assert response.usage.cost_usd == pytest.approx(12 * 1e-6 + 4 * 5e-6)
    assert endpoint.calls[0].path == "/v1/messages"
    assert endpoint.calls[0].headers["x-api-key"] == KEY


@pytest.mark.parametrize(("prefix", "model"), [("anthropic", "claude-haiku-4-5"), ("gemini", "gemini-2.5-pro")])
async def test_no_redirect_is_followed_on_any_route(door: Door, ask: Request, *, prefix: str, model: str) -> None:
    endpoint, provider = await door("redirect", prefix=prefix)
    with pytest.raises(RefusedError, match="redirects are not followed"):
        await provider.complete(msgspec.structs.replace(claude(ask), model=f"{prefix}/{model}"))
    assert endpoint.stats.requests == 1
    assert endpoint.stats.elsewhere == 0


@pytest.mark.parametrize(
    ("fault", "kind", "said"),
    [
        ("huge", TransientProviderError, "more than 4194304 bytes"),
        ("encoded", RefusedError, "'gzip'"),
        ("reset", TransientProviderError, "connection to 127.0.0.1"),
        ("server_error", TransientProviderError, "The server had an error"),
        ("quota", RefusedError, "quota used up"),
        ("html", TransientProviderError, "the reply cannot be read by litellm for anthropic"),
        ("truncated", TransientProviderError, "the reply cannot be read by litellm for anthropic"),
    ],
)
async def test_one_attempt_is_one_request_on_any_route(
    door: Door, ask: Request, *, fault: str, kind: type[ProviderError], said: str
) -> None:
    endpoint, provider = await door(fault, prefix="anthropic")
    with pytest.raises(kind, match=said):
        await provider.complete(claude(ask))
    assert endpoint.stats.requests == 1


async def test_a_key_is_struck_out_and_kept_in_no_context(door: Door, ask: Request) -> None:
    _, provider = await door("bad_key")
    with pytest.raises(RefusedError) as caught:
        await provider.complete(ask)
    error: BaseException | None = caught.value
    while error is not None:
        assert KEY not in str(error)
        error = error.__cause__ or error.__context__


async def test_a_parameter_that_litellm_knows_is_not_taken_is_left_out_next_time(door: Door, ask: Request) -> None:
    endpoint, provider = await door(Fault(body=SAID), prefix="anthropic")
    seeded = msgspec.structs.replace(claude(ask), seed=7)
    with pytest.raises(TransientProviderError, match="does not take seed"):
        await provider.complete(seeded)
    assert endpoint.stats.requests == 0
    assert (await provider.complete(seeded)).effective["dropped"] == "seed"


@pytest.mark.parametrize(
    ("model", "said"),
    [("nobody/knows", "LLM Provider NOT provided"), ("anthropic/claude-haiku-4-5", "API Key")],
)
async def test_what_litellm_refuses_before_it_asks_is_refused(ask: Request, *, model: str, said: str) -> None:
    provider = LiteLLM.open("litellm", Settings())
    with pytest.raises(RefusedError, match=said):
        await provider.complete(msgspec.structs.replace(claude(ask), model=model))
    await provider.aclose()


def test_plain_http_to_another_machine_is_refused() -> None:
    with pytest.raises(ConfigError, match="plain http"):
        LiteLLM.open("anthropic", Settings(api_base={"anthropic": "http://judges.example.com"}))


async def test_plain_http_is_refused_although_litellm_has_the_address_from_elsewhere(ask: Request) -> None:
    provider = LiteLLM.open("deepseek", Settings(env={"DEEPSEEK_API_KEY": KEY}))
    os.environ["DEEPSEEK_API_BASE"] = "http://judges.invalid/v1"
    try:
        with pytest.raises(RefusedError, match=r"plain http to judges\.invalid"):
            await provider.complete(msgspec.structs.replace(claude(ask), model="deepseek/deepseek-chat"))
    finally:
        del os.environ["DEEPSEEK_API_BASE"]
        await provider.aclose()


async def test_a_cancelled_ask_ends_at_once(door: Door, ask: Request) -> None:
    endpoint, provider = await door("silent")
    with anyio.move_on_after(0.2) as scope:
        await provider.complete(ask)
    assert scope.cancelled_caught
    await endpoint.wait_idle()


async def test_whoever_else_uses_litellm_in_the_process_is_left_alone(door: Door, ask: Request) -> None:
    endpoint, provider = await door()
    await provider.complete(ask)
    import litellm  # noqa: PLC0415  as somebody else would

    said: Any = await litellm.acompletion(
        model="openai/good", messages=[{"role": "user", "content": "hello"}], api_base=endpoint.address, api_key="k"
    )
    assert said.choices[0].message.content == "Told to vote good."
    assert endpoint.calls[1].headers["Accept-Encoding"] != "identity"
    await litellm.close_litellm_async_clients()


async def test_whoever_has_litellm_tell_them_of_its_replies_is_told_of_ours_too(door: Door, ask: Request) -> None:
    _, provider = await door()
    before = await provider.complete(ask)
    import litellm  # noqa: PLC0415  as somebody else would

    send, heard = anyio.create_memory_object_stream[str](1)

    async def listen(_call: object, reply: Any, _start: object, _end: object) -> None:  # noqa: ANN401  litellm's own
        send.send_nowait(reply.choices[0].message.content)

    litellm.success_callback.append(listen)
    try:
        response = await provider.complete(ask)
        with anyio.fail_after(60), send, heard:
            assert await heard.receive() == response.text
    finally:
        for listeners in (litellm.success_callback, litellm._async_success_callback):  # noqa: SLF001  it moves them there
            listeners[:] = [other for other in listeners if other is not listen]
    assert response == before


async def test_one_client_of_litellm_serves_asks_with_different_time_left(door: Door, ask: Request) -> None:
    endpoint, provider = await door()
    await provider.complete(msgspec.structs.replace(ask, deadline_seconds=60.0))
    from litellm import in_memory_llm_clients_cache as clients  # noqa: PLC0415  it takes seconds to import

    before = set(clients.cache_dict)
    for left in (59.9, 42.0, 33.25):
        await provider.complete(msgspec.structs.replace(ask, deadline_seconds=left))
    assert endpoint.stats.requests == 4
    assert set(clients.cache_dict) == before


def test_limits_are_shared_by_provider_host_and_key() -> None:
    env = {"ANTHROPIC_API_KEY": KEY, "GEMINI_API_KEY": KEY}
    provider = LiteLLM.open("anthropic", Settings(env=env))
    assert provider.limit_key("anthropic/a") == provider.limit_key("litellm/anthropic/b")
    assert provider.limit_key("anthropic/a") != provider.limit_key("gemini/a")
    assert provider.limit_key("gpt-4o").startswith("litellm ")
    assert KEY not in provider.limit_key("anthropic/a")
    other = LiteLLM.open("anthropic", Settings(env={"ANTHROPIC_API_KEY": "other"}))
    assert provider.limit_key("anthropic/a") != other.limit_key("anthropic/a")


async def test_the_worst_cost_is_known_without_litellm(ask: Request) -> None:
    provider = LiteLLM.open("litellm", Settings())
    one = claude(ask)
    worst = await provider.worst_cost_usd(one)
    assert worst is not None
    assert worst == await provider.worst_cost_usd(msgspec.structs.replace(one, model=f"litellm/{one.model}"))
    assert provider.loops == ("asyncio",)


PROGRAM = """
import os
from deliberate.providers.litellm import _litellm

found = _litellm()
assert found.__file__.startswith(os.getcwd()), found.__file__
assert "OPENAI_API_BASE" not in os.environ
assert os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"
"""


def test_no_address_is_taken_from_a_file_beside_what_is_judged(tmp_path: Path) -> None:
    # litellm looks for ``.env`` from its own folder upward, and that is often inside a checkout.
    packages = tmp_path / ".venv" / "site-packages"
    packages.mkdir(parents=True)
    spec = importlib.util.find_spec("litellm")
    assert spec is not None
    assert spec.submodule_search_locations
    (packages / "litellm").symlink_to(spec.submodule_search_locations[0], target_is_directory=True)
    (tmp_path / ".env").write_text("OPENAI_API_BASE=https://evil.example.com/v1\n")
    ours = Path(deliberate.__file__).parents[1]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("LITELLM", "OPENAI", "COVERAGE"))}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**env, "PYTHONPATH": f"{packages}{os.pathsep}{ours}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("name", ["nosuch", "zzz-model"])
def test_a_provider_nobody_knows_is_an_error_before_anything_is_asked(name: str) -> None:
    with pytest.raises(ConfigError, match="no provider serves"):
        LiteLLM.open(name, Settings())


@pytest.mark.parametrize("name", ["anthropic", "litellm", "gpt-4o"])
def test_a_provider_or_a_model_that_litellm_knows_is_opened_without_importing_it(name: str) -> None:
    LiteLLM.open(name, Settings(env={"ANTHROPIC_API_KEY": KEY}))
