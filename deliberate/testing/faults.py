"""What may go wrong at an endpoint: one reply's fault by name, and scripts that say which call it befalls."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from deliberate.types import Record

__all__ = ["FAULTS", "Call", "Fault", "Script", "ask_of", "drawn", "error", "mixed", "named"]

_CODES = re.compile(r"[0-9A-Za-z_-]{22,}")
"""Nonces: what differs between two attempts at one ask."""


class Fault(Record, frozen=True, kw_only=True):
    """How one reply differs from a good one; with every field at rest it does not.

    ``body`` stands in place of the completion, ``content`` in place of the vote (``{vote}`` in it is the vote);
    ``{key}`` in a body or header is the key that was sent, ``{elsewhere}`` an address of another origin. ``swap``
    replaces a piece of the vote's text once. ``message`` and ``envelope`` are laid over the completion. ``kept`` is
    the part of the body that is sent, 0–1; with ``reset`` the connection then breaks. ``byte_seconds`` is the pause
    after each byte, ``pad_bytes`` of white space come before the body. A fault that ``refuses`` a parameter befalls
    only requests that carry it.
    """

    status: int = 200
    headers: Mapping[str, str] = {}
    body: str | None = None
    content: str | None = None
    swap: tuple[str, str] = ("", "")
    message: Mapping[str, Any] = {}
    envelope: Mapping[str, Any] = {}
    finish: str | None = None
    kept: float = 1.0
    reset: bool = False
    byte_seconds: float = 0.0
    pad_bytes: int = 0
    encoded: bool = False
    silent: bool = False
    refuses: str = ""


def error(message: str, code: str | None = None, **more: str) -> str:
    """The body of an error."""
    return json.dumps({"error": {"message": message, "type": "invalid_request_error", "code": code, **more}})


FAULTS: Mapping[str, Fault] = {
    # told by status
    "bad_request": Fault(status=400, body=error("messages: at least one message is required")),
    "bad_key": Fault(status=401, body=error("Incorrect API key provided: {key}.", "invalid_api_key")),
    "forbidden": Fault(status=403, body=error("Country, region, or territory not supported")),
    "no_such_model": Fault(status=404, body=error("The model does not exist", "model_not_found")),
    "timeout": Fault(status=408, body=error("Request timed out")),
    "conflict": Fault(status=409, body=error("Conflict")),
    "rate_limited": Fault(status=429, body=error("Rate limit reached", "rate_limit_exceeded")),
    "rate_limited_a_second": Fault(
        status=429, headers={"Retry-After": "1"}, body=error("Rate limit reached", "rate_limit_exceeded")
    ),
    "quota": Fault(status=429, body=error("You exceeded your current quota", "insufficient_quota")),
    "server_error": Fault(status=500, body=error("The server had an error while processing your request")),
    "bad_gateway": Fault(status=502, body="<html><body>502 Bad Gateway</body></html>"),
    "unavailable": Fault(status=503, body=error("The engine is currently overloaded")),
    "overloaded": Fault(status=529, body=error("Overloaded")),
    "redirect": Fault(status=307, headers={"Location": "{elsewhere}/chat/completions"}),
    # refused parameters
    "no_response_format": Fault(
        status=400, body=error("'response_format' of type 'json_schema' is not supported"), refuses="response_format"
    ),
    "no_temperature": Fault(
        status=400,
        body=error("Unsupported value: 'temperature' does not support 0.1 with this model.", "unsupported_value"),
        refuses="temperature",
    ),
    "no_max_tokens": Fault(
        status=400,
        body=error(
            "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
            "unsupported_parameter",
        ),
        refuses="max_tokens",
    ),
    "filtered_prompt": Fault(status=400, body=error("The prompt was filtered", "content_filter")),
    # broken on the way
    "malformed": Fault(body='{"id": "chatcmpl-1", "choices": [{"message": {"content": }}]}'),
    "truncated": Fault(kept=0.5),
    "reset": Fault(kept=0.5, reset=True),
    "drip": Fault(byte_seconds=0.05),
    "silent": Fault(silent=True),
    "huge": Fault(pad_bytes=8 * 1024 * 1024),
    "encoded": Fault(encoded=True),
    "html": Fault(headers={"Content-Type": "text/html"}, body="<!DOCTYPE html><title>Sign in</title>"),
    # 200, and yet no vote
    "error_under_200": Fault(body=error("Provider returned error")),
    "empty_choices": Fault(envelope={"choices": []}),
    "null_choices": Fault(envelope={"choices": None}),
    "null_content": Fault(message={"content": None}),
    "content_filter": Fault(message={"content": None}, finish="content_filter"),
    "refusal": Fault(message={"content": None, "refusal": "I'm sorry, I can't help with that."}),
    "length": Fault(content='{"reasoning": "The output', finish="length"),
    "tool_call": Fault(
        message={
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "vote", "arguments": "{}"}}],
        },
        finish="tool_calls",
    ),
    # unusual, and yet a vote
    "parts": Fault(message={"content": "parts"}),
    "fenced": Fault(content="```json\n{vote}\n```"),
    "thinking": Fault(content="<think>Let me see.</think>\n{vote}"),
    "surrogate": Fault(swap=('"reasoning":"', '"reasoning":"\ud83d ')),
    "unknown_finish": Fault(finish="eos_reached"),
    "no_usage": Fault(envelope={"usage": None}),
    # readable, and yet no ballot
    "prose": Fault(content="I would call this rather good work."),
    "broken_vote": Fault(swap=('"findings":', '"findings" ')),
}
"""Ready-made faults by name; ``status:503`` names a bare status, ``retry_after:2`` a 429 that says how long."""


class Call(Record, frozen=True, kw_only=True):
    """One request as it came in: the n-th of all, and the n-th attempt at this ask (from 1)."""

    number: int
    attempt: int
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


Script = Callable[[Call], Fault | str | None]
"""What befalls a call: a fault, the name of one, or nothing."""


def mixed(shares: Mapping[str, float], *, seed: int = 0, first_attempts_only: bool = True) -> Script:
    """A script in which each named fault befalls a share of asks (0–1), drawn by a digest of seed and ask.

    Raises:
        ValueError: The shares sum to more than 1, or a name is not known.
    """
    for name in shares:
        named(name)
    if sum(shares.values()) > 1:
        msg = "the shares of all faults sum to more than 1"
        raise ValueError(msg)

    def script(call: Call) -> str | None:
        if first_attempts_only and call.attempt > 1:
            return None
        left = drawn(f"{seed}\n{call.attempt}\n{ask_of(call.body)}")
        for name, share in shares.items():
            left -= share
            if left < 0:
                return name
        return None

    return script


def named(name: str) -> Fault:
    """The fault of a name.

    Raises:
        ValueError: The name is not known.
    """
    kind, _, number = name.partition(":")
    if kind == "status":
        return Fault(status=int(number), body=error(f"status {number}"))
    if kind == "retry_after":
        return msgspec.structs.replace(FAULTS["rate_limited"], headers={"Retry-After": number})
    if name not in FAULTS:
        msg = f"no fault is called {name!r}; there are {', '.join(FAULTS)}, status:N and retry_after:SECONDS"
        raise ValueError(msg)
    return FAULTS[name]


def ask_of(body: Mapping[str, Any]) -> str:
    """Which ask a request is an attempt at: its model, sample and messages, repair turns and nonces left out."""
    messages: list[Mapping[str, Any]] = body.get("messages") or []
    roles = [message.get("role") for message in messages]
    first = messages[: roles.index("assistant")] if "assistant" in roles else messages
    text = json.dumps([body.get("model"), body.get("seed"), first])
    return hashlib.sha256(_CODES.sub("", text).encode()).hexdigest()


def drawn(text: str) -> float:
    """A share, 0–1, drawn by a digest of the text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) / 2**64
