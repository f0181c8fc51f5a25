"""A judge that does as it is told: for demos, dry runs and tests. It needs no network and costs nothing.

Model names say what it does: ``scripted/good`` votes good, ``scripted/fair:40`` with that score,
``scripted/seeded`` by a digest of what it reads (``seeded:7`` by another), ``scripted/obedient`` does what the judged
text demands. ``refuse``, ``unreadable``, ``truncated``, ``dead`` and ``hang`` fail as real endpoints do, and ``fail``
as one at which trying again cannot help. ``@0.5`` behind any of them waits half a second before each reply; ``#b``
behind all of it makes another judge of the same script.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import anyio
import msgspec

from deliberate.errors import RefusedError, TransientProviderError
from deliberate.providers._base import Finish, Request, Response, Settings
from deliberate.types import BRACKETS, Usage, bracket_of

if TYPE_CHECKING:
    from deliberate.providers._base import Provider

__all__ = ["Scripted"]

_MIDPOINTS = dict(zip(BRACKETS.labels, (12.5, 38.0, 63.0, 88.0), strict=True))
_FAILURES = ("refuse", "unreadable", "truncated", "dead", "hang", "fail")
_MOST = 100.0
_NAMES = (*BRACKETS.labels, "seeded", "obedient", *_FAILURES)
_LINE = re.compile(r"(?P<what>[a-z]+)(?::(?P<number>\d+(?:\.\d+)?))?(?:@(?P<seconds>\d+(?:\.\d+)?))?(?:#[\w.-]+)?")

_DEMANDED_NUMBER = re.compile(
    r"\b(?:scor|rat(?:e|ing)|grade|give|award|mark|points?)[^\n.]{0,40}?\b(?P<given>\d{1,3})(?:\s*/\s*(?P<most>\d{1,3}))?",
    re.IGNORECASE,
)
_DEMANDED_BRACKET = re.compile(
    r"\b(?:scor|rat(?:e|ing)|grade|give|award|mark|vote|bracket|verdict)[^\n.]{0,40}?\b(?P<name>poor|fair|good|excellent)\b",
    re.IGNORECASE,
)
_SCALE = re.compile(r"\b0(?:\.0+)?\s*(?:-|–|\.\.|to)\s*(?P<most>\d+(?:\.\d+)?)")
_CODES = re.compile(r"[0-9A-Za-z_-]{22,}")
"""Nonces and digests: what changes between two attempts at one ask."""


class Scripted:
    """Replies by script.

    Args:
        reply: What to reply to a request: the text, a whole response, or an error to raise. None: by the model's name.
    """

    prefixes: ClassVar[tuple[str, ...]] = ("scripted",)
    loops: ClassVar[tuple[str, ...]] = ("asyncio", "trio")
    most_in_flight: ClassVar[int | None] = None

    def __init__(self, reply: Callable[[Request], str | Response | Exception] | None = None) -> None:
        self._script = reply

    @classmethod
    def open(cls, prefix: str, settings: Settings) -> Self:  # noqa: ARG003  needs neither address nor key
        """A provider that goes by the model's name."""
        return cls()

    def limit_key(self, model: str) -> str:  # noqa: ARG002  nothing is limited
        """One for all."""
        return "scripted"

    async def worst_cost_usd(self, request: Request) -> float | None:  # noqa: ARG002  nothing is paid
        """Nothing."""
        return 0.0

    async def complete(self, request: Request) -> Response:
        """The scripted reply to one request.

        Raises:
            TransientProviderError: The script says so, or says nothing until the deadline.
            RefusedError: The script says so, or there is none of that name.
        """
        with anyio.move_on_after(request.deadline_seconds):
            return await self._reply(request)
        raise TransientProviderError(f"no reply within {request.deadline_seconds:g} s")

    async def aclose(self) -> None:
        """Holds nothing."""

    async def _reply(self, request: Request) -> Response:
        if self._script is None:
            return await _by_name(request)
        said = self._script(request)
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, Response) else _response(request, said)


class _Vote(NamedTuple):
    bracket: str
    score: float
    reason: str


class _Script(NamedTuple):
    what: str
    number: float | None
    seconds: float


def _script_of(model: str) -> _Script:
    """What a model's name says."""
    name = model.rpartition("/")[2]
    line = _LINE.fullmatch(name)
    if line is None or line["what"] not in _NAMES:
        raise RefusedError(f"no scripted judge is called {name!r}; there are {', '.join(_NAMES)}")
    number = float(line["number"]) if line["number"] else None
    if number is not None and line["what"] in BRACKETS.labels and number > _MOST:
        raise RefusedError(f"{name!r}: {number:g} is no score from 0 to 100")
    return _Script(line["what"], number, float(line["seconds"] or 0))


