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
import json
import math
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar

import anyio
import anyio.to_thread
import msgspec

from deliberate.errors import ConfigError, MissingExtra, RefusedError, TransientProviderError, UnknownName
from deliberate.providers._base import Provider, Question, Request, Response, Settings
from deliberate.providers._llama import free_threads, loaded
from deliberate.providers._logits import Head, Layout, Logits, Next, Written
from deliberate.types import BRACKETS, Record, Usage, bracket_of

__all__ = ["Local"]

T = TypeVar("T")

_JUDGE = (
    "You are a careful judge. You read a task and an output, then answer one question about the output with Yes or No."
)
_DRAFTER = "You are a helpful assistant. Answer briefly."
_WRITER = "You are a helpful assistant."
_WHY = "Why? Say it in one short sentence."
_PREFILLED = "Answer:"
_ENOUGH = 0.5
"""Probability that Yes and No must have together; below it, the question was not answered."""

_MOST_DRAFT_TOKENS = 64
_MOST_WHY_TOKENS = 40
_MOST_TEXT_TOKENS = 512  # of a text that is written as a whole: a step that cannot be broken off
_MOST_WHY = 300
_MOST_DRAFTS = 256
_TIME_TO_EXPLAIN = 0.75
"""Share of the deadline after which no explanation is begun: it must not cost the vote, for the caller's own deadline
ends at the same moment."""

_LANE_SECONDS = 0.02
_DROPPED = "max_tokens,temperature"
_THREADS = "DELIBERATE_LOCAL_THREADS"
_FETCH = "deliberate models fetch"

_ARTIFACT = re.compile(
    r"\A(?:Task: (?P<task>.*?)\n\n)?(?:Reference: (?P<reference>.*?)\n\n)?Output: (?P<output>.*)\Z", re.DOTALL
)


class _Fit(Record, frozen=True, kw_only=True):
    """P = sigmoid(``slope`` x (log-odds - ``offset``)); an empty ``question`` is read for any that has no fit."""

    question: str = ""
    layout: Layout = "plain"
    offset: float
    slope: float = 1.0
    anchors: int = 0
    source: Literal["shipped", "anchors"] = "shipped"


class _Calibration(Record, frozen=True, kw_only=True):
    weights: str = ""
    fits: tuple[_Fit, ...] = ()


class _Vote(Record, frozen=True, kw_only=True):
    """The answer to one question."""

    question: Question
    log_odds: float
    mass: float
    share: float
    exact: bool
    fit: _Fit


_AS_IT_IS = _Fit(offset=0.0)


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
        sitting = _Sitting(request, calibration=self._calibration(request.model), drafts=self._drafts)
        path = self._path(request.model)
        started = anyio.current_time()
        with anyio.move_on_after(request.deadline_seconds):
            model = await _apart(lambda: self._load(path, weights=sitting.weights, threads=self._threads))
            async with _lane(model):
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
            model = await _apart(lambda: self._load(path, weights=calibration.weights, threads=self._threads))
            async with _lane(model):
                read = await _read(model, head)
                write = partial(model.write, head, ("",), most_tokens=most, temperature=heat, seed=seed)
                written = await _apart(write)
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

    def _calibration(self, model: str) -> _Calibration:
        name = model.removeprefix("local/")
        try:
            return msgspec.convert(self._settings.calibration.get(name) or {}, _Calibration)
        except msgspec.ValidationError as error:
            raise ConfigError(f"its calibration cannot be read: {error}", where=model) from None


