"""List prices, from the map that litellm brings as a file; litellm itself is not imported.

A price belongs to a model's name, whatever address it is asked at. What is not in the map is unknown, never free.
"""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from pathlib import Path
from typing import Any

import anyio.to_thread
import msgspec

from deliberate.providers._base import Request
from deliberate.types import Record

__all__ = ["Price", "Prices", "Tier", "cost_usd", "listed", "serves"]

_FILE = "model_prices_and_context_window_backup.json"
_FRAME = 16
"""Tokens around a message, more than any chat template is known to need."""

_ABOVE = re.compile(r"\Ainput_cost_per_token_above_(\d+)k_tokens\Z")


class Tier(Record, frozen=True, kw_only=True):
    """US dollars a token once a prompt has more than ``above`` tokens; ``cached`` for those read from a cache."""

    above: int
    tokens_in: float
    tokens_out: float
    cached: float


class Price(Record, frozen=True, kw_only=True):
    """What a model's tokens cost: tiers by prompt length, the shortest first."""

    tiers: tuple[Tier, ...]


class Prices:
    """Prices by full model name (``"openai/gpt-x"``). The map is read once a process, in a worker thread."""

    def __init__(self) -> None:
        self._known: dict[str, Price | None] = {}

    async def of(self, model: str) -> Price | None:
        """The list price of a model; None if it is not known."""
        if model not in self._known:
            self._known[model] = await anyio.to_thread.run_sync(_price, model)
        return self._known[model]

    async def worst_cost_usd(self, request: Request) -> float | None:
        """The most that one attempt can cost; None = unknown.

        No tokenizer makes more tokens of a text than it has bytes.
        """
        price = await self.of(request.model)
        if price is None:
            return None
        schema = len(msgspec.json.encode(request.schema)) if request.schema is not None else 0
        tokens_in = sum(len(one.content.encode("utf-8", "replace")) + _FRAME for one in request.messages) + schema
        return cost_usd(price, tokens_in=tokens_in, tokens_out=request.max_tokens)


@cache
def serves(name: str) -> bool:
    """Whether litellm knows a provider of that name, or a model that needs no provider's name before it."""
    spec = importlib.util.find_spec("litellm")
    folders = spec.submodule_search_locations if spec is not None else None
    if any((Path(folder) / "llms" / name).is_dir() for folder in folders or ()):
        return True
    table = _table()
    return name in table or any(key.startswith(f"{name}/") for key in table)


def cost_usd(price: Price | None, *, tokens_in: int, tokens_out: int, cached: int = 0) -> float | None:
    """What a call costs in US dollars; None without a price.

    Args:
        price: The model's price.
        tokens_in: Tokens of the prompt, those read from a cache included.
        tokens_out: Tokens of the reply, hidden reasoning included.
        cached: How many of ``tokens_in`` were read from a cache.
    """
    if price is None:
        return None
    tier = [tier for tier in price.tiers if tokens_in > tier.above or not tier.above][-1]
    cached = min(cached, tokens_in)
    return (tokens_in - cached) * tier.tokens_in + cached * tier.cached + tokens_out * tier.tokens_out


def listed(package: str) -> dict[str, msgspec.Raw]:
    """The map of an installed package, its entries still as bytes: most are never looked at. No map, no prices."""
    spec = importlib.util.find_spec(package)
    folders = spec.submodule_search_locations if spec is not None else None
    path = Path((folders or [""])[0]) / _FILE
    return msgspec.json.decode(path.read_bytes(), type=dict[str, msgspec.Raw]) if path.is_file() else {}


@cache
def _table() -> dict[str, msgspec.Raw]:
    return listed("litellm")


@cache
def _price(model: str) -> Price | None:
    entry = _entry(model)
    if entry is None:
        return None
    base = _tier(entry, above=0)
    longer = [_tier(entry, above=int(match[1]) * 1000) for match in map(_ABOVE.match, entry) if match]
    tiers = sorted((tier for tier in (base, *longer) if tier is not None), key=lambda tier: tier.above)
    return Price(tiers=tuple(tiers)) if base is not None else None


def _entry(model: str) -> dict[str, Any] | None:
    raw = _table().get(model)
    if raw is not None:
        return msgspec.json.decode(raw, type=dict[str, Any])
    prefix, _, name = model.partition("/")
    raw = _table().get(name)
    if raw is None:
        return None
    entry = msgspec.json.decode(raw, type=dict[str, Any])
    # "hosted_vllm/gpt-x" is not the model of that name that OpenAI sells.
    return entry if str(entry.get("litellm_provider", "")).startswith(prefix) else None


def _tier(entry: dict[str, Any], *, above: int) -> Tier | None:
    suffix = f"_above_{above // 1000}k_tokens" if above else ""
    numbers = [
        entry.get(f"{name}{suffix}")
        for name in ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost")
    ]
    tokens_in, tokens_out, cached = (float(n) if isinstance(n, (int, float)) else None for n in numbers)
    if tokens_in is None or tokens_out is None:
        return None
    return Tier(above=above, tokens_in=tokens_in, tokens_out=tokens_out, cached=tokens_in if cached is None else cached)
