from __future__ import annotations

import pytest

from deliberate.reports._matrix import Rater, matrix_of
from tests.reports.scripted import (
    ballot,
    broken,
    evaluated,
    planned,
    split_panel,
    verdict,
)


def test_judge_by_judge_counts_dimensions_both_scored() -> None:
    matrix = matrix_of([split_panel()])
    assert [rater.seat for rater in matrix.raters] == ["opus-5", "gpt-5-5", "gemini-3-5"]
    one = matrix.cell(1, 0)
    assert one == matrix.cell(0, 1)
    assert one is not None
    assert (one.items, one.same) == (4, 4)
    assert one.apart == pytest.approx((5 + 0 + 5 + 5) / 4)
    assert matrix.cell(0, 0) is None
    assert matrix.agreement == pytest.approx(1 / 3)


def test_judge_by_judge_over_cases_takes_whole_ballots_where_no_dimension_is_shared() -> None:
    one = evaluated(verdict(("a", "m/x", ballot(70)), ("b", "m/y", ballot(60))))
    two = evaluated(verdict(("a", "m/x", ballot(70)), ("b", "m/y", ballot(20)), ("c", "m/z", ballot(70))))
    matrix = matrix_of([one, two])
    assert matrix.cell(0, 1) == (2, 1, 30.0)
    assert matrix.cell(0, 2) == (1, 1, 0.0)
    assert matrix.cases == 2
    assert matrix.agreement == pytest.approx(2 / 4)


def test_a_judge_in_two_panels_of_one_plan_is_told_apart_by_its_part() -> None:
    panel = evaluated(verdict(("judge", "m/x", ballot(70))))
    matrix = matrix_of(
        [planned(("first", 1, panel), ("second", 1, panel), ("lint", 1, broken("no")), on_missing="zero")]
    )
    assert matrix.raters == (Rater("judge", "m/x"), Rater("second.judge", "m/x"))
    assert matrix_of([broken("no")]).agreement is None
