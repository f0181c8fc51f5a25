"""Which keys may be in the ledger: about two bytes a key, so that memory does not grow with what was judged.

A Bloom filter: a key sets four bits of one word of a table; one whose bits are not all set was never added. It never
forgets a key. Of keys that were not added about one in a hundred seems to be there, and costs a look-up.
Bloom, Space/Time Trade-offs in Hash Coding with Allowable Errors, CACM 13 (1970); one word a key: Putze, Sanders and
Singler, Cache-, Hash- and Space-Efficient Bloom Filters, WEA 2007.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterable

__all__ = ["Known"]

_FIRST_ROOM = 1 << 14
"""Keys of the first table; the next has four times the room of the one before."""
_KEYS_PER_WORD = 4


class Known:
    """Keys that were added, and a few that were not; safe for several threads.

    Args:
        room: How many keys are coming, where that is known.
    """

    def __init__(self, room: int = 0) -> None:
        self._lock = threading.Lock()  # a word is read, changed and written: the other thread must not come between
        self._tables: list[tuple[array[int], int]] = []
        self._grow(max(room, _FIRST_ROOM))

    def __contains__(self, key: str) -> bool:
        spread = hash(key)
        bits = _bits(spread)
        for words, last in self._tables:  # noqa: SIM110  asked for every vote, and `any` takes twice as long
            if words[spread >> 24 & last] & bits == bits:
                return True
        return False

    def add(self, key: str) -> None:
        """Adds a key."""
        with self._lock:
            if not self._left:
                self._grow(4 * self._room)
            self._left -= 1
            words, last = self._tables[-1]
            spread = hash(key)
            words[spread >> 24 & last] |= _bits(spread)

    def update(self, keys: Iterable[str]) -> None:
        """Adds keys."""
        for key in keys:
            self.add(key)

    @property
    def bytes(self) -> int:
        """How much memory it takes."""
        return sum(words.itemsize * len(words) for words, _ in self._tables)

    def _grow(self, room: int) -> None:
        last = (1 << (room // _KEYS_PER_WORD - 1).bit_length()) - 1  # as many words as a power of two, to mask with
        self._room = self._left = _KEYS_PER_WORD * (last + 1)
        self._tables.append((array("Q", bytes(8 * (last + 1))), last))


def _bits(spread: int) -> int:
    return 1 << (spread & 63) | 1 << (spread >> 6 & 63) | 1 << (spread >> 12 & 63) | 1 << (spread >> 18 & 63)
