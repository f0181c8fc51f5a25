"""Every statistic beside an independent implementation, on data with missing votes."""

from __future__ import annotations

import warnings
from importlib import import_module
from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from deliberate.agreement import pairwise_kappa
from deliberate.agreement.cohen_kappa import cohen_kappa
from deliberate.agreement.effective_judges import effective_judges
from deliberate.agreement.error_correlation import error_correlation
from deliberate.agreement.fleiss_kappa import fleiss_kappa
from deliberate.agreement.gwet_ac1 import gwet_ac1
from deliberate.agreement.gwet_ac2 import gwet_ac2
from deliberate.agreement.icc_2_1 import icc_2_1
from deliberate.agreement.icc_2_k import icc_2_k
from deliberate.agreement.kendall_tau_b import kendall_tau_b
from deliberate.agreement.kendall_w import kendall_w
from deliberate.agreement.krippendorff_alpha import krippendorff_alpha
from deliberate.agreement.spearman import spearman
from deliberate.agreement.vote_correlation import vote_correlation

np = import_module("numpy")

Items = list[list[int | None]]


def tables(*, raters: int | None = None, missing: bool = True, most: int = 12) -> st.SearchStrategy[Items]:
    """Items × raters on a scale of five."""
    vote: st.SearchStrategy[int | None] = st.integers(0, 4)
    votes = (st.none() | vote) if missing else vote
    return (st.just(raters) if raters else st.integers(2, 5)).flatmap(
        lambda size: st.lists(st.lists(votes, min_size=size, max_size=size), min_size=2, max_size=most)
    )


def floats(items: Items) -> Any:  # noqa: ANN401  packages take what numpy makes
    """The same with nan where missing."""
    return np.array([[np.nan if vote is None else vote for vote in item] for item in items], dtype=float)


@given(items=tables(), metric=st.sampled_from(("nominal", "ordinal", "interval", "ratio")))
def test_alpha_is_that_of_the_package_krippendorff(items: Items, metric: Any) -> None:  # noqa: ANN401  a literal, drawn
    krippendorff = import_module("krippendorff")
    ours = krippendorff_alpha(items, metric=metric)
    paired = [vote for item in items if sum(one is not None for one in item) > 1 for vote in item if vote is not None]
    if len(set(paired)) < 2:
        assert ours is None
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the package divides by 0 at labels 0 and 0
        theirs = krippendorff.alpha(floats(items).T, level_of_measurement=metric)
    assert ours == pytest.approx(theirs, abs=1e-9)


@given(items=tables(raters=2), weights=st.sampled_from(("none", "linear", "quadratic")))
def test_kappa_is_that_of_scikit_learn_with_the_full_scale(items: Items, weights: Any) -> None:  # noqa: ANN401  as above
    metrics = import_module("sklearn.metrics")
    ours = cohen_kappa(items, weights=weights)
    both = [item for item in items if None not in item]
    if len({vote for item in both for vote in item}) < 2:
        assert ours is None
        return
    one, other = zip(*both, strict=True)
    theirs = metrics.cohen_kappa_score(one, other, labels=range(5), weights=None if weights == "none" else weights)
    assert ours == pytest.approx(theirs, abs=1e-9)


@given(items=tables(), weights=st.sampled_from(("none", "linear", "quadratic")))
def test_the_matrix_of_kappas_is_kappa_pair_by_pair(items: Items, weights: Any) -> None:  # noqa: ANN401  as above
    matrix = pairwise_kappa(items, weights=weights)
    for one, other in permutations(range(len(items[0])), 2):
        alone = cohen_kappa([(item[one], item[other]) for item in items], weights=weights)
        assert matrix[one][other] == pytest.approx(alone, abs=1e-9)


@given(items=tables(missing=False))
def test_fleiss_differs_from_nominal_alpha_by_the_small_sample_term_alone(items: Items) -> None:
    alpha, kappa = krippendorff_alpha(items, metric="nominal"), fleiss_kappa(items)
    if alpha is None or kappa is None:
        assert alpha == kappa
        return
    votes = len(items) * len(items[0])
    assert 1 - alpha == pytest.approx((1 - kappa) * (1 - 1 / votes), abs=1e-9)


@given(items=tables(raters=2))
def test_rank_correlations_are_those_of_scipy(items: Items) -> None:
    stats = import_module("scipy.stats")
    both = [item for item in items if None not in item]
    one, other = ([item[at] for item in both] for at in (0, 1))
    if len(set(one)) < 2 or len(set(other)) < 2:
        assert spearman(items) is None
        assert kendall_tau_b(items) is None
        return
    assert spearman(items) == pytest.approx(stats.spearmanr(one, other).statistic, abs=1e-9)
    assert kendall_tau_b(items) == pytest.approx(stats.kendalltau(one, other).statistic, abs=1e-9)


def test_tau_takes_its_table_in_strips() -> None:
    stats = import_module("scipy.stats")
    rng = np.random.default_rng(1)
    table = np.column_stack([rng.permutation(5000), rng.permutation(5000)]).astype(float)
    assert kendall_tau_b(table) == pytest.approx(stats.kendalltau(table[:, 0], table[:, 1]).statistic, abs=1e-9)


