"""The library's rules on recorded votes give the published figures of the same votes."""

from __future__ import annotations

import doctest
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks import _figures, recorded
from benchmarks import _recorded as rec
from benchmarks._figures import EIGHTEEN, FIRST, TEAMS, VANILLA, Row
from tests.recorded._data import everything, needs

JUDGED = needs(rec.LLMJUDGE, rec.REFERENCE)
PAIRED = needs(rec.LLMBAR, rec.REFERENCE, rec.PAIRED)
RATED = needs(rec.POINTWISE, rec.REFERENCE)


def off(rows: Sequence[Row]) -> list[str]:
    """The figures that do not come out as printed."""
    assert rows
    return [row.figure for row in rows if row.outcome not in {"same", ""}]


@JUDGED
def test_four_labels_and_a_judge_of_each_team() -> None:
    votes, known = _figures.llmjudge(TEAMS), rec.reference()["llmjudge_dl23_a"]["panel7_one_per_team"]
    assert off(recorded.panel_rows("", votes, known)) == []
    assert off(recorded.ordered_rows("", votes, known["aggregation"])) == []


@JUDGED
def test_four_labels_and_all_judges(request: pytest.FixtureRequest) -> None:
    if not everything(request):
        pytest.skip("33 judges: only with DELIBERATE_ALL=1")
    votes, known = _figures.llmjudge(None), rec.reference()["llmjudge_dl23_a"]["all"]
    assert off(recorded.panel_rows("", votes, known)) == []
    assert off(recorded.ordered_rows("", votes, known["aggregation"])) == []


@PAIRED
@pytest.mark.parametrize(
    ("judges", "key"), [(VANILLA, "vanilla6_order12"), (EIGHTEEN, "models6_x3strategies_order12")], ids=["6", "18"]
)
def test_two_labels_where_panels_of_even_size_tie(judges: tuple[str, ...], key: str) -> None:
    rows = recorded.panel_rows("", _figures.llmbar(judges, FIRST), rec.reference()["llmbar_pairwise"][key])
    assert off(rows) == []
    assert any(row.figure == "plurality: share of items tied" and row.ours > 0.04 for row in rows)


@PAIRED
def test_both_orders_of_showing_the_outputs() -> None:
    assert off([*recorded.swap_rows(), *recorded.authors_rows()]) == []


@RATED
def test_which_number_tells_the_better_output_of_a_pair() -> None:
    assert off(recorded.pair_rows()) == []


@RATED
def test_how_far_a_number_moves_when_one_judge_is_left_out(request: pytest.FixtureRequest) -> None:
    rows = recorded.move_rows() if everything(request) else recorded.move_rows([(5, "plurality"), (5, "rule median")])
    assert off(rows) == []


@needs(rec.PANDALM, rec.PROMETHEUS, rec.REFERENCE)
def test_three_and_five_labels() -> None:
    assert off([*recorded.pandalm_rows(), *recorded.prometheus_rows()]) == []


@RATED
def test_votes_that_are_missing_are_no_category() -> None:
    votes = _figures.ratings()
    row = next(row for row in votes.votes if None in row)
    missing = row.count(None)
    assert sum(rec.counted(row, 11)) == 7 - missing
    assert rec.told(row, 11)[-1] == missing


def test_the_examples_of_kappa_and_rank_correlation() -> None:
    assert doctest.testmod(rec).failed == 0
    assert doctest.testmod(rec).attempted == 2


def test_a_row_says_whether_it_came_out_as_printed() -> None:
    def outcome(ours: float, published: float | None, *, digits: int = 2, noise: float = 0.0) -> str:
        return Row(set="", figure="", ours=ours, published=published, digits=digits, noise=noise, n=1).outcome

    assert outcome(0.5, None) == ""
    assert outcome(0.504, 0.50) == "same"
    assert outcome(0.506, 0.50) == "differs"
    assert outcome(0.514, 0.50, noise=0.005) == "noise"
    assert outcome(0.516, 0.50, noise=0.005) == "differs"


def test_the_page_puts_what_differs_first_and_counts_only_what_the_library_makes() -> None:
    one = Row(set="s", figure="one", ours=1.0, published=1.0, n=5)
    far = Row(set="s", figure="far", ours=1.5, published=1.0, n=5, note="why")
    beside = Row(set="s", figure="beside", ours=1.0, published=1.0, n=5, by="explains")
    many = _figures.Of("s", 5).many("many", [(1.0, 1.0), (2.0, 1.0), (1.0, 1.0)])
    page = recorded.page([one, far, beside, many], [])
    assert "What the library's rules make: of 2 published figures 1 come out as printed, 1 differ." in page
    assert "judges alone and in pairs: of 3 published figures 2 come out as printed, 1 differ." in page
    assert page.index("| s | far (why) | 1.50000 | 1.0000 | +0.50000 | differs |") < page.index("## s")


def test_the_record_holds_no_number_of_more_than_six_decimals() -> None:
    assert recorded.rounded({"a": [1 / 3, (2 / 3,)], "b": "c"}) == {"a": [0.333333, [0.666667]], "b": "c"}


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELIBERATE_RECORDED", str(tmp_path))
    assert rec.missing(rec.LLMBAR) == f"not in the folder DELIBERATE_RECORDED names: {rec.LLMBAR}"
    assert recorded.main(1) == 2
