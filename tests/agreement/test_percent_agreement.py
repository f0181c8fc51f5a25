"""Observed agreement, against published numbers and a count by hand."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.agreement.percent_agreement import percent_agreement

# A worked example often used for Fleiss' kappa: 10 subjects × 5 categories, 14 raters; mean observed agreement .378.
WORKED = (
    (0, 0, 0, 0, 14),
    (0, 2, 6, 4, 2),
    (0, 0, 3, 5, 6),
    (0, 3, 9, 2, 0),
    (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0),
    (3, 2, 6, 3, 0),
    (2, 5, 3, 2, 2),
    (6, 5, 2, 1, 0),
    (0, 2, 2, 3, 7),
)
ITEMS = st.lists(st.lists(st.none() | st.integers(0, 3), max_size=6), max_size=5)


def labels(counts: tuple[int, ...]) -> list[int]:
    """One label a rater, from the number of raters for each."""
    return [label for label, count in enumerate(counts) for _ in range(count)]


def test_the_worked_example_gives_its_published_value() -> None:
    assert percent_agreement([labels(counts) for counts in WORKED]) == pytest.approx(0.378, abs=5e-4)


@given(ITEMS)
def test_it_is_the_share_of_pairs_that_agree_counted_one_by_one(items: list[list[int | None]]) -> None:
    pairs = [
        one == other for item in items for one, other in combinations([label for label in item if label is not None], 2)
    ]
    assert percent_agreement(items) == (sum(pairs) / len(pairs) if pairs else None)


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([], None),
        ([()], None),
        ([(2,)], None),
        ([(2, None), (None, None)], None),
        ([(2, 2)], 1),
        ([(2, 3)], 0),
        ([(2, 2, 1)], 1 / 3),
        ([(2, 2, None, 1)], 1 / 3),
        ([(2, 2), (1, 1, 2)], 0.5),
    ],
)
def test_small_cases(items: list[tuple[int | None, ...]], expected: float | None) -> None:
    assert percent_agreement(items) == expected


def test_items_may_come_one_at_a_time() -> None:
    assert percent_agreement(item for item in [(1, 1), (1, 2)]) == 0.5
