"""Findings of different seats that mean the same, merged: for reports only, no score is made from it.

Two findings mean the same if they have the same key, or name the same dimension and point at the same place: quotes
of which one holds the other or that share most of their words in a row, or locations in one file whose lines overlap.
What is merged with what is kept and listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from deliberate.types.ballot import Finding
from deliberate.types.rubric import same_name

__all__ = ["Merged", "Voiced", "grouped", "merged", "most_severe", "same_finding"]

LEAST_WORDS = 3
"""Quotes shorter than this mean the same only if they are equal: "the" stands in every other quote."""

SHARED = 0.6
"""The share of the shorter quote's words that must stand in a row in the other."""

_ORDER = ("blocker", "important", "suggestion")
_LINES = re.compile(r"(?P<file>.*?):(?P<first>\d+)(?:[-–](?P<last>\d+))?(?::\d+)?")


class Voiced(NamedTuple):
    """A finding as one seat put it."""

    seat: str
    finding: Finding


class Merged(NamedTuple):
    """One finding of a panel, the most severe way it was put, and who said what of it; seats in the order they spoke.

    ``raised`` are seats that reported it unasked; ``agreed`` those that reported it after they had read it from a
    peer, or confirmed it as verifiers; ``disputed`` the verifiers that refuted it. ``others`` are the other ways it
    was put. ``refuted`` says that it was struck: no score counts it.
    """

    finding: Finding
    raised: tuple[str, ...] = ()
    agreed: tuple[str, ...] = ()
    disputed: tuple[str, ...] = ()
    others: tuple[Voiced, ...] = ()
    refuted: bool = False


def merged(voiced: Sequence[Voiced]) -> tuple[tuple[Voiced, ...], ...]:
    """The findings in groups that mean the same: in the order given, groups by their first.

    Sameness is carried on: if a meets b and b meets c, the three are one group.
    """
    groups = grouped([one.finding for one in voiced])
    return tuple([tuple([voiced[at] for at in group]) for group in groups])


def grouped(findings: Sequence[Finding]) -> Sequence[Sequence[int]]:
    """The places of findings in groups that mean the same: ascending, groups by their first."""
    said: dict[object, list[int]] = {}
    for at, one in enumerate(findings):
        said.setdefault((one.key, one.dimension, one.location, one.quote) if one.key else at, []).append(at)
    groups: list[list[list[int]]] = []
    for places in said.values():  # what is said in the same words is compared once
        one = findings[places[0]]
        met = [group for group in groups if any(same_finding(one, findings[other[0]]) for other in group)]
        if not met:
            groups.append([places])
            continue
        first, *rest = met
        for other in rest:
            first.extend(other)
            groups.remove(other)
        first.append(places)
    return [sorted(chain.from_iterable(group)) for group in groups]


def same_finding(one: Finding, other: Finding) -> bool:
    """Whether two findings mean the same.

    >>> a = Finding(severity="important", dimension="d", title="a", location="app.py:10-14")
    >>> same_finding(a, Finding(severity="blocker", dimension="d", title="b", location="app.py:14"))
    True
    """
    if one.key and one.key == other.key:
        return True
    if not same_name(one.dimension, other.dimension):
        return False
    quotes = bool(one.quote and other.quote) and _same_words(one.quote or "", other.quote or "")
    return quotes or bool(one.location and other.location and _same_place(one.location, other.location))


def _same_words(one: str, other: str) -> bool:
    short, long = sorted((_words(one), _words(other)), key=len)
    if len(short) < LEAST_WORDS:
        return short == long != ()
    least = max(LEAST_WORDS, SHARED * len(short))
    if sum(map({*long}.__contains__, short)) < least:  # too few in common, in a row or not
        return False
    return SequenceMatcher(None, short, long, autojunk=False).find_longest_match().size >= least


@lru_cache(maxsize=1024)
def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+|[^\w\s]", text.casefold()))


def _same_place(one: str, other: str) -> bool:
    here, there = _LINES.fullmatch(one.strip()), _LINES.fullmatch(other.strip())
    if here is None or there is None:
        return one.split() == other.split()
    spans = [(int(at["first"]), int(at["last"] or at["first"])) for at in (here, there)]
    (first, last), (start, end) = spans
    return here["file"] == there["file"] and first <= end and start <= last


def most_severe(findings: Iterable[Finding]) -> Finding:
    """The most severe of them; of several the first."""
    return min(findings, key=_place_of)


def _place_of(finding: Finding) -> int:
    return _ORDER.index(finding.severity)
