"""What is judged: a case, with its files and the evidence about it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from deliberate.types._record import Record, digest_of

__all__ = ["Case", "Evidence", "FileRef", "Param", "Spec"]

Param = None | bool | int | float | str | tuple[Any, ...] | Mapping[str, Any]
"""What JSON can say. (The nesting is not spelled out: the decoder refuses recursive aliases.)"""


class FileRef(Record, frozen=True, kw_only=True):
    """A file of the workspace, hashed when the case came in, so that keys stay pure."""

    path: str
    sha256: str
    size: int


class Evidence(Record, frozen=True, kw_only=True):
    """What a deterministic check found, as judges are shown it: part of the key, so its text is normalized."""

    source: str
    title: str
    text: str


class Spec(Record, frozen=True, kw_only=True):
    """A part by name, with its parameters: the same in YAML, Python, ledger and schema."""

    type: str
    params: Mapping[str, Param] = {}


class Case(Record, frozen=True, kw_only=True, dict=True):
    """What was asked and what came back, with what was expected, the files and the evidence.

    ``workspace`` is the folder the files lie in: a place, never part of a key or digest. ``id`` names the case for
    people and is no part of its content either.
    """

    output: str
    task: str = ""
    reference: str | None = None
    id: str = ""
    files: tuple[FileRef, ...] = ()
    workspace: str = ""
    evidence: tuple[Evidence, ...] = ()
    category: str | None = None
    context: Mapping[str, str] = {}

    @cached_property
    def record_digest(self) -> str:
        """Sha-256 of the whole record, its id and place too: what it stands under in a ledger."""
        return digest_of(["case", self])

    @cached_property
    def digest(self) -> str:
        """Sha-256 of what the case says: task, output, reference, evidence, files, context; not its id or place."""
        return digest_of(
            {
                "task": self.task,
                "output": self.output,
                "reference": self.reference,
                "evidence": self.evidence,
                "files": self.files,
                "context": dict(self.context),
            }
        )
