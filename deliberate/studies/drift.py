"""Whether a judge has changed: anchors scored again over time, and a wager that it has not.

A fixed set of labeled items (anchors) goes to a judge again and again, among its other work. A gambler bets that it is
right on them less often than promised; as long as it is not, nobody's wealth is expected to grow, whenever one looks.
So wealth of 1 / α is a false alarm with probability α at most, over the whole stream and not per look.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from deliberate.errors import ConfigError
from deliberate.types import Record

__all__ = ["Drift", "Scored", "Segment", "drift"]

_MOST_OF_WEALTH = 0.5
"""The share of its wealth that a wager may cost, so that it is never ruined."""


class Scored(NamedTuple):
    """One anchor, scored again: when, by which version of the model, and how right it was, 0–1."""

    at: str
    version: str
    right: float


class Segment(Record, frozen=True, kw_only=True):
    """What one version of the model did on the anchors.

    Attributes:
        n: Anchors scored; ``right``: the mean, 0–1.
        wealth: The most the gambler had; ``threshold``: at which it is an alarm.
        alarm_at: When it was reached; "" if never. ``alarm_after``: after how many anchors.
    """

    version: str
    since: str
    n: int
    right: float
    wealth: float
    threshold: float
    alarm_at: str = ""
    alarm_after: int | None = None


class Drift(Record, frozen=True, kw_only=True):
    """Versions in the order they came in, and which of them broke the promise.

    Attributes:
        promised: Share right on the anchors that was measured when the judge was accepted.
        tolerance: How much below is borne.
        false_alarms: Probability of any alarm at all if no version is worse than that.
        changed: The versions with an alarm, each with when it came in.
    """

    promised: float
    tolerance: float
    false_alarms: float
    segments: tuple[Segment, ...]
    changed: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """What to print."""
        rule = f"an alarm is false with probability {self.false_alarms:g} at most, over all versions and looks"
        if not self.changed:
            return (f"no change: right {self.promised:.0%} as promised, less at most {self.tolerance:.0%}; {rule}",)
        said = [
            f"{one.version} came in on {one.since}: right {one.right:.0%} of {one.n} anchors, {self.promised:.0%} were "
            f"promised; seen on {one.alarm_at}, after {one.alarm_after}"
            for one in self.segments
            if one.alarm_at
        ]
        return (*said, rule)


def drift(scored: Iterable[Scored], *, promised: float, tolerance: float = 0.05, false_alarms: float = 0.05) -> Drift:
    """Bets, version by version, that a judge is right on its anchors less often than promised.

    Wealth ∏ (1 + λ (m − x)), with m = promised − tolerance, x how right an anchor was, and λ from 0 to ½ / (1 − m), set
    before x is seen from those before it (mean gap over mean square). Under "as promised" it is a supermartingale, so
    by Ville's inequality it reaches 1 / α with probability α at most. The k-th version has α × 6 / (π² k²), which sums
    to α: an alarm names the version that came in.

    Args:
        scored: In the order of time.
        promised: Share right, 0–1, when the judge was accepted.
        tolerance: How much below is borne.
        false_alarms: α, over the whole stream.

    Raises:
        ConfigError: Nothing was scored, or a number outside its range.

    Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting, doi:10.1093/jrsssb/qkad009,
    sec. 4; Ville (1939).
    """
    least = promised - tolerance
    if not (0 < least < 1 and 0 < false_alarms < 1 and tolerance >= 0):
        what = f"promised {promised}, tolerance {tolerance}, false alarms {false_alarms}"
        raise ConfigError(what, where="drift", expected="promised less tolerance, and false alarms, between 0 and 1")
    runs: list[list[Scored]] = []
    for one in scored:
        if not 0 <= one.right <= 1:
            raise ConfigError(f"right {one.right}", where=f"anchor of {one.at}", expected="a number from 0 to 1")
        if not runs or runs[-1][0].version != one.version:
            runs.append([])
        runs[-1].append(one)
    if not runs:
        raise ConfigError("no anchors were scored", where="drift", expected="at least one")
    segments = tuple(
        _segment(run, least, false_alarms * 6 / (math.pi * number) ** 2) for number, run in enumerate(runs, start=1)
    )
    return Drift(
        promised=promised,
        tolerance=tolerance,
        false_alarms=false_alarms,
        segments=segments,
        changed=tuple(f"{one.version} ({one.since})" for one in segments if one.alarm_at),
    )


def _segment(run: list[Scored], least: float, alpha: float) -> Segment:
    """One version: the wager, anchor by anchor."""
    wealth = most = 1.0
    gaps = squares = 0.0
    alarm: tuple[str, int] | None = None
    for count, one in enumerate(run, start=1):
        # Set from what came before; the prior counts as one anchor at the edge of what is borne.
        stake = min(_MOST_OF_WEALTH / (1 - least), max(0.0, gaps / (squares + 0.25)))
        gap = least - one.right
        wealth *= 1 + stake * gap
        gaps, squares = gaps + gap, squares + gap * gap
        most = max(most, wealth)
        if alarm is None and wealth >= 1 / alpha:
            alarm = (one.at, count)
    return Segment(
        version=run[0].version,
        since=run[0].at,
        n=len(run),
        right=sum(one.right for one in run) / len(run),
        wealth=most,
        threshold=1 / alpha,
        alarm_at=alarm[0] if alarm else "",
        alarm_after=alarm[1] if alarm else None,
    )
