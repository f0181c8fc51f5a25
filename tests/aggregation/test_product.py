"""The product."""

from __future__ import annotations

import pytest

from deliberate.aggregation import Weighted
from deliberate.aggregation.product import product


@pytest.mark.parametrize(
    ("scores", "expected"), [([80, 50], 40), ([100, 100], 100), ([100, 30], 30), ([50, 50, 50], 12.5), ([90, 0], 0)]
)
def test_normalized_scores_are_multiplied_whatever_the_weights(scores: list[float], expected: float) -> None:
    assert product([Weighted(score, 1 + at) for at, score in enumerate(scores)]) == expected


def test_it_declares_that_it_never_exceeds_the_least() -> None:
    assert (product.weighs, product.bound) == (False, "at_most_min")
