"""May this model judge at all, and how are its answers to be read?

``check`` asks what anybody knows: outputs that are plainly right or plainly wrong, and the same again with the labels
in another order. A model that says the same whatever it reads, or goes by the order, is refused as a judge: it adds
noise, and makes a panel look larger than it is. ``calibrate`` fits a local model's answers to a few outputs that a
person has labeled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from deliberate.errors import ConfigError, ProviderError
from deliberate.judging import request_of
from deliberate.library.weights import Fit, calibration_for, save_calibration
from deliberate.protocols._base import BALLOT
from deliberate.providers._base import Message, Provider, Question, Request, Response
from deliberate.runtime import Post
from deliberate.studies._platt import fitted
from deliberate.types import (
    BRACKETS,
    Ask,
    Bracket,
    Case,
    Judge,
    Key,
    Param,
    Record,
    Rubric,
    bracket_named,
    bracket_of,
    finite,
)

__all__ = ["CheckReport", "Label", "Probe", "calibrate", "check"]

Label = Bracket | float | str
"""What a person says of an output: a bracket, its name, or a score 0–100."""

_FEWEST_ANCHORS = 4
_ANCHORS_FOR_SLOPE = 8
_LEAST_AUC = 0.75
_LEAST_READ = 0.75
_MOST_SHIFT = 25.0
_SAME = 1.0  # points
_PREFIX = "local/"

_KNOWN = (
    ("What is the capital of France?", "It is Paris.", "It is Madrid."),
    ("How many legs does a horse have?", "A horse has four legs.", "A horse has six legs."),
    ("What is 3 plus 4?", "3 plus 4 is 7.", "3 plus 4 is 9."),
    ("Which season comes after winter?", "Spring comes after winter.", "Autumn comes after winter."),
    ("What is the opposite of hot?", "The opposite of hot is cold.", "The opposite of hot is loud."),
    ("What do bees make?", "Bees make honey.", "Bees make butter."),
)
_QUESTION = "Is the output correct?"
_QUESTION_OF_TWO = "Is answer A correct?"
_LABELS = ("poor 0-25", "fair 26-50", "good 51-75", "excellent 76-100")
_PROMPT = """\
You judge the output of somebody else. The brackets are {labels}. Reply with one JSON object and nothing else: \
{{"bracket": one of them, "score": 0-100}}.

Task: {task}

Output: {output}

