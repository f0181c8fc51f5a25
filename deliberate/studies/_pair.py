"""Two outputs of a task in one case, so that a judge can say which is the better: shown in either order."""

from __future__ import annotations

import msgspec

from deliberate.types import Bracket, Case

__all__ = ["OTHER", "PAIR", "better", "pair_of"]

OTHER = "other"
"""Where in the context of a case the second output stands."""

PAIR = (
    "Two answers to the task are shown, A and B. Judge whether answer A is better than answer B: excellent if A is "
    "clearly better, good if A is somewhat better, fair if B is somewhat better, poor if B is clearly better."
)
"""What is asked of a pair."""


def pair_of(case: Case, *, swap: bool) -> Case:
    """A case whose output holds both outputs; the second is its ``other``, else the first half of the output itself."""
    first, second = case.output, case.context.get(OTHER) or case.output[: (len(case.output) + 1) // 2]
    first, second = (second, first) if swap else (first, second)
    return msgspec.structs.replace(case, output=f"Answer A:\n{first}\n\nAnswer B:\n{second}", reference=None)


def better(bracket: Bracket, *, swap: bool) -> str:
    """Which output a bracket names, on the scale ``pairwise``: ``"1"`` or ``"2"``."""
    return "1" if (bracket >= Bracket.GOOD) is not swap else "2"
