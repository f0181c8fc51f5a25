"""A model in this process as a judge: yes/no questions, read from probabilities.

Why it is asked this way (each measured with a model of 1.5 billion weights; see ``benchmarks/local_judge.py``):

- **One positive yes/no question for each dimension**, its answer read from the next token's probabilities. Asked to
  write a bracket or a number, a model of this size says the same for good and bad; asked for faults, it does worse
  than chance. Bracket and score are derived from P(Yes), never generated.
- **What is judged comes first, the question last**, so that all questions on one output share one reading, also when
  they come in different calls; and memory is cut at the same places always (``_llama.py``), so that no vote depends
  on what was asked before.
- **It answers the task itself first.** If the case brings no reference, the model writes a draft, and where it comes
  to an end with it in a few tokens, the draft stands where a reference would. It cannot work out an answer within a
  single token; with its own answer before it, it tells right from wrong far better where a question has one right
  answer. Tasks that need long answers get no draft; there its votes rank outputs, and say little by themselves.
- **Who judges and what peers said stand before the question**, behind what is judged, for the same reason. How far a
  persona or a peer moves such a model was not measured, so a vote with either is called uncalibrated.
- **Log-odds are calibrated** per weights, question and layout. A question without a fit of its own is read by the
  general one of these weights, where there is one; ``effective["calibration"]`` is then ``"none"``: good for ranking
  only.
- **The reason is asked for after the vote** and follows from it; it is an explanation, no evidence, and says so.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Self

import anyio
import msgspec

from deliberate.errors import ConfigError, MissingExtra, RefusedError, TransientProviderError, UnknownName
from deliberate.providers._base import Provider, Request, Response, Settings
from deliberate.providers._fits import Calibration
from deliberate.providers._llama import free_threads, loaded
from deliberate.providers._logits import Head, Logits, Written
from deliberate.providers._sitting import Sitting, wanted_by
from deliberate.providers._steps import apart, lane, taken_in
from deliberate.types import Usage

__all__ = ["Local"]

_WRITER = "You are a helpful assistant."
_MOST_TEXT_TOKENS = 512  # of a text that is written as a whole: a step that cannot be broken off
_TIME_TO_EXPLAIN = 0.75
"""Share of the deadline after which no explanation is begun: it must not cost the vote, for the caller's own deadline
ends at the same moment."""

_THREADS = "DELIBERATE_LOCAL_THREADS"
_FETCH = "deliberate models fetch"


class Local:
    """Models in this process (a ``Provider``), with one call at a time.

    Args:
        settings: Where the weights lie, and how their answers are to be read.
        load: Brings a model into memory.
    """

    prefixes: ClassVar[tuple[str, ...]] = ("local",)
    loops: ClassVar[tuple[str, ...]] = ("asyncio", "trio")
    most_in_flight: ClassVar[int | None] = 1

    def __init__(self, settings: Settings, *, load: Callable[..., Logits] = loaded) -> None:
        self._settings = settings
        self._load = load
        self._threads = _threads_of(settings)
        self._drafts: dict[tuple[str, str], Written] = {}

    @classmethod
    def open(cls, prefix: str, settings: Settings) -> Self:
        """A provider for that prefix. Loads nothing.

        Raises:
            ConfigError: No weights are here.
            MissingExtra: ``xllamacpp`` is not installed.
        """
        if importlib.util.find_spec("xllamacpp") is None:
            raise MissingExtra("local", need="a model in this process")
        if not settings.weights:
            raise ConfigError("no weights of a local model are here", where=f"{prefix}/…", hint=_FETCH)
        return cls(settings)

    def limit_key(self, model: str) -> str:
        """All local models share this machine.

        Raises:
            ConfigError: The weights of this one are not here.
        """
        self._path(model)
        return "local"

    async def worst_cost_usd(self, request: Request) -> float | None:  # noqa: ARG002  nothing is paid
        """Nothing."""
        return 0.0

    async def complete(self, request: Request) -> Response:
        """The model's vote on one artifact, as JSON; or a text, where the request asks for one.

        The deadline holds between steps of a few seconds. A vote that took most of it is handed in without an
        explanation. If it is cancelled, the step in hand is the last.

        Raises:
            TransientProviderError: Not all questions were answered in time.
            RefusedError: The artifact is too long, or the form asked for is not one of votes.
            ConfigError: The weights are not here.
        """
        if request.schema is None and not request.questions:
            return await self._text(request)
        _need_votes(request)
        sitting = Sitting(request, calibration=self._calibration(request.model), drafts=self._drafts)
        path = self._path(request.model)
        started = anyio.current_time()
        with anyio.move_on_after(request.deadline_seconds):
            model = await apart(lambda: self._load(path, weights=sitting.weights, threads=self._threads))
            async with lane(model):
                await sitting.vote(model)
                if anyio.current_time() - started < _TIME_TO_EXPLAIN * request.deadline_seconds:
                    await sitting.explain(model)
        return sitting.response()

    async def _text(self, request: Request) -> Response:
        """What the model writes, as the subject of a suite: the same each time, unless it is given a temperature."""
        calibration, path = self._calibration(request.model), self._path(request.model)
        said = {role: [one.content for one in request.messages if one.role == role] for role in ("system", "user")}
        head = Head(system="\n\n".join(said["system"]) or _WRITER, text="\n\n".join(said["user"]))
        most, heat, seed = min(request.max_tokens, _MOST_TEXT_TOKENS), request.temperature or 0.0, request.seed or 0
        drawn = {"temperature": f"{heat:g}", "seed": str(seed)} if heat else {"dropped": "seed,temperature"}
        with anyio.move_on_after(request.deadline_seconds):
            model = await apart(lambda: self._load(path, weights=calibration.weights, threads=self._threads))
            async with lane(model):
                read = await taken_in(model, head)
                write = partial(model.write, head, ("",), most_tokens=most, temperature=heat, seed=seed)
                written = await apart(write)
            return Response(
                text=written.text.strip(),
                finish="stop" if written.whole else "length",
                model=request.model,
                usage=Usage(calls=1, tokens_in=read + written.tokens_in, tokens_out=written.tokens_out, cost_usd=0.0),
                effective={
                    "weights": model.weights,
                    "runtime": model.runtime,
                    "threads": str(model.threads),
                    "max_tokens": str(most),
                    **drawn,
                },
            )
        raise TransientProviderError(f"time was up after {request.deadline_seconds:g} s")

    async def aclose(self) -> None:
        """Nothing: models stay in memory for the next session of this process."""

    def _path(self, model: str) -> str:
        name = model.removeprefix("local/")
        path = self._settings.weights.get(name)
        if path is None:
            raise UnknownName("local model", name, self._settings.weights, where=model, hint=_FETCH)
        return path

    def _calibration(self, model: str) -> Calibration:
        name = model.removeprefix("local/")
        try:
            return msgspec.convert(self._settings.calibration.get(name) or {}, Calibration)
        except msgspec.ValidationError as error:
            raise ConfigError(f"its calibration cannot be read: {error}", where=model) from None


def _need_votes(request: Request) -> None:
    """Refuses a request for anything but a vote.

    Raises:
        RefusedError: It asks for text, a review or a note.
    """
    wanted = wanted_by(request)
    votes = any(name in wanted for name in ("dimensions", "bracket", "score"))
    named = [question.name for question in request.questions if question.name]
    if not votes or not request.questions or len(named) not in {0, len(request.questions)}:
        raise RefusedError(f"{request.model} answers yes/no questions: it can vote, and cannot write anything else")


def _threads_of(settings: Settings) -> int:
    said = settings.env.get(_THREADS, "").strip()
    if not said:
        return free_threads()
    if not said.isdecimal() or int(said) < 1:
        raise ConfigError(f"{said!r} is no number of threads", where=_THREADS, expected="1, 2, …")
    return int(said)


if TYPE_CHECKING:
    _: type[Provider] = Local
