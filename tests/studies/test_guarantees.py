"""What may be promised of judges: fitted models, weights, corrected rates, thresholds, calibration."""

from __future__ import annotations

import doctest
import importlib
from collections.abc import Callable
from importlib import import_module
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.errors import ConfigError, MissingExtra
from deliberate.studies.abstention import clopper_pearson, threshold_for
from deliberate.studies.alt_test import EPSILON, alt_test
from deliberate.studies.anchors import anchor_weights
from deliberate.studies.dawid_skene import dawid_skene
from deliberate.studies.ppi import corrected_mean
from deliberate.studies.reliability import reliability

np = import_module("numpy")
stats = import_module("scipy.stats")


@pytest.mark.parametrize("name", ["abstention", "ppi", "reliability"])
def test_the_examples_of_docstrings_run(name: str) -> None:
    found = doctest.testmod(importlib.import_module(f"deliberate.studies.{name}"))
    assert found.attempted
    assert not found.failed


# --- Dawid and Skene -------------------------------------------------------------------------------


def drawn(*, raters: int, items: int, right: float, seed: int) -> tuple[list[tuple[str, str, int]], dict[str, int]]:
    """Votes of raters who are right this often, and what is right."""
    chance = Random(seed)
    truth = {f"i{at:03}": chance.randrange(3) for at in range(items)}
    votes = [
        (item, f"r{who}", label if chance.random() < right else chance.randrange(3))
        for item, label in truth.items()
        for who in range(raters)
    ]
    return votes, truth


@pytest.mark.parametrize("form", ["full", "one_coin"])
def test_the_model_finds_what_is_right_where_raters_err_independently(form: str) -> None:
    votes, truth = drawn(raters=5, items=150, right=0.7, seed=1)
    found = dawid_skene(votes, levels=3, form=form)  # type: ignore[arg-type]
    assert sum(label == truth[item] for item, label in zip(found.items, found.labels, strict=True)) > 135
    assert found.converged
    assert sum(found.prior) == pytest.approx(1)
    assert all(sum(row) == pytest.approx(1) for one in found.confusion for row in one)
    assert "plurality" in found.warning


def test_the_order_of_votes_does_not_count_and_repeats_do() -> None:
    votes, _ = drawn(raters=3, items=30, right=0.6, seed=2)
    assert dawid_skene(votes, levels=3) == dawid_skene(votes[::-1], levels=3)
    assert dawid_skene(votes, levels=3).prior != dawid_skene([*votes, *votes[:9] * 3], levels=3).prior


def test_steps_can_be_limited_and_it_says_that_it_did_not_converge() -> None:
    votes, _ = drawn(raters=3, items=30, right=0.5, seed=2)
    found = dawid_skene(votes, levels=3, most_steps=2)
    assert (found.iterations, found.converged) == (2, False)


# --- anchors ---------------------------------------------------------------------------------------


def test_a_judge_that_is_right_outweighs_two_that_err_together() -> None:
    gold = [at % 2 for at in range(40)]
    votes = [(label, 1 - label if at % 3 else label, 1 - label if at % 3 else label) for at, label in enumerate(gold)]
    found = anchor_weights(votes, gold, levels=2, judges=("good", "bad", "worse"))
    assert found.learnt is True
    assert found.weights[1:] == (0, 0), "worse than chance: floor 0"
    assert found.after == 1 > found.before
    assert (found.best, found.best_right) == ("good", 1)
    assert "40 anchors, 0 votes missing" in found.lines[0]


def test_below_twenty_anchors_all_weigh_the_same() -> None:
    found = anchor_weights([(0, 1, 1)] * 19, [0] * 19, levels=2)
    assert found.learnt is False
    assert list(found.weights) == [1, 1, 1]
    assert found.before == found.after == 0
    assert "below 20 anchors" in found.reason


def test_where_no_judge_beats_chance_all_weigh_the_same() -> None:
    found = anchor_weights([(1, None)] * 25, [0] * 25, levels=2)
    assert found.learnt is False
    assert found.missing == 25
    assert list(found.right) == [0, None]
    assert "no judge is better than chance" in found.reason


