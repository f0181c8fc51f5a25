"""Untrusted text on its way into a prompt: shown as data, between fences nobody can forge.

The fence's nonce is made of a secret and the key of the call, so no text written before the call can contain it. What
a reader cannot see is made visible: control and format characters as ``⟨U+202E⟩``, and the tokens by which models
tell roles apart with a broken bar. Digests and keys see the raw text; only the view is changed.
"""

from __future__ import annotations

import hashlib
import hmac
import unicodedata

__all__ = ["SLOT", "fenced", "filled", "nonce_of", "visible"]

SLOT = "\0nonce\0"
"""Stands for the nonce in prompts, digests and recordings: a NUL survives in no visible text."""

_ROLE_TOKENS = ("<|", "|>", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def visible(text: str) -> str:
    r"""The text with everything invisible or structural shown: what judges and people may be given.

    >>> visible("a\u202eb<|im_start|>")
    'a⟨U+202E⟩b<¦im_start¦>'
    """
    if not text.isascii() or not text.isprintable():
        text = "".join(_shown(sign) for sign in unicodedata.normalize("NFC", text))
    for token in _ROLE_TOKENS:
        text = text.replace(token, token.replace("|", "¦").replace("[", "⟦").replace("<<", "< <"))
    return text


def fenced(label: str, text: str) -> str:
    """The visible text between fences, with a slot for the nonce."""
    return f"<{label}-{SLOT}>\n{visible(text)}\n</{label}-{SLOT}>"


def nonce_of(secret: bytes, key: str, attempt: int) -> str:
    """The nonce of one attempt: 128 bits of HMAC-SHA-256, in hex."""
    return hmac.new(secret, f"{key}#{attempt}".encode(), hashlib.sha256).hexdigest()[:32]


def filled(prompt: str, nonce: str) -> str:
    """The prompt with its nonce."""
    return prompt.replace(SLOT, nonce)


def _shown(sign: str) -> str:
    if sign in "\n\t":
        return sign
    return f"⟨U+{ord(sign):04X}⟩" if unicodedata.category(sign) in _HIDDEN else sign
