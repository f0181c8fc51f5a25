"""Texts compared, and which phrases occur in one: without patterns, in time that grows with the text alone."""

from __future__ import annotations

from collections.abc import Sequence

import anyio.to_thread

from deliberate.errors import ConfigError

__all__ = ["folded", "occurring", "phrases_of", "same"]

_LONG = 50_000  # characters; a longer text is looked through in a thread, so that others run meanwhile
_CHUNK = 500_000  # characters whose case is folded at once, some 10 ms in which nobody else runs


def phrases_of(phrases: str | Sequence[str], *, where: str) -> tuple[str, ...]:
    """One phrase or several, each once, in their order.

    Raises:
        ConfigError: One is empty, and would always occur.
    """
    found = (phrases,) if isinstance(phrases, str) else tuple(phrases)
    for phrase in found:
        if not phrase.strip():
            raise ConfigError(f"the phrase {phrase!r} says nothing", where=where, expected="phrases that say something")
    return tuple(dict.fromkeys(found))


async def occurring(phrases: Sequence[str], text: str, *, ignore_case: bool, whole_words: bool) -> tuple[str, ...]:
    """The phrases that occur, in their order."""
    if len(text) > _LONG:
        return await anyio.to_thread.run_sync(lambda: _occurring(phrases, text, ignore_case, whole_words))
    return _occurring(phrases, text, ignore_case, whole_words)


def _occurring(phrases: Sequence[str], text: str, ignore_case: bool, whole_words: bool) -> tuple[str, ...]:  # noqa: FBT001  as above
    if ignore_case:
        text = folded(text)
    look = _stands_alone if whole_words else _is_in
    return tuple(phrase for phrase in phrases if look(phrase.casefold() if ignore_case else phrase, text))


def folded(text: str) -> str:
    """The text without letter case, made piece by piece, so that other threads get their turn."""
    if len(text) <= _CHUNK:
        return text.casefold()
    return "".join(text[at : at + _CHUNK].casefold() for at in range(0, len(text), _CHUNK))


async def same(one: str, other: str, *, trim: bool, ignore_case: bool) -> bool:
    """Whether two texts are equal, without white space at both ends or letter case where asked."""

    def compare() -> bool:
        pair = (one.strip(), other.strip()) if trim else (one, other)
        return pair[0] == pair[1] or (ignore_case and folded(pair[0]) == folded(pair[1]))

    return await anyio.to_thread.run_sync(compare) if max(len(one), len(other)) > _LONG else compare()


def _is_in(phrase: str, text: str) -> bool:
    return phrase in text


def _stands_alone(phrase: str, text: str) -> bool:
    """Whether the phrase occurs with no letter, digit or ``_`` just before or after it."""
    at = text.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        if not _is_word(text[at - 1 : at]) and not _is_word(text[end : end + 1]):
            return True
        at = text.find(phrase, at + 1)
    return False


def _is_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"
