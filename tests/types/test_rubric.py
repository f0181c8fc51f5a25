"""A rubric's digest is of what it says; a dimension is known by its name however it is spelled."""

from __future__ import annotations

import msgspec
import pytest

from deliberate.types import Dimension, Rubric, same_name

RUBRIC = Rubric(
    name="r",
    body="# How\n",
    dimensions=(Dimension(name="a", weight=0.5), Dimension(name="b", weight=0.5)),
    categories=("code",),
    eligibility={"env": ("KEY",), "os": ("linux",)},
)


@pytest.mark.parametrize(
    "change",
    [
        {"source": "user"},
        {"body": "\n# How  \n\n"},
        {"eligibility": {"os": ("linux",), "env": ("KEY",)}},
    ],
)
def test_where_it_came_from_and_how_it_was_laid_out_leave_the_digest(change: dict[str, object]) -> None:
    assert msgspec.structs.replace(RUBRIC, **change).digest == RUBRIC.digest


@pytest.mark.parametrize(
    "change",
    [
        {"name": "s"},
        {"description": "d"},
        {"body": "# Why"},
        {"dimensions": ()},
        {"dimensions": (Dimension(name="b", weight=0.5), Dimension(name="a", weight=0.5))},
        {"dimensions": (Dimension(name="a", weight=0.6), Dimension(name="b", weight=0.4))},
        {"dimensions": (Dimension(name="a", weight=0.5, question="q"), Dimension(name="b", weight=0.5))},
        {"categories": ()},
        {"severity": "cap_only"},
        {"eligibility": {}},
    ],
)
def test_whatever_it_says_changes_the_digest(change: dict[str, object]) -> None:
    assert msgspec.structs.replace(RUBRIC, **change).digest != RUBRIC.digest


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Error Responses", "error_responses", True),
        ("error-responses", "ErrorResponses", True),
        ("STRASSE", "straße", True),
        ("safety", "safety ", True),
        ("safety", "safely", False),
        ("quality 1", "quality 2", False),
    ],
)
def test_names_are_the_same_but_for_case_and_gaps(one: str, other: str, *, same: bool) -> None:
    assert same_name(one, other) is same
    assert same_name(other, one) is same