{question}"""
_SCHEMA: Mapping[str, Param] = {
    "type": "object",
    "properties": {
        "bracket": {"type": "string", "enum": BRACKETS.labels},
        "score": {"type": "number", "minimum": 0, "maximum": 100},
    },
    "required": ("bracket", "score"),
    "additionalProperties": False,
}


class Probe(Record, frozen=True, kw_only=True):
    """One question of a check: what was shown and asked, what would be right, and what was answered.

    ``kind`` is ``known`` (a right or a wrong output) or ``order`` (the same, with labels in another order). ``score``
    is 0–100, None where no reply could be read: ``detail`` says why.
    """

    kind: Literal["known", "order"]
    task: str
    output: str
    question: str
    expects: Literal["good", "poor"]
    score: float | None
    detail: str = ""


class CheckReport(Record, frozen=True, kw_only=True):
    """Whether a model can judge, with all it was asked and answered.

    ``auc`` is the chance that a right output scores above a wrong one (0.5: it cannot tell), ``order_auc`` the same
    where labels stood in another order; None where nothing could be read. ``reads`` says that it gives probabilities.
    """

    model: str
    fit: bool
    reason: str
    auc: float | None
    order_auc: float | None
    reads: bool
    probes: tuple[Probe, ...]


class _Reply(msgspec.Struct):
    score: float


async def check(provider: Provider, model: str) -> CheckReport:
    """Asks a model what anybody knows, and refuses it where its answer is constant or follows the order of labels.

    A model that writes its vote is asked again with the brackets listed from best to worst. One that reads
    probabilities sees no brackets; it is shown two answers, A and B, in both orders.

    Args:
        provider: Where it is asked.
        model: Its full name.
    """
    answers = [await _probed(provider, model, probe) for probe in _probes("known", two=False)]
    known, reads = [probe for probe, _ in answers], any(read for _, read in answers)
    order = [(await _probed(provider, model, probe))[0] for probe in _probes("order", two=reads)]
    why = _fault(known, order, reads=reads)
    return CheckReport(
        model=model,
        fit=not why,
        reason=why or "it tells right from wrong, whatever the order of labels",
        auc=_auc(known),
        order_auc=_auc(order),
        reads=reads,
        probes=(*known, *order),
    )


async def calibrate(
    anchors: Sequence[tuple[Case, Label]], *, provider: Provider, model: str, rubric: Rubric, home: Path, at: str
) -> tuple[Fit, ...]:
    """Fits a local model's answers to labeled outputs, and keeps the fits beside its weights.

    For each question of the rubric, P = sigmoid(slope x (log-odds - offset)) is fitted to the labels: the offset from
    4 anchors on, the slope too from 8 on. Anchors whose cases the model saw in another layout (with a reference, with
    its own draft, with neither) are fitted apart.

    Args:
        anchors: Cases with what a person says of them; a bracket of good or above, or a score above 50, is good.
        provider: Where the model is asked.
        model: Its full name (``"local/NAME"``).
        rubric: Whose questions.
        home: Where its weights lie.
        at: The day (``"2026-11-21"``).

    Raises:
        ConfigError: Fewer than 4 anchors, all good or all poor, no rank between them in the model's answers, or a
            model that gives no probabilities.
        ProviderError: The model did not answer.
    """
    name = model.removeprefix(_PREFIX)
    labels = [_is_good(label) for _, label in anchors]
    _need_both(labels, where="anchors")
    before = calibration_for(name, home)
    found: dict[tuple[str, str], list[tuple[float, bool]]] = {}
    for (case, _), good in zip(anchors, labels, strict=True):
        request = _asked(case, model=model, rubric=rubric)
        response = await provider.complete(request)
        for question in request.questions:
            key = (question.text, response.effective.get("layout", "plain"))
            found.setdefault(key, []).append((_log_odds(response, question, model), good))
    slopes: dict[tuple[str, str], float] = {
        (fit.question, fit.layout): fit.slope for fit in (before.fits if before is not None else ())
    }
    fits = tuple(
        _fit_of(question, layout, seen, slope=slopes.get((question, layout), slopes.get(("", layout), 1.0)), at=at)
        for (question, layout), seen in sorted(found.items())
        if len(seen) >= _FEWEST_ANCHORS and len({good for _, good in seen}) > 1
    )
    if not fits:
        what = "no layout has 4 anchors of both kinds"
        raise ConfigError(what, where="anchors", expected="cases that all have a reference, or all have none")
    save_calibration(name, fits, home=home)
    return fits


def _probes(kind: Literal["known", "order"], *, two: bool) -> list[Probe]:
    """What is asked: each right output and its wrong one, either alone or, as A, before the other."""
    question = _QUESTION_OF_TWO if two else _QUESTION
    found: list[Probe] = []
    for task, right, wrong in _KNOWN:
        good, poor = (f"A: {right}\nB: {wrong}", f"A: {wrong}\nB: {right}") if two else (right, wrong)
        found.append(Probe(kind=kind, task=task, output=good, question=question, expects="good", score=None))
        found.append(Probe(kind=kind, task=task, output=poor, question=question, expects="poor", score=None))
    return found


async def _probed(provider: Provider, model: str, probe: Probe) -> tuple[Probe, bool]:
    """The probe with its answer, and whether that was read from probabilities."""
    labels = ", ".join(reversed(_LABELS) if probe.kind == "order" else _LABELS)
    prompt = _PROMPT.format(labels=labels, task=probe.task, output=probe.output, question=probe.question)
    request = Request(
        model=model,
        messages=(Message(role="user", content=prompt),),
        key=f"check {probe.kind} {probe.expects} {probe.task}",
        schema=_SCHEMA,
        artifact=f"Task: {probe.task}\n\nOutput: {probe.output}",
        questions=(Question(name="", text=probe.question),),
    )
    try:
        response = await provider.complete(request)
        score = finite(msgspec.json.decode(_unfenced(response.text), type=_Reply).score, low=0.0, high=100.0)
    except (ProviderError, ValueError) as error:  # msgspec's errors are ValueErrors
        return msgspec.structs.replace(probe, detail=str(error)), False
    return msgspec.structs.replace(probe, score=score), "log_odds" in response.effective


def _unfenced(text: str) -> str:
    return text.strip().removeprefix("```json").removeprefix("```").removesuffix("```")


def _fault(known: Sequence[Probe], order: Sequence[Probe], *, reads: bool) -> str:
    """Why a model cannot judge; "" if it can."""
    scores = [probe.score for probe in known if probe.score is not None]
    read = sum(probe.score is not None for probe in (*known, *order))
    asked = len(known) + len(order)
    if not scores or read < _LEAST_READ * asked:
        return f"{asked - read} of {asked} replies could not be read"
    auc, order_auc = _auc(known) or 0.0, _auc(order) or 0.0
    # Probabilities near 0 or 1 may lie close together and still be in the right order.
    if max(scores) - min(scores) <= _SAME and (not reads or auc < _LEAST_AUC):
        return f"its answer is constant: {scores[0]:.0f} of 100, whatever it reads"
    if not reads and len({bracket_of(score) for score in scores}) == 1:
        return f"its answer is constant: {bracket_of(scores[0]).label}, whatever it reads"
    if auc < _LEAST_AUC:
        return f"it does not tell right from wrong (AUC {auc:.2f}; 0.5 is chance)"
    if order_auc < _LEAST_AUC or (not reads and _shift(known, order) > _MOST_SHIFT):
        return f"its answer follows the order of the labels (AUC {auc:.2f}, in another order {order_auc:.2f})"
    return ""


def _auc(probes: Sequence[Probe]) -> float | None:
    """The chance that a right output scores above a wrong one, ties counting half; None without both."""
    right = [probe.score for probe in probes if probe.expects == "good" and probe.score is not None]
    wrong = [probe.score for probe in probes if probe.expects == "poor" and probe.score is not None]
    if not right or not wrong:
        return None
    return sum((one > other) + (one == other) / 2 for one in right for other in wrong) / (len(right) * len(wrong))


def _shift(known: Sequence[Probe], order: Sequence[Probe]) -> float:
    """How many points the same output's score moves on average when the labels are turned round."""
    pairs = zip(known, order, strict=True)
    moves = [abs(a.score - b.score) for a, b in pairs if a.score is not None and b.score is not None]
    return sum(moves) / len(moves) if moves else 0.0


