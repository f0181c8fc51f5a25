"""Record and replay: the replies of a run in a file, read back without a network.

A recording is JSONL. Its first line is a header, ``{"deliberate_recording": 1, …}`` with the digests of what it was
made from; every other line is ``{"key": …, "response": …}``. A key that was asked more than once has a line for each
reply, and replay gives them in that order, the last one from then on.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import anyio
import anyio.to_thread
import msgspec

from deliberate.errors import ConfigError, LedgerError, RefusedError
from deliberate.providers._base import Provider, Request, Response, Settings
from deliberate.providers._wire import whole
from deliberate.types import digest_of

__all__ = ["Recorded"]

_VERSION = 1
_MARK = "deliberate_recording"


class Recorded:
    """Gives back what was recorded, and asks nobody.

    Args:
        path: The recording.
    """

    prefixes: ClassVar[tuple[str, ...]] = ("recorded",)
    loops: ClassVar[tuple[str, ...]] = ("asyncio", "trio")
    most_in_flight: ClassVar[int | None] = None

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._inputs: Mapping[str, str] | None = None
        self._replies: dict[str, list[Response]] = {}
        self._lock = threading.Lock()

    @classmethod
    def open(cls, prefix: str, settings: Settings) -> Self:
        """The recording that the operator names as the address of the prefix. Reads nothing yet.

        Raises:
            ConfigError: None is named.
        """
        path = settings.api_base.get(prefix)
        if not path:
            raise ConfigError("no recording is named", where=f"--api-base {prefix}", hint="--replay FILE")
        return cls(path)

    @staticmethod
    def sink(path: str | os.PathLike[str], inputs: Mapping[str, str] | None = None) -> _Sink:
        """A recording to write to, or to go on with: one for all providers of a run.

        Args:
            path: The file; it is made when the first ask comes.
            inputs: Digests of what the run is made from, for its header.
        """
        return _Sink(Path(path), inputs or {})

    @staticmethod
    def recording(inner: Provider, sink: _Sink) -> Provider:
        """The same provider, each of its replies written down as it passes."""
        served = {"prefixes": inner.prefixes, "loops": inner.loops, "most_in_flight": inner.most_in_flight}
        kind: type[_Recorder] = type("Recorder", (_Recorder,), served)
        return kind(inner, sink)

    def limit_key(self, model: str) -> str:  # noqa: ARG002  nothing is limited
        """One for all."""
        return "recorded"

    async def worst_cost_usd(self, request: Request) -> float | None:  # noqa: ARG002  nothing is paid
        """Nothing: what the replies cost was paid when they were recorded."""
        return 0.0

    async def inputs(self) -> Mapping[str, str]:
        """The digests in the header: what the recording was made from.

        Raises:
            ConfigError: It cannot be read, or a line of it is no recording.
        """
        if self._inputs is None:
            await anyio.to_thread.run_sync(self._load)
        return self._inputs or {}

    async def complete(self, request: Request) -> Response:
        """The recorded reply to the same ask.

        Raises:
            RefusedError: The recording has no such ask.
            ConfigError: The recording cannot be read.
        """
        await self.inputs()
        replies = self._replies.get(_filed_under(request))
        if replies is None:
            raise RefusedError(
                f"{self._path.name} has no such ask of {request.model}: since it was recorded, the case, the rubric, "
                "the panel, the model or the prompt changed"
            )
        return replies.pop(0) if len(replies) > 1 else replies[0]

    async def aclose(self) -> None:
        """Holds nothing open."""

    def _load(self) -> None:
        with self._lock:
            if self._inputs is not None:
                return
            try:
                lines = self._path.read_bytes().split(b"\n")
            except OSError as error:
                raise ConfigError(f"the recording cannot be read: {error.strerror}", where=str(self._path)) from None
            inputs = _header(lines[0], self._path)
            # What follows the last line end was cut off while it was written: that reply was never given out.
            for number, line in enumerate(lines[1:-1], start=2):
                try:
                    one = _LINES.decode(line)
                except msgspec.DecodeError as error:
                    raise ConfigError(f"no recorded reply ({error})", where=f"{self._path}:{number}") from None
                self._replies.setdefault(one.key, []).append(one.response)
            self._inputs = inputs


class _Line(msgspec.Struct):
    key: str
    response: Response


_LINES = msgspec.json.Decoder(_Line)


class _Recorder:
    """Passes every ask on, and writes every reply down before it gives it out, unchanged."""

    # What these say is a class's own; `recording` makes one that says what the wrapped provider does.
    prefixes: ClassVar[tuple[str, ...]] = ()
    loops: ClassVar[tuple[str, ...]] = ()
    most_in_flight: ClassVar[int | None] = None

    def __init__(self, inner: Provider, sink: _Sink) -> None:
        self._inner = inner
        self._sink = sink

    @classmethod
    def open(cls, prefix: str, settings: Settings) -> Self:  # noqa: ARG003  it wraps what is open
        raise ConfigError(f"a recorder of {prefix!r} wraps a provider: Recorded.recording(provider, sink)")

    def limit_key(self, model: str) -> str:
        return self._inner.limit_key(model)

    async def worst_cost_usd(self, request: Request) -> float | None:
        return await self._inner.worst_cost_usd(request)

    async def complete(self, request: Request) -> Response:
        if not self._sink.ready:
            await anyio.to_thread.run_sync(self._sink.prepare)
        response = await self._inner.complete(request)
        with anyio.CancelScope(shield=True):  # it is paid
            await anyio.to_thread.run_sync(self._sink.append, _filed_under(request), response)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Sink:
    """A recording that grows, a whole line at a time."""

    def __init__(self, path: Path, inputs: Mapping[str, str]) -> None:
        self._path = path
        self._header = {_MARK: _VERSION, **dict(sorted(inputs.items()))}
        self.ready = False
        self._lock = threading.Lock()

    def prepare(self) -> None:
        """Begins the file, or finds that it goes on with what it was begun for; blocks.

        Raises:
            ConfigError: It is a recording of other inputs, or none at all.
            LedgerError: It cannot be written.
        """
        with self._lock:
            if self.ready:
                return
            try:
                self._begin()
            except OSError as error:
                raise LedgerError(f"{self._path} cannot be written: {error.strerror}") from error
            self.ready = True

    def append(self, key: str, response: Response) -> None:
        """Adds a reply; blocks.

        Raises:
            LedgerError: It cannot be written.
        """
        kept = msgspec.structs.replace(response, text=whole(response.text), detail=whole(response.detail))
        line = msgspec.json.encode(_Line(key, kept)) + b"\n"
        try:
            with self._lock, self._path.open("ab") as file:
                file.write(line)
        except OSError as error:
            raise LedgerError(f"{self._path} cannot be written: {error.strerror}") from error

    def _begin(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # For its owner alone: it holds what was judged and what was said of it.
        with os.fdopen(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
            written = file.read()
            whole_lines = written.rpartition(b"\n")[0]
            if not whole_lines:
                file.seek(0)
                file.truncate()
                file.write(msgspec.json.encode(self._header) + b"\n")
                return
            found = _header(whole_lines.partition(b"\n")[0], self._path)
            if found != {name: value for name, value in self._header.items() if name != _MARK}:
                raise ConfigError("it is a recording of other inputs", where=str(self._path), hint="name another file")
            file.truncate(len(whole_lines) + 1)


def _header(line: bytes, path: Path) -> Mapping[str, str]:
    try:
        header = msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.DecodeError:
        header = {}
    if header.pop(_MARK, None) != _VERSION:
        raise ConfigError("no recording of this version", where=f"{path}:1", expected=f'{{"{_MARK}": {_VERSION}, …}}')
    return {name: str(value) for name, value in header.items()}


def _filed_under(request: Request) -> str:
    """The content key of the step; without one, a digest of what is asked."""
    if request.key:
        return request.key
    return digest_of([request.model, request.messages, request.schema, request.temperature, request.max_tokens])


if TYPE_CHECKING:
    _: type[Provider] = Recorded
