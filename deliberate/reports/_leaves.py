"""What many objects of the JSON hold: brackets by name, dimensions, findings, usage."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from deliberate.reports._objects import BracketName, DimensionObject, FindingObject, UsageObject
from deliberate.types import Bracket, DimensionScore, Finding, Usage

__all__ = ["bracket_name", "dimension_object", "finding_object", "maybe_named", "rounded_usage"]


def dimension_object(one: DimensionScore) -> DimensionObject:
    """The score of one dimension."""
    return DimensionObject(**msgspec.structs.asdict(one))


def finding_object(finding: Finding) -> FindingObject:
    """One finding, as its judge put it."""
    return FindingObject(**msgspec.structs.asdict(finding))


def rounded_usage(usage: Usage) -> UsageObject:
    """What something took, the cost to a billionth of a dollar."""
    return UsageObject(
        calls=usage.calls,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        cost_usd=None if usage.cost_usd is None else round(usage.cost_usd, 9),
    )


_NAMES: Mapping[Bracket, BracketName] = {
    Bracket.POOR: "poor",
    Bracket.FAIR: "fair",
    Bracket.GOOD: "good",
    Bracket.EXCELLENT: "excellent",
}


def bracket_name(bracket: Bracket) -> BracketName:
    """The bracket as a word."""
    return _NAMES[bracket]


def maybe_named(bracket: Bracket | None) -> BracketName | None:
    """The same, where there may be none."""
    return None if bracket is None else _NAMES[bracket]
