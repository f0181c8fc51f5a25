"""May a judge stand in for the people who label? The Alternative Annotator Test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, cast

from deliberate.errors import ConfigError
from deliberate.studies._arrays import need_stats, table_from
from deliberate.types import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["EPSILON", "AltTest", "OneHuman", "alt_test"]

EPSILON = {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}
"""How much worse than a person a judge may be, as it is cheaper: by who labels."""

_FEWEST_ITEMS = 30
_FEWEST_HUMANS = 3


class OneHuman(Record, frozen=True, kw_only=True):
    """A judge against one person, who both are held against the others.

    Attributes:
        n: Items with a vote of the judge, of this person and of at least one other.
        judge: Share of them where the judge is at least as near to the others as this person; ``human``: the reverse.
        p: Of the one-sided t-test that the judge is worse by epsilon or more.
        wins: Whether that is rejected, after the correction for several people.
    """

    human: str
    n: int
    judge: float
    human_share: float
    p: float
    wins: bool


class AltTest(Record, frozen=True, kw_only=True):
    """The outcome of the test.

    Attributes:
        winning_rate: Share of people the judge may replace; ``passes``: at least one half.
        advantage: Mean over people of the probability that the judge is at least as near to the others.
        humans: Person by person; those with fewer than 30 items are in ``left_out``.
    """

    passes: bool
    winning_rate: float
    advantage: float
    epsilon: float
    q: float
    score: str
    humans: tuple[OneHuman, ...]
    left_out: tuple[str, ...]
    missing: int


def alt_test(
    judge: Sequence[float | None],
    humans: Sequence[Sequence[float | None]],
    *,
    names: Sequence[str] = (),
    epsilon: float = EPSILON["skilled"],
    score: Literal["accuracy", "rmse"] = "accuracy",
    q: float = 0.05,
    fewest_items: int = _FEWEST_ITEMS,
) -> AltTest:
    """Whether a judge represents a group of people at least as well as one of them.

    Each person is left out in turn. On each item, judge and person are scored by how near they are to the others:
    the share of the others who said the same (``accuracy``, for names), or the negative root mean square distance
    (``rmse``, for ordered labels). The judge wins an item if its score is at least the person's, and the other way
    round. H0 of person j: the judge's share of items is below the person's by epsilon or more; one-sided t-test on the
    differences. Over people, Benjamini and Yekutieli's procedure at level q.

    Args:
        judge: One vote an item, None where missing.
        humans: Items × people, None where missing; at least 3 people.
        names: Of the people.
        epsilon: 0.2 for experts, 0.15 for skilled people, 0.1 for a crowd (``EPSILON``).
        score: How near two votes are.
        q: False discovery rate.
        fewest_items: Items below which a person is left out.

    Raises:
        MissingExtra: numpy and scipy are not installed.
        ConfigError: Fewer than 3 people, not one vote an item, or nobody with enough items.

    Calderon, Reichart and Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge,
    doi:10.18653/v1/2025.acl-long.782, sec. 3; Benjamini and Yekutieli (2001), doi:10.1214/aos/1013699998, theorem 1.3.
    """
    need_stats("alt_test")
    import numpy as np

    votes, people = _tables(judge, humans)
    called = tuple(names) or tuple(f"human {at + 1}" for at in range(people.shape[1]))
    seen = {name: _sides(votes, people, at, score) for at, name in enumerate(called)}
    kept = {name: sides for name, sides in seen.items() if len(sides[0]) >= fewest_items}
    if not kept:
        most = max(len(sides[0]) for sides in seen.values())
        raise ConfigError(f"nobody has more than {most} items", where="alt_test", expected=f"at least {fewest_items}")
    ps = [_p(human - machine, epsilon) for machine, human in kept.values()]
    wins = _rejected(ps, q)
    found = tuple(
        OneHuman(
            human=name, n=len(machine), judge=float(machine.mean()), human_share=float(human.mean()), p=p, wins=won
        )
        for (name, (machine, human)), p, won in zip(kept.items(), ps, wins, strict=True)
    )
    rate = sum(wins) / len(wins)
    return AltTest(
        passes=rate >= 0.5,  # noqa: PLR2004  one half, as published
        winning_rate=rate,
        advantage=sum(one.judge for one in found) / len(found),
        epsilon=epsilon,
        q=q,
        score=score,
        humans=found,
        left_out=tuple(name for name in called if name not in kept),
        missing=int(np.isnan(votes).sum()),
    )


def _tables(judge: Sequence[float | None], humans: Sequence[Sequence[float | None]]) -> tuple[Array, Array]:
    """The judge's votes, and items × people; nan where missing.

    Raises:
        ConfigError: Not one vote an item, or too few people.
    """
    if len(judge) != len(humans):
        raise ConfigError(
            f"{len(judge)} votes of the judge for {len(humans)} items", where="alt_test", expected="one each"
        )
    people = table_from(humans, where="alt_test")
    if people.shape[1] < _FEWEST_HUMANS:
        what = f"{people.shape[1]} people"
        raise ConfigError(what, where="alt_test", expected="at least 3, so that each can be held against two others")
    return table_from([[vote] for vote in judge], where="alt_test")[:, 0], people


def _sides(votes: Array, people: Array, at: int, score: str) -> tuple[Array, Array]:
    """Item by item: is the judge at least as near to the others as person ``at``, and the other way round."""
    import numpy as np

    one, others = people[:, at], np.delete(people, at, axis=1)
    usable = ~np.isnan(votes) & ~np.isnan(one) & (~np.isnan(others)).any(axis=1)
    others = others[usable]

    def near(mine: Array) -> Array:
        apart = others - mine[usable][:, None]
        if score == "rmse":
            found: Array = -np.sqrt(np.nanmean(apart**2, axis=1))
        else:
            found = np.nansum(apart == 0, axis=1) / (~np.isnan(apart)).sum(axis=1)
        return found

    judge, human = near(votes), near(one)
    return (judge >= human).astype(np.float64), (human >= judge).astype(np.float64)


def _p(differences: Array, epsilon: float) -> float:
    """One-sided t-test of mean difference < epsilon."""
    from scipy.special import stdtr

    count = len(differences)
    spread = float(differences.std(ddof=1))
    gap = float(differences.mean()) - epsilon
    if not spread:
        return 0.0 if gap < 0 else 1.0
    return float(cast("float", stdtr(count - 1, gap / (spread / count**0.5))))


def _rejected(ps: Sequence[float], q: float) -> list[bool]:
    """Benjamini and Yekutieli's procedure: which hypotheses fall."""
    count = len(ps)
    harmonic = sum(1 / at for at in range(1, count + 1))
    order = sorted(range(count), key=lambda at: ps[at])
    last = max((rank for rank, at in enumerate(order, start=1) if ps[at] <= rank * q / (count * harmonic)), default=0)
    fallen = set(order[:last])
    return [at in fallen for at in range(count)]
