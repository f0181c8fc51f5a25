"""Scores -> score, by open rules. To add one: a file in this room, see ``_base``."""

from deliberate.aggregation._base import Aggregation, Bound, Weighted, aggregation

__all__ = ["Aggregation", "Bound", "Weighted", "aggregation"]
