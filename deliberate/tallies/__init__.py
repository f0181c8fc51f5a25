"""Ballots -> bracket, by open rules.

``decide`` is the only place a bracket comes from. To add a rule: a file in this room, see ``_base``.
"""

from deliberate.tallies._base import LevelVote, Rule
from deliberate.tallies._decide import bracket, decide, needed, polled, winner
from deliberate.tallies._numbers import BRACKET_SCORES, numbers
from deliberate.tallies._ties import TIE_POLICIES

__all__ = [
    "BRACKET_SCORES",
    "TIE_POLICIES",
    "LevelVote",
    "Rule",
    "bracket",
    "decide",
    "needed",
    "numbers",
    "polled",
    "winner",
]
