"""Every provider that no other part serves, through litellm.

litellm shapes the request and reads the reply; what is sent goes over our own guarded connections, so that here too no
redirect is followed, no encoded body taken, and no more bytes than asked for. It is imported when such a judge is
first asked, in a worker thread.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import os
import threading
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast
from typing import Protocol as Contract

import anyio
import anyio.to_thread
import msgspec

from deliberate.errors import ConfigError, ProviderError, TransientProviderError
from deliberate.providers._address import api_base, limit_key
from deliberate.providers._base import Request, Response, Settings
from deliberate.providers._connection import Connection
from deliberate.providers._exchange import Enough, Exchange, Sent
from deliberate.providers._prices import Price, Prices, serves
from deliberate.providers._secrets import secrets_of
from deliberate.providers._wire import (
    Dropped,
    Envelope,
    effective_of,
    excerpt,
    failure,
    is_filtered,
    parameters_of,
    response_of,
    retry_after_of,
)

if TYPE_CHECKING:
    from deliberate.providers._base import Provider

__all__ = ["LiteLLM"]

_OK = 200
_BEFORE_IMPORT = {
    # No download of a price map at import, and no `.env` taken from whatever folder litellm lies in: it could name
    # an address, and the keys would go there.
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_MODE": "PRODUCTION",
}


_KEYS = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "cohere": ("COHERE_API_KEY", "CO_API_KEY"),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "groq": ("GROQ_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "perplexity": ("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"),
    "together_ai": ("TOGETHERAI_API_KEY", "TOGETHER_API_KEY", "TOGETHER_AI_TOKEN"),
    "xai": ("XAI_API_KEY",),
}
"""Providers that take a key and nothing else, with the variables that may hold it."""


class LiteLLM:
    """Asks through ``litellm.acompletion``, one request an attempt.

    Model names are litellm's, with or without ``litellm/`` before them. Address and key of a provider are handed over
    where the operator states them (``--api-base``, ``<PROVIDER>_API_BASE``, ``<PROVIDER>_API_KEY``); what else litellm
    needs it reads from the environment.
    """

    prefixes: ClassVar[tuple[str, ...]] = ("litellm",)
    loops: ClassVar[tuple[str, ...]] = ("asyncio",)
    most_in_flight: ClassVar[int | None] = None

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._secrets = secrets_of(settings.env)
        self._dropped = Dropped()
        self._prices = Prices()
        self._connection = Connection(settings, self._secrets)
        self._library: _Library | None = None

    @classmethod
    def open(cls, prefix: str, settings: Settings) -> Self:
        """A provider for that prefix. Connects to nothing, imports nothing.

        Raises:
            ConfigError: There is no provider of that name, or the address is not allowed.
        """
        if prefix not in cls.prefixes and not serves(prefix):
            raise ConfigError(
                f"no provider serves {prefix!r}",
                where="judge",
                expected="PROVIDER/MODEL, as in openai/NAME, anthropic/NAME, ollama/NAME, local/NAME",
                hint="deliberate judge ping MODEL tries one",
            )
        names = _KEYS.get(prefix, ())
        if names and not api_base(prefix, settings) and not any(settings.env.get(name) for name in names):
            what = f"{names[0]} is not set"
            raise ConfigError(what, where="judge", expected="the key of your account", hint="deliberate doctor")
        api_base(prefix, settings)
        return cls(settings)

    def limit_key(self, model: str) -> str:
        """Provider, host and key."""
        provider = _provider(_name(model))
        return limit_key(provider, api_base(provider, self._settings), self._key(provider))

    async def worst_cost_usd(self, request: Request) -> float | None:
        """The most that one attempt can cost in US dollars; None = unknown."""
        return await self._prices.worst_cost_usd(msgspec.structs.replace(request, model=_name(request.model)))

    async def complete(self, request: Request) -> Response:
        """The model's reply to one request.

        Raises:
            TransientProviderError: Trying again can help.
            RefusedError: It cannot.
        """
        model = _name(request.model)
        if self._library is None:
            self._library = await anyio.to_thread.run_sync(_litellm)
        price = await self._prices.of(model)
        exchange = Exchange(await self._connection.opened(), most_bytes=request.most_bytes, secrets=self._secrets)
        try:
            with anyio.move_on_after(request.deadline_seconds):
                return await self._ask(self._library, exchange, model, request, price)
        except ProviderError as error:
            error.args = (self._secrets.strike(str(error)),)
            raise
        finally:
            exchange.over = True
        raise TransientProviderError(f"no reply within {request.deadline_seconds:g} s")

    async def aclose(self) -> None:
        """Closes its connections."""
        await self._connection.aclose()

    def _key(self, provider: str) -> str:
        return self._settings.env.get(f"{provider.upper()}_API_KEY", "").strip()

    async def _ask(
        self, library: _Library, exchange: Exchange, model: str, request: Request, price: Price | None
    ) -> Response:
        provider = _provider(model)
        dropped = self._dropped.of(model)
        parameters = parameters_of(request, dropped)
        effective = effective_of(provider, parameters, dropped)
        said = await self._said(library, exchange, model, request, parameters)
        # Outside of the handler: litellm's message may hold a key, and a context would keep it.
        if isinstance(said, Exception):
            return self._failed(said, exchange, model, parameters, effective)
        return response_of(said, price=price, effective=effective, where=provider, secrets=self._secrets)

    async def _said(
        self, library: _Library, exchange: Exchange, model: str, request: Request, parameters: dict[str, Any]
    ) -> Envelope | Exception:
        """The reply as it came, or else as litellm reads it; what litellm raised where it is neither."""
        provider = _provider(model)
        token = _EXCHANGE.set(exchange)
        try:
            completion = await library.acompletion(
                model=model,
                messages=msgspec.to_builtins(request.messages),
                timeout=_patience(request.deadline_seconds),
                num_retries=0,
                max_retries=0,
                api_base=api_base(provider, self._settings) or None,
                api_key=self._key(provider) or None,
                **msgspec.to_builtins(
                    parameters
                ),  # a copy: it writes in what it is given, and all requests share a schema
            )
            return exchange.reply or msgspec.convert(completion, Envelope, from_attributes=True)
        except Enough as enough:
            return enough.reply
        except Exception as error:  # noqa: BLE001  all: litellm raises its own, those of its SDKs, and bare ones
            return exchange.reply or error
        finally:
            _EXCHANGE.reset(token)

    def _failed(
        self,
        error: Exception,
        exchange: Exchange,
        model: str,
        parameters: dict[str, Any],
        effective: dict[str, str],
    ) -> Response:
        if exchange.error is not None:
            raise exchange.error
        provider, got = _provider(model), exchange.got
        status: int | None
        if got is not None and got.status != _OK:
            # What the endpoint said itself, not what became of it on the way through.
            status, text, retry_after = got.status, got.body.decode("utf-8", "replace"), retry_after_of(got.headers)
        else:
            status, text, retry_after = getattr(error, "status_code", None), str(error), None
            provider = f"litellm for {provider}"
        if is_filtered(status, text):
            return Response(text="", finish="refused", effective=effective, detail=excerpt(text, self._secrets))
        named = self._dropped.learn(model, status, text, parameters)
        if named:
            said = f"{model} does not take {', '.join(named)}; the next attempt goes without"
            raise TransientProviderError(said, status=status)
        if status is None or (got is not None and got.status == _OK):
            said = excerpt(f"{type(error).__name__}: {text}", self._secrets)
            raise TransientProviderError(f"the reply cannot be read by {provider}: {said}")
        raise failure(status, text, retry_after=retry_after, where=provider, secrets=self._secrets)


class _Library(Contract):
    """What is used of litellm."""

    suppress_debug_info: bool

    async def acompletion(self, **parameters: object) -> object: ...


_EXCHANGE: ContextVar[Exchange | None] = ContextVar("exchange", default=None)
"""The exchange of the attempt at hand. Whoever else uses litellm in this process has none, and is left alone."""


_IMPORTING = threading.Lock()


def _litellm() -> _Library:
    """litellm, imported without a download, its HTTP led over our connections within an attempt of ours."""
    with _IMPORTING:  # a cache alone would lead it through once for each thread that asks first
        return _imported()


@cache
def _imported() -> _Library:
    os.environ.update(_BEFORE_IMPORT)
    os.environ.setdefault("LITELLM_LOG", "ERROR")  # it warns on stderr, of some things on stdout
    library = cast("_Library", importlib.import_module("litellm"))
    library.suppress_debug_info = True  # or it prints help to stdout
    with contextlib.suppress(ImportError):
        importlib.import_module("openai.resources.chat.completions")  # else a first call imports it, on the event loop
    _lead_through(library, importlib.import_module("litellm.llms.custom_httpx.aiohttp_transport"))
    return library


def _lead_through(library: _Library, module: ModuleType) -> None:
    """All of litellm's HTTP passes one method of its transport; there is no public way in for every route."""
    transport: Any = module.LiteLLMAiohttpTransport
    plain: Callable[[object, Sent], Awaitable[object]] = transport.handle_async_request

    async def handle_async_request(self: object, request: Sent) -> object:
        exchange = _EXCHANGE.get()
        if exchange is None or exchange.over:
            return await plain(self, request)
        got = await exchange.send(request)
        if exchange.reply is not None and not any(getattr(library, name, None) for name in _AUDIENCE):
            raise Enough(exchange.reply)
        return module.httpx.Response(got.status, headers=got.headers, content=got.body, request=request)

    transport.handle_async_request = handle_async_request


_AUDIENCE = ("callbacks", "success_callback", "_async_success_callback", "post_call_rules", "cache", "max_budget")
"""Where litellm is told who else wants to see a reply: they see ours too."""


def _patience(deadline_seconds: float) -> float:
    """The time litellm is told: the next power of two above the deadline, which is kept here, by cancelling.

    It keeps a client for each time that it was ever told, and what is left of a deadline is another at every ask.
    """
    return 2.0 ** math.frexp(deadline_seconds)[1]


def _name(model: str) -> str:
    return model.removeprefix("litellm/")


def _provider(name: str) -> str:
    return name.partition("/")[0] if "/" in name else "litellm"


if TYPE_CHECKING:
    _: type[Provider] = LiteLLM
