"""Untrusted text on its way into a prompt: shown as data, between fences nobody can forge.

The fence's nonce is made of a secret and the key of the call, so no text written before the call can contain it. What
a reader cannot see is made visible: control and format characters as ``⟨U+202E⟩``, and the tokens by which models
tell roles apart with a broken bar. Digests and keys see the raw text; only the view is changed.
"""

from __future__ import annotations

import hmac
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

__all__ = ["SLOT", "fenced", "filled", "nonce_of", "visible"]

SLOT = "\0nonce\0"
"""Stands for the nonce in prompts, digests and recordings: a NUL survives in no visible text."""

_ROLE_TOKENS = (
    ("|", (("<|", "<¦"), ("|>", "¦>"))),
    ("INST]", (("[INST]", "⟦INST]"), ("[/INST]", "⟦/INST]"))),
    ("SYS>>", (("<<SYS>>", "< <SYS>>"), ("<</SYS>>", "< </SYS>>"))),
)
"""What models tell roles apart by, with how it is shown; before them what they cannot do without."""
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


_SHORT = 32 * 1024
"""Characters of a text whose view is kept at hand: every seat of a panel is shown the same case."""


def visible(text: str) -> str:
    r"""The text with everything invisible or structural shown: what judges and people may be given.

    >>> visible("a\u202eb<|im_start|>")
    'a⟨U+202E⟩b<¦im_start¦>'
    """
    return _view(text) if len(text) <= _SHORT else _seen(text)


def fenced(label: str, text: str) -> str:
    """The visible text between fences, with a slot for the nonce."""
    return f"<{label}-{SLOT}>\n{visible(text)}\n</{label}-{SLOT}>"


def nonce_of(secret: bytes, key: str, attempt: int) -> str:
    """The nonce of one attempt: 128 bits of HMAC-SHA-256, in hex."""
    mac = _keyed(secret).copy()
    mac.update(f"{key}#{attempt}".encode())
    return mac.hexdigest()[:32]


@lru_cache(maxsize=8)
def _keyed(secret: bytes) -> hmac.HMAC:
    return hmac.new(secret, digestmod="sha256")


def filled(prompt: str, nonce: str) -> str:
    """The prompt with its nonce."""
    return nonce.join(_around(prompt) if len(prompt) <= 2 * _SHORT else prompt.split(SLOT))


@lru_cache(maxsize=128)
def _around(prompt: str) -> Sequence[str]:
    """What stands around the slots: looked for once a panel, for its seats mostly read the same prompt."""
    return prompt.split(SLOT)


def _seen(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    # Most texts have nothing to hide, and that is told without looking at each of their signs.
    if not text.replace("\n", "").replace("\t", "").isprintable():
        hidden = {sign for sign in set(text) - {"\n", "\t"} if unicodedata.category(sign) in _HIDDEN}
        text = text.translate({ord(sign): f"⟨U+{ord(sign):04X}⟩" for sign in hidden})
    for mark, tokens in _ROLE_TOKENS:
        for token, harmless in tokens if mark in text else ():
            text = text.replace(token, harmless)
    return text


_view = lru_cache(maxsize=128)(_seen)
