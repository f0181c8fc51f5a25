"""How a local judge's answers become probabilities: log-odds, the fits that correct them, and what a vote rests on."""

from __future__ import annotations

import math
from typing import Literal

from deliberate.providers._base import Question
from deliberate.providers._logits import Layout
from deliberate.types import Record

__all__ = ["AS_IT_IS", "Calibration", "Fit", "Vote", "log_odds_of", "rests_on"]


class Fit(Record, frozen=True, kw_only=True):
    """P = sigmoid(``slope`` x (log-odds - ``offset``)); an empty ``question`` is read for any that has no fit."""

    question: str = ""
    layout: Layout = "plain"
    offset: float
    slope: float = 1.0
    anchors: int = 0
    source: Literal["shipped", "anchors"] = "shipped"


class Calibration(Record, frozen=True, kw_only=True):
    """The fits of one model; ``weights`` is the digest of the file they were made with."""

    weights: str = ""
    fits: tuple[Fit, ...] = ()


class Vote(Record, frozen=True, kw_only=True):
    """The answer to one question."""

    question: Question
    log_odds: float
    mass: float
    share: float
    exact: bool
    fit: Fit


AS_IT_IS = Fit(offset=0.0)
"""What reads an answer that has no fit."""


def log_odds_of(top: tuple[tuple[str, float], ...]) -> tuple[float, float]:
    """Log-odds of Yes over No, all spellings pooled, and the probability they have together.

    One that is not among the likeliest counts as the last of these, which is the most it can be.

    >>> odds, mass = log_odds_of(((" Yes", math.log(0.6)), (" No", math.log(0.2)), ("yes", math.log(0.1))))
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


def rests_on(votes: list[Vote]) -> str:
    """What the weakest of the fits rests on."""
    if any(not vote.fit.question for vote in votes):
        return "none"
    if any(vote.fit.source == "shipped" for vote in votes):
        return "shipped"
    return f"anchors n={min(vote.fit.anchors for vote in votes)}"
