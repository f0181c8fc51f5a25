"""Endpoints that speak the OpenAI chat protocol, asked directly: hosted ones, and servers on this machine."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar, Self
from urllib.parse import urlsplit

from deliberate.errors import ConfigError, ProviderError, TransientProviderError
from deliberate.providers._address import api_base, is_loopback, limit_key, place_of
from deliberate.providers._base import Request, Response, Settings
from deliberate.providers._connection import Connection
from deliberate.providers._prices import Price, Prices
from deliberate.providers._secrets import secrets_of
from deliberate.providers._wire import (
    Dropped,
    body_of,
    effective_of,
    envelope_of,
    excerpt,
    failure,
    is_filtered,
    parameters_of,
    response_of,
    retry_after_of,
)

if TYPE_CHECKING:
    from deliberate.providers._base import Provider
    from deliberate.providers._http import Http

__all__ = ["OpenAICompatible"]

_HOMES = {
    "openai": "https://api.openai.com/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "ollama": "http://127.0.0.1:11434/v1",
    "hosted_vllm": "http://127.0.0.1:8000/v1",
    "lm_studio": "http://127.0.0.1:1234/v1",
    "llamacpp": "http://127.0.0.1:8080/v1",
}
_NEED_KEY = frozenset({"openai", "openrouter"})
_OK = 200


class OpenAICompatible:
    """Asks ``<base>/chat/completions``, one request an attempt.

    The base address is the operator's: ``--api-base PREFIX=URL``, ``<PREFIX>_API_BASE``, or where the prefix is at
    home; the key is ``<PREFIX>_API_KEY``. A parameter that a model does not take is left out from its next attempt
    on, and listed under ``dropped``.
    """

    prefixes: ClassVar[tuple[str, ...]] = tuple(_HOMES)
    loops: ClassVar[tuple[str, ...]] = ("asyncio",)
    most_in_flight: ClassVar[int | None] = None

    def __init__(self, prefix: str, *, base: str, key: str, settings: Settings) -> None:
        self._prefix = prefix
        self._base = base
        self._key = key
        self._url = f"{base}/chat/completions"
        self._where = place_of(base)
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        self._secrets = secrets_of({**settings.env, "KEY": key})
        self._dropped = Dropped()
        self._prices = Prices()
        self._connection = Connection(settings, self._secrets)

    @classmethod
    def open(cls, prefix: str, settings: Settings) -> Self:
        """A provider for one of the prefixes. Connects to nothing.

        Raises:
            ConfigError: The address is not allowed, or the key is missing.
        """
        base = api_base(prefix, settings, _HOMES[prefix])
        if prefix == "ollama" and not urlsplit(base).path:
            base = f"{base}/v1"  # OLLAMA_API_BASE is commonly set to the server's own address
        variable = f"{prefix.upper()}_API_KEY"
        key = settings.env.get(variable, "").strip()
        if not key and prefix in _NEED_KEY and not is_loopback(urlsplit(base).hostname or ""):
            raise ConfigError(f"{variable} is not set", expected="the key of your account", hint="deliberate doctor")
        if not key.isascii() or not key.isprintable():
            raise ConfigError(f"{variable} holds a character that no key has", hint="deliberate doctor")
        return cls(prefix, base=base, key=key, settings=settings)

    def limit_key(self, model: str) -> str:  # noqa: ARG002  all models of a key share its limit
        """Prefix, host and key."""
        return limit_key(self._prefix, self._base, self._key)

    async def worst_cost_usd(self, request: Request) -> float | None:
        """The most that one attempt can cost in US dollars; None = unknown."""
        return await self._prices.worst_cost_usd(request)

    async def complete(self, request: Request) -> Response:
        """The model's reply to one request.

        Raises:
            TransientProviderError: Trying again can help.
            RefusedError: It cannot.
        """
        model = request.model.removeprefix(f"{self._prefix}/")
        http = await self._connection.opened()
        price = await self._prices.of(request.model)
        try:
            async with asyncio.timeout(request.deadline_seconds):
                return await self._ask(http, model, request, price)
        except TimeoutError:
            raise TransientProviderError(f"no reply within {request.deadline_seconds:g} s") from None
        except ProviderError as error:
            error.args = (self._secrets.strike(str(error)),)
            raise

    async def aclose(self) -> None:
        """Closes its connections."""
        await self._connection.aclose()

    async def _ask(self, http: Http, model: str, request: Request, price: Price | None) -> Response:
        dropped = self._dropped.of(model)
        parameters = parameters_of(request, dropped)
        got = await http.exchange(
            "POST",
            self._url,
            headers=self._headers,
            body=body_of(model, request, parameters),
            most_bytes=request.most_bytes,
        )
        effective = effective_of(self._prefix, parameters, dropped)
        if got.status == _OK:
            envelope = envelope_of(got.body, where=self._where, secrets=self._secrets)
            return response_of(envelope, price=price, effective=effective, where=self._where, secrets=self._secrets)
        text = got.body.decode("utf-8", "replace")
        if is_filtered(got.status, text):
            return Response(text="", finish="refused", effective=effective, detail=excerpt(text, self._secrets))
        named = self._dropped.learn(model, got.status, text, parameters)
        if named:
            said = f"{model} does not take {', '.join(named)}; the next attempt goes without"
            raise TransientProviderError(said, status=got.status)
        retry_after = retry_after_of(got.headers)
        raise failure(got.status, text, retry_after=retry_after, where=self._where, secrets=self._secrets)


if TYPE_CHECKING:
    _: type[Provider] = OpenAICompatible
