"""The OpenAI chat protocol, read strictly: request parameters, replies, failures.

What one provider learns here holds for all that speak this protocol. Nothing in this file waits or sends.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

import msgspec

from deliberate.errors import QuotaError, RefusedError, TransientProviderError
from deliberate.providers._base import Finish, Request, Response
from deliberate.providers._prices import Price, cost_usd
from deliberate.providers._secrets import Secrets
from deliberate.types import Usage

__all__ = [
    "Dropped",
    "Envelope",
    "body_of",
    "effective_of",
    "envelope_of",
    "excerpt",
    "failure",
    "is_filtered",
    "parameters_of",
    "response_of",
    "retry_after_of",
    "says_something",
    "whole",
]

_MOST_EXCERPT = 300
_MOST_READ = 100_000

_FINISHES: Mapping[str, Finish] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "refused",
    "refusal": "refused",
}
"""Reasons to stop, as endpoints of this protocol spell them; any other is ``other``, and kept as it came."""

_DETAILS = {"refused": "a content filter held it back", "length": "cut off"}

_WORN = frozenset({408, 409, 425, 429})
_TOO_MANY = 429
_PAYMENT = 402
_SERVER = 500
_NOT_TAKEN = frozenset({400, 422})

_QUOTA_CODES = re.compile(r"insufficient_quota|quota_exceeded|billing_(?:hard_limit|not_active)|insufficient_balance")
_QUOTA_WORDS = re.compile(
    r"exceeded your current quota|quota (?:has been )?exceeded|insufficient (?:balance|credit)", re.IGNORECASE
)
_FILTER_CODES = re.compile(r"content_filter|content_policy_violation|ResponsibleAIPolicyViolation")
_UNSUPPORTED = re.compile(
    r"support|unrecogni[sz]ed|unknown|unexpected|not (?:allowed|permitted|accepted)|extra|deprecated|only the default",
    re.IGNORECASE,
)
_FORM_WORDS = re.compile(r"response_format|json_schema|structured.?outputs?|guided_json", re.IGNORECASE)

_SURROGATES = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_LONE = 6
"""Bytes of one surrogate written as an escape."""


class _Details(msgspec.Struct):
    cached_tokens: int | None = None


class _Tokens(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None
    cost: Any = None


class _Complaint(msgspec.Struct):
    error: Any = None
    message: Any = None
    detail: Any = None


class _Extra(msgspec.Struct):
    refusal: Any = None


class _Part(msgspec.Struct):
    type: str = "text"
    text: str | None = None
    refusal: str | None = None


class _Message(msgspec.Struct):
    content: str | list[_Part] | None = None
    refusal: str | None = None
    tool_calls: Any = None
    function_call: Any = None
    provider_specific_fields: Any = None


class _Choice(msgspec.Struct):
    message: _Message | None = None
    finish_reason: str | None = None
    error: Any = None


class Envelope(msgspec.Struct):
    """A chat completion as it came; only what is read of it."""

    choices: list[_Choice] | None = None
    model: str | None = None
    usage: Any = None
    error: Any = None
    system_fingerprint: str | None = None
    provider: str | None = None


# --- what is sent ------------------------------------------------------------------------------------------------


def parameters_of(request: Request, dropped: frozenset[str]) -> dict[str, Any]:
    """The parameters of a request beside model and messages, without those the model does not take.

    ``max_tokens`` is sent under its newer name where the old one is not taken.
    """
    name = "max_completion_tokens" if "max_tokens" in dropped else "max_tokens"
    found: dict[str, Any] = {name: request.max_tokens}
    if request.temperature is not None:
        found["temperature"] = request.temperature
    if request.seed is not None:
        found["seed"] = request.seed
    if request.schema is not None:
        form = {"name": "reply", "schema": request.schema, "strict": True}
        found["response_format"] = {"type": "json_schema", "json_schema": form}
    return {name: value for name, value in found.items() if name not in dropped}


def body_of(model: str, request: Request, parameters: Mapping[str, Any]) -> bytes:
    """The request as JSON."""
    return msgspec.json.encode({"model": model, "messages": request.messages, **parameters})


def effective_of(provider: str, parameters: Mapping[str, Any], dropped: frozenset[str]) -> dict[str, str]:
    """The parameters that apply, as text."""
    found = {"provider": provider}
    for name, value in parameters.items():
        if isinstance(value, float):
            found[name] = f"{value:g}"
        else:
            found[name] = str(value) if isinstance(value, int) else "json_schema"
    gone = dropped - {"max_tokens"} if "max_completion_tokens" in parameters else dropped
    if gone:
        found["dropped"] = ",".join(sorted(gone))
    return found


class Dropped:
    """Which parameters each model turned out not to take: the next attempt goes without them."""

    def __init__(self) -> None:
        self._names: dict[str, frozenset[str]] = {}

    def of(self, model: str) -> frozenset[str]:
        """The parameters this model does not take, as far as known."""
        return self._names.get(model, frozenset())

    def learn(self, model: str, status: int | None, text: str, sent: Mapping[str, Any]) -> tuple[str, ...]:
        """Notes the parameters that a complaint names, of those that were sent; () if it is about something else."""
        if status not in _NOT_TAKEN:
            return ()
        named = tuple(name for name in sorted(sent) if _complains(text, name))
        if named:
            self._names[model] = self.of(model).union(named)
        return named


def _complains(text: str, name: str) -> bool:
    if name == "response_format":
        # However it is worded: without it the reply is read just as strictly.
        return _FORM_WORDS.search(text) is not None
    named = re.search(rf"(?<![a-z_]){name}(?![a-z_])", text)
    return named is not None and _UNSUPPORTED.search(text) is not None


# --- what comes back ---------------------------------------------------------------------------------------------


def envelope_of(body: bytes, *, where: str, secrets: Secrets) -> Envelope:
    """The chat completion in a body.

    Raises:
        TransientProviderError: It is none: a web page, broken JSON, another shape.
    """
    try:
        return _decoded(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        start = body[:200].lstrip().lower()
        what = "a web page" if start.startswith((b"<!doctype", b"<html")) else f"no chat completion ({error})"
        raise TransientProviderError(f"{where} sent {what}: {excerpt(body, secrets)}") from None


def _decoded(body: bytes) -> Envelope:
    try:
        return msgspec.json.decode(body, type=Envelope)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        mended = _SURROGATES.sub(lambda match: match[0] if _is_pair(match[0]) else b"\\ufffd", body)
        return msgspec.json.decode(mended.decode("utf-8", "replace"), type=Envelope)


def _is_pair(escape: bytes) -> bool:
    return len(escape) != _LONE


def response_of(
    envelope: Envelope, *, price: Price | None, effective: Mapping[str, str], where: str, secrets: Secrets
) -> Response:
    """What the model said, how it ended and what it took.

    Raises:
        TransientProviderError: There is no reply in it: an error under status 200, no choices, an empty message.
    """
    if envelope.error is not None:
        raise TransientProviderError(f"{where} sent an error as a reply: {excerpt(envelope.error, secrets)}")
    if not envelope.choices:
        raise TransientProviderError(f"{where} sent a reply without choices")
    choice = envelope.choices[0]
    if choice.error is not None:
        raise TransientProviderError(f"{where} broke off its reply: {excerpt(choice.error, secrets)}")
    message = choice.message or _Message()
    text, refusal = _text(message), _refusal(message)
    finish, detail = _finish(choice, message, text=text, refusal=refusal)
    if finish == "stop" and not text.strip():
        raise TransientProviderError(f"{where} sent an empty reply")
    found = dict(effective)
    for name, value in (
        ("finish_reason", choice.finish_reason),
        ("upstream", envelope.provider),
        ("system_fingerprint", envelope.system_fingerprint),
    ):
        if value:
            found[name] = whole(value)
    return Response(
        text=text or refusal,
        finish=finish,
        model=whole(envelope.model or ""),
        usage=_usage(envelope.usage, price),
        effective=found,
        detail=detail,
    )


def says_something(envelope: Envelope) -> bool:
    """Whether there is text from the model in it."""
    message = envelope.choices[0].message if envelope.choices else None
    return message is not None and bool(_text(message).strip())


def whole(text: str) -> str:
    """The text with lone surrogates replaced: nothing that stores it could write them."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _text(message: _Message) -> str:
    if isinstance(message.content, list):
        return whole("".join(part.text or "" for part in message.content if part.type.endswith("text")))
    return whole(message.content or "")


