"""The scale of votes: as named, or as the votes look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from deliberate.errors import ConfigError
from deliberate.types import BRACKETS, Record

__all__ = ["Scale", "label_of", "scale_of"]

_MOST_INFERRED = 12
_TRUE, _FALSE = ("1", "true", "yes", "pass", "good"), ("0", "false", "no", "fail", "poor")


class Scale(Record, frozen=True, kw_only=True):
    """Ordered labels, lowest first, and whether their order means anything.

    ``said`` is how it came about, for people.
    """

    labels: tuple[str, ...]
    ordered: bool
    said: str

    @property
    def places(self) -> Mapping[str, int]:
        """Label -> position."""
        return {label: at for at, label in enumerate(self.labels)}


def scale_of(seen: Mapping[str, int], named: str | None, *, where: str) -> tuple[Scale, tuple[int | None, ...]]:
    """The scale, and the position of each label that was seen, in their order.

    Args:
        seen: Labels, each with the line where it came first.
        named: ``brackets``, ``ordinal:0..3``, ``binary`` or ``pairwise``; None: what the labels look like.
        where: The file, for messages.

    Raises:
        ConfigError: A vote that is not on it, or labels from which no scale can be told.
    """
    made = _named(named) if named else _inferred(list(seen), where)
    places = made.places
    aliases = _aliases(made)
    positions: list[int | None] = []
    for label, line in seen.items():
        place = places.get(aliases.get(label.lower(), label.lower()))
        if place is None:
            expected = f"one of: {', '.join(made.labels)}"
            hint = "say the scale with --scale" if not named else ""
            raise ConfigError(f"vote {label!r}", where=f"{where}:{line}", expected=expected, hint=hint)
        positions.append(place)
    return made, tuple(positions)


def _named(name: str) -> Scale:
    if name == "brackets":
        return Scale(labels=BRACKETS.labels, ordered=True, said="votes are brackets")
    if name == "binary":
        return Scale(labels=("no", "yes"), ordered=False, said="votes are yes or no")
    if name == "pairwise":
        return Scale(
            labels=("1", "tie", "2"), ordered=False, said="votes are for the first output, the second or a tie"
        )
    kind, _, ends = name.partition(":")
    low, dots, high = ends.partition("..")
    if kind != "ordinal" or not dots or not _is_whole(low) or not _is_whole(high) or int(low) >= int(high):
        expected = "brackets, binary, pairwise, or whole numbers as in ordinal:0..3"
        raise ConfigError(f"scale {name!r}", where="--scale", expected=expected)
    labels = tuple(str(at) for at in range(int(low), int(high) + 1))
    return Scale(labels=labels, ordered=True, said=f"votes are whole numbers from {low} to {high}")


def _inferred(seen: Sequence[str], where: str) -> Scale:
    if seen and all(label.lower() in BRACKETS.labels for label in seen):
        return _named("brackets")
    if seen and all(_is_whole(label) for label in seen):
        low, high = min(map(int, seen)), max(map(int, seen))
        if low < high < low + _MOST_INFERRED:
            made = _named(f"ordinal:{low}..{high}")
            return msgspec.structs.replace(made, said=f"{made.said}, taken from the votes (--scale says otherwise)")
    if seen and all(label.lower() in (*_TRUE, *_FALSE) for label in seen):
        return _named("binary")
    shown = ", ".join(sorted(seen)[:5])
    raise ConfigError(f"cannot tell the scale of votes like {shown or 'none'}", where=where, hint="say it with --scale")


def _aliases(scale: Scale) -> Mapping[str, str]:
    if scale.labels == ("no", "yes"):
        return {**dict.fromkeys(_TRUE, "yes"), **dict.fromkeys(_FALSE, "no")}
    return {"0": "tie"} if "tie" in scale.labels else {}


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isascii() and text.removeprefix("-").isdigit()


def label_of(value: object) -> str:
    """A vote as a label: whole numbers without a point, true and false in small letters."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = str(value).strip()
    return text[:-2] if text.endswith(".0") and _is_whole(text[:-2]) else text
