"""What a gate may ask for: the one check behind every door at which a gate is declared."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from deliberate.errors import ConfigError, UnknownName
from deliberate.types.scale import BRACKETS, Bracket, bracket_named, finite

__all__ = ["check_bounds", "required_bracket"]

_BOUNDS: Mapping[str, tuple[float, float, str]] = {
    "min_score": (0, 100, "points from 0 to 100"),
    "max_drop": (0, 100, "points from 0 to 100"),
    "baseline": (0, 100, "points from 0 to 100"),
    "cap": (0, 100, "points from 0 to 100"),
    "max_unread": (0, 1, "a share from 0 to 1"),
    "min_agreement": (0, 1, "a share from 0 to 1"),
}
_ALPHA = (-1, 1, "an alpha from -1 to 1")


def check_bounds(
    gates: Mapping[str, object], *, where: Callable[[str], str] = lambda _: "", of_run: bool = False
) -> None:
    """Whether every number of a gate is one that could be got, so that the gate can hold and can fail.

    Args:
        gates: What is asked for, by the name of the gate; None asks for nothing.
        where: Where a gate was written, by its name, for the message.
        of_run: Whether a run may be held against them, whose agreement is an alpha.

    Raises:
        ConfigError: One is no number, or outside of its bounds (both inclusive).

    >>> check_bounds({"min_score": 70, "max_blockers": 0, "max_unread": None})
    """
    for name, value in gates.items():
        if value is None:
            continue
        if name == "max_blockers":
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ConfigError(f"{name} is {value!r}", where=where(name), expected="a whole number of at least 0")
            continue
        low, high, expected = _ALPHA if of_run and name == "min_agreement" else _BOUNDS[name]
        try:
            finite(value, low=low, high=high)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  whatever was written
        except ValueError:
            raise ConfigError(f"{name} is {value!r}", where=where(name), expected=expected) from None


def required_bracket(named: object, *, where: str = "min_bracket") -> Bracket | None:
    """The bracket a gate asks for, by itself or by its name; None asks for none.

    Raises:
        UnknownName: There is no such bracket.
    """
    if named is None or isinstance(named, Bracket):
        return named
    try:
        return bracket_named(str(named))
    except ValueError:
        raise UnknownName("bracket", str(named), BRACKETS.labels, where=where) from None
