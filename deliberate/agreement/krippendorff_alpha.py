"""Agreement of any raters beyond chance, at any level of measurement, with missing votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from deliberate.agreement._statistic import Additive, Facts, Items, counts_of, levels_in, point, ratio, statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["krippendorff_alpha"]

Metric = Literal["nominal", "ordinal", "interval", "ratio"]
_METRICS = ("nominal", "ordinal", "interval", "ratio")


def _plan(table: Array, *, metric: Metric = "ordinal") -> Additive:
    if metric not in _METRICS:
        raise ValueError(f"krippendorff_alpha: metric {metric!r}; expected one of: {', '.join(_METRICS)}")
    if metric == "ratio" and (table < 0).any():
        raise ValueError("krippendorff_alpha: a rating below 0 has no place on a ratio scale; expected 0 or more")
    return _by_moments(table) if metric == "interval" else _by_coincidences(table, metric)


def _by_moments(table: Array) -> Additive:
    """Squared differences need no table of labels: sums, and sums of squares, say it all."""
    import numpy as np

    middle = 0.0 if np.isnan(table).all() else float(np.nanmean(table))

    def features(block: Array) -> Array:
        votes = (~np.isnan(block)).sum(axis=1).astype(np.float64)
        paired = votes > 1
        apart = np.where(np.isnan(block), 0.0, block - middle)
        total, squares = apart.sum(axis=1), (apart**2).sum(axis=1)
        within = (votes * squares - total**2) / np.where(paired, votes - 1, 1)
        # A spread that is nothing but rounding is none.
        within = np.where(within < 1e-12 * np.maximum(squares, 1e-300), 0.0, within)
        found: Array = np.stack([votes, total, squares, within], axis=1) * paired[:, None]
        return found

    def value(sums: Array) -> Array:
        votes, total, squares, within = np.moveaxis(sums, -1, 0)
        expected = votes * squares - total**2
        expected = np.where(expected <= 1e-12 * votes * squares, 0.0, expected)
        return 1.0 - ratio((votes - 1) * within, expected)

    return Additive(features, value, 4)


def _by_coincidences(table: Array, metric: Metric) -> Additive:
    """Sums of the coincidence matrix: pairs of votes of one item, each by 1 / (votes of the item − 1)."""
    import numpy as np

    levels = levels_in(table)
    size = len(levels)

    def features(block: Array) -> Array:
        counts = counts_of(block, levels)
        votes = counts.sum(axis=1)
        pairs = counts[:, :, None] * counts[:, None, :]
        pairs[:, range(size), range(size)] -= counts
        return (pairs / np.where(votes > 1, votes - 1, 1)[:, None, None]).reshape(len(block), size * size)

    def apart(said: Array) -> Array:
        """Squared distances of labels, … × levels × levels."""
        if metric == "nominal":
            return 1.0 - np.eye(size)
        if metric == "ratio":
            both = levels[:, None] + levels[None, :]
            return ((levels[:, None] - levels[None, :]) / np.where(both == 0, 1.0, both)) ** 2
        middle = np.cumsum(said, axis=-1) - said / 2
        found: Array = (middle[..., :, None] - middle[..., None, :]) ** 2
        return found

    def value(sums: Array) -> Array:
        seen = sums.reshape(*sums.shape[:-1], size, size)
        said = seen.sum(axis=-1)
        expected = said[..., :, None] * said[..., None, :]
        distance = apart(said)
        above = (seen * distance).sum(axis=(-1, -2)) * (said.sum(axis=-1) - 1)
        return 1.0 - ratio(above, (expected * distance).sum(axis=(-1, -2)))

    return Additive(features, value, size * size)


@statistic(Facts(plan=_plan, least=None, ties="votes that are alike are at distance 0"))
def krippendorff_alpha(items: Items, *, metric: Metric = "ordinal") -> float | None:
    """Agreement of any number of raters beyond chance, for any metric, with missing votes.

    α = 1 − Do / De: the mean squared distance of two votes of one item, over that of any two votes. Distances:
    ``nominal`` 0 or 1; ``ordinal`` votes between the two labels, counting half of each; ``interval`` (a − b)²;
    ``ratio`` ((a − b) / (a + b))². Items with one vote are left out.

    Args:
        items: Items × raters, None where missing.
        metric: The distance.

    Returns:
        At most 1 (all alike); 0 is chance; below 0: systematic disagreement. None ("undefined", neither 0 nor 1) for
        constant votes, and without an item that has two.

    Raises:
        MissingExtra: numpy is not installed.
        ValueError: Unknown metric, a rating below 0 on the ratio scale, rows of different length.

    Krippendorff (2011), Computing Krippendorff's alpha-reliability, sec. C; Hayes and Krippendorff (2007),
    doi:10.1080/19312450709336664. Interval by moments: the same sums, with squares multiplied out.

    >>> votes = ["123321412   ", "1233224125 3", " 3332342251 ", "12332441251 "]
    >>> items = [[None if vote == " " else int(vote) for vote in unit] for unit in zip(*votes)]
    >>> [round(krippendorff_alpha(items, metric=one), 3) for one in ("nominal", "ordinal", "interval", "ratio")]
    [0.743, 0.815, 0.849, 0.797]
    >>> krippendorff_alpha([(1, 1), (1, 1)]) is None
    True
    """
    return point(krippendorff_alpha, items, metric=metric)