class _Sitting:
    """One request on its way: the draft, the votes so far, the explanation."""

    def __init__(self, request: Request, *, calibration: _Calibration, drafts: dict[tuple[str, str], Written]) -> None:
        self.weights = calibration.weights
        self._request = request
        self._fits = {(fit.question, fit.layout): fit for fit in calibration.fits}
        self._drafts = drafts
        self._model: Logits | None = None
        self._layout: Layout = "plain"
        self._draft = ""
        self._head = Head(system=_JUDGE, text="")
        self._votes: list[_Vote] = []
        self._why = ""
        self._tokens_in = self._tokens_out = 0

    async def vote(self, model: Logits) -> None:
        """Asks all questions, one after the other."""
        self._model = model
        self._head = Head(system=_JUDGE, text=await self._shown(model))
        self._tokens_in += await _read(model, self._head)
        for question in self._request.questions:
            ask = partial(model.next, self._head, (self._asked(question),), begun=_PREFILLED)
            found = await _apart(ask)
            self._tokens_in += found.tokens
            self._tokens_out += 1
            self._votes.append(self._read_off(question, found))

    async def explain(self, model: Logits) -> None:
        """Asks for the reason of the lowest vote, given that vote."""
        if not self._readable:
            return
        vote = min(self._votes, key=lambda one: one.share)
        said = (self._asked(vote.question), f"{_PREFILLED} {'Yes' if vote.share >= _ENOUGH else 'No'}", _WHY)
        written = await _apart(lambda: model.write(self._head, said, most_tokens=_MOST_WHY_TOKENS))
        self._tokens_in += written.tokens_in
        self._tokens_out += written.tokens_out
        self._why = f"Explanation, not evidence: {_line(written)}"

    def response(self) -> Response:
        """What came of it.

        Raises:
            TransientProviderError: Time was up before all questions were answered.
        """
        request, model = self._request, self._model
        if model is None or len(self._votes) < len(request.questions):
            done = f"{len(self._votes)} of {len(request.questions)} questions answered"
            raise TransientProviderError(f"time was up after {request.deadline_seconds:g} s, {done}")
        unread = [vote for vote in self._votes if vote.mass < _ENOUGH]
        detail = f"neither Yes nor No was likely ({unread[0].mass:.2f} together)" if unread else ""
        return Response(
            text=self._unreadable(unread) if unread else self._reply(),
            finish="other" if unread else "stop",
            model=request.model,
            usage=Usage(calls=1, tokens_in=self._tokens_in, tokens_out=self._tokens_out, cost_usd=0.0),
            effective=self._effective(model),
            detail=detail,
        )

    @property
    def _readable(self) -> bool:
        return all(vote.mass >= _ENOUGH for vote in self._votes)

    async def _shown(self, model: Logits) -> str:
        """What the model reads before the question; with its own draft where there is no reference."""
        parts = _ARTIFACT.match(self._request.artifact)
        if parts is None:
            return f"{self._request.artifact}\n\n---\n"
        task, reference, output = parts["task"] or "", parts["reference"] or "", parts["output"]
        if reference:
            self._layout = "reference"
        elif task:
            reference = self._draft = await self._drafted(model, task)
            self._layout = "draft" if reference else "plain"
        blocks = (("Task", task), ("Reference answer", reference), ("Output", output))
        return "".join(f"{title}:\n{text}\n\n" for title, text in blocks if text or title == "Output") + "---\n"

    async def _drafted(self, model: Logits, task: str) -> str:
        """The model's own answer to a task, "" if it did not come to an end with it."""
        key = (model.weights, task)
        draft = self._drafts.get(key)
        if draft is None:
            head = Head(system=_DRAFTER, text=task)
            read = await _read(model, head)
            draft = await _apart(lambda: model.write(head, ("",), most_tokens=_MOST_DRAFT_TOKENS))
            draft = msgspec.structs.replace(draft, tokens_in=read + draft.tokens_in)
            while len(self._drafts) >= _MOST_DRAFTS:
                del self._drafts[next(iter(self._drafts))]
            self._drafts[key] = draft
        # Counted whether it was made now or before: the same request takes the same, whatever ran before it.
        self._tokens_in += draft.tokens_in
        self._tokens_out += draft.tokens_out
        return draft.text.strip() if draft.whole else ""

    def _asked(self, question: Question) -> str:
        preface = f"{self._request.preface}\n\n" if self._request.preface else ""
        return f"{preface}Question: {question.text} Answer Yes or No."

    def _read_off(self, question: Question, found: Next) -> _Vote:
        log_odds, mass = _log_odds(found.top)
        any_other = self._fits.get(("", self._layout), _AS_IT_IS)
        fit = self._fits.get((question.text, self._layout), any_other)
        share = 1.0 / (1.0 + math.exp(-max(-700.0, min(700.0, fit.slope * (log_odds - fit.offset)))))
        return _Vote(question=question, log_odds=log_odds, mass=mass, share=share, exact=found.exact, fit=fit)

    def _reply(self) -> str:
        reply: dict[str, Any] = {"reasoning": self._why, "findings": []}
        if self._request.questions[0].name:
            reply["dimensions"] = {vote.question.name: vote.share for vote in self._votes}
        else:
            score = 100.0 * self._votes[0].share
            most = _wanted(self._request).get("score", {}).get("maximum", 100)
            reply |= {"bracket": BRACKETS.labels[bracket_of(score)], "score": score * (most / 100)}
        return json.dumps({**reply, "suggestion": ""})

    def _unreadable(self, unread: list[_Vote]) -> str:
        asked = "; ".join(vote.question.text for vote in unread)
        return f"Neither Yes nor No was a likely answer to: {asked}"

    def _effective(self, model: Logits) -> Mapping[str, str]:
        found = {
            "weights": model.weights,
            "runtime": model.runtime,
            "threads": str(model.threads),
            "layout": self._layout,
            "split": "exact" if all(vote.exact for vote in self._votes) else "broken",
            "calibration": "none" if self._request.preface else _calibration_of(self._votes),
            "dropped": _DROPPED,
        }
        if self._draft:
            found["draft"] = self._draft
        for vote in self._votes:
            name = f".{vote.question.name}" if vote.question.name else ""
            found |= {f"log_odds{name}": repr(vote.log_odds), f"p{name}": repr(vote.share)}
        return found