# --- the alternative annotator test ----------------------------------------------------------------


def people(seed: int, *, items: int = 60, right: float = 0.8) -> list[tuple[int, int, int]]:
    chance = Random(seed)

    def vote() -> int:
        return 1 if chance.random() < right else 0

    return [(vote(), vote(), vote()) for _ in range(items)]


def test_a_judge_who_says_what_most_say_may_stand_in_and_one_who_guesses_may_not() -> None:
    humans = people(3)
    good = alt_test([1] * 60, humans, epsilon=EPSILON["expert"])
    assert good.passes
    assert good.winning_rate == 1
    assert good.advantage > 0.8
    bad = alt_test([at % 2 for at in range(60)], humans, epsilon=EPSILON["crowd"])
    assert not bad.passes
    assert bad.winning_rate == 0


def test_its_p_values_are_those_of_the_t_test_of_scipy() -> None:
    humans, judge = people(5), [int(at % 5 > 0) for at in range(60)]
    found = alt_test(judge, humans, epsilon=0.1)
    for at, one in enumerate(found.humans):
        others = [[vote for who, vote in enumerate(item) if who != at] for item in humans]
        mine = [sum(vote == item[at] for vote in rest) / 2 for rest, item in zip(others, humans, strict=True)]
        theirs = [sum(vote == label for vote in rest) / 2 for rest, label in zip(others, judge, strict=True)]
        differences = [float(m >= t) - float(t >= m) for m, t in zip(mine, theirs, strict=True)]
        assert one.p == pytest.approx(stats.ttest_1samp(differences, 0.1, alternative="less").pvalue)
        assert one.judge == pytest.approx(sum(t >= m for m, t in zip(mine, theirs, strict=True)) / 60)


def test_what_falls_is_what_scipy_s_false_discovery_control_says() -> None:
    humans, judge = people(5, right=0.75), [int(at % 4 > 0) for at in range(60)]
    found = alt_test(judge, humans, epsilon=0.15)
    adjusted = stats.false_discovery_control([one.p for one in found.humans], method="by")
    assert [one.wins for one in found.humans] == [bool(p <= 0.05) for p in adjusted]


def test_ordered_labels_are_held_apart_by_distance() -> None:
    humans = [(0, 1, 1), (3, 2, 3), (2, 2, 1)] * 12
    near = alt_test([1, 3, 2] * 12, humans, score="rmse")
    far = alt_test([3, 0, 0] * 12, humans, score="rmse")
    assert near.advantage > far.advantage
    assert far.winning_rate == 0


def test_a_person_with_few_items_is_left_out_by_name_and_missing_votes_are_counted() -> None:
    humans = [(one, two, None if at > 10 else 1, 1) for at, (one, two, _) in enumerate(people(4))]
    found = alt_test([None, *[1] * 59], humans, names=("ann", "ben", "cai", "dan"))
    assert found.left_out == ("cai",)
    assert found.missing == 1
    assert {one.n for one in found.humans} == {59}


# --- corrected means -------------------------------------------------------------------------------


def test_a_biased_judge_is_put_right_and_a_useless_one_is_not_relied_on() -> None:
    rng = np.random.default_rng(0)
    truth = (rng.random(1000) < 0.6).astype(float)
    judge = np.where(rng.random(1000) < 0.9, truth, 1.0)
    found = corrected_mean(list(zip(truth[:100], judge[:100], strict=True)), list(judge[100:]), bounds=(0, 1))
    assert found.judged > 0.62
    assert found.low < 0.6 < found.high
    assert found.high - found.low < found.labeled_high - found.labeled_low
    constant = corrected_mean([(label, 1.0) for label in truth[:50]], [1.0] * 200)
    assert constant.weight == 0
    assert constant.value == pytest.approx(constant.labeled)


