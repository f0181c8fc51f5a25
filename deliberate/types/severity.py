"""Severity arithmetic: what a judge's findings do to the scores it gave.

Per judged dimension: subtract 10 points for each Important finding, at most 30; cap at 30 where there is a Blocker;
never below 0. Suggestions change nothing. The prompt tells the judge not to deduct itself, and both numbers, judged
and adjusted, are kept. Findings of tests, linters and scripts explain a score already computed and never change it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

from deliberate.types.ballot import Ballot, DimensionScore, Finding, Severity
from deliberate.types.rubric import SeverityMode, plain_name
from deliberate.types.scale import bracket_of

__all__ = ["BLOCKER_CAP", "IMPORTANT_MOST", "IMPORTANT_POINTS", "adjusted_ballot", "adjusted_score", "without_findings"]

BLOCKER_CAP = 30.0
IMPORTANT_POINTS = 10.0
IMPORTANT_MOST = 30.0


def adjusted_score(judged: float, findings: Iterable[Finding], *, mode: SeverityMode = "adjust") -> float:
    """A dimension's score 0–100 after the findings that name it.

    >>> one = Finding(severity="important", dimension="d", title="t")
    >>> adjusted_score(80.0, [one]), adjusted_score(80.0, [one] * 5), adjusted_score(80.0, [one] * 5, mode="cap_only")
    (70.0, 50.0, 80.0)
    """
    return _adjusted(judged, [finding.severity for finding in findings], mode)


def _adjusted(judged: float, severities: Sequence[Severity], mode: SeverityMode) -> float:
    if mode == "advisory":
        return judged
    if not severities:
        return max(0.0, judged)
    score = judged
    if mode == "adjust":
        score -= min(IMPORTANT_POINTS * severities.count("important"), IMPORTANT_MOST)
    if "blocker" in severities:
        score = min(score, BLOCKER_CAP)
    return max(0.0, score)


def adjusted_ballot(ballot: Ballot) -> Ballot:
    """The ballot with its score derived from its dimensions and findings, and its bracket from its score.

    A ballot without dimensions keeps its own score. A Blocker whose dimension is none of the ballot's is flagged
    ``blocker_of_unknown_dimension`` and caps the whole ballot at 30 (except in mode ``advisory``).
    """
    if not ballot.dimensions:
        return ballot
    mode = ballot.severity
    of: dict[str, list[Severity]] = {plain_name(one.dimension): [] for one in ballot.dimensions}
    strays = False
    for finding in ballot.findings:
        named = of.get(plain_name(finding.dimension))
        if named is not None:
            named.append(finding.severity)
        else:
            strays = strays or finding.severity == "blocker"
    dimensions = tuple(
        [
            DimensionScore(
                dimension=one.dimension,
                weight=one.weight,
                judged=one.judged,
                adjusted=_adjusted(one.judged, of[plain_name(one.dimension)], mode),
                origin=one.origin,
            )
            for one in ballot.dimensions
        ]
    )
    score = _weighted(dimensions)
    flags = ballot.flags
    if strays:
        flags = tuple(dict.fromkeys((*flags, "blocker_of_unknown_dimension")))
        if mode != "advisory":
            score = min(score, BLOCKER_CAP)
    return msgspec.structs.replace(
        ballot, dimensions=dimensions, score=score, bracket=bracket_of(score), number="derived", flags=flags
    )


def without_findings(ballot: Ballot, struck: Iterable[str]) -> Ballot:
    """The ballot re-scored without the findings of those keys; the same ballot if none of them is its own."""
    gone = set(struck)
    left = tuple(finding for finding in ballot.findings if finding.key not in gone)
    if len(left) == len(ballot.findings):
        return ballot
    return adjusted_ballot(msgspec.structs.replace(ballot, findings=left))


def _weighted(dimensions: tuple[DimensionScore, ...]) -> float:
    total = math.fsum([one.weight for one in dimensions])
    mean = math.fsum([one.weight / total * one.adjusted for one in dimensions])
    return min(100.0, max(0.0, round(mean, 9)))
