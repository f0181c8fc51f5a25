from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from deliberate.providers._base import Request
from deliberate.providers._prices import Price, Prices, Tier, cost_usd, listed

FLAT = Price(tiers=(Tier(above=0, tokens_in=2e-6, tokens_out=8e-6, cached=1e-6),))
TIERED = Price(
    tiers=(
        Tier(above=0, tokens_in=1.0, tokens_out=2.0, cached=0.5),
        Tier(above=100, tokens_in=3.0, tokens_out=4.0, cached=1.5),
    )
)


def test_tokens_cost_what_the_list_says() -> None:
    assert cost_usd(FLAT, tokens_in=1000, tokens_out=100) == pytest.approx(0.0028)
    assert cost_usd(FLAT, tokens_in=1000, tokens_out=100, cached=400) == pytest.approx(0.0024)


def test_a_long_prompt_costs_more_a_token() -> None:
    assert cost_usd(TIERED, tokens_in=100, tokens_out=1) == 102.0
    assert cost_usd(TIERED, tokens_in=101, tokens_out=1) == 307.0
    assert cost_usd(TIERED, tokens_in=101, tokens_out=1, cached=1) == 305.5


def test_no_more_tokens_come_from_a_cache_than_there_are() -> None:
    assert cost_usd(FLAT, tokens_in=10, tokens_out=0, cached=99) == pytest.approx(1e-5)


def test_an_unknown_price_gives_an_unknown_cost() -> None:
    assert cost_usd(None, tokens_in=1, tokens_out=1) is None


@pytest.mark.parametrize("model", ["openai/gpt-4o", "gpt-4o", "anthropic/claude-haiku-4-5", "gemini/gemini-2.5-pro"])
async def test_a_listed_model_has_a_price(model: str) -> None:
    price = await Prices().of(model)
    assert price is not None
    assert price.tiers[0].above == 0
    assert price.tiers[0].cached < price.tiers[0].tokens_in < price.tiers[0].tokens_out


async def test_a_model_may_have_tiers() -> None:
    price = await Prices().of("gemini/gemini-2.5-pro")
    assert price is not None
    assert [tier.above for tier in price.tiers] == [0, 200_000]


@pytest.mark.parametrize(
    "model",
    [
        "openai/a-model-nobody-knows",
        "hosted_vllm/gpt-4o",  # the name of a model that OpenAI sells, served by somebody else
        "scripted/good",
        "openai/whisper-1",  # listed, but not by the token
    ],
)
async def test_an_unlisted_model_has_no_price(model: str) -> None:
    prices = Prices()
    assert await prices.of(model) is None
    assert await prices.of(model) is None


@pytest.mark.parametrize("package", ["no_such_package", "msgspec"])
def test_without_a_list_nothing_has_a_price(package: str) -> None:
    assert listed(package) == {}


async def test_the_worst_cost_counts_every_byte_and_the_whole_reply(ask: Request) -> None:
    prices = Prices()
    price = await prices.of("openai/gpt-4o")
    assert price is not None
    known = msgspec.structs.replace(ask, model="openai/gpt-4o", schema=None, max_tokens=1000)
    size = sum(len(message.content) for message in ask.messages)
    least = size * price.tiers[0].tokens_in + 1000 * price.tiers[0].tokens_out
    worst = await prices.worst_cost_usd(known)
    assert worst is not None
    assert least < worst < 2 * least


def test_the_list_is_read_without_importing_the_library_it_comes_with() -> None:
    program = (
        "import sys, anyio; from deliberate.providers._prices import Prices\n"
        "assert anyio.run(Prices().of, 'openai/gpt-4o') is not None\n"
        "sys.exit('litellm' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