def _need_votes(request: Request) -> None:
    """Refuses a request for anything but a vote.

    Raises:
        RefusedError: It asks for text, a review or a note.
    """
    wanted = _wanted(request)
    votes = any(name in wanted for name in ("dimensions", "bracket", "score"))
    named = [question.name for question in request.questions if question.name]
    if not votes or not request.questions or len(named) not in {0, len(request.questions)}:
        raise RefusedError(f"{request.model} answers yes/no questions: it can vote, and cannot write anything else")


def _wanted(request: Request) -> Mapping[str, Any]:
    """What the reply is to hold, by the request's schema."""
    found = dict(request.schema or {}).get("properties")
    return found if isinstance(found, Mapping) else {}


def _threads_of(settings: Settings) -> int:
    said = settings.env.get(_THREADS, "").strip()
    if not said:
        return free_threads()
    if not said.isdecimal() or int(said) < 1:
        raise ConfigError(f"{said!r} is no number of threads", where=_THREADS, expected="1, 2, …")
    return int(said)


def _log_odds(top: tuple[tuple[str, float], ...]) -> tuple[float, float]:
    """Log-odds of Yes over No, all spellings pooled, and the probability they have together.

    One that is not among the likeliest counts as the last of these, which is the most it can be.

    >>> odds, mass = _log_odds(((" Yes", math.log(0.6)), (" No", math.log(0.2)), ("yes", math.log(0.1))))
    >>> round(odds, 4), round(mass, 4)
    (1.2528, 0.9)
    """
    pooled = {"yes": 0.0, "no": 0.0}
    for token, chance in top:
        word = token.strip().casefold()
        if word in pooled:
            pooled[word] += math.exp(chance)
    least = math.exp(min((chance for _, chance in top), default=-math.inf)) or 1e-300
    return math.log(pooled["yes"] or least) - math.log(pooled["no"] or least), pooled["yes"] + pooled["no"]


def _calibration_of(votes: list[_Vote]) -> str:
    """What the weakest of the fits rests on."""
    if any(not vote.fit.question for vote in votes):
        return "none"
    if any(vote.fit.source == "shipped" for vote in votes):
        return "shipped"
    return f"anchors n={min(vote.fit.anchors for vote in votes)}"


def _line(written: Written) -> str:
    """What was written, as one bounded line; cut where the last whole sentence ends, if it was cut at all."""
    text = " ".join(written.text.split())
    if not written.whole:
        text = text[: text.rfind(". ") + 1] or f"{text} …"
    return text[:_MOST_WHY]


async def _read(model: Logits, head: Head) -> int:
    while True:
        tokens = await _apart(lambda: model.read(head))
        if tokens is not None:
            return tokens


async def _apart(work: Callable[[], T]) -> T:
    """Runs one step in a worker thread; it cannot be interrupted, so a caller who is cancelled waits for its end."""
    return await anyio.to_thread.run_sync(work)


@asynccontextmanager
async def _lane(model: Logits) -> AsyncGenerator[None]:
    """The model to oneself. Sessions of one process may run on different loops, hence a lock that is asked again."""
    while not model.lane.acquire(blocking=False):  # noqa: ASYNC110  an event belongs to one loop
        await anyio.sleep(_LANE_SECONDS)
    try:
        yield
    finally:
        model.lane.release()


if TYPE_CHECKING:
    _: type[Provider] = Local
