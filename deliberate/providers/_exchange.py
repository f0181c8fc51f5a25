"""The HTTP of one attempt that somebody else's library makes: over our connections, its reply read as it came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from typing import Protocol as Contract

from deliberate.errors import ProviderError, TransientProviderError
from deliberate.providers._secrets import Secrets
from deliberate.providers._wire import Envelope, envelope_of, says_something

if TYPE_CHECKING:
    from deliberate.providers._http import Got, Http

__all__ = ["Enough", "Exchange", "Sent"]

_OK = 200


class Sent(Contract):
    """What is used of an httpx request."""

    method: str
    url: object
    headers: Mapping[str, str]

    async def aread(self) -> bytes: ...


class Exchange:
    """The HTTP of one attempt: over our connections, with its real cause kept.

    litellm and the SDKs it uses turn whatever is raised below them into a connection error and drop the cause.
    """

    def __init__(self, http: Http, *, most_bytes: int, secrets: Secrets) -> None:
        self._http = http
        self._most_bytes = most_bytes
        self._secrets = secrets
        self.got: Got | None = None
        self.reply: Envelope | None = None
        self.error: ProviderError | None = None
        self.over = False

    async def send(self, request: Sent) -> Got:
        """Sends an httpx request.

        Raises:
            ProviderError: Nothing came back that may be read.
        """
        try:
            self.got = await self._http.exchange(
                request.method,
                str(request.url),
                headers=dict(request.headers.items()),
                body=await request.aread(),
                most_bytes=self._most_bytes,
            )
        except ProviderError as error:
            self.error = error
            raise
        self.reply = self._as_it_came(self.got)
        return self.got

    def _as_it_came(self, got: Got) -> Envelope | None:
        """The reply itself, where the endpoint speaks the chat protocol.

        litellm strips thinking from it, renames unknown reasons to stop, and trips over content in parts.
        """
        if got.status != _OK:
            return None
        try:
            envelope = envelope_of(got.body, where="", secrets=self._secrets)
        except TransientProviderError:
            return None
        return envelope if says_something(envelope) else None


class Enough(BaseException):
    """A reply that is read as it came: what litellm would make of it, nobody would see.

    No error, so that it goes past what litellm catches, as a cancellation does.
    """

    def __init__(self, reply: Envelope) -> None:
        self.reply = reply
