"""What happens to a tie: named policies, tried in order."""

from __future__ import annotations

from collections.abc import Sequence

from deliberate.errors import UnknownName
from deliberate.types import Bracket

__all__ = ["TIE_POLICIES", "settle"]

TIE_POLICIES = ("round", "chair", "lower", "upper", "median", "human", "unresolved")


def settle(
    tied: Sequence[Bracket], policies: Sequence[str], *, middle: Bracket, chair: Bracket | None, human: Bracket | None
) -> Bracket | str:
    """The bracket the first policy that can settle it gives, else why none did: ``"tied"`` or ``"waiting"``.

    ``round`` has had its turn by now (the protocol goes on while rounds remain). ``chair`` and ``human`` settle only
    with a bracket that is among the tied; a person who has not spoken is waited for. ``median`` takes the tied bracket
    nearest the ordered median, the lower on a draw.

    Raises:
        UnknownName: A policy that does not exist.
    """
    for policy in policies:
        found = _settled(policy, tied, middle=middle, chair=chair, human=human)
        if found is not None:
            return found
    return "tied"


def _settled(
    policy: str, tied: Sequence[Bracket], *, middle: Bracket, chair: Bracket | None, human: Bracket | None
) -> Bracket | str | None:
    """What one policy makes of a tie; None passes it on to the next."""
    found: Bracket | str | None = None
    match policy:
        case "round":
            pass
        case "chair":
            found = chair if chair in tied else None
        case "human":
            found = "waiting" if human is None else human if human in tied else None
        case "lower":
            found = min(tied)
        case "upper":
            found = max(tied)
        case "median":
            found = min(tied, key=lambda bracket: (abs(bracket - middle), bracket))
        case "unresolved":
            found = "tied"
        case _:
            kind = "tie policy"
            raise UnknownName(kind, policy, TIE_POLICIES)
    return found
