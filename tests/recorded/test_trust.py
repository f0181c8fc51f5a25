"""Statistics of trust on recorded votes give the published figures of the same votes."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import pytest

from benchmarks import _figures, trust
from benchmarks import _recorded as rec
from benchmarks._figures import EIGHTEEN, FIRST, TEAMS, VANILLA, Row
from tests.recorded._data import everything, needs

JUDGED = needs(rec.LLMJUDGE, rec.REFERENCE)
PAIRED = needs(rec.LLMBAR, rec.REFERENCE)


def off(rows: Sequence[Row]) -> list[str]:
    """The figures that come out neither as printed nor within the noise of their draws."""
    assert rows
    return [row.figure for row in rows if row.outcome == "differs"]


@JUDGED
def test_a_judge_of_each_team() -> None:
    known = rec.reference()["llmjudge_dl23_a"]["panel7_one_per_team"]
    assert off(trust.panel("", _figures.llmjudge(TEAMS), known)) == []


@JUDGED
def test_all_judges_of_all_teams(request: pytest.FixtureRequest) -> None:
    votes, known = _figures.llmjudge(None), rec.reference()["llmjudge_dl23_a"]["all"]
    if everything(request):
        assert set(off(trust.panel("", votes, known))) <= set(trust.DIFFERS)
    else:
        assert off(trust.alphas(_figures.about("", votes), votes.votes, known["krippendorff"], {})) == []


@PAIRED
@pytest.mark.parametrize(
    ("judges", "key"), [(VANILLA, "vanilla6_order12"), (EIGHTEEN, "models6_x3strategies_order12")], ids=["6", "18"]
)
def test_panels_that_agree_on_what_is_wrong(judges: tuple[str, ...], key: str) -> None:
    votes = _figures.llmbar(judges, FIRST)
    assert off(trust.panel("", votes, rec.reference()["llmbar_pairwise"][key])) == []


@PAIRED
def test_twenty_anchors_lift_the_adversarial_panel_and_no_anchors_never_lower_it() -> None:
    votes = _figures.llmbar(VANILLA, FIRST)
    _, right = trust.shares(votes)
    assert fmean(right) == pytest.approx(0.5513, abs=5e-5), "equal weights are plurality"
    assert fmean(trust.weighted(votes, 10)) == pytest.approx(0.551, abs=0.01), "below 20 anchors nothing is learnt"
    assert fmean(trust.weighted(votes, 20)) >= 0.75


@needs("anaesthesia.votes.jsonl.gz", rec.REFERENCE)
def test_dawid_and_skene_s_own_patients() -> None:
    assert off(trust.patients()) == []


@needs(rec.POINTWISE, rec.PANDALM, rec.PROMETHEUS, rec.REFERENCE)
def test_alpha_of_the_other_sets() -> None:
    assert off(trust.others()) == []


@PAIRED
def test_a_panel_too_bad_for_a_promise_is_refused() -> None:
    votes = _figures.llmbar(VANILLA, FIRST)
    rows = trust.abstaining("", votes, rec.reference()["extra"]["llmbar_pairwise/vanilla6_order12"])
    assert [row.ours for row in rows[:3]] == [0, 0, 0]