def test_one_other_item_is_enough_and_intervals_end_at_the_bounds() -> None:
    found = corrected_mean([(1.0, at % 2) for at in range(10)], [1.0], bounds=(0, 1))
    assert found.high == 1


# --- thresholds ------------------------------------------------------------------------------------


@given(n=st.integers(1, 60), data=st.data())
def test_the_exact_interval_is_that_of_scipy(n: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, n))
    theirs = stats.binomtest(hits, n).proportion_ci(0.95, method="exact")
    assert clopper_pearson(hits, n) == pytest.approx((theirs.low, theirs.high))


def test_a_threshold_keeps_as_much_as_the_promise_allows() -> None:
    sure = [0.9] * 200 + [0.6] * 100
    right = [True] * 200 + [at % 2 == 0 for at in range(100)]
    found = threshold_for(sure, right, target=0.05)
    assert (found.threshold, found.kept, found.risk, found.reason) == (0.9, 200, 0, "")
    assert found.coverage == pytest.approx(2 / 3)
    assert found.bound is not None
    assert found.bound <= 0.05


def test_a_panel_too_bad_or_labels_too_few_are_refused_with_the_reason() -> None:
    bad = threshold_for([0.9] * 100, [at % 3 > 0 for at in range(100)], target=0.05)
    assert bad.threshold is None
    assert bad.reason.startswith("refused: at 0.9 and above 34 of 100 are wrong")
    few = threshold_for([0.9] * 10, [True] * 10, target=0.05)
    assert few.threshold is None
    assert "10 labeled items are too few: 45 without an error are needed" in few.reason


def test_all_wrong_bounds_nothing() -> None:
    assert threshold_for([1.0] * 50, [False] * 50, target=0.9).threshold is None


# --- calibration -----------------------------------------------------------------------------------


def test_a_confidence_that_means_what_it_says_has_no_error() -> None:
    found = reliability([0.75] * 4 + [1.0], [True, True, True, False, True])
    assert found.error == 0
    assert [(one.n, one.right) for one in found.bins] == [(4, 0.75), (1, 1)]
    assert reliability([0.0, 0.5], [False, True], bins=(0, 0.5, 1)).bins[0].n == 2


# --- what they cannot take -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(lambda: dawid_skene([], levels=2), "there are no votes", id="no votes"),
        pytest.param(lambda: dawid_skene([("i", "r", 2)], levels=2), "a position from 0 to 1", id="label"),
        pytest.param(lambda: anchor_weights([], [], levels=2), "0 gold labels for 0 items", id="no anchors"),
        pytest.param(lambda: anchor_weights([(0,), (0, 1)], [0, 0], levels=2), r"rows of \[1, 2\] votes", id="rows"),
        pytest.param(lambda: alt_test([1], [(1, 1)]), "at least 3", id="two people"),
        pytest.param(lambda: alt_test([1], []), "1 votes of the judge for 0 items", id="lengths"),
        pytest.param(lambda: alt_test([1], [(1, 1, 1)]), "at least 30", id="few items"),
        pytest.param(lambda: corrected_mean([(1, 1)] * 9, [1]), "at least 10 human labels", id="few labels"),
        pytest.param(lambda: corrected_mean([(1, 1)] * 10, []), "and 0 others", id="nothing to correct"),
        pytest.param(lambda: threshold_for([0.5], [], target=0.1), "0 labels for 1 items", id="labels"),
        pytest.param(lambda: threshold_for([0.5], [True], target=1.0), "both between 0 and 1", id="target"),
        pytest.param(lambda: clopper_pearson(2, 1), "2 of 1", id="share"),
        pytest.param(lambda: reliability([], []), "0 labels for 0 items", id="nothing"),
        pytest.param(lambda: reliability([1.5], [True]), "a number from 0 to 1", id="confidence"),
    ],
)
def test_what_they_cannot_take_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        call()


def test_without_scipy_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "scipy", None)
    with pytest.raises(MissingExtra, match="clopper_pearson needs the extra 'stats'"):
        clopper_pearson(1, 2)
