"""Evaluating again: where an evaluation stands in a chain of iterations, and when an earlier one may stand."""

from __future__ import annotations

from deliberate.types._record import Record
from deliberate.types.scale import finite

__all__ = ["Carry", "Revision"]


class Carry(Record, frozen=True, kw_only=True):
    """When what was said of an earlier iteration may stand, wholly or in part.

    Args:
        skip_eval_confidence: The normalized score (0–1) from which on a changed output is not judged again, if its own
            tests pass and its own static analysis is clean.
        require_evidence: Whether tests and static analysis must be there for that; False takes their absence for
            consent.
        full_every: Every so many iterations all is judged anew.
        most_changed: The share of the text (0–1) above which a change is judged as a whole.
        most_weight: The share of the weight (0–1) above which affected dimensions are too many.
    """

    skip_eval_confidence: float = 0.95
    require_evidence: bool = True
    full_every: int = 5
    most_changed: float = 0.6
    most_weight: float = 0.5

    def __post_init__(self) -> None:
        """Checks the ranges.

        Raises:
            ValueError: A share is not between 0 and 1, or ``full_every`` below 1.
        """
        for name in ("skip_eval_confidence", "most_changed", "most_weight"):
            try:
                finite(getattr(self, name), low=0.0, high=1.0)
            except ValueError as error:
                msg = f"{name}: {error}"
                raise ValueError(msg) from None
        if self.full_every < 1:
            msg = f"full_every is {self.full_every}, expected at least 1"
            raise ValueError(msg)


class Revision(Record, frozen=True, kw_only=True):
    """Where an evaluation stands in a chain.

    Args:
        iteration: From 1.
        case: The key its case has on record; "" where it was not put there.
        basis: Digest of how it was judged: what was said on another basis never stands.
        why: Why it was judged anew, in part or not at all.
        changed: The share of the text that changed, 0–1.
        affected: The dimensions that were asked again; () = all, or none where nothing was asked.
        tokens: What this one took, in and out together.
        tokens_full: What the last full one of the chain took.
    """

    iteration: int = 1
    case: str = ""
    basis: str = ""
    why: str = ""
    changed: float | None = None
    affected: tuple[str, ...] = ()
    tokens: int = 0
    tokens_full: int = 0

    @property
    def tokens_saved(self) -> int:
        """Tokens fewer than the last full evaluation of the chain took; below 0 if it took more."""
        return self.tokens_full - self.tokens
