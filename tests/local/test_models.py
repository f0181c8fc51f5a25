"""Which models may judge, and how their answers are fitted to a person's labels."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from deliberate.errors import ConfigError, TransientProviderError
from deliberate.library import weights
from deliberate.library.weights import Fit
from deliberate.providers._base import Request, Response, Settings
from deliberate.providers.local import Local
from deliberate.providers.scripted import Scripted
from deliberate.studies import models
from deliberate.studies._platt import fitted
from deliberate.types import Bracket, Case
from tests.local.items import ANCHORS, MODEL, NAME, RUBRIC
from tests.local.recorded import Played, playing, recording

RIGHT = re.compile(r"Output: [^\n]*(Paris|four|is 7|Spring|cold|honey)")
"""A right output; of two answers, a right one as the first."""


def recorded() -> Local:
    return Local(Settings(weights={NAME: "model.gguf"}), load=playing())


def writing(score: Callable[[str], float]) -> Scripted:
    """A judge that writes, by what stands in its prompt."""

    def reply(request: Request) -> str:
        number = score(request.messages[0].content)
        return json.dumps({"bracket": "good", "score": number})

    return Scripted(reply)


def reading(log_odds: Callable[[str], float]) -> Scripted:
    """A judge that gives probabilities, by what it is shown first."""

    def reply(request: Request) -> Response:
        odds = log_odds(request.artifact)
        score = 100 / (1 + math.exp(-odds))
        effective = {"layout": "plain", "log_odds": str(odds)}
        effective |= {f"log_odds.{question.name}": str(odds) for question in request.questions}
        return Response(text=json.dumps({"bracket": "good", "score": score}), effective=effective)

    return Scripted(reply)


# --- check ------------------------------------------------------------------------------------------


async def test_the_shipped_model_may_judge() -> None:
    report = await models.check(recorded(), MODEL)
    assert report.fit
    assert report.reads
    assert report.auc is not None
    assert report.auc >= 0.95
    assert report.order_auc is not None
    assert report.order_auc >= 0.9
    assert len(report.probes) == 24
    assert {probe.question for probe in report.probes} == {"Is the output correct?", "Is answer A correct?"}


async def test_a_judge_that_writes_and_knows_may_judge() -> None:
    report = await models.check(writing(lambda prompt: 80.0 if RIGHT.search(prompt) else 10.0), "x/y")
    assert (report.fit, report.auc, report.order_auc, report.reads) == (True, 1.0, 1.0, False)
    assert [probe.kind for probe in report.probes] == ["known"] * 12 + ["order"] * 12


@pytest.mark.parametrize(
    ("judge", "why"),
    [
        (writing(lambda _: 63.0), "its answer is constant: 63 of 100"),
        (writing(lambda prompt: 70.0 if RIGHT.search(prompt) else 60.0), "its answer is constant: Good"),
        (writing(lambda prompt: 80.0 if "legs" in prompt else 20.0), "does not tell right from wrong (AUC 0.50"),
        (writing(lambda prompt: 10.0 if "poor 0-25, fair" in prompt else 90.0), "its answer is constant: 10"),
        (
            writing(lambda prompt: 90.0 if RIGHT.search(prompt) and "poor 0-25, fair" in prompt else 20.0),
            "follows the order of the labels",
        ),
        (
            writing(lambda prompt: (90.0 if RIGHT.search(prompt) else 60.0) - 40.0 * ("excellent 76-100, g" in prompt)),
            "follows the order of the labels (AUC 1.00, in another order 1.00)",
        ),
        (reading(lambda _: 2.0), "its answer is constant: 88"),
        (reading(lambda text: 2.0 if "A:" in text or RIGHT.search(text) else -1.0), "follows the order of the labels"),
        (reading(lambda text: float(len(text) % 5)), "does not tell right from wrong"),
        (Scripted(lambda _: "Good."), "24 of 24 replies could not be read"),
        (Scripted(lambda _: TransientProviderError("reset")), "24 of 24 replies could not be read"),
        (Scripted(lambda _: '{"score": 300}'), "24 of 24 replies could not be read"),
    ],
)
async def test_a_model_that_cannot_judge_is_refused_with_the_reason(judge: Scripted, why: str) -> None:
    report = await models.check(judge, "x/y")
    assert not report.fit
    assert why in report.reason


async def test_probabilities_that_are_sure_and_in_order_are_not_constant() -> None:
    report = await models.check(reading(lambda text: 8.0 if RIGHT.search(text) else 7.0), "x/y")
    assert report.fit


async def test_a_fenced_reply_is_read_and_an_unread_one_says_why() -> None:
    def reply(request: Request) -> str:
        prompt = request.messages[0].content
        if "honey" in prompt:
            return "no"
        return f'```json\n{{"bracket": "good", "score": {90 if RIGHT.search(prompt) else 5}}}\n```'

    report = await models.check(Scripted(reply), "x/y")
    assert report.fit
    unread = [probe for probe in report.probes if probe.score is None]
    assert [probe.output for probe in unread] == ["Bees make honey."] * 2
    assert all(probe.detail for probe in unread)


# --- calibrate --------------------------------------------------------------------------------------


@pytest.fixture
async def home(tmp_path: Path) -> Path:
    """A home with weights of the recorded model's name."""
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF small")
    await weights.add(file, home=tmp_path, name=NAME)
    return tmp_path


async def fit(
    home: Path, anchors: tuple[tuple[Case, models.Label], ...], judge: Local | Scripted | None = None
) -> tuple[Fit, ...]:
    judge = recorded() if judge is None else judge
    return await models.calibrate(anchors, provider=judge, model=MODEL, rubric=RUBRIC, home=home, at="2026-11-21")


