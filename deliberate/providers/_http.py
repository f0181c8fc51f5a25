"""One guarded exchange over HTTP: what every provider that speaks HTTP sends through.

Rules for whoever edits this file: no redirect is followed (a key header would travel along); no encoded body is taken
(a small one can unfold into gigabytes); bytes are counted while they arrive; plain http stays on this machine; no
cookies. The total deadline is the caller's. It imports aiohttp, so it is imported when a provider is first asked,
never before.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Mapping
from typing import NamedTuple
from weakref import WeakKeyDictionary

import aiohttp
import yarl

from deliberate.errors import ConfigError, RefusedError, TransientProviderError
from deliberate.providers._address import checked, place_of
from deliberate.providers._secrets import Secrets

__all__ = ["Got", "Http"]

_NO_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=None)
_REDIRECTS = range(300, 400)
_LARGE_BODY = 1024 * 1024
"""From here on aiohttp wants a file, which it sends in pieces."""


class Got(NamedTuple):
    """What came back, whatever its status; ``headers`` ignores case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Route(NamedTuple):
    """The way to an address that was checked: host and port, and the proxy in between."""

    where: str
    url: yarl.URL
    proxy: str | None


class Http:
    """Connections of one provider: a session per event loop, made when it is first used.

    Args:
        env: Where proxies are named (``HTTPS_PROXY``, ``NO_PROXY``).
        most_connections: The most that are open at a time.
        secrets: Struck out of what headers say.
    """

    def __init__(self, env: Mapping[str, str], *, most_connections: int, secrets: Secrets) -> None:
        self._secrets = secrets
        self._most_connections = most_connections
        self._proxy = env.get("HTTPS_PROXY") or env.get("https_proxy") or None
        no_proxy = (env.get("NO_PROXY") or env.get("no_proxy") or "").split(",")
        self._no_proxy = tuple(name.strip().removeprefix("*").lstrip(".") for name in no_proxy if name.strip())
        self._routes: dict[str, _Route] = {}
        self._sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, aiohttp.ClientSession] = WeakKeyDictionary()

    async def exchange(self, method: str, url: str, *, headers: Mapping[str, str], body: bytes, most_bytes: int) -> Got:
        """Sends one request and reads its reply whole.

        Raises:
            TransientProviderError: It was not reached, broke off, or sent more than ``most_bytes``.
            RefusedError: It redirects, encodes its body, cannot be trusted, or its address is not allowed.
        """
        route = self._routes.get(url) or self._routed(url)
        try:
            async with self._opened().request(
                method,
                route.url,
                headers={**headers, "accept-encoding": "identity"},
                data=body if len(body) < _LARGE_BODY else io.BytesIO(body),
                allow_redirects=False,
                proxy=route.proxy,
            ) as reply:
                self._refuse(reply, route.where)
                return Got(reply.status, reply.headers, await _read(reply, route.where, most_bytes))
        except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError) as error:
            raise RefusedError(f"no trusted connection to {route.where}: {error}") from error
        except (aiohttp.ClientError, OSError) as error:
            said = str(error) or type(error).__name__
            raise TransientProviderError(f"the connection to {route.where} failed: {said}") from error

    async def aclose(self) -> None:
        """Closes the session of this event loop."""
        session = self._sessions.pop(asyncio.get_running_loop(), None)
        if session is not None:
            await session.close()

    def _opened(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        session = self._sessions.get(loop)
        if session is None:
            session = self._sessions[loop] = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._most_connections),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": "deliberate"},
                timeout=_NO_TIMEOUT,
                auto_decompress=False,
            )
        return session

    def _routed(self, url: str) -> _Route:
        try:
            parts = checked(url)
        except ConfigError as error:
            raise RefusedError(str(error)) from None
        host = parts.hostname or ""
        near = parts.scheme == "http" or any(not name or f".{host}".endswith(f".{name}") for name in self._no_proxy)
        route = self._routes[url] = _Route(parts.netloc, yarl.URL(url, encoded=True), None if near else self._proxy)
        return route

    def _refuse(self, reply: aiohttp.ClientResponse, where: str) -> None:
        """Raises for what is not read at all."""
        if reply.status in _REDIRECTS:
            target = place_of(self._secrets.strike(reply.headers.get("Location", "")))[:100] or where
            said = f"{where} answered {reply.status}, a redirect to {target!r}; redirects are not followed"
            raise RefusedError(said, status=reply.status)
        encoding = self._secrets.strike(reply.headers.get("Content-Encoding", "")).strip().lower()
        if encoding not in {"", "identity"}:
            said = f"{where} sent a body in {encoding[:20]!r} although it was asked not to encode it"
            raise RefusedError(said, status=reply.status)


async def _read(reply: aiohttp.ClientResponse, where: str, most_bytes: int) -> bytes:
    chunks: list[bytes] = []
    size = reply.content_length or 0
    if size <= most_bytes:
        size = 0
        async for chunk in reply.content.iter_any():
            size += len(chunk)
            chunks.append(chunk)
            if size > most_bytes:
                break
    if size > most_bytes:
        said = f"{where} sent more than {most_bytes} bytes"
        raise TransientProviderError(said, status=reply.status)
    return b"".join(chunks)
