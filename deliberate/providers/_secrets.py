"""Keys struck out of every text that leaves a provider as an error: raw, percent-encoded, base64."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote, quote_plus

__all__ = ["Secrets", "secrets_of"]

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL")
_SHORTEST = 6
"""Shorter values ("EMPTY", "none") are no secrets, and striking them would make messages unreadable."""

_BASE64_STARTS = (0, 2, 3)


class Secrets:
    """What must not be seen in a message.

    Args:
        values: The secrets themselves.
    """

    def __init__(self, values: Iterable[str]) -> None:
        spelled = {form for value in values if len(value) >= _SHORTEST for form in _spellings(value)}
        # The longest first: where one secret contains another, nothing of it stays.
        ordered = sorted(spelled, key=lambda form: (-len(form), form))
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def strike(self, text: str) -> str:
        """The text with ``***`` in place of every secret."""
        return text if self._pattern is None else self._pattern.sub("***", text)

    def __repr__(self) -> str:
        return "Secrets(***)"


def secrets_of(env: Mapping[str, str]) -> Secrets:
    """The values of all variables whose name says that they are secret."""
    return Secrets(value.strip() for name, value in env.items() if _SECRET_NAME.search(name.upper()))


def _spellings(value: str) -> Iterable[str]:
    yield value
    yield quote(value, safe="")
    yield quote_plus(value)
    for lead, start in enumerate(_BASE64_STARTS):
        # In the middle of other text a secret begins at one of three places of a base64 group; the characters left
        # out at both ends depend on its neighbors too.
        raw = b"\0" * lead + value.encode()
        end = len(raw) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(raw)[start:end].decode()