def made(*labels: models.Label) -> tuple[tuple[Case, models.Label], ...]:
    return tuple((Case(output=str(number)), label) for number, label in enumerate(labels))


async def test_eight_anchors_fit_offset_and_slope_of_every_question(home: Path) -> None:
    fits = await fit(home, ANCHORS)
    assert {one.question for one in fits} == {one.question for one in RUBRIC.dimensions}
    for one in fits:
        assert (one.layout, one.anchors, one.source, one.at) == ("draft", 8, "anchors", "2026-11-21")
        assert -2 < one.offset < 4
        assert one.slope > 0
    kept = weights.calibration_for(NAME, home)
    assert kept is not None
    assert set(kept.fits) == set(fits)


async def test_what_was_fitted_is_what_the_judge_uses(home: Path) -> None:
    await fit(home, ANCHORS)
    settings = Settings(weights=weights.paths(home), calibration=weights.calibrations(home))
    local = Local(settings, load=lambda _path, **_: Played(recording()))
    for case, label in ANCHORS:
        response = await local.complete(models._asked(case, model=MODEL, rubric=RUBRIC))  # noqa: SLF001
        assert response.effective["calibration"] == "anchors n=8"
        assert (float(response.effective["p.quality"]) > 0.5) == (label == "good")


async def test_four_anchors_fit_the_offset_and_keep_the_slope(home: Path) -> None:
    shipped = [Fit(question=RUBRIC.dimensions[0].question, layout="plain", offset=9.0, slope=1.5)]
    weights.save_calibration(NAME, [*shipped, Fit(question="", layout="plain", offset=9.0, slope=0.5)], home=home)
    fits = await fit(home, made("good", "poor", "good", "poor"), reading(lambda text: -float(text[-1])))
    slopes = {one.question: one.slope for one in fits}
    assert slopes == {RUBRIC.dimensions[0].question: 1.5, **{one.question: 0.5 for one in RUBRIC.dimensions[1:]}}
    assert all(one.anchors == 4 for one in fits)


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        ((), "0 labeled outputs are too few"),
        (("good", "poor", "good"), "3 labeled outputs are too few"),
        (("good", "good", 80.0, Bracket.EXCELLENT), "all 4 outputs are labeled good"),
        (("poor", 20.0, Bracket.FAIR, "fair"), "all 4 outputs are labeled poor"),
        (("good", "bad", "poor", "poor"), "'bad' is not a bracket"),
        (("good", 120.0, "poor", "poor"), "120.0 is not a finite number"),
    ],
)
async def test_too_few_or_one_sided_labels_are_refused(home: Path, labels: tuple[models.Label, ...], why: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(why)):
        await fit(home, made(*labels))


async def test_answers_that_go_against_the_labels_are_refused(home: Path) -> None:
    with pytest.raises(ConfigError, match="do not follow the labels"):
        await fit(home, made("poor", "poor", "good", "good"), reading(lambda text: -float(text[-1])))


async def test_a_judge_without_probabilities_cannot_be_calibrated(home: Path) -> None:
    with pytest.raises(ConfigError, match="gives no probabilities"):
        await fit(home, made("poor", "poor", "good", "good"), writing(lambda _: 50.0))


async def test_each_layout_needs_anchors_of_its_own(home: Path) -> None:
    def reply(request: Request) -> Response:
        odds = float(request.artifact[-1])
        effective = {f"log_odds.{one.name}": str(odds) for one in request.questions}
        return Response(text="", effective={**effective, "layout": "draft" if odds < 2 else "plain"})

    with pytest.raises(ConfigError, match="no layout has 4 anchors of both kinds"):
        await fit(home, made("poor", "good", "poor", "good"), Scripted(reply))


# --- the fit itself ---------------------------------------------------------------------------------


def loss(seen: list[tuple[float, bool]], offset: float, slope: float) -> float:
    goods = sum(good for _, good in seen)
    targets = {True: (goods + 1) / (goods + 2), False: 1 / (len(seen) - goods + 2)}
    total = 0.0
    for odds, good in seen:
        share = 1 / (1 + math.exp(-slope * (odds - offset)))
        total -= targets[good] * math.log(share) + (1 - targets[good]) * math.log(1 - share)
    return total


SEEN = [(-1.2, False), (0.3, False), (1.1, True), (0.9, False), (2.4, True), (3.3, True), (0.1, True), (-0.5, False)]


def test_no_offset_and_slope_nearby_fit_better() -> None:
    offset, slope = fitted(SEEN)
    best = loss(SEEN, offset, slope)
    for step in (0.3, 0.01, 1e-4):
        for moves in ((step, 0), (-step, 0), (0, step), (0, -step), (step, -step)):
            assert loss(SEEN, offset + moves[0], slope + moves[1]) > best


def test_no_offset_nearby_fits_better_at_a_given_slope() -> None:
    offset, slope = fitted(SEEN, slope=0.7)
    assert slope == 0.7
    best = loss(SEEN, offset, slope)
    assert all(loss(SEEN, offset + step, slope) > best for step in (0.3, -0.3, 1e-4, -1e-4))


def test_moving_all_log_odds_moves_the_offset() -> None:
    offset, slope = fitted(SEEN)
    moved = fitted([(odds + 5, good) for odds, good in SEEN])
    assert list(moved) == pytest.approx([offset + 5, slope])


def test_separable_labels_have_a_finite_fit() -> None:
    offset, slope = fitted([(-30.0, False), (-20.0, False), (20.0, True), (30.0, True)])
    assert offset == pytest.approx(0.0, abs=1e-6)
    assert 0.0 < slope < 1.0


def test_the_recorded_weights_are_the_pinned_ones() -> None:
    assert recording().weights in {pin.sha256 for pin in weights.pins()}
    assert msgspec.json.decode(msgspec.json.encode(recording()), type=type(recording())) == recording()
