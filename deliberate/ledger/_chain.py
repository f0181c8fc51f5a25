"""The hash chain over the steps, and the anchor beside the ledger that remembers how long it was.

The chain shows a changed record; a lost tail leaves a shorter chain that is valid, so count and head stand outside
the file as well. Both detect, neither prevents: who can rewrite everything can rewrite the anchor.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

import msgspec

from deliberate.errors import LedgerError
from deliberate.types import Record

__all__ = ["START", "Anchor", "anchor_path", "link", "read_anchor", "write_anchor"]

START = "0" * 64
"""What stands before the first record."""


class Anchor(Record, frozen=True, kw_only=True):
    """The ledger's id, how many records it held, and the hash of the last of them."""

    ledger: str
    count: int
    head: str


def link(prev: str, seq: int, key: str, kind: str, body: bytes) -> str:
    """The hash of one record: sha256 over the hash before it and the canonical JSON of the record (body in base64)."""
    # The bytes of ``canonical``, without its search for floats, which took two thirds of the time of all this.
    return hashlib.sha256(prev.encode() + msgspec.json.encode((seq, key, kind, body))).hexdigest()


def anchor_path(path: str) -> Path:
    """Where the anchor of the ledger at ``path`` lies."""
    return Path(f"{path}.anchor")


def read_anchor(path: str) -> Anchor | None:
    """The anchor of the ledger at ``path``, None if there is none.

    Raises:
        LedgerError: It is not an anchor.
        OSError: It cannot be read.
    """
    file = anchor_path(path)
    try:
        return msgspec.json.decode(file.read_bytes(), type=Anchor)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        raise LedgerError(
            f"the anchor {file} is damaged ({error})",
            hint="`deliberate audit --verify` tells whether the records hold together; delete the anchor to go on",
        ) from error


def write_anchor(path: str, anchor: Anchor) -> None:
    """Puts the anchor beside the ledger in one step, unless one that knows more records is there already.

    Raises:
        OSError: It cannot be written; the one before is untouched.
    """
    there = read_anchor(path)
    if there is not None and there.ledger == anchor.ledger and there.count > anchor.count:
        return  # another process wrote after our commit
    file = anchor_path(path)
    handle, name = tempfile.mkstemp(prefix=f"{file.name}.", dir=file.parent)  # readable by the owner only
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(msgspec.json.encode(anchor))
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