@given(items=st.integers(3, 5).flatmap(lambda raters: tables(raters=raters, missing=False)))
def test_concordance_is_that_of_friedman_s_test_in_scipy(items: Items) -> None:
    stats = import_module("scipy.stats")
    count, raters = len(items), len(items[0])
    assume(count > 2)
    ours = kendall_w(items)
    if all(len(set(column)) == 1 for column in zip(*items, strict=True)):
        assert ours is None
        return
    theirs = stats.friedmanchisquare(*items).statistic / (raters * (count - 1))
    assert ours == pytest.approx(theirs, abs=1e-9)


@given(items=tables(missing=False))
def test_intraclass_correlations_are_those_of_a_fitted_linear_model(items: Items) -> None:
    table = floats(items)
    count, raters = table.shape
    design = np.array(
        [
            [float(i == a) for a in range(count)] + [float(j == b) for b in range(raters)]
            for i in range(count)
            for j in range(raters)
        ]
    )
    scores = table.reshape(-1)

    def left(columns: Any) -> float:  # noqa: ANN401  as above
        """The squares a model of these columns leaves."""
        fitted = columns @ np.linalg.lstsq(columns, scores, rcond=None)[0]
        return float(((scores - fitted) ** 2).sum())

    whole = left(design)
    item = (left(design[:, count:]) - whole) / (count - 1)
    rater = (left(design[:, :count]) - whole) / (raters - 1)
    rest = whole / ((count - 1) * (raters - 1))
    for ours, below in (
        (icc_2_1(items), item + (raters - 1) * rest + raters * (rater - rest) / count),
        (icc_2_k(items), item + (rater - rest) / count),
    ):
        if below > 1e-9:
            assert ours == pytest.approx((item - rest) / below, abs=1e-6)
        elif below < -1e-9:
            assert ours is None


@given(items=tables(), weights=st.sampled_from(("none", "linear", "quadratic")))
def test_gwet_s_coefficients_are_those_counted_pair_by_pair(items: Items, weights: Any) -> None:  # noqa: ANN401  as above
    power = {"none": 0, "linear": 1, "quadratic": 2}[weights]

    def close(a: float, b: float) -> float:
        return float(a == b) if not power else 1 - (abs(a - b) / 4) ** power

    heard = [[vote for vote in item if vote is not None] for item in items]
    pairs = [[close(a, b) for a, b in combinations(item, 2)] for item in heard if len(item) > 1]
    ours = gwet_ac2(items, levels=5, weights=weights)
    if not pairs:
        assert ours is None
        return
    agreed = sum(sum(one) / len(one) for one in pairs) / len(pairs)
    rated = [item for item in heard if item]
    shares = [sum(item.count(label) / len(item) for item in rated) / len(rated) for label in range(5)]
    total = sum(close(a, b) for a in range(5) for b in range(5))
    chance = total * sum(share * (1 - share) for share in shares) / 20
    assert ours == pytest.approx((agreed - chance) / (1 - chance), abs=1e-9)
    if not power:
        assert gwet_ac1(items, levels=5) == pytest.approx(ours)


def mean_of_pairs(columns: list[list[float | None]]) -> float | None:
    """Numpy's correlation of each pair, over the items both have."""
    found: list[float] = []
    for one, other in combinations(columns, 2):
        both = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
        if len({a for a, _ in both}) > 1 and len({b for _, b in both}) > 1:
            found.append(float(np.corrcoef(np.array(both).T)[0, 1]))
    return sum(found) / len(found) if found else None


@given(items=tables())
def test_correlations_of_votes_are_those_of_numpy(items: Items) -> None:
    columns = [list(column) for column in zip(*items, strict=True)]
    assert vote_correlation(items) == pytest.approx(mean_of_pairs(columns), abs=1e-9)


@given(items=tables(most=20), form=st.sampled_from(("wrong", "distance")))
def test_correlations_of_errors_are_those_of_numpy_from_thirty_gold_items_on(items: Items, form: Any) -> None:  # noqa: ANN401  as above
    items = items * 4
    errors = [
        [
            None
            if vote is None or item[-1] is None
            else float(vote != item[-1])
            if form == "wrong"
            else vote - item[-1]
            for item, vote in zip(items, column, strict=True)
        ]
        for column in list(zip(*items, strict=True))[:-1]
    ]
    counted = sum(any(one is not None for one in row) for row in zip(*errors, strict=True))
    expected = mean_of_pairs(errors) if counted >= 30 else None
    assert error_correlation(items, form=form) == pytest.approx(expected, abs=1e-9)
    judges = sum(any(one is not None for one in column) for column in list(zip(*items, strict=True))[:-1])
    worth = None if expected is None else judges / (1 + (judges - 1) * max(0.0, expected))
    assert effective_judges(items, form=form) == pytest.approx(worth, abs=1e-9)
