"""A number that a pattern captures is the score."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

import msgspec

from deliberate.errors import EvaluatorError
from deliberate.evaluators._base import checked_scale, measured
from deliberate.evaluators._pattern import all_matches, check_group, check_time, compiled, number_in
from deliberate.runtime import Runtime
from deliberate.types import Case, Evaluation, Record

if TYPE_CHECKING:
    import regex

__all__ = ["RegexPattern"]


def _mean(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) / len(numbers)


_PICKS: Mapping[str, Callable[[Sequence[float]], float]] = {"max": max, "min": min, "mean": _mean}
_SHOWN = 200  # characters of a match in the details
_GOES_ON = re.compile(r"[.,]?\d|[eE][-+]?\d|\s?%")


class RegexPattern(Record, frozen=True, kw_only=True):
    """The number that a pattern captures in the output.

    Numbers may have an exponent (``1e-3``), thousands (``1,234.5``) and a percent sign (``87%`` is 0.87), as far as
    the group captures them; a number that goes on behind the group is flagged ``number_cut``. Without a ``scale`` the
    number is reported, and cannot enter an aggregate.

    Args:
        pattern: A regular expression with a group around the number.
        group: The group, by its number or name.
        which: Which of several matches counts. ``max``, ``min`` and ``mean`` need a number in every match.
        default_score: Stands in, marked as such, where no number can be read; None: the reading has failed then.
        scale: What the number means, as in ``"0..1"`` or ``"0..100"``; ``"30..0"`` where less is better.
        ignore_case: Whether letter case is ignored.
        multiline: Whether ``^`` and ``$`` match at every line.
        timeout_seconds: The total a search may take.
    """

    name: ClassVar[str] = "regex_pattern"
    spends_tokens: ClassVar[bool] = False

    pattern: str = r"SCORE:\s*([-+]?\d*\.?\d+)"
    group: int | str = 1
    which: Literal["first", "last", "max", "min", "mean"] = "first"
    default_score: float | None = None
    scale: str | None = None
    ignore_case: bool = False
    multiline: bool = False
    timeout_seconds: float = 1.0

    def __post_init__(self) -> None:
        """Checks pattern, group, scale and default.

        Raises:
            ConfigError: One of them does not fit.
        """
        check_group(self._compiled(), self.group, where="regex_pattern.pattern")
        checked_scale(self.scale, self.default_score, part="regex_pattern")
        check_time(self.timeout_seconds, part="regex_pattern")

    @property
    def unscaled(self) -> bool:
        """Whether its number is on no declared scale."""
        return self.scale is None

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,  # noqa: ARG002  a free part opens no door
        previous: Evaluation | None = None,  # noqa: ARG002  as the contract has it
    ) -> Evaluation:
        """Searches, in a thread and with a time limit.

        Raises:
            EvaluatorError: No number can be read and there is no default, or the search took too long.
        """
        (found,) = await all_matches(
            [self._compiled()], case.output, timeout_seconds=self.timeout_seconds, only_first=self.which == "first"
        )
        counted = found[-1:] if self.which == "last" else found
        try:
            numbers = [self._number(match) for match in counted]
            if not numbers:
                msg = "the pattern does not occur"
                raise ValueError(msg)  # noqa: TRY301  one way to the default for all that is no number
        except ValueError as error:
            if self.default_score is None:
                raise EvaluatorError(str(error)) from None
            reason = f"{error}; the default stands in"
            return measured(self, self.default_score, scale=self.scale, reason=reason, defaulted=True)
        raw = _PICKS[self.which](numbers) if self.which in _PICKS else numbers[0]
        places = ", ".join(f"character {match.start(self.group)}" for match in counted[:3])
        told = f"{self.which} of {len(found)} matches" if self.which in _PICKS else f"at {places}"
        evaluation = measured(
            self, raw, scale=self.scale, reason=f"read {raw:g} {told}", matched=counted[0].group()[:_SHOWN]
        )
        if any(_GOES_ON.match(case.output, match.end(self.group)) for match in counted):
            evaluation = msgspec.structs.replace(evaluation, flags=("number_cut",))
        return evaluation

    def _number(self, match: regex.Match[str]) -> float:
        captured = match.group(self.group)
        if captured is None:
            msg = "the group took no part in the match"
            raise ValueError(msg)
        return number_in(captured)

    def _compiled(self) -> regex.Pattern[str]:
        return compiled(
            self.pattern, ignore_case=self.ignore_case, multiline=self.multiline, where="regex_pattern.pattern"
        )