def _refusal(message: _Message) -> str:
    if message.refusal:
        return whole(message.refusal)
    if isinstance(message.content, list):
        return whole("".join(part.refusal or "" for part in message.content))
    with contextlib.suppress(msgspec.ValidationError):  # litellm files a refusal there
        return whole(str(msgspec.convert(message.provider_specific_fields, _Extra).refusal or ""))
    return ""


def _finish(choice: _Choice, message: _Message, *, text: str, refusal: str) -> tuple[Finish, str]:
    reason = choice.finish_reason
    if refusal:
        return "refused", refusal[:_MOST_EXCERPT]
    if not text and (message.tool_calls or message.function_call):
        return "other", "it called a tool instead of answering"
    finish = _FINISHES.get(reason, "other") if reason else "stop"
    if finish == "stop":
        return finish, ""
    return finish, _DETAILS.get(finish) or f"ended with {reason!r}"


def _usage(raw: object, price: Price | None) -> Usage:
    """Tokens and cost; a usage that is missing or misshapen is unknown, and costs the reply nothing."""
    try:
        tokens = msgspec.convert(raw, _Tokens, from_attributes=True)
    except msgspec.ValidationError:
        return Usage(calls=1, cost_usd=None)
    tokens_in, tokens_out = tokens.prompt_tokens, tokens.completion_tokens
    if not tokens_in or tokens_out is None or min(tokens_in, tokens_out) < 0:
        # No prompt has no tokens: some write 0 where they did not count.
        return Usage(calls=1, cost_usd=None)
    details = tokens.prompt_tokens_details
    cached = (details.cached_tokens if details is not None else None) or 0
    cost = cost_usd(price, tokens_in=tokens_in, tokens_out=tokens_out, cached=max(0, cached))
    if isinstance(tokens.cost, int | float) and tokens.cost >= 0:
        cost = float(tokens.cost)  # what was charged (OpenRouter says) beats the list
    return Usage(calls=1, tokens_in=tokens_in, tokens_out=tokens_out, cost_usd=cost)


