"""Many evaluations into a few numbers: added one at a time, none of them kept.

Whatever the order they come in, the numbers are the same: sums of scores are exact until they are divided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated

import msgspec

from deliberate.gates import RunFacts, blockers_in, verdicts_of
from deliberate.types import (
    BRACKETS,
    Bracket,
    Case,
    Evaluation,
    Record,
    Undecided,
    Unscored,
    Usage,
    Verdict,
    bracket_of,
    state_of,
)

__all__ = ["Line", "SeatTotals", "Totals", "case_line", "ordinal_alpha", "why_without"]

Counts = tuple[int, ...]


class SeatTotals:
    """What one seat did so far.

    ``agreeing`` of ``pairs`` of its votes with another seat's on the same case are in the same bracket.
    """

    def __init__(self) -> None:
        self.states: Counter[str] = Counter()
        self.agreeing = 0
        self.pairs = 0
        self.usage = Usage()

    @property
    def done(self) -> int:
        """Cases on which its ballot is in, or will not come."""
        return self.states.total()

    @property
    def agreement(self) -> float | None:
        """0–1; None below one pair."""
        return self.agreeing / self.pairs if self.pairs else None


class Totals:
    """The numbers of a run so far; ``add`` is told of each case once."""

    def __init__(self) -> None:
        self.judged = 0
        self.scored = 0
        self.brackets: Counter[Bracket] = Counter()
        self.without: Counter[str] = Counter()
        self.states: Counter[str] = Counter()
        self.seats: dict[str, SeatTotals] = {}
        self._sum = Fraction(0)
        self._blockers = 0
        self._patterns: Counter[Counts] = Counter()

    @property
    def mean(self) -> float | None:
        """The mean score of the cases that have one, 0–100."""
        return float(self._sum / self.scored) if self.scored else None

    @property
    def agreement(self) -> float | None:
        """Krippendorff's alpha, ordinal, over all votes."""
        return ordinal_alpha(self._patterns)

    def add(self, evaluation: Evaluation) -> None:
        """Adds the evaluation of one case."""
        self.judged += 1
        if (score := evaluation.score) is not None:
            self.scored += 1
            self._sum += Fraction(score)
            self.brackets[bracket_of(score) if evaluation.bracket is None else evaluation.bracket] += 1
        elif why := why_without(evaluation):
            self.without[why] += 1
        self._blockers += blockers_in(evaluation)
        for verdict in verdicts_of(evaluation):
            self._add_votes(verdict)

    def facts(self, cases: int) -> RunFacts:
        """What a run of that many cases is held against its gates by."""
        asked = self.states.total()
        return RunFacts(
            cases=cases,
            judged=self.judged,
            scored=self.scored,
            mean=self.mean,
            without=dict(sorted(self.without.items())),
            blockers=self._blockers,
            unread=self.states["unread"] / asked if asked else 0.0,
            agreement=self.agreement,
        )

    def _add_votes(self, verdict: Verdict) -> None:
        votes = verdict.votes
        said = [vote.ballot.bracket for vote in votes if vote.ballot is not None]
        counts = Counter(said)
        self._patterns[tuple(counts[bracket] for bracket in Bracket)] += 1
        self.states.update(verdict.counts)
        for vote in votes:
            seat = self.seats.setdefault(vote.seat.name, SeatTotals())
            seat.states[state_of(vote.answer.reply)] += 1
            seat.usage += vote.answer.usage
            if vote.ballot is not None:
                seat.agreeing += counts[vote.ballot.bracket] - 1
                seat.pairs += len(said) - 1


def why_without(evaluation: Evaluation) -> str:
    """Why a case has no score, in one word; "" where it has one."""
    if not isinstance(evaluation.outcome, Unscored):
        return ""
    undecided = [one.decision.why for one in verdicts_of(evaluation) if isinstance(one.decision, Undecided)]
    return undecided[0] if undecided else evaluation.outcome.why


def ordinal_alpha(patterns: Mapping[Counts, int]) -> float | None:
    """Krippendorff's alpha with the ordinal distance, from how often each pattern of votes came.

    Args:
        patterns: Votes for each level, lowest first, of one item -> how many items were voted on so. Items with
            fewer than two votes do not count.

    Returns:
        At most 1 (all alike); 0 is chance; None ("undefined") where all votes are alike, or no item has two.

    Krippendorff (2011), Computing Krippendorff's alpha-reliability, sec. C: alpha = 1 - Do / De, with the squared
    distance (sum of the votes from one level to the other, half of each end)² of two votes. Computed from sums of
    coincidences, so that memory does not grow with the number of items.

    >>> ordinal_alpha({(3, 0): 5, (0, 3): 5}), ordinal_alpha({(3, 0): 5})
    (1.0, None)
    """
    levels = range(max((len(counts) for counts in patterns), default=0))
    seen = [[Fraction(0) for _ in levels] for _ in levels]
    for counts, items in patterns.items():
        votes = sum(counts)
        if votes > 1:
            for one in levels:
                for other in levels:
                    pairs = counts[one] * (counts[other] - (one == other))
                    seen[one][other] += Fraction(pairs * items, votes - 1)
    said = [sum(row, Fraction(0)) for row in seen]
    middle = [sum(said[:level], Fraction(0)) + said[level] / 2 for level in levels]
    observed = expected = Fraction(0)
    for one in levels:
        for other in levels:
            apart = (middle[one] - middle[other]) ** 2
            observed += seen[one][other] * apart
            expected += said[one] * said[other] * apart
    return float(1 - observed * (sum(said, Fraction(0)) - 1) / expected) if expected else None


class Line(Record, frozen=True, kw_only=True):
    """One case as a line of a table."""

    case: str
    category: Annotated[str, msgspec.Meta(description="Empty where it has none.")]
    status: str
    score: float | None
    normalized: float | None
    bracket: str
    why: str
    voted: int
    seats: int
    digest: str
    calls: int
    cost_usd: float | None


def case_line(case: Case, evaluation: Evaluation) -> Line:
    """The line of one case."""
    verdicts = verdicts_of(evaluation)
    states: Counter[str] = Counter()
    for verdict in verdicts:
        states.update(verdict.counts)
    bracket = evaluation.bracket
    return Line(
        case=case.id or case.digest[:8],
        category=case.category or "",
        status="undecided" if isinstance(evaluation.outcome, Unscored) else "decided",
        score=evaluation.score,
        normalized=evaluation.normalized,
        bracket="" if bracket is None else BRACKETS.labels[bracket].lower(),
        why=why_without(evaluation),
        voted=states["voted"],
        seats=states.total(),
        digest=verdicts[0].digest if len(verdicts) == 1 else evaluation.digest,
        calls=evaluation.usage.calls,
        cost_usd=evaluation.usage.cost_usd,
    )
