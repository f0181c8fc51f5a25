"""All alike, or a tie."""

from __future__ import annotations

from collections.abc import Sequence

from deliberate.tallies._base import LevelVote
from deliberate.types import Levels

__all__ = ["unanimous"]


def unanimous(votes: Sequence[LevelVote], levels: Levels) -> tuple[int, ...]:  # noqa: ARG001  the contract's second argument
    """The level that every vote names; if there is none, all levels voted for are tied.

    >>> from deliberate.types import BRACKETS
    >>> unanimous([LevelVote(2, 70), LevelVote(3, 80)], BRACKETS)
    (2, 3)
    """
    return tuple(sorted({vote.level for vote in votes}))