# --- failures ----------------------------------------------------------------------------------------------------


def failure(
    status: int, text: str, *, retry_after: float | None, where: str, secrets: Secrets
) -> TransientProviderError | RefusedError:
    """The error that a status other than 200 amounts to: can trying again help?"""
    said = f"{where} answered {status}: {excerpt(text, secrets)}"
    if status == _PAYMENT or (status == _TOO_MANY and _quota(text, retry_after)):
        return QuotaError(f"quota used up: {said}", status=status)
    if status in _WORN or status >= _SERVER:
        return TransientProviderError(said, status=status, retry_after=retry_after)
    return RefusedError(said, status=status)


def is_filtered(status: int | None, text: str) -> bool:
    """Whether a request was declined by a content filter: the judge's word, not a failure."""
    return status in _NOT_TAKEN and _FILTER_CODES.search(text) is not None


def retry_after_of(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from ``Retry-After`` (seconds or a date); None if it says nothing."""
    value = headers.get("Retry-After", "").strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
        except (TypeError, ValueError):
            return None
    return max(0.0, seconds) if isfinite(seconds) else None


def excerpt(said: object, secrets: Secrets) -> str:
    """The start of an endpoint's message on one line, without secrets."""
    if isinstance(said, bytes):
        said = said[:_MOST_READ].decode("utf-8", "replace")
    if isinstance(said, str):
        said = said[:_MOST_READ]
        with contextlib.suppress(msgspec.DecodeError, RecursionError):
            said = msgspec.json.decode(said)
    with contextlib.suppress(msgspec.ValidationError):
        while inner := _inner(msgspec.convert(said, _Complaint)):
            said = inner
    # Struck out before it is cut: half a key is a key to whoever knows the other half.
    text = " ".join(secrets.strike(whole(str(said))).split())
    return text if len(text) <= _MOST_EXCERPT else f"{text[:_MOST_EXCERPT]}…"


def _inner(complaint: _Complaint) -> object:
    return complaint.error or complaint.message or complaint.detail


def _quota(text: str, retry_after: float | None) -> bool:
    """Whether a 429 says that the money is gone: some use the same words for a limit that passes, with a time."""
    return _QUOTA_CODES.search(text) is not None or (retry_after is None and _QUOTA_WORDS.search(text) is not None)