def _asked(case: Case, *, model: str, rubric: Rubric) -> Request:
    """What a seat of a panel would be asked about all questions of the rubric."""
    ask = Ask(seat="calibrate", form=BALLOT.name)
    judge = Judge(model=model)
    return request_of(Post(key=Key("calibrate"), ask=ask, judge=judge, sample=0, case=case, rubric=rubric, form=BALLOT))


def _log_odds(response: Response, question: Question, model: str) -> float:
    said = response.effective.get(f"log_odds.{question.name}" if question.name else "log_odds")
    if said is None:
        raise ConfigError(f"{model} gives no probabilities, so there is nothing to calibrate", where=model)
    return float(said)


def _is_good(label: Label) -> bool:
    if isinstance(label, Bracket):
        return label >= Bracket.GOOD
    try:
        if isinstance(label, str):
            return bracket_named(label) >= Bracket.GOOD
        return bracket_of(label) >= Bracket.GOOD
    except ValueError as error:
        raise ConfigError(str(error), where="anchors", expected="good, poor, a bracket, or a score 0–100") from None


def _need_both(labels: Sequence[bool], *, where: str) -> None:
    if len(labels) < _FEWEST_ANCHORS:
        what = f"{len(labels)} labeled outputs are too few"
        raise ConfigError(what, where=where, expected=f"at least {_FEWEST_ANCHORS}, good and poor ones")
    if len(set(labels)) == 1:
        what = f"all {len(labels)} outputs are labeled {'good' if labels[0] else 'poor'}"
        raise ConfigError(what, where=where, expected="good and poor ones")


def _fit_of(question: str, layout: str, seen: Sequence[tuple[float, bool]], *, slope: float, at: str) -> Fit:
    goods, poors = ([odds for odds, good in seen if good is kind] for kind in (True, False))
    if sum(goods) / len(goods) <= sum(poors) / len(poors):
        what = "the model's answers do not follow the labels: what is labeled good gets no higher log-odds"
        raise ConfigError(what, where=question, hint="look at the labels, or ask another question")
    offset, slope = fitted(seen, slope=None if len(seen) >= _ANCHORS_FOR_SLOPE else slope)
    fit = {"question": question, "layout": layout, "offset": offset, "slope": slope, "anchors": len(seen)}
    return msgspec.convert({**fit, "source": "anchors", "at": at}, Fit)
