"""What the local judge is asked in these tests."""

from __future__ import annotations

from deliberate.judging import request_of
from deliberate.protocols._base import BALLOT
from deliberate.providers._base import Request
from deliberate.runtime import Post
from deliberate.types import Ask, Case, Dimension, Judge, Key, Rubric

NAME = "qwen2.5-coder-1.5b"
MODEL = f"local/{NAME}"
RUBRIC = Rubric(
    name="general",
    body="Relevance, quality, completeness.",
    dimensions=(
        Dimension(name="relevance", weight=0.4, question="Does the output address the task?"),
        Dimension(name="quality", weight=0.35, question="Is the output correct and well structured?"),
        Dimension(name="completeness", weight=0.25, question="Does the output cover all that the task asks?"),
    ),
)
_PAIRS = (
    ("What is the capital of Canada?", "The capital of Canada is Ottawa.", "The capital of Canada is Toronto."),
    ("How many days are in a week?", "There are seven days in a week.", "There are ten days in a week."),
    ("What is the opposite of old?", "The opposite of old is young.", "The opposite of old is ancient."),
    ("Which planet is nearest to the Sun?", "Mercury is nearest to the Sun.", "Venus is nearest to the Sun."),
)
ANCHORS = tuple(
    (Case(task=task, output=output), label)
    for task, *outputs in _PAIRS
    for output, label in zip(outputs, ("good", "poor"), strict=True)
)


def request_about(case: Case, *dimensions: str) -> Request:
    """What a seat is asked about a case; about all dimensions if none is named."""
    ask = Ask(seat="judge", form=BALLOT.name, dimensions=dimensions)
    judge = Judge(model=MODEL)
    return request_of(Post(key=Key("k"), ask=ask, judge=judge, sample=0, case=case, rubric=RUBRIC, form=BALLOT))
