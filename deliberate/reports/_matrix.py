"""Judge × judge: how far every two judges concur."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from deliberate.agreement.percent_agreement import percent_agreement
from deliberate.reports._facts import panel_parts
from deliberate.types import Ballot, Bracket, Evaluation, bracket_of

__all__ = ["Cell", "Matrix", "Rater", "matrix_of"]


class Rater(NamedTuple):
    """A judge across evaluations: its seat, and the model asked for."""

    seat: str
    model: str


class Cell(NamedTuple):
    """Two judges: items both judged, how many of them into the same bracket, mean absolute difference of scores."""

    items: int
    same: int
    apart: float


class Matrix(NamedTuple):
    """Judge × judge over several evaluations; a pair that shares no item has no cell."""

    raters: tuple[Rater, ...]
    cells: Mapping[tuple[int, int], Cell]
    cases: int
    agreement: float | None

    def cell(self, one: int, other: int) -> Cell | None:
        """The cell of two judges, in either order."""
        return self.cells.get((min(one, other), max(one, other)))


def matrix_of(evaluations: Sequence[Evaluation]) -> Matrix:
    """How far every two judges concur over these evaluations.

    Each evaluation is one case; a judge is a seat with its model, whatever panel it sits in. Where two judges both
    scored dimensions of the same name, each of those is an item, in the bracket of its adjusted score; otherwise the
    case is one item, in the bracket of the ballot. ``agreement`` is the share of pairs of whole ballots on the same
    case in the same bracket, None if no case has two.
    """
    cases = [_ballots(one) for one in evaluations]
    raters = tuple(dict.fromkeys(rater for case in cases for rater in case))
    cells: dict[tuple[int, int], Cell] = {}
    for (i, one), (j, other) in combinations(enumerate(raters), 2):
        items = [pair for case in cases if one in case and other in case for pair in _items(case[one], case[other])]
        if items:
            same = sum(bracket == bracket_ for (bracket, _), (bracket_, _) in items)
            apart = sum(abs(score - score_) for (_, score), (_, score_) in items) / len(items)
            cells[i, j] = Cell(len(items), same, apart)
    agreement = percent_agreement([[ballot.bracket for ballot in case.values()] for case in cases])
    return Matrix(raters, cells, len(cases), agreement)


def _ballots(evaluation: Evaluation) -> dict[Rater, Ballot]:
    """The ballots of all panels of one evaluation; a judge that sits in two of them is told apart by its part."""
    found: dict[Rater, Ballot] = {}
    for part in panel_parts(evaluation):
        for vote in part.verdict.votes:
            if vote.ballot is not None:
                rater = Rater(vote.seat.name, vote.seat.judge.model)
                if rater in found:
                    rater = Rater(f"{part.path}.{vote.seat.name}", vote.seat.judge.model)
                found[rater] = vote.ballot
    return found


_Judged = tuple[Bracket, float]


def _items(one: Ballot, other: Ballot) -> list[tuple[_Judged, _Judged]]:
    theirs = {each.dimension: each.adjusted for each in other.dimensions}
    shared = [(each.adjusted, theirs[each.dimension]) for each in one.dimensions if each.dimension in theirs]
    if shared:
        return [((bracket_of(mine), mine), (bracket_of(its), its)) for mine, its in shared]
    return [((one.bracket, one.score), (other.bracket, other.score))]
