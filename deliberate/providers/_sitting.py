"""One request before a local judge: the draft, the questions, the explanation, the reply."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from deliberate.errors import TransientProviderError
from deliberate.providers._base import Question, Request, Response
from deliberate.providers._fits import AS_IT_IS, Calibration, Vote, log_odds_of, rests_on
from deliberate.providers._logits import Head, Layout, Logits, Next, Written
from deliberate.providers._steps import apart, taken_in
from deliberate.types import BRACKETS, Usage, bracket_of

__all__ = ["Sitting", "wanted_by"]

_JUDGE = (
    "You are a careful judge. You read a task and an output, then answer one question about the output with Yes or No."
)
_DRAFTER = "You are a helpful assistant. Answer briefly."
_WHY = "Why? Say it in one short sentence."
_PREFILLED = "Answer:"
_ENOUGH = 0.5
"""Probability that Yes and No must have together; below it, the question was not answered."""

_MOST_DRAFT_TOKENS = 64
_MOST_WHY_TOKENS = 40
_MOST_WHY = 300
_MOST_DRAFTS = 256
_DROPPED = "max_tokens,temperature"

_ARTIFACT = re.compile(
    r"\A(?:Task: (?P<task>.*?)\n\n)?(?:Reference: (?P<reference>.*?)\n\n)?Output: (?P<output>.*)\Z", re.DOTALL
)


class Sitting:
    """One request on its way: the draft, the votes so far, the explanation."""

    def __init__(self, request: Request, *, calibration: Calibration, drafts: dict[tuple[str, str], Written]) -> None:
        self.weights = calibration.weights
        self._request = request
        self._fits = {(fit.question, fit.layout): fit for fit in calibration.fits}
        self._drafts = drafts
        self._model: Logits | None = None
        self._layout: Layout = "plain"
        self._draft = ""
        self._head = Head(system=_JUDGE, text="")
        self._votes: list[Vote] = []
        self._why = ""
        self._tokens_in = self._tokens_out = 0

    async def vote(self, model: Logits) -> None:
        """Asks all questions, one after the other."""
        self._model = model
        self._head = Head(system=_JUDGE, text=await self._shown(model))
        self._tokens_in += await taken_in(model, self._head)
        for question in self._request.questions:
            ask = partial(model.next, self._head, (self._asked(question),), begun=_PREFILLED)
            found = await apart(ask)
            self._tokens_in += found.tokens
            self._tokens_out += 1
            self._votes.append(self._read_off(question, found))

    async def explain(self, model: Logits) -> None:
        """Asks for the reason of the lowest vote, given that vote."""
        if not self._readable:
            return
        vote = min(self._votes, key=lambda one: one.share)
        said = (self._asked(vote.question), f"{_PREFILLED} {'Yes' if vote.share >= _ENOUGH else 'No'}", _WHY)
        written = await apart(lambda: model.write(self._head, said, most_tokens=_MOST_WHY_TOKENS))
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
            read = await taken_in(model, head)
            draft = await apart(lambda: model.write(head, ("",), most_tokens=_MOST_DRAFT_TOKENS))
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

    def _read_off(self, question: Question, found: Next) -> Vote:
        log_odds, mass = log_odds_of(found.top)
        any_other = self._fits.get(("", self._layout), AS_IT_IS)
        fit = self._fits.get((question.text, self._layout), any_other)
        share = 1.0 / (1.0 + math.exp(-max(-700.0, min(700.0, fit.slope * (log_odds - fit.offset)))))
        return Vote(question=question, log_odds=log_odds, mass=mass, share=share, exact=found.exact, fit=fit)

    def _reply(self) -> str:
        reply: dict[str, Any] = {"reasoning": self._why, "findings": []}
        if self._request.questions[0].name:
            reply["dimensions"] = {vote.question.name: vote.share for vote in self._votes}
        else:
            score = 100.0 * self._votes[0].share
            most = wanted_by(self._request).get("score", {}).get("maximum", 100)
            reply |= {"bracket": BRACKETS.labels[bracket_of(score)], "score": score * (most / 100)}
        return json.dumps({**reply, "suggestion": ""})

    def _unreadable(self, unread: list[Vote]) -> str:
        asked = "; ".join(vote.question.text for vote in unread)
        return f"Neither Yes nor No was a likely answer to: {asked}"

    def _effective(self, model: Logits) -> Mapping[str, str]:
        found = {
            "weights": model.weights,
            "runtime": model.runtime,
            "threads": str(model.threads),
            "layout": self._layout,
            "split": "exact" if all(vote.exact for vote in self._votes) else "broken",
            "calibration": "none" if self._request.preface else rests_on(self._votes),
            "dropped": _DROPPED,
        }
        if self._draft:
            found["draft"] = self._draft
        for vote in self._votes:
            name = f".{vote.question.name}" if vote.question.name else ""
            found |= {f"log_odds{name}": repr(vote.log_odds), f"p{name}": repr(vote.share)}
        return found


def wanted_by(request: Request) -> Mapping[str, Any]:
    """What the reply is to hold, by the request's schema."""
    found = dict(request.schema or {}).get("properties")
    return found if isinstance(found, Mapping) else {}


def _line(written: Written) -> str:
    """What was written, as one bounded line; cut where the last whole sentence ends, if it was cut at all."""
    text = " ".join(written.text.split())
    if not written.whole:
        text = text[: text.rfind(". ") + 1] or f"{text} …"
    return text[:_MOST_WHY]
