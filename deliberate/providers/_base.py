"""What a provider is: request -> response, one attempt.

A provider makes exactly one attempt and knows no retry, limit, ledger or redirect. It raises
``TransientProviderError`` where trying again can help and ``RefusedError`` where it cannot; everything the model
itself said, refusals and cut replies included, comes back as a ``Response``. To add one: a file in this room whose
name is the provider's name and whose ``__all__`` holds just its class.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, Self
from typing import Protocol as Contract

from deliberate.types import Param, Record, Usage

__all__ = ["Finish", "Message", "Provider", "Question", "Request", "Response", "Settings"]

Finish = Literal["stop", "length", "refused", "other"]
"""Why a reply ended: on its own, cut by ``max_tokens``, declined (refusal or content filter), anything else."""


class Message(Record, frozen=True, kw_only=True):
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


class Question(Record, frozen=True, kw_only=True):
    """One positive yes/no question, for a judge that reads probabilities; ``name`` is the dimension, or ""."""

    name: str
    text: str


class Request(Record, frozen=True, kw_only=True):
    """One ask, ready to send.

    ``model`` is the full name as the user wrote it (``"openai/gpt-x"``). ``key`` is the content key of the step, with
    ``"#repair"`` behind it for the repair ask: what recordings are filed under. ``schema`` is the JSON Schema of the
    reply, or None for text. ``artifact``, ``preface`` and ``questions`` say the same as ``messages`` to a judge that
    reads probabilities instead of writing: what is judged first, then who judges and what peers said, the questions
    last; its reply is the JSON that ``schema`` describes. ``deadline_seconds`` is what is left for this attempt,
    ``most_bytes`` the largest reply to accept.
    """

    model: str
    messages: tuple[Message, ...]
    key: str = ""
    schema: Mapping[str, Param] | None = None
    temperature: float | None = None
    max_tokens: int = 2000
    seed: int | None = None
    artifact: str = ""
    preface: str = ""
    questions: tuple[Question, ...] = ()
    deadline_seconds: float = 120.0
    most_bytes: int = 4 * 1024 * 1024


class Response(Record, frozen=True, kw_only=True):
    """What came back: the model's own text, verbatim, with how it ended and what it took.

    ``effective`` holds the parameters that really applied, as text: dropped ones are listed under ``"dropped"``,
    comma-separated. ``detail`` explains a finish other than ``stop``.
    """

    text: str
    finish: Finish = "stop"
    model: str = ""
    usage: Usage = Usage(calls=1, cost_usd=None)
    effective: Mapping[str, str] = {}
    detail: str = ""


class Settings(Record, frozen=True, kw_only=True):
    """What the operator says about providers: the only source of addresses, keys and places.

    ``env`` is the environment as it was read once; ``api_base`` maps a prefix to its address; ``weights`` maps a local
    model's name to its file.
    """

    env: Mapping[str, str] = {}
    api_base: Mapping[str, str] = {}
    weights: Mapping[str, str] = {}
    calibration: Mapping[str, Param] = {}
    most_connections: int = 256


class Provider(Contract):
    """One attempt, behind one prefix of model names.

    ``prefixes`` are those it serves (``("openai", "ollama", …)``); ``()`` = its own file name. ``loops`` says on which
    event loops it runs; ``most_in_flight`` is the most calls it can do at once (None = the limit finds out).
    """

    prefixes: ClassVar[tuple[str, ...]]
    loops: ClassVar[tuple[str, ...]]
    most_in_flight: ClassVar[int | None]

    @classmethod
    def open(cls, prefix: str, settings: Settings) -> Self:
        """A provider for that prefix. Connects to nothing.

        Raises:
            ConfigError: A key or an address is missing: the message names it.
            MissingExtra: Its library is not installed.
        """
        ...

    def limit_key(self, model: str) -> str:
        """What shares one limit: provider and key, never the model's display name.

        Raises:
            ConfigError: It is known before anything is asked that there is no such model.
        """
        ...

    async def worst_cost_usd(self, request: Request) -> float | None:
        """The most that one attempt can cost in US dollars, ``max_tokens`` of reply included; None = unknown."""
        ...

    async def complete(self, request: Request) -> Response:
        """The model's reply to one request, within ``request.deadline_seconds``.

        Raises:
            TransientProviderError: Trying again can help.
            RefusedError: It cannot.
        """
        ...

    async def aclose(self) -> None:
        """Closes what it holds."""
        ...