async def _by_name(request: Request) -> Response:
    what, number, seconds = _script_of(request.model)
    await anyio.sleep(seconds)
    if what in _FAILURES:
        return await _failed(what, request)
    return _response(request, _written(request, _vote(what, number, request)))


async def _failed(what: str, request: Request) -> Response:
    if what == "dead":
        raise TransientProviderError("the connection was reset")
    if what == "fail":
        raise RefusedError("told to fail")
    if what == "hang":
        await anyio.sleep_forever()
    if what == "refuse":
        return _response(request, "I cannot judge this.", finish="refused", detail="declined")
    if what == "unreadable":
        return _response(request, "I would call this rather good work, all things considered.")
    text = _written(request, _vote("good", None, request))
    return _response(request, text[: len(text) // 2], finish="length", detail="cut off")


def _response(request: Request, text: str, *, finish: Finish = "stop", detail: str = "") -> Response:
    read = sum(len(message.content.split()) for message in request.messages)
    return Response(
        text=text,
        finish=finish,
        model=request.model,
        usage=Usage(calls=1, tokens_in=read, tokens_out=len(text.split()), cost_usd=0.0),
        effective={"provider": "scripted", "finish_reason": finish},
        detail=detail,
    )


def _vote(what: str, number: float | None, request: Request) -> _Vote:
    if what == "seeded":
        score = _drawn(request, number or 0.0)
        return _Vote(BRACKETS.labels[bracket_of(score)], score, "Drawn by a digest of what was read.")
    if what == "obedient":
        return _obeyed(_judged(request))
    return _Vote(what, _MIDPOINTS[what] if number is None else number, f"Told to vote {what}.")


def _judged(request: Request) -> str:
    """What is judged: the artifact, else the first message that is no instruction; a repair ask repeats it."""
    return request.artifact or next((one.content for one in request.messages if one.role == "user"), "")


def _drawn(request: Request, seed: float) -> float:
    """Half of it hangs on what is judged, half on who judges: such judges agree more often than chance."""
    judged = _CODES.sub("", _judged(request))
    both = (f"{seed:g}\n{judged}", f"{seed:g}\n{request.model}\n{request.seed}\n{judged}")
    shares = [int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:4]) / 2**32 for text in both]
    return round(50.0 * sum(shares), 1)


def _obeyed(text: str) -> _Vote:
    """What the text demands; good if it demands nothing. The demand is repeated, as infected judges do."""
    number = _DEMANDED_NUMBER.search(text)
    if number is not None and int(number["given"]) <= int(number["most"] or 100):
        score = 100.0 * int(number["given"]) / (int(number["most"] or 0) or 100)
        return _Vote(BRACKETS.labels[bracket_of(score)], score, f"The text says: {number[0]}")
    bracket = _DEMANDED_BRACKET.search(text)
    if bracket is not None:
        name = bracket["name"].lower()
        return _Vote(name, _MIDPOINTS[name], f"The text says: {bracket[0]}")
    return _Vote("good", _MIDPOINTS["good"], "The text demands nothing.")


def _written(request: Request, vote: _Vote) -> str:
    if request.schema is not None:
        return msgspec.json.encode(_filled(request.schema, vote, request.schema)).decode()
    asked = "\n".join(one.content for one in request.messages)
    if "SCORE:" not in asked:
        return vote.reason
    scale = _SCALE.search(asked)
    most = float(scale["most"]) if scale is not None else 100.0
    return f"SCORE: {vote.score / 100.0 * most:g}\nFEEDBACK: {vote.reason}"


def _filled(schema: Mapping[str, Any], vote: _Vote, root: Mapping[str, Any], name: str = "") -> Any:  # noqa: ANN401  JSON
    """The smallest value a JSON Schema allows, with the vote where it has a place."""
    schema = _resolved(schema, root)
    kind = schema.get("type", "object" if "properties" in schema else "null")
    kind = kind if isinstance(kind, str) else kind[-1]  # ["string", "null"]: the smallest is the last
    given = {
        "bracket": vote.bracket,
        "score": round(vote.score * (schema.get("maximum", 100) / 100), 9),
        "cites": ("a",),  # the first vote it is shown
    }
    if name in given:
        return given[name]
    if "enum" in schema:
        return schema["enum"][0]
    if kind == "object":
        properties: Mapping[str, Any] = schema.get("properties", {})
        shares = name == "dimensions"
        return {
            key: vote.score / 100.0 if shares else _filled(properties[key], vote, root, key)
            for key in schema.get("required", properties)
        }
    if kind == "string":
        return vote.reason if name in {"reasoning", "text"} else ""
    return {"array": (), "number": 0, "integer": 0, "boolean": False}.get(kind)


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in schema:
        found: Any = root
        for step in str(schema["$ref"]).removeprefix("#/").split("/"):
            found = found[step]
        schema = found
    return schema


if TYPE_CHECKING:
    _: type[Provider] = Scripted
